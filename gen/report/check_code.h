/* SPDX-License-Identifier: MIT */
/* Verdicts of the code on the CFI of one file (eh2sframe check): found once, for text and JSON. */
#ifndef GEN_REPORT_CHECK_CODE_H
#define GEN_REPORT_CHECK_CODE_H

#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/options/options.h"
#include "gen/check/validate.h"
#include "sframe/decode.h"

/* Borrows the image. The struct does not move: input does not. */
struct report_check {
	const struct image *image;
	bool of_section; /* rows are those of .sframe, not of the CFI */
	struct cfi_input input;
	struct symbols symbols;
	struct validate_result result;
};

/* Faults of one kind and in one column. */
struct report_check_group {
	size_t first; /* index of the first fault; SIZE_MAX: there are none */
	size_t n_functions;
	uint64_t n_instructions;
};

/* Checks the file. ERR_UNSUPPORTED when this build cannot decode the machine's code, ERR_MALFORMED for a
 * damaged object, ERR_NOTHING without CFI. Freed with report_check_deinit, also after a failure. */
ATTR_MUST_CHECK bool report_check_make(const struct image *image,
    const struct options *options, struct report_check *check, struct err *err);
/* Does what report_check_make does for the rows of the section that the file has. cfi_image is as for prove_section. */
ATTR_MUST_CHECK bool report_check_make_section(const struct image *image,
    const struct image *cfi_image, const struct sf_view *view,
    const struct options *options, struct report_check *check, struct err *err);
void report_check_deinit(struct report_check *check); /* accepts a zeroed struct */

/* Fails with ERR_PROOF when a row contradicts the code. */
ATTR_MUST_CHECK bool report_check_judge(
    const struct report_check *check, struct err *err);

/* Prints the rows that contradict the instructions, then a summary. verbosity as in options: -1
 * leaves the summary out, 1 prints each place. */
void report_check_print(const struct report_check *check, int verbosity, FILE *out);

struct report_check_group report_check_group_of(const struct report_check *check,
    enum validate_fault_kind kind, enum validate_column column);

/* Returns "late", "early", "missing" or "misplaced". */
const char *report_check_kind_name(enum validate_fault_kind kind);
/* Returns "CFA", "return address" or "frame pointer". */
const char *report_check_column_name(enum validate_column column);
/* Returns the rule of the row in the column that contradicts. */
const struct cfi_rule *report_check_fault_rule(const struct validate_fault *fault);

enum { REPORT_CHECK_RULE_SIZE = 96 };
/* Describes a rule: "rsp + 16", "unchanged". */
void report_check_rule_text(const struct report_check *check, const struct cfi_rule *rule,
    char text[REPORT_CHECK_RULE_SIZE]);
/* Describes the value that the rule computes in the state of the code: "CFA + 8", "rbx of the caller". */
void report_check_found_text(const struct report_check *check, struct code_value found,
    char text[REPORT_CHECK_RULE_SIZE]);
/* Returns why an FDE is neither right nor wrong, as a sentence without its end; NULL for others. */
const char *report_check_doubt_reason(const struct validate_range *range);

#endif
