/* SPDX-License-Identifier: MIT */
/*
 * The model's own arithmetic: comparing rows, collecting them, and the facts of each
 * ABI.
 */
#include "sframe/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "sframe/format.h"

/* By id. */
static const struct sf_abi abis[] = {
    /*
	 * AAPCS64: x29 is the frame pointer and x30 the link register, which a leaf
	 * never saves.
	 */
    [SFRAME_ABI_AARCH64_ENDIAN_BIG] =
	{
	    .name = "AArch64 big-endian",
	    .id = SFRAME_ABI_AARCH64_ENDIAN_BIG,
	    .since = SFRAME_VERSION_1,
	    .sp = 31,
	    .fp = 29,
	    .ra = 30,
	    .big_endian = true,
	    .has_pauth = true,
	},
    [SFRAME_ABI_AARCH64_ENDIAN_LITTLE] =
	{
	    .name = "AArch64 little-endian",
	    .id = SFRAME_ABI_AARCH64_ENDIAN_LITTLE,
	    .since = SFRAME_VERSION_1,
	    .sp = 31,
	    .fp = 29,
	    .ra = 30,
	    .has_pauth = true,
	},
    /*
	 * x86-64 psABI 3.2.2: the call instruction leaves the return address just below
	 * the CFA.
	 */
    [SFRAME_ABI_AMD64_ENDIAN_LITTLE] =
	{
	    .name = "AMD64",
	    .id = SFRAME_ABI_AMD64_ENDIAN_LITTLE,
	    .since = SFRAME_VERSION_1,
	    .sp = 7,
	    .fp = 6,
	    .ra = 16,
	    .fixed_ra_off = -8,
	    .has_flex = true,
	},
    /*
	 * s390x ELF ABI: r11 is only the customary frame pointer; r14 holds the return
	 * address.
	 */
    [SFRAME_ABI_S390X_ENDIAN_BIG] =
	{
	    .name = "s390x",
	    .id = SFRAME_ABI_S390X_ENDIAN_BIG,
	    .since = SFRAME_VERSION_2,
	    .sp = 15,
	    .fp = 11,
	    .ra = 14,
	    .big_endian = true,
	    .has_flex = true,
	},
};

const struct sf_abi *sf_abi_find(uint8_t id)
{
	return id < sizeof(abis) / sizeof(*abis) && abis[id].name ? &abis[id] : NULL;
}

static bool loc_same(struct sf_loc a, struct sf_loc b)
{
	return a.kind == b.kind && a.reg == b.reg;
}

bool sf_row_same(const struct sf_row *a, const struct sf_row *b)
{
	return a->cfa_off == b->cfa_off && a->ra_off == b->ra_off &&
	       a->fp_off == b->fp_off && loc_same(a->cfa, b->cfa) &&
	       loc_same(a->ra, b->ra) && loc_same(a->fp, b->fp) &&
	       a->ra_signed == b->ra_signed && a->outermost == b->outermost;
}

bool sf_section_expect(struct sf_section *section, size_t n_funcs, size_t n_rows)
{
	const size_t cap = section->cap_rows;

	if (!vec_reserve(
		&section->funcs, &section->cap_funcs, section->n_funcs + n_funcs) ||
	    !vec_reserve(&section->rows, &section->cap_rows, section->n_rows + n_rows))
		return false;
	if (section->cap_rows > cap)
		vec_prefer_huge(
		    section->rows, section->cap_rows * sizeof(*section->rows));
	return true;
}

bool sf_section_add_func(struct sf_section *section, const struct sf_func *func)
{
	struct sf_func *added;

	if (!vec_reserve(&section->funcs, &section->cap_funcs, section->n_funcs + 1))
		return false;
	added = &section->funcs[section->n_funcs++];
	*added = *func;
	added->first_row = section->n_rows;
	added->n_rows = 0;
	return true;
}

bool sf_section_add_same(
    struct sf_section *section, size_t i, uint64_t start, uint32_t size)
{
	struct sf_func *added;

	if (!vec_reserve(&section->funcs, &section->cap_funcs, section->n_funcs + 1))
		return false;
	added = &section->funcs[section->n_funcs++];
	*added = section->funcs[i];
	added->start = start;
	added->size = size;
	return true;
}

bool sf_section_append(struct sf_section *section, const struct sf_section *more)
{
	size_t n_funcs = section->n_funcs, n_rows = section->n_rows;

	if (!sf_section_expect(section, more->n_funcs, more->n_rows))
		return false;
	if (more->n_rows)
		memcpy(section->rows + n_rows, more->rows,
		    more->n_rows * sizeof(*more->rows));
	for (size_t i = 0; i < more->n_funcs; i++) {
		section->funcs[n_funcs + i] = more->funcs[i];
		section->funcs[n_funcs + i].first_row += n_rows;
	}
	section->n_funcs += more->n_funcs;
	section->n_rows += more->n_rows;
	return true;
}

bool sf_section_add_row(struct sf_section *section, const struct sf_row *row)
{
	if (!vec_reserve(&section->rows, &section->cap_rows, section->n_rows + 1))
		return false;
	section->rows[section->n_rows++] = *row;
	/* A row before any function belongs to none; sf_encode never looks at it. */
	if (section->n_funcs)
		section->funcs[section->n_funcs - 1].n_rows++;
	return true;
}

void sf_section_deinit(struct sf_section *section)
{
	if (!section)
		return;
	free(section->funcs);
	free(section->rows);
	*section = (struct sf_section){0};
}
