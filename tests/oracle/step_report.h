/* SPDX-License-Identifier: MIT */
/* Counts, the list of differences, and the stepper's output. */
#ifndef TESTS_ORACLE_STEP_REPORT_H
#define TESTS_ORACLE_STEP_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/oracle/step_module.h"
#include "tests/oracle/step_shadow.h"

/* The caller's frame, by the shadow stack or by a row. */
struct step_values {
	uint64_t cfa, ra, fp;
};

enum step_kind { STEP_CFA, STEP_RA, STEP_FP, STEP_N_KINDS };

/* Differences of one kind at one PC. */
struct step_diff {
	const struct step_module *module;
	uint64_t pc, func_start, expected, got; /* of the first */
	uint64_t count;
	char function[128]; /* "" when it has no name */
	enum step_kind kind;
	enum step_mark mark; /* of the row */
	bool is_known;
};

struct step_known {
	char function[128];
	enum step_kind kind;
};

struct step_report {
	uint64_t steps;
	struct step_diff *diffs;
	size_t n_diffs, cap_diffs;
	struct step_known *known;
	size_t n_known, cap_known;
	bool failed; /* memory ran out */
};

/* known_path may be NULL. */
bool step_report_init(struct step_report *report, const char *known_path);
void step_report_deinit(struct step_report *report);

/* Counts an instruction; true when it has a row to compare. */
bool step_report_step(struct step_report *report, const struct step_pc *at);

void step_report_compared(struct step_report *report, const struct step_pc *at,
    const struct step_values *expected, const struct step_values *got);

/* The least that must have been compared. */
struct step_least {
	uint64_t matched, plt, marked;
	bool all_plt;
	uint64_t distinct; /* addresses with a marked row */
};

/* Prints, for each kind of row that no CFI gave, what was compared, and how many rows no run reached.
 * (step_shown.c) */
void step_shown_print(const struct step_module *module);

/* Prints all; true when nothing differed and enough was compared. */
bool step_report_print(const struct step_report *report,
    const struct step_modules *modules, const struct step_shadow *shadow,
    const struct step_least *least);

#endif
