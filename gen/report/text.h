/* SPDX-License-Identifier: MIT */
/* What a run found, in words for people. */
#ifndef GEN_REPORT_TEXT_H
#define GEN_REPORT_TEXT_H

#include <stdio.h>

#include "gen/report/report_model.h"

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

#endif
