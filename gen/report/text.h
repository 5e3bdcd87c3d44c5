/* SPDX-License-Identifier: MIT */
/* What a run found, in words for people. */
#ifndef GEN_REPORT_TEXT_H
#define GEN_REPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "gen/rows/coverage.h"
#include "sframe/cost.h"
#include "gen/rows/cfi_input.h"
#include "gen/insert/insert.h"
#include "sframe/encode.h"
#include "sframe/compact/compact.h"

/* Borrows input. */
struct report {
	const char *path;  /* as given */
	const char *shown; /* for messages */
	const struct cfi_input *input;
	struct coverage coverage;
	const struct insert_plan *plan; /* borrowed; NULL when nothing was inserted */
	struct sf_encode_stats stats;
	struct sf_costs costs;		 /* empty unless asked for */
	struct sf_compact_stats compact; /* all 0 with --optimize=none, and for objects */
	uint64_t sframe_size;		 /* bytes */
	size_t n_funcs, n_rows;		 /* in the section */
	uint8_t version;
	bool signature_void; /* a module's, still behind the file */
};

/* The one line that a conversion prints. */
void report_summary(const struct report *report, FILE *out);

/* The text of --report; verbose adds the name and place of every gap, and what
 * each FDE costs. */
void report_text(const struct report *report, bool verbose, FILE *out);

/* One line per gap, as -v prints them while converting. */
void report_gaps(const struct report *report, const char *indent, FILE *out);

/* How the section got in, and why not in the ways before it, one line each. */
void report_method(const struct insert_plan *plan, const char *indent, FILE *out);

/* What the user must know besides: damaged records, a signature that no longer holds, what the
 * method costs. One line each. */
void report_damage(const struct report *report, FILE *out);

void report_deinit(struct report *report);

#endif
