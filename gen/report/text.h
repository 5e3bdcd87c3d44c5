/* SPDX-License-Identifier: MIT */
/* Findings of a run, and answers about a section that a file has, in words for people. */
#ifndef GEN_REPORT_TEXT_H
#define GEN_REPORT_TEXT_H

#include <stdio.h>

#include "gen/report/model.h"

/* Prints the one line of a conversion. */
void report_summary(const struct report *report, FILE *out);
/* Prints how many bytes of code have been compared, with what, and how many the code alone confirms; no end
 * of line. */
void report_held(const struct verify_held *held, FILE *out);

/* Prints bars with the kinds of executable bytes. A part of report_text. */
void report_bars(const struct report *report, FILE *out);

/* Prints each function with a gap, with its reasons and rules; each without CFI; and the rows that no CFI
 * gives. All need the details. */
void report_functions(const struct report *report, FILE *out);

/* Prints a report; verbose adds the name and place of every gap. */
void report_text(const struct report *report, bool verbose, FILE *out);

/* Prints one line per gap, as -v does while converting. */
void report_gaps(const struct report *report, const char *indent, FILE *out);

/* Prints how the section got in, and why not in the ways before it, one line each. */
void report_method(const struct insert_plan *plan, const char *indent, FILE *out);

/* Prints the warnings, one line each: damaged records, code not compared with libdwarf, a
 * signature that no longer holds, the price of the method. */
void report_damage(const struct report *report, FILE *out);

/* Prints the name of the function at pc, where there is one, and the end of the line. */
void report_name(const struct report *report, uint64_t pc, FILE *out);

/* Prints a line for .debug_frame without its end, what each source gave, and each function that does not
 * have its rows from .eh_frame: nothing without .debug_frame. */
void report_source_sizes(const struct report *report, FILE *out);
void report_sources(const struct report *report, FILE *out);
void report_source_pieces(const struct report *report, FILE *out);

/* dump: the section as text. ERR_NOTHING without one. */
ATTR_MUST_CHECK bool report_dump(const struct image *image, FILE *out, struct err *err);

/* verify: differences between the section and the CFI of cfi_image, which may be the
 * same, one per line, then a summary; ERR_PROOF when there are any. */
ATTR_MUST_CHECK bool report_verify(const struct image *image,
    const struct image *cfi_image, const struct options *options, FILE *out,
    struct err *err);

/* lint: broken rules of the reader of that name, one per line, then a summary. "all" is
 * each reader that the section is meant for. ERR_MALFORMED when a rule is broken. */
ATTR_MUST_CHECK bool report_lint(const struct image *image, const char *reader,
    const struct options *options, FILE *out, struct err *err);

/*
 * Writes "NAME VERSION, NAME VERSION" of the libraries that the engine uses, as snprintf does, in the order of the alphabet.
 * Versions are those that run, and libelf's, which does not tell, is the one of the build.
 */
size_t report_libraries(char *text, size_t size);

#endif
