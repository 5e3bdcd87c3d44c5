/* SPDX-License-Identifier: MIT */
/*
 * The one place that speaks both languages: rules of CFI to locations of SFrame. Total:
 * every rule either becomes a row that says the same, or a named refusal. Nothing is
 * approximated.
 */
#ifndef GEN_ROWS_REDUCE_H
#define GEN_ROWS_REDUCE_H

#include "base/attr.h"
#include "cfi/row.h"
#include "gen/rows/refusal.h"
#include "gen/rows/target.h"
#include "sframe/model.h"

/*
 * Writes row's rules to *out (start left 0), or returns why it cannot (*out is then
 * undefined): first what no version of SFrame can hold, then what the target's cannot.
 */
enum refusal reduce_row(
    const struct target *target, const struct cfi_row *row, struct sf_row *out);

/*
 * The part of a CFA from memory that a rule can hold and no row can: it is *(reg + (index
 * << shift) + off) + cfa_add. Any other CFA has 0 in all of these.
 */
struct reduce_more {
	int32_t cfa_add;
	bool indexed; /* index and shift count */
	uint8_t index, shift;
};

/*
 * Writes the rules of a row that is refused to *out and *more. False where these cannot
 * hold all of it, and for a doubtful row.
 */
bool reduce_rule(const struct target *target, const struct cfi_row *row,
    struct sf_row *out, struct reduce_more *more);

/* Gets every stretch of code that is left out: addresses, end exclusive, and its row. */
struct reduce_sink {
	bool (*refused)(void *context, enum refusal why, uint64_t start, uint64_t end,
	    const struct cfi_row *row);
	void *context;
};

/*
 * Appends to section the functions that describe the part [start, end) of table: one when
 * all its rows are representable, else one per representable stretch, with holes between.
 * Equal neighbouring rows become one; a function with more rows than the target can count
 * becomes several. The part lies inside the table and is smaller than
 * 4 GiB. False when memory runs out or the sink says so.
 */
ATTR_MUST_CHECK bool reduce_table(const struct target *target,
    const struct cfi_table *table, uint64_t start, uint64_t end,
    const struct reduce_sink *sink, struct sf_section *section);

#endif
