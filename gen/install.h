/* SPDX-License-Identifier: MIT */
/*
 * The output file on its way: its body is copied while the section is made, it is proven
 * under a temporary name, and then it takes the place of what was there.
 */
#ifndef GEN_INSTALL_H
#define GEN_INSTALL_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/newfile.h"
#include "base/task.h"
#include "gen/sources/input.h"
#include "gen/insert/insert.h"
#include "gen/object/write.h"
#include "gen/options/options.h"
#include "gen/verify/verify.h"

struct install {
	const struct image *image;     /* borrowed: the input */
	const struct options *options; /* borrowed */
	char *debug_path; /* borrowed: the debug file that was read; NULL: none */
	struct newfile_input *input; /* borrowed: where it is, for the output */
	/* Called when the output is proven, before it has its place. False: it shall not get it. */
	bool (*ready)(void *context, struct err *err); /* NULL: none */
	void *context;
	struct newfile output;
	struct insert_plan plan; /* of a linked file, once there is one */
	/* Bytes of an object's code in functions that were left out as a whole, although
	 * rows were possible. */
	uint64_t left_whole;
	struct verify_held held;
	/* The copy of the input's body. */
	bool beside; /* by another thread */
	struct task copying;
	struct err copy_err;
	bool copied;
	void *shown; /* install_show; NULL: not */
};

/* Opens the output alone, without a copy of anything; out is NULL for memory, input for a plain file. */
ATTR_MUST_CHECK bool install_open(struct install *install, const char *out,
    struct newfile_input *input, const struct options *options, struct err *err);

/* Begins the copy. An error is reported when the copy is needed, if it is. */
void install_begin(struct install *install, const struct image *image,
    const struct options *options, const char *out);
/* Waits for the copy, if there is one, and lets the input's windows show it: it has the same bytes as the input until something is inserted,
 * and they do not change. install_hide ends it. */
void install_show(struct install *install);
void install_hide(struct install *install);
/* Waits for the copy. ERR_IO. */
ATTR_MUST_CHECK bool install_copied(struct install *install, struct err *err);

/*
 * Opens the file that was written, and reads it as a stranger would: as a file, by the
 * rules of its readers, and, if options ask for it, every row. model: what was written;
 * written: the code with rows. ERR_INTERNAL; ERR_MALFORMED where the input's headers have made
 * code of what an insertion changes.
 */
ATTR_MUST_CHECK bool install_prove(struct install *install,
    const struct object_output *object, const struct sf_section *model,
    const struct coverage *written, struct err *err);

/*
 * Writes the file as it was before this program put a section in, as out or in memory, and
 * puts it in its place. ERR_NOTHING when there is no such section.
 */
ATTR_MUST_CHECK bool install_original(struct install *install, const struct image *image,
    const struct options *options, const char *out, struct err *err);

/* Puts a file in its place; one in memory stays there. ERR_IO. */
ATTR_MUST_CHECK bool install_commit(struct install *install, struct err *err);
/* Removes an output that was not put in its place; keep: the bytes in memory stay. */
void install_end(struct install *install, bool keep);

#endif
