/* SPDX-License-Identifier: MIT */
/*
 * For tests: rows of a section as lines of text, that a witness is asked for.
 *
 *     START END CFA FP RA
 *
 * START and END are hexadecimal addresses. A rule is u (not saved), r7+8 (a register and an offset), c-16 (in memory,
 * at the CFA and an offset) or any other word, with which everything agrees.
 */
#ifndef TESTS_CORPUS_ROW_LINES_H
#define TESTS_CORPUS_ROW_LINES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum line_kind { LINE_ANY, LINE_UNSAVED, LINE_REGISTER, LINE_AT_CFA };

struct line_rule {
	enum line_kind kind;
	unsigned reg;
	int64_t offset;
};

struct row_line {
	uint64_t start, end;
	struct line_rule cfa, fp, ra;
};

/* Verdicts of a witness on all lines. */
struct row_counts {
	unsigned long asked, agree, none, differ;
};

/* False at the end of the file and at a line that is none; only the former is feof(). */
bool row_line_read(FILE *in, struct row_line *row);
bool line_rule_agrees(const struct line_rule *a, const struct line_rule *b);
void line_rule_print(const struct line_rule *rule);
/* The witness's rules for the byte at pc beside those of row: a line when they differ. */
void row_line_compare(const struct row_line *row, uint64_t pc,
    const struct row_line *witness, struct row_counts *counts);
/* The exit status: 1 when anything differs. Prints the counts. */
int row_counts_print(const struct row_counts *counts);

#endif
