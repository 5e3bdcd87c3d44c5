/* SPDX-License-Identifier: MIT */
/*
 * The reader: rows in place, one at a time, from the words of default and flexible
 * functions to rules.
 */
#include "sframe/decode.h"

#include <inttypes.h>

#include "base/num.h"
#include "sframe/format.h"
#include "sframe/load.h"

/* CFA, RA, FP; in a flexible function each with a control word before it. */
enum { MAX_WORDS = 3, MAX_FLEX_WORDS = 6 };

/* Bytes of start, info byte and words, none of which is larger than four. */
enum { MAX_PLAIN_ROW = 4 + 1 + 4 * MAX_WORDS };

/* True if all words are offsets, in the order that only the header's fixed offsets change. */
static bool plain_words(const struct sf_row_iter *iter)
{
	const struct sf_view *view = iter->view;

	return iter->abi && iter->abi->id != SFRAME_ABI_S390X_ENDIAN_BIG && !iter->flex &&
	       !view->big_endian && view->fixed_fp_off == 0;
}

void sf_rows_begin(
    const struct sf_view *view, const struct sf_view_func *func, struct sf_row_iter *iter)
{
	uint64_t end = view->row_off + view->row_len;

	*iter = (struct sf_row_iter){
	    .view = view,
	    .abi = sf_abi_find(view->abi),
	    .off = view->row_off + func->rows_off,
	    .left = func->func.n_rows,
	    .start_width = (uint8_t)(1u << func->row_type),
	    .flex = func->flex,
	};
	if (!plain_words(iter) || end < MAX_PLAIN_ROW)
		return;
	iter->plain_end = end - MAX_PLAIN_ROW;
	iter->start_mask = UINT32_MAX >> (32 - 8 * iter->start_width);
	iter->max_words = view->fixed_ra_off ? MAX_WORDS - 1 : MAX_WORDS;
}

/*
 * A save rule of s390x: the slot at cfa + word, or the register that word >> 1 numbers.
 */
static bool s390x_loc(int32_t word, struct sf_loc *loc, int32_t *off)
{
	uint32_t reg = (uint32_t)word >> 1;

	if (!(word & 1)) {
		*loc = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		*off = word;
		return true;
	}
	if (reg > SF_REG_MAX)
		return false;
	*loc = (struct sf_loc){.kind = SF_LOC_REG, .reg = (uint8_t)reg};
	return true;
}

/* The CFA word of s390x as an offset. */
static bool s390x_cfa_off(int32_t word, int32_t *off)
{
	return num_s32(
	    (int64_t)word * SFRAME_S390X_CFA_SCALE + SFRAME_S390X_SP_VAL_OFFSET, off);
}

/* Puts s390x's own meaning on words already in row as plain offsets. */
static bool s390x_adjust(const struct sf_view *view, struct sf_row *row)
{
	bool has_ra = row->ra.kind != SF_LOC_NONE, has_fp = row->fp.kind != SF_LOC_NONE;
	int32_t ra = row->ra_off, fp = row->fp_off;

	if (!s390x_cfa_off(row->cfa_off, &row->cfa_off))
		return false;
	if (view->version >= SFRAME_VERSION_3)
		return true;
	row->ra_off = row->fp_off = 0;
	if (has_ra && !s390x_loc(ra, &row->ra, &row->ra_off))
		return false;
	return !has_fp || s390x_loc(fp, &row->fp, &row->fp_off);
}

/*
 * The words of a row in the order CFA, RA, FP, without those the header fixes. False when
 * there are more than that.
 */
static bool row_from_words(const struct sf_view *view, const struct sf_abi *abi,
    uint8_t info, const int32_t *words, unsigned int n_words, struct sf_row *row)
{
	unsigned int used = 1;
	uint8_t reg = info & SFRAME_FRE_INFO_BASE_REG ? abi->sp : abi->fp;

	row->cfa = (struct sf_loc){.kind = SF_LOC_REG, .reg = reg};
	row->cfa_off = words[0];
	if (view->fixed_ra_off == 0 && used < n_words) {
		/* A word of 0 only keeps the place before the FP word. */
		if (words[used])
			row->ra = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		row->ra_off = words[used++];
	}
	if (view->fixed_fp_off == 0 && used < n_words) {
		row->fp = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		row->fp_off = words[used++];
	}
	if (used < n_words)
		return false;
	return abi->id != SFRAME_ABI_S390X_ENDIAN_BIG || s390x_adjust(view, row);
}

