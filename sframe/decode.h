/* SPDX-License-Identifier: MIT */
/*
 * Section bytes to functions and rows, of any version, either byte order,
 * section-relative or PCREL. Total on hostile bytes: every access is checked, and the
 * work is bounded by a multiple of the section's size. Nothing is allocated; rows are
 * read in place, one function at a time.
 */
#ifndef SFRAME_DECODE_H
#define SFRAME_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "sframe/model.h"

struct sf_abi; /* sframe/format.h */

struct sf_view {
	const uint8_t *data; /* borrowed */
	size_t size;	     /* bytes; may be more than header and sub-sections need */
	uint64_t addr;	     /* of data[0] */
	bool big_endian;     /* found from the magic */
	uint8_t version, flags, abi, auxhdr_len;
	int8_t fixed_fp_off, fixed_ra_off;
	uint32_t n_funcs, n_rows;   /* as the header says */
	uint32_t row_len;	    /* fre_len */
	uint64_t func_off, row_off; /* sub-sections, from data[0] */
	uint8_t func_size;	    /* bytes of one FDE */
};

/* One function as stored; model members as in sf_func, first_row unused (0). */
struct sf_view_func {
	struct sf_func func;
	uint64_t field_off; /* of the FDE, from data[0] */
	uint32_t rows_off;  /* of its first row, from the FRE sub-section */
	uint8_t row_type;   /* SFRAME_FRE_TYPE_* */
	bool flex;	    /* version 3: rows are control words and offsets */
};

struct sf_row_iter {
	const struct sf_view *view;
	const struct sf_abi *abi; /* NULL: unknown, no row can be read */
	uint64_t off;		  /* of the next row, from data[0] */
	uint32_t left;		  /* rows */
	uint64_t plain_end; /* a row up to here that has only offsets is read at once */
	uint32_t start_mask;
	uint8_t start_width; /* bytes */
	uint8_t max_words;
	bool flex;
	bool failed; /* a row is damaged; err says how */
};

/* Checks the header and that both sub-sections lie inside. ERR_MALFORMED or
 * ERR_UNSUPPORTED. */
ATTR_MUST_CHECK bool sf_view_open(
    const void *data, size_t size, uint64_t addr, struct sf_view *view, struct err *err);

/*
 * FDE number i < n_funcs. ERR_MALFORMED when its info byte or its rows' place is
 * impossible. In version 1, which does not say it, rep_size is SF_V1_REP_SIZE.
 * Without PCMASK it is 0 whatever the FDE has there, for nothing is repeated.
 */
ATTR_MUST_CHECK bool sf_view_func(
    const struct sf_view *view, uint32_t i, struct sf_view_func *func, struct err *err);

void sf_rows_begin(const struct sf_view *view, const struct sf_view_func *func,
    struct sf_row_iter *iter);
/* The next row; false at the end, or with iter->failed and err set on damage. */
bool sf_rows_next(struct sf_row_iter *iter, struct sf_row *row, struct err *err);

#endif
