/* SPDX-License-Identifier: MIT */
/* Inside the writer: the rows of the functions as blocks of bytes. */
#ifndef SFRAME_ENCODE_FUNCS_H
#define SFRAME_ENCODE_FUNCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "sframe/blocks.h"
#include "sframe/layout.h"

/* A function as stored. */
struct sf_encoded {
	uint32_t block;	     /* index into the blocks */
	uint32_t last_start; /* of its last row */
};

/* Borrows everything. */
struct sf_encoding {
	const struct sf_section *section;
	const struct sf_encode_options *options;
	const struct sf_abi *abi;
	const struct sf_layout *layout;
	bool share;
};

struct sf_encode_funcs {
	const struct sf_encoding *encoding;
	struct wr rows;		 /* owned, as is all that follows; the blocks' bytes */
	struct sf_blocks blocks; /* in rows */
	struct sf_encoded *funcs;
	size_t n_funcs, cap_funcs;
	uint64_t n_rows, n_bytes; /* of all functions, shared ones each time */
	/* By sf_func.first_row: 0, or 1 + the index of the function that had these rows
	 * first. NULL: not kept. */
	uint32_t *func_of_rows;
};

/*
 * Checks and encodes all functions, where nothing but the encoding is set. False: ERR_UNSUPPORTED,
 * ERR_LIMIT, ERR_NOMEM, and ERR_INTERNAL for a model that is not as sf_encode demands.
 */
ATTR_MUST_CHECK bool sf_encode_funcs_run(struct sf_encode_funcs *funcs, struct err *err);
/* Appends the FDEs to out, once the blocks have their final places. False: ERR_LIMIT. */
ATTR_MUST_CHECK bool sf_encode_funcs_index(
    const struct sf_encode_funcs *funcs, struct wr *out, struct err *err);
void sf_encode_funcs_deinit(struct sf_encode_funcs *funcs);

/*
 * How many functions of the section one function of the model becomes. A version that cannot say how long a PCMASK block is gets every block as a function.
 */
uint64_t sf_stored_funcs(const struct sf_layout *layout, const struct sf_func *func);

#endif