/*
 * A control word and the offset after it. False for one without meaning: "no rule" where
 * a rule should be, the CFA's own value, a bit that must be 0. A register that cannot be
 * is one row's fault and not the section's: GNU as makes -1 of what it fails to parse.
 */
static bool flex_loc(
    const int32_t *pair, unsigned int width, struct sf_loc *loc, int32_t *off)
{
	/* Control words are unsigned, and all have been read as signed. */
	uint32_t word = (uint32_t)pair[0] & (UINT32_MAX >> (32 - 8 * width));
	uint32_t reg = word >> SFRAME_V3_CTRL_REG_SHIFT;
	bool deref = word & SFRAME_V3_CTRL_DEREF_P;

	if (word & SFRAME_V3_CTRL_ZERO)
		return false;
	*off = pair[1];
	if (word & SFRAME_V3_CTRL_REG_P) {
		loc->kind = deref ? SF_LOC_AT_REG : SF_LOC_REG;
		loc->reg = reg < SF_REG_NONE ? (uint8_t)reg : SF_REG_NONE;
		return true;
	}
	loc->kind = SF_LOC_AT_CFA;
	return deref && reg == 0;
}

/*
 * The pairs of a flexible function's row in the order CFA, RA, FP; a single 0 in the
 * place of RA's says that there is none although FP's follows.
 */
static bool row_from_pairs(const struct sf_abi *abi, const int32_t *words,
    unsigned int n_words, unsigned int width, struct sf_row *row)
{
	unsigned int used = 2;

	if (n_words < used || !flex_loc(words, width, &row->cfa, &row->cfa_off) ||
	    row->cfa.kind == SF_LOC_AT_CFA)
		return false;
	if (abi->id == SFRAME_ABI_S390X_ENDIAN_BIG &&
	    !s390x_cfa_off(row->cfa_off, &row->cfa_off))
		return false;
	if (n_words == used)
		return true;
	if (words[used] == 0) {
		used++;
	} else {
		if (n_words < used + 2 ||
		    !flex_loc(words + used, width, &row->ra, &row->ra_off))
			return false;
		used += 2;
		if (n_words == used)
			return true;
	}
	return n_words == used + 2 &&
	       flex_loc(words + used, width, &row->fp, &row->fp_off);
}

/* Version 1 has no rows without words. */
static bool row_from(const struct sf_row_iter *iter, uint8_t info, const int32_t *words,
    unsigned int n_words, unsigned int width, struct sf_row *row)
{
	/* Members one by one, and in place: a copy right after small writes makes the
	   processor wait for them, which was half of the time spent here. */
	row->cfa = row->ra = row->fp = (struct sf_loc){0};
	row->cfa_off = row->ra_off = row->fp_off = 0;
	row->ra_signed = row->outermost = false;
	if (n_words == 0) {
		row->outermost = true;
		return iter->view->version >= SFRAME_VERSION_2;
	}
	row->ra_signed = (info & SFRAME_FRE_INFO_MANGLED_RA) != 0;
	if (iter->flex)
		return row_from_pairs(iter->abi, words, n_words, width, row);
	return row_from_words(iter->view, iter->abi, info, words, n_words, row);
}

static bool iter_fail(struct sf_row_iter *iter, struct err *err, const char *what)
{
	iter->failed = true;
	iter->left = 0;
	return err_set(err, ERR_MALFORMED, ".sframe+0x%" PRIx64 ": %s", iter->off, what);
}

/*
 * As sf_rows_next, for nearly all rows that there are: plain offsets in little-endian
 * words, not at the end of the section. False for any other, which is then not touched.
 * Four bytes are loaded for whatever is smaller, and without asking whether it is there:
 * sizes vary too much to be foreseen.
 */
