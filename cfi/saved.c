/* SPDX-License-Identifier: MIT */
/* The columns of callee-saved registers, beside those that every row has. */
#include "cfi/saved.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"

bool cfi_saved_same(const struct cfi_saved *a, const struct cfi_saved *b)
{
	return memcmp(a->at, b->at, sizeof(a->at)) == 0;
}

void cfi_saving_init(struct cfi_saving *saving, const uint16_t *regs, size_t n)
{
	*saving = (struct cfi_saving){0};
	assert(n <= CFI_MAX_SAVED);
	for (size_t i = 0; i < n; i++) {
		assert(regs[i] < sizeof(saving->slots));
		saving->slots[regs[i]] = (uint8_t)(i + 1);
	}
}

void cfi_saving_deinit(struct cfi_saving *saving)
{
	free(saving->stack);
	free(saving->rows);
	*saving = (struct cfi_saving){0};
}

bool cfi_saving_has(const struct cfi_saving *saving, uint64_t reg)
{
	return reg < sizeof(saving->slots) && saving->slots[reg];
}

void cfi_saving_set(struct cfi_saving *saving, uint64_t reg, const struct cfi_rule *rule)
{
	int32_t *at = &saving->now.at[saving->slots[reg] - 1];

	if (rule->kind == CFI_SAME || rule->kind == CFI_UNSPECIFIED)
		*at = CFI_SAVED_NOT;
	else if (rule->kind != CFI_AT_CFA || rule->off == 0 || !num_s32(rule->off, at))
		*at = CFI_SAVED_OTHER;
}

void cfi_saving_restore(struct cfi_saving *saving, uint64_t reg, bool is_initial)
{
	size_t i = saving->slots[reg] - 1u;

	saving->now.at[i] = is_initial ? CFI_SAVED_NOT : saving->initial.at[i];
}

bool cfi_saving_push(struct cfi_saving *saving, size_t n)
{
	if (!vec_reserve(&saving->stack, &saving->cap_stack, n + 1))
		return false;
	saving->stack[n] = saving->now;
	return true;
}

void cfi_saving_pop(struct cfi_saving *saving, size_t n)
{
	saving->now = saving->stack[n];
}

bool cfi_saving_keep(struct cfi_saving *saving, size_t i)
{
	if (!vec_reserve(&saving->rows, &saving->cap_rows, i + 1))
		return false;
	saving->rows[i] = saving->now;
	return true;
}
