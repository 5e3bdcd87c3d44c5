/* SPDX-License-Identifier: MIT */
/*
 * When a row of SFrame and a row of CFI are the same answer. Defined once, in terms of
 * what an unwinder would compute (CFA, caller's SP, RA and FP over symbolic registers),
 * and not by way of the reducer, which it is there to prove.
 */
#ifndef GEN_VERIFY_ANSWER_H
#define GEN_VERIFY_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "cfi/row.h"
#include "gen/target.h"
#include "sframe/model.h"

/* The columns in which an answer can differ. */
enum answer_column {
	ANSWER_SAME,
	ANSWER_CFA,
	ANSWER_SP,
	ANSWER_RA,
	ANSWER_FP,
	ANSWER_RA_SIGNED,
};

/* ANSWER_SAME, or the first column in which the rows differ. */
enum answer_column answer_compare(const struct target *target,
	const struct sf_row *sframe, const struct cfi_row *cfi);

const char *answer_column_name(enum answer_column column);

/* A CFI rule as its formula, for messages: "rsp+16", "*(cfa-8)". Writes at most size
 * bytes. */
void answer_rule_text(
	const struct arch *arch, const struct cfi_rule *rule, char *buf, size_t size);

/* The CFI rule that an SFrame row amounts to in a column other than ANSWER_SAME and
 * RA_SIGNED. */
struct cfi_rule answer_rule_of(
	const struct arch *arch, const struct sf_row *row, enum answer_column column);

#endif