static inline bool next_plain(struct sf_row_iter *iter, struct sf_row *row)
{
	const uint8_t *p = iter->view->data + iter->off;
	unsigned int n_words, code, width, spare;
	uint8_t info;

	if (iter->off > iter->plain_end)
		return false;
	row->start = sf_load(p, 4, false) & iter->start_mask;
	p += iter->start_width;
	info = *p++;
	n_words = info >> SFRAME_FRE_INFO_COUNT_SHIFT & SFRAME_FRE_INFO_COUNT_MASK;
	code = info >> SFRAME_FRE_INFO_SIZE_SHIFT & SFRAME_FRE_INFO_SIZE_MASK;
	if (n_words - 1 >= iter->max_words || code > SFRAME_FRE_OFFSET_4B)
		return false;
	width = 1u << code;
	spare = 32 - 8 * width;
	iter->off += iter->start_width + 1u + n_words * width;
	iter->left--;
	row->cfa.kind = SF_LOC_REG;
	row->cfa.reg = info & SFRAME_FRE_INFO_BASE_REG ? iter->abi->sp : iter->abi->fp;
	row->ra = row->fp = (struct sf_loc){0};
	row->ra_off = row->fp_off = 0;
	row->ra_signed = info & SFRAME_FRE_INFO_MANGLED_RA;
	row->outermost = false;
	row->cfa_off = (int32_t)(sf_load(p, 4, false) << spare) >> spare;
	if (n_words == 1)
		return true;
	p += width;
	if (iter->max_words == MAX_WORDS) {
		/* A word of 0 only keeps the place before the FP word. */
		row->ra_off = (int32_t)(sf_load(p, 4, false) << spare) >> spare;
		row->ra.kind = row->ra_off ? SF_LOC_AT_CFA : SF_LOC_NONE;
		if (n_words == 2)
			return true;
		p += width;
	}
	row->fp_off = (int32_t)(sf_load(p, 4, false) << spare) >> spare;
	row->fp.kind = SF_LOC_AT_CFA;
	return true;
}

/* Any row; one is left. */
ATTR_NOINLINE static bool next_any(
    struct sf_row_iter *iter, struct sf_row *row, struct err *err)
{
	const struct sf_view *view = iter->view;
	unsigned int start_width = iter->start_width, width, n_words;
	int32_t words[MAX_FLEX_WORDS];
	const uint8_t *p;
	uint64_t left;
	uint8_t info;

	if (!iter->abi) {
		iter->failed = true;
		return err_set(err, ERR_UNSUPPORTED, ".sframe+0x%x: ABI %u is not known",
		    SFRAME_HDR_ABI_ARCH, view->abi);
	}
	/* Ends where the rows do, not where the section does. */
	left = view->row_off + view->row_len - iter->off;
	if (left < start_width + 1)
		return iter_fail(iter, err, "the row passes the end of the rows");
	p = view->data + iter->off;
	row->start = sf_load(p, start_width, view->big_endian);
	info = p[start_width];
	p += start_width + 1;
	n_words = info >> SFRAME_FRE_INFO_COUNT_SHIFT & SFRAME_FRE_INFO_COUNT_MASK;
	width = info >> SFRAME_FRE_INFO_SIZE_SHIFT & SFRAME_FRE_INFO_SIZE_MASK;
	if (width > SFRAME_FRE_OFFSET_4B)
		return iter_fail(iter, err, "the row's words have no size");
	if (n_words > (iter->flex ? MAX_FLEX_WORDS : MAX_WORDS))
		return iter_fail(iter, err, "the row has too many words");
	width = 1u << width;
	if (left - start_width - 1 < (uint64_t)n_words * width)
		return iter_fail(iter, err, "the row passes the end of the rows");
	for (unsigned int i = 0; i < n_words; i++, p += width)
		words[i] = sf_load_signed(p, width, view->big_endian);
	if (!row_from(iter, info, words, n_words, width, row))
		return iter_fail(iter, err, "the row's words mean nothing for the ABI");
	iter->off = (uint64_t)(p - view->data);
	iter->left--;
	return true;
}

bool sf_rows_next(struct sf_row_iter *iter, struct sf_row *row, struct err *err)
{
	if (iter->left == 0)
		return false;
	return next_plain(iter, row) || next_any(iter, row, err);
}
