/* SPDX-License-Identifier: MIT */
/* Models and section bytes for the tests of sframe/. */
#ifndef TESTS_UNIT_SFRAME_TEST_SFRAME_FIXTURE_H
#define TESTS_UNIT_SFRAME_TEST_SFRAME_FIXTURE_H

#include <string.h>

#include "base/err.h"
#include "base/wr.h"
#include "sframe/decode.h"
#include "sframe/encode.h"
#include "sframe/format.h"
#include "sframe/model.h"
#include "tests/unit/unit.h"

enum {
	AMD64_SP = 7,
	AMD64_FP = 6,
	AARCH64_SP = 31,
	AARCH64_FP = 29,
};

static inline struct sf_section fixture_section(uint8_t abi)
{
	const struct sf_abi *facts = sf_abi_find(abi);

	return (struct sf_section){
	    .abi = abi,
	    .big_endian = facts->big_endian,
	    .fixed_fp_off = facts->fixed_fp_off,
	    .fixed_ra_off = facts->fixed_ra_off,
	};
}

static inline void fixture_func(struct sf_section *section, uint64_t start, uint32_t size)
{
	ck_assert(sf_section_add_func(
	    section, &(struct sf_func){.start = start, .size = size}));
}

/* A row whose CFA is reg + off; no other rule. */
static inline struct sf_row fixture_cfa(uint32_t start, unsigned int reg, int32_t off)
{
	return (struct sf_row){
	    .start = start,
	    .cfa = {.kind = SF_LOC_REG, .reg = reg & SF_REG_MAX},
	    .cfa_off = off,
	};
}

/* As fixture_cfa, with a rule for FP or RA; and one whose CFA is *(reg + off). */
static inline struct sf_row fixture_with_fp(
    struct sf_row row, uint8_t kind, unsigned int reg, int32_t off)
{
	row.fp = (struct sf_loc){.kind = kind, .reg = reg & SF_REG_MAX};
	row.fp_off = off;
	return row;
}

static inline struct sf_row fixture_with_ra(
    struct sf_row row, uint8_t kind, unsigned int reg, int32_t off)
{
	row.ra = (struct sf_loc){.kind = kind, .reg = reg & SF_REG_MAX};
	row.ra_off = off;
	return row;
}

static inline struct sf_row fixture_at_reg(uint32_t start, unsigned int reg, int32_t off)
{
	struct sf_row row = fixture_cfa(start, reg, off);

	row.cfa.kind = SF_LOC_AT_REG;
	return row;
}

static inline void fixture_row(struct sf_section *section, struct sf_row row)
{
	/*
	 * Not ck_assert, here and below: it is slow even when it passes, and there are
	 * many rows.
	 */
	if (!sf_section_add_row(section, &row))
		ck_abort_msg("out of memory");
}

/*
 * Encodes in the version and places at addr. The caller frees the bytes with wr_deinit().
 */
static inline struct wr fixture_encode_as(uint8_t version,
    const struct sf_section *section, bool pcrel, bool share, uint64_t addr)
{
	struct sf_encode_options options = {
	    .version = version, .pcrel = pcrel, .share = share, .outermost = true};
	struct err err = {0};
	struct wr wr;

	wr_init(&wr, section->big_endian);
	ck_assert_msg(sf_encode(section, &options, &wr, NULL, &err), "%s", err.text);
	ck_assert_msg(sf_place(section, &options, addr, &wr, &err), "%s", err.text);
	return wr;
}

static inline struct wr fixture_encode(
    const struct sf_section *section, bool pcrel, bool share, uint64_t addr)
{
	return fixture_encode_as(SFRAME_VERSION_2, section, pcrel, share, addr);
}

/* Returns the kind of the refusal, and checks that it has these words. */
static inline enum err_kind fixture_refused(const struct sf_section *section,
    const struct sf_encode_options *options, const char *says)
{
	struct err err = {0};
	struct wr wr;
	bool ok;

	wr_init(&wr, section->big_endian);
	ok = sf_encode(section, options, &wr, NULL, &err);
	wr_deinit(&wr);
	ck_assert_msg(!ok, "accepted, want: %s", says);
	ck_assert_msg(
	    strstr(err.text, says) != NULL, "\"%s\" not in: %s", says, err.text);
	return err.kind;
}

static inline struct sf_view fixture_open(const struct wr *wr, uint64_t addr)
{
	struct err err = {0};
	struct sf_view view;

	ck_assert_msg(
	    sf_view_open(wr->data, wr->size, addr, &view, &err), "%s", err.text);
	return view;
}

/* Checks that the view says exactly what the model says. */
static inline void fixture_expect(
    const struct sf_view *view, const struct sf_section *section, unsigned int seed)
{
	struct err err = {0};
	struct sf_view_func got;
	struct sf_row_iter iter;
	struct sf_row row;

	ck_assert_uint_eq(view->n_funcs, section->n_funcs);
	for (uint32_t i = 0; i < view->n_funcs; i++) {
		const struct sf_func *want = &section->funcs[i];
		const struct sf_row *rows = sf_section_rows(section, want);
		uint32_t n = 0;

		if (!sf_view_func(view, i, &got, &err))
			ck_abort_msg("seed %u: %s", seed, err.text);
		if (got.func.start != want->start || got.func.size != want->size ||
		    got.func.n_rows != want->n_rows ||
		    got.func.rep_size != want->rep_size ||
		    got.func.pcmask != want->pcmask ||
		    got.func.pauth_b != want->pauth_b ||
		    got.func.signal_frame !=
			(view->version >= SFRAME_VERSION_3 && want->signal_frame))
			ck_abort_msg("seed %u: function %u differs", seed, i);
		sf_rows_begin(view, &got, &iter);
		for (; sf_rows_next(&iter, &row, &err); n++)
			if (n >= want->n_rows || row.start != rows[n].start ||
			    !sf_row_same(&row, &rows[n]))
				ck_abort_msg("seed %u: function %u, row at +0x%x differs",
				    seed, i, row.start);
		if (iter.failed)
			ck_abort_msg("seed %u: %s", seed, err.text);
		if (n != want->n_rows)
			ck_abort_msg(
			    "seed %u: function %u: wrong number of rows", seed, i);
	}
}

#endif
