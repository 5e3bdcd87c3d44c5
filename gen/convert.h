/* SPDX-License-Identifier: MIT */
/* The conversion of one file; gen/convert.c is the file to read first. */
#ifndef GEN_CONVERT_H
#define GEN_CONVERT_H

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "gen/sources/input.h"
#include "gen/install.h"
#include "gen/object/write.h"
#include "gen/options/options.h"
#include "gen/report/text.h"
#include "gen/rows/cfi_input.h"
#include "sframe/encode.h"
#include "sframe/model.h"

/*
 * All that the stages make of one file, so that one function can free it whatever
 * happened. It does not move, because its members refer to each other.
 */
struct conversion {
	const struct options *options; /* borrowed */
	const struct image *opened;    /* borrowed: the file as it is */
	/* The file before this program put a section in; without a path if not needed. */
	struct image original;
	const struct image *image; /* what is converted: one of the two */
	struct err obstacle; /* why the file cannot be written; ERR_NONE if it can */
	struct cfi_input input;
	struct sf_section model;
	struct sf_encode_options encoding;
	struct wr bytes;	     /* the section of a linked file */
	struct object_output object; /* the sections of a relocatable object */
	struct report report;
	struct install install;
	bool made; /* from input to bytes all is there */
};

/*
 * Begins the conversion of an open file; both are borrowed. Where options say to replace the section,
 * the original of the file is converted. Finds the obstacle to writing, if any.
 */
void convert_begin(
    struct conversion *conv, const struct image *opened, const struct options *options);

/* Makes the section's bytes from .eh_frame, all but their function starts; once. */
ATTR_MUST_CHECK bool convert_generate(struct conversion *conv, struct err *err);

/*
 * Writes the file with the section in, proven and checked, as the file out; NULL: in memory, for
 * newfile_take of conv->install.output. On failure out is as it was. ERR_NOTHING where the file has a
 * section already, unless options say to replace it. Generates first if need be.
 */
ATTR_MUST_CHECK bool convert_write(
    struct conversion *conv, const char *out, struct err *err);

/* Always false: --min-coverage was given, and there is code, but no CFI. */
bool convert_no_cfi(const struct conversion *conv, struct err *err);

/* True if the result is worth writing; else ERR_USAGE for a pattern that matches nothing,
 * ERR_UNSUPPORTED without a function, ERR_COVERAGE. */
ATTR_MUST_CHECK bool convert_worthwhile(const struct conversion *conv, struct err *err);
/* True if the output that was written is as small as options demand; else ERR_COVERAGE. */
ATTR_MUST_CHECK bool convert_growth(const struct conversion *conv, struct err *err);

/*
 * Makes the section's bytes for an address, in conv->bytes, proven; generates first if
 * need be. A section that the file has already is ignored.
 */
ATTR_MUST_CHECK bool convert_section(
    struct conversion *conv, uint64_t addr, struct err *err);

/* As convert_section, as a file of its own. On failure out is as it was. */
ATTR_MUST_CHECK bool convert_write_section(
    struct conversion *conv, uint64_t addr, const char *out, struct err *err);

/* Returns the bytes of code that the section to be replaced describes, and the new one does
 * not, as far as numbers tell; 0 without such a section. */
uint64_t convert_lost(const struct conversion *conv);

/* True if this program put a section into the file, and can give back the file of before. */
bool convert_leads_back(const struct image *image);

void convert_deinit(struct conversion *conv);

#endif
