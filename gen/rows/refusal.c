/* SPDX-License-Identifier: MIT */
/* The words for each refusal. */
#include "gen/rows/refusal.h"

#include <assert.h>

#include "sframe/format.h"

static const struct {
	const char *name, *text;
	uint8_t needs;
} refusal_words[N_REFUSALS] = {
#define REFUSAL_WORDS(id, name, needs, text) [REFUSE_##id] = {name, text, needs},
    REFUSALS(REFUSAL_WORDS)
#undef REFUSAL_WORDS
};

const char *refusal_name(enum refusal refusal)
{
	assert(refusal < N_REFUSALS);
	return refusal_words[refusal].name;
}

const char *refusal_text(enum refusal refusal)
{
	assert(refusal < N_REFUSALS);
	return refusal_words[refusal].text;
}

uint8_t refusal_needs(enum refusal refusal, const struct arch *arch)
{
	const struct sf_abi *abi = sf_abi_find(arch->sframe_abi);
	uint8_t needs;

	assert(refusal < N_REFUSALS);
	needs = refusal_words[refusal].needs;
	if (needs == REFUSAL_FLEX)
		return abi->has_flex ? SFRAME_VERSION_3 : 0;
	return needs;
}
