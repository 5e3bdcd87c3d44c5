/* SPDX-License-Identifier: MIT */
/*
 * Inside the optimiser. The text is read in stretches of some ten thousand functions,
 * each as a line of elements: a place where the row changes, or a function starts. A cut
 * may be made before any of them. Everything that is asked of a piece between two cuts,
 * its bytes and a hash of what it would store, is a difference of sums along the line.
 */
#ifndef SFRAME_COMPACT_INTERNAL_H
#define SFRAME_COMPACT_INTERNAL_H

#include "base/hash.h"
#include "base/hash_slots.h"
#include "sframe/compact/compact.h"
#include "sframe/layout.h"

/* Bytes of a piece: the size of an FDE has 32 bits, and some readers take it as signed.
 */
#define COMPACT_SIZE_MAX ((uint64_t)INT32_MAX)

/* The distinct rows of the model, starts apart. */
struct compact_kind {
	struct sf_row row; /* its start is 0 */
	uint32_t len;	   /* bytes but for its start */
};

struct compact_kinds {
	struct compact_kind *list; /* owned */
	size_t n, cap;
	struct slots slots; /* owned */
	struct hash_key key;
	uint32_t *of_row; /* owned; by the model's rows */
};

struct compact_element {
	uint64_t addr;
	uint64_t hash;	      /* of the counted elements before it */
	uint32_t func;	      /* of the model */
	uint32_t kind;	      /* of the row that holds from here on */
	uint32_t rows, bytes; /* of the counted elements before it on the line */
	uint32_t next;	      /* the first counted element behind it */
	uint32_t chain;	      /* where the chain of functions without a border begins */
	uint32_t begin;	      /* of its function */
	uint32_t last;	      /* the last counted one that is not behind it */
	bool counted; /* its row differs from the one before, or it begins a chain */
};

/* Some functions of the model, as a line of elements. */
struct compact_line {
	struct compact_element *list; /* owned; n of them, and one more that ends it */
	size_t n, cap;
	uint32_t *marks; /* owned; elements where cuts for pieces to share are tried,
			    finally n */
	size_t n_marks, cap_marks;
	size_t end;		    /* the function behind it */
	struct compact_element sum; /* of what was added so far */
};

struct compact {
	const struct sf_section *section;
	const struct sf_compact_options *options;
	const struct sf_abi *abi;
	const struct sf_layout *layout;
	uint32_t piece_len; /* bytes of a piece besides its rows: the FDE */
	uint32_t attr_len;  /* and what stands before the rows */
	struct compact_kinds kinds;
	struct compact_line line;
	uint64_t *powers; /* owned; of the hash's base */
	size_t n_powers, cap_powers;
	size_t taken;	/* index into options->taken: where the last border was */
	bool *joins;	/* owned; by function: a piece may hold it and the one before */
	size_t n_equal; /* of them, where both have the same single row */
};

/* A piece [from, to) of elements, as a stored block. */
struct compact_piece {
	uint32_t from, to;
	uint32_t n_rows, len; /* len: bytes that would be stored */
	uint64_t hash;
};

/* Fills in what does not depend on the rows; false when there is no such version or ABI. */
ATTR_MUST_CHECK bool compact_begin(struct compact *compact,
    const struct sf_section *section, const struct sf_compact_options *options,
    struct err *err);
ATTR_MUST_CHECK bool compact_kinds_read(struct compact *compact);
/* Asks once where pieces may not go on, for all lines. */
ATTR_MUST_CHECK bool compact_joins_read(struct compact *compact);
/* Fills compact->line with functions from number first on. */
ATTR_MUST_CHECK bool compact_line_read(struct compact *compact, size_t first);
/* True if the function may be cut or joined at all. */
bool compact_movable(const struct compact *compact, const struct sf_func *func);
/* True if both functions have one and the same row. */
bool compact_equal_rows(
    const struct sf_section *section, const struct sf_func *a, const struct sf_func *b);
/* True if no piece may hold both functions: something between them belongs to somebody, or they are
 * far apart, or differ in what an FDE says as a whole. Asked in ascending order, of neighbours. */
bool compact_border(
    struct compact *compact, const struct sf_func *a, const struct sf_func *b);
/* Returns the rows, the bytes and the hash of a piece. */
struct compact_piece compact_piece_at(
    const struct compact *compact, uint32_t from, uint32_t to);
void compact_deinit(struct compact *compact);

static inline uint32_t compact_rows(
    const struct compact_line *line, uint32_t from, uint32_t to)
{
	return 1 + line->list[to].rows - line->list[from + 1].rows;
}

static inline bool compact_begins(const struct compact_line *line, uint32_t at)
{
	return at == line->n || line->list[at].begin == at;
}

#endif
