/* SPDX-License-Identifier: MIT */
/* A profile with names, written in several formats. */
#ifndef PROFILE_OUTPUT_OUTPUT_H
#define PROFILE_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/profile.h"
#include "profile/symbols/naming.h"

/*
 * Stacks share their ends in a recording, and not in a text. So a small hostile file could
 * become a text of any size. What would have more bytes than this is ERR_LIMIT.
 */
#define OUTPUT_MAX_SIZE (UINT64_C(64) << 30)

/*
 * Each writes all samples to a stream. The order depends on the recording alone. Failures of the
 * stream show in ferror. ERR_NOMEM, ERR_LIMIT.
 */

/* A line for each stack: "NAME;OUTERMOST;...;INNERMOST SAMPLES". */
ATTR_MUST_CHECK bool output_folded(const struct profile *profile,
    const struct naming *naming, FILE *out, struct err *err);
/* A page for browsers. */
ATTR_MUST_CHECK bool output_page(const struct profile *profile,
    const struct naming *naming, const char *version, FILE *out, struct err *err);
/* The processed format of the Firefox Profiler (JSON). */
ATTR_MUST_CHECK bool output_firefox(const struct profile *profile,
    const struct naming *naming, const char *version, FILE *out, struct err *err);

/* The names of all functions, as strings of JSON with commas between them. */
void output_names(const struct naming *naming, FILE *out);

/* The page without its data: the lines before and after that, which base/page/embed.py makes from the files in page/. */
extern const char *const output_page_head[], *const output_page_tail[];

/*
 * Writes any bytes as a JSON string, with its quotes. What is not UTF-8 becomes U+FFFD. The
 * characters of markup are escaped, so that no text ends the element that it is in.
 */
void json_text_write(const char *text, FILE *out);
/* A further member of an object. */
void json_text_member(const char *name, const char *text, FILE *out);

#endif
