/* SPDX-License-Identifier: MIT */
/* Random models that a version can express on an ABI, the same on every machine. */
#ifndef TESTS_UNIT_SFRAME_TEST_SFRAME_RANDOM_H
#define TESTS_UNIT_SFRAME_TEST_SFRAME_RANDOM_H

#include "tests/unit/sframe/test_sframe_fixture.h"

/* xorshift64*; the state must not be 0. */
struct prng {
	uint64_t state;
};

static inline uint32_t prng_below(struct prng *prng, uint32_t n)
{
	prng->state ^= prng->state >> 12;
	prng->state ^= prng->state << 25;
	prng->state ^= prng->state >> 27;
	return (uint32_t)((prng->state * UINT64_C(0x2545f4914f6cdd1d)) >> 32) % n;
}

/* Mostly small, sometimes as large as the word allows. */
static inline int32_t random_off(struct prng *prng)
{
	switch (prng_below(prng, 8)) {
	case 0:
		return (int32_t)prng_below(prng, 0x10000) - 0x8000;
	case 1:
		return (int32_t)(prng_below(prng, UINT32_MAX) - 0x80000000u);
	default:
		return (int32_t)prng_below(prng, 0x100) - 0x80;
	}
}

/* Where RA or FP is. With plain, only the place that default rows have for it. */
static inline void random_loc(
    struct prng *prng, bool plain, struct sf_loc *loc, int32_t *off)
{
	*loc = (struct sf_loc){
	    .kind = plain ? SF_LOC_AT_CFA : (uint8_t)(1 + prng_below(prng, 3))};
	if (loc->kind != SF_LOC_AT_CFA)
		loc->reg = (uint8_t)prng_below(prng, SF_REG_MAX + 1);
	*off = loc->kind == SF_LOC_REG && prng_below(prng, 2) ? 0 : random_off(prng);
}

/* Any row of the model, whether or not a version has words for it. */
static inline struct sf_row random_any_row(
    struct prng *prng, const struct sf_abi *abi, bool plain)
{
	struct sf_row row = {0};

	if (prng_below(prng, 16) == 0) {
		row.outermost = true;
		return row;
	}
	row.cfa.kind = SF_LOC_REG;
	row.cfa.reg = prng_below(prng, 2) ? abi->sp : abi->fp;
	row.cfa_off = random_off(prng);
	if (!plain && prng_below(prng, 2)) {
		row.cfa.kind = prng_below(prng, 2) ? SF_LOC_REG : SF_LOC_AT_REG;
		row.cfa.reg = (uint8_t)prng_below(prng, SF_REG_MAX + 1);
	}
	if (abi->id == SFRAME_ABI_S390X_ENDIAN_BIG && prng_below(prng, 16))
		row.cfa_off -= row.cfa_off % 8;
	row.ra_signed = prng_below(prng, 3) == 0;
	if (prng_below(prng, 2))
		random_loc(prng, plain, &row.ra, &row.ra_off);
	if (prng_below(prng, 2))
		random_loc(prng, plain, &row.fp, &row.fp_off);
	return row;
}

static inline struct sf_row random_row(struct prng *prng, uint8_t version,
    const struct sf_abi *abi, bool plain, uint32_t start)
{
	for (;;) {
		struct sf_row row = random_any_row(prng, abi, plain);

		row.start = start;
		/* It is read back as NONE, which means the same. */
		if (abi->fixed_ra_off && row.ra.kind == SF_LOC_AT_CFA &&
		    row.ra_off == abi->fixed_ra_off)
			continue;
		if (sf_can_express(version, abi->id, &row) == SF_CAN ||
		    (version == SFRAME_VERSION_2 && row.outermost))
			return row;
	}
}

static inline struct sf_func random_func(
    struct prng *prng, const struct sf_abi *abi, uint64_t start)
{
	static const uint32_t sizes[] = {16, 0x200, 0x100, 0x20000, 0x7000000};
	struct sf_func func = {
	    .start = start,
	    .size = 1 + prng_below(prng, sizes[prng_below(prng, 5)]),
	    .pauth_b = abi->has_pauth && prng_below(prng, 2),
	    .signal_frame = prng_below(prng, 8) == 0,
	};

	if (prng_below(prng, 4) == 0) {
		func.pcmask = true;
		func.rep_size = (uint8_t)(1 + prng_below(prng, 255));
		/* Version 1 makes a function of each block. */
		if (func.size > 0x1000)
			func.size = 0x1000;
	}
	return func;
}

static inline struct sf_section random_section(
    struct prng *prng, uint8_t version, uint8_t abi_id, uint64_t addr)
{
	struct sf_section section = fixture_section(abi_id);
	const struct sf_abi *abi = sf_abi_find(abi_id);
	uint32_t n_funcs = prng_below(prng, 12);

	for (uint32_t i = 0; i < n_funcs; i++) {
		bool plain = prng_below(prng, 2);
		struct sf_func func;
		uint32_t start = 0, end;

		addr += prng_below(prng, prng_below(prng, 2) ? 100 : 1);
		func = random_func(prng, abi, addr);
		addr += func.size;
		end =
		    func.pcmask && func.rep_size < func.size ? func.rep_size : func.size;
		ck_assert(sf_section_add_func(&section, &func));
		if (version >= SFRAME_VERSION_3 && func.signal_frame && !func.pcmask &&
		    prng_below(prng, 2))
			continue;
		for (; start < end; start += 1 + prng_below(prng, end / 3 + 1))
			fixture_row(
			    &section, random_row(prng, version, abi, plain, start));
	}
	return section;
}

/*
 * The model that version 1 makes of this one: a function for each block of a PCMASK
 * function.
 */
static inline struct sf_section random_without_blocks(const struct sf_section *model)
{
	struct sf_section flat = fixture_section(model->abi);

	for (size_t i = 0; i < model->n_funcs; i++) {
		const struct sf_func *func = &model->funcs[i];
		uint32_t block = func->pcmask ? func->rep_size : func->size;

		for (uint32_t off = 0; off < func->size; off += block) {
			uint32_t size =
			    func->size - off < block ? func->size - off : block;

			fixture_func(&flat, func->start + off, size);
			flat.funcs[flat.n_funcs - 1].pauth_b = func->pauth_b;
			for (uint32_t j = 0; j < func->n_rows; j++) {
				const struct sf_row *row =
				    &model->rows[func->first_row + j];

				if (row->start < size)
					fixture_row(&flat, *row);
			}
			if (func->size - off <= block)
				break;
		}
	}
	return flat;
}

#endif
