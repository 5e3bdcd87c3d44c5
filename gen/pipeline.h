/* SPDX-License-Identifier: MIT */
/* The whole line for one file; gen/pipeline.c is the file to read first. */
#ifndef GEN_PIPELINE_H
#define GEN_PIPELINE_H

#include "base/attr.h"
#include "base/err.h"
#include "base/task.h"
#include "base/wr.h"
#include "gen/elf/image.h"
#include "gen/object/write.h"
#include "gen/options.h"
#include "base/newfile.h"
#include "gen/report/text.h"
#include "gen/source.h"
#include "gen/insert/insert.h"
#include "sframe/encode.h"
#include "sframe/model.h"

/*
 * All that the stages make of one file, so that one function can free it whatever
 * happened. Opened by filling in options and image; does not move afterwards, for its
 * members refer to each other.
 */
struct pipeline {
	const struct options *options; /* borrowed */
	struct image image;
	/* What was opened, once image is the original of it; else without a path. */
	struct image refreshed;
	struct source source;
	struct sf_section model;
	struct sf_encode_options encoding;
	struct wr bytes;
	struct insert_plan plan;
	struct object_output object; /* of a relocatable object */
	uint64_t left_whole;	     /* bytes of code that it could have had rows for */
	struct newfile output;
	struct report report;
	bool made; /* from source to bytes all is there */
	bool keep; /* the model is wanted after the section was written */
	/* The output's body, which is copied while the section is made. */
	bool beside; /* by another thread */
	struct task copying;
	struct err copy_err;
	bool copied;
};

/* From .eh_frame to the section's bytes, all but their function starts; once. */
ATTR_MUST_CHECK bool pipeline_make(struct pipeline *line, struct err *err);

/* Whether what was made is worth writing: ERR_UNSUPPORTED without a function,
 * ERR_COVERAGE. */
ATTR_MUST_CHECK bool pipeline_worthwhile(const struct pipeline *line, struct err *err);

/* What each FDE costs, into the report of what was made. */
ATTR_MUST_CHECK bool pipeline_costs(struct pipeline *line, struct err *err);

/*
 * The section's bytes for an address, in line->bytes, proven; made before if need be. The
 * file may have a section already, which is not looked at.
 */
ATTR_MUST_CHECK bool pipeline_section(
    struct pipeline *line, uint64_t addr, struct err *err);

/* As pipeline_section, as a file of its own. On failure out is as it was. */
ATTR_MUST_CHECK bool pipeline_write_section(
    struct pipeline *line, uint64_t addr, const char *out, struct err *err);

/*
 * The file with the section in, proven and checked, as the file out; NULL: in memory, for
 * newfile_take of line->output. On failure out is as it was. ERR_NOTHING where the file
 * has a section already, unless options say to replace it.
 */
ATTR_MUST_CHECK bool pipeline_write(
    struct pipeline *line, const char *out, struct err *err);

/* The file without what this program put in; else as pipeline_write. */
ATTR_MUST_CHECK bool pipeline_remove(
    struct pipeline *line, const char *out, struct err *err);

/* The file as it was opened, with the section that it has. */
const struct image *pipeline_opened(const struct pipeline *line);

/* Frees what was made and leaves the file open. */
void pipeline_unmake(struct pipeline *line);
void pipeline_deinit(struct pipeline *line);

#endif
