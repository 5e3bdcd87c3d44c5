/* SPDX-License-Identifier: MIT */
/*
 * --compare: what every format would cost for the functions and rows of one linked file.
 * SFrame's numbers come from the engine, the others from formats/. This is the only place
 * that knows both.
 */
#ifndef GEN_REPORT_COMPARE_H
#define GEN_REPORT_COMPARE_H

#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "formats/formats.h"
#include "gen/input/input.h"
#include "gen/options/options.h"
#include "gen/rows/cfi_input.h"

/* Code that a format does not express, by reason. Reasons of SFrame are refusals. */
struct report_escape {
	const char *reason, *text; /* its name, and a sentence's part; static */
	uint64_t functions, bytes; /* FDEs with such code; of code */
};

#define REPORT_MAX_ESCAPES 40

struct report_format {
	char name[32];
	uint64_t bytes;	     /* of all its tables */
	uint64_t functions;  /* FDEs that it expresses as far as it promises */
	uint64_t code_bytes; /* with the right answer */
	bool calls_only;     /* its answers hold at calls, else at every PC */
	struct report_escape escapes[REPORT_MAX_ESCAPES];
	size_t n_escapes;
};

/* .eh_frame, then 3 for each version of SFrame that the machine has, then the others. */
#define REPORT_MAX_FORMATS 24

struct report_formats {
	struct report_format *list; /* owned */
	size_t n;
	/* Of the file: what each format is asked to express. */
	uint64_t functions, code_bytes;
};

/* Reads the CFI of the image once more; options say how many threads. An object has no
 * formats, because a linker decides what they cost. ERR_NOMEM, ERR_NOTHING without CFI. */
ATTR_MUST_CHECK bool report_compare(const struct image *image,
    const struct options *options, struct report_formats *formats, struct err *err);
void report_formats_deinit(struct report_formats *formats); /* accepts a zeroed struct */

/* What formats/ wants to know of a file; borrows both. */
struct formats_input report_formats_input(
    const struct image *image, const struct cfi_input *input);

/* The table; nothing without formats. */
void report_formats_text(const struct report_formats *formats, FILE *out);
/* A new json_t array, or NULL when memory runs out. */
void *report_formats_json(const struct report_formats *formats);

#endif
