/* SPDX-License-Identifier: MIT */
/* Sorted lists of addresses. */
#include "gen/check/refs.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/check/relative.h"

bool validate_refs_add(struct validate_refs *refs, uint64_t addr)
{
	if (refs->n && refs->list[refs->n - 1] == addr)
		return true;
	if (!vec_reserve(&refs->list, &refs->cap, refs->n + 1))
		return false;
	refs->list[refs->n++] = addr;
	return true;
}

static bool refs_note_relative(void *context, uint64_t addr)
{
	return validate_refs_add(context, addr);
}

bool validate_refs_add_relative(struct validate_refs *refs, const struct image *image)
{
	return validate_relative_each(image, refs_note_relative, refs);
}

size_t validate_refs_from(const struct validate_refs *refs, uint64_t addr)
{
	return refs->n ? search_from(refs->list, sizeof(*refs->list), refs->n, addr) : 0;
}

bool validate_refs_have(const struct validate_refs *refs, uint64_t addr)
{
	size_t i = refs ? validate_refs_from(refs, addr) : 0;

	return refs && i < refs->n && refs->list[i] == addr;
}

bool validate_refs_note(
    struct validate_refs *refs, const struct image *image, const struct code_place *place)
{
	for (uint8_t i = 0; i < place->insn->n_effects; i++) {
		const struct code_effect *effect = &place->insn->effects[i];
		uint64_t addr = (uint64_t)effect->off;

		if (effect->kind != CODE_SET && effect->kind != CODE_LOAD &&
		    effect->kind != CODE_STORE)
			continue;
		if (effect->base != CODE_NO_REG) {
			if (place->state->regs[effect->base].kind != CODE_CONST)
				continue;
			addr += (uint64_t)place->state->regs[effect->base].off;
		}
		if (image_at_addr(image, addr, 1) && !validate_refs_add(refs, addr))
			return false;
	}
	return true;
}

bool validate_refs_take(struct validate_refs *refs, struct validate_refs *from)
{
	if (!vec_reserve(&refs->list, &refs->cap, refs->n + from->n))
		return false;
	if (from->n)
		memcpy(&refs->list[refs->n], from->list, from->n * sizeof(*from->list));
	refs->n += from->n;
	from->n = 0;
	return true;
}

void validate_refs_sort(struct validate_refs *refs)
{
	size_t n = 0;

	if (refs->n)
		qsort(refs->list, refs->n, sizeof(*refs->list), search_order);
	for (size_t i = 0; i < refs->n; i++)
		if (!n || refs->list[n - 1] != refs->list[i])
			refs->list[n++] = refs->list[i];
	refs->n = n;
}

uint32_t validate_refs_entries(
    const struct validate_refs *refs, uint64_t addr, uint8_t width)
{
	size_t i =
	    refs->n ? search_above(refs->list, sizeof(*refs->list), refs->n, addr) : 0;
	uint64_t n = i < refs->n ? (refs->list[i] - addr) / width : 0;

	return n < UINT16_MAX ? (uint32_t)n : UINT16_MAX;
}

void validate_refs_deinit(struct validate_refs *refs)
{
	free(refs->list);
	*refs = (struct validate_refs){0};
}
