/* SPDX-License-Identifier: MIT */
/*
 * Inside the writer: what encode.c, which knows what versions have in common, and the one
 * file per version, which knows the rest, say to each other.
 */
#ifndef SFRAME_LAYOUT_H
#define SFRAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/wr.h"
#include "sframe/blocks.h"
#include "sframe/format.h"
#include "sframe/model.h"

struct sf_layout;

struct sf_encoder {
	const struct sf_section *section; /* borrowed, like abi, layout and out */
	const struct sf_abi *abi;
	const struct sf_layout *layout;
	bool share;
	struct wr *out; /* header and functions, finally the rows too */
	struct wr rows; /* owned; the FRE sub-section as far as stored */
	struct sf_blocks blocks;
	uint32_t n_funcs;
	uint32_t n_rows;    /* of all functions, however they are stored */
	uint32_t index_len; /* bytes of the FDE array */
	size_t shared_away; /* bytes */
};

/* How one version lays a function out. */
struct sf_layout {
	uint8_t version;
	uint8_t func_size; /* bytes of one FDE */
	uint8_t flags;	   /* those it defines */
	/* Appends to enc->rows all that the FRE sub-section holds of one function. */
	bool (*put_rows)(
		struct sf_encoder *enc, const struct sf_func *func, struct err *err);
	/* Appends the FDE to enc->out, with start field 0. */
	void (*put_func)(
		struct sf_encoder *enc, const struct sf_func *func, uint32_t rows_off);
	/* Fills in the start field at off; false when the distance does not fit. */
	bool (*put_start)(struct wr *out, size_t off, uint64_t base, uint64_t start);
};

extern const struct sf_layout sf_layout_v2;

#endif
