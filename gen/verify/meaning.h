/* SPDX-License-Identifier: MIT */
/*
 * When a row of SFrame and a row of CFI are the same answer. Defined once, in terms of
 * what an unwinder would compute (CFA, caller's SP, RA and FP over symbolic registers),
 * and not by way of the reducer, which it is there to prove.
 */
#ifndef GEN_VERIFY_MEANING_H
#define GEN_VERIFY_MEANING_H

#include <stdbool.h>
#include <stddef.h>

#include "cfi/row.h"
#include "gen/rows/target.h"
#include "sframe/model.h"

/* The columns in which an answer can differ. */
enum meaning_column {
	MEANING_SAME,
	MEANING_CFA,
	MEANING_SP,
	MEANING_RA,
	MEANING_FP,
	MEANING_RA_SIGNED,
};

/* MEANING_SAME, or the first column in which the rows differ. */
enum meaning_column meaning_compare(
    const struct target *target, const struct sf_row *sframe, const struct cfi_row *cfi);

const char *meaning_column_name(enum meaning_column column);

/* A CFI rule as its formula, for messages: "rsp + 16", "*(CFA - 8)". Writes at most size
 * bytes. */
void meaning_rule_text(
    const struct arch *arch, const struct cfi_rule *rule, char *buf, size_t size);

/* The CFI rule that an SFrame row amounts to in a column other than MEANING_SAME and
 * RA_SIGNED. */
struct cfi_rule meaning_rule_of(
    const struct arch *arch, const struct sf_row *row, enum meaning_column column);

#endif
