/* SPDX-License-Identifier: MIT */
/*
 * Which rows of a section are not from the CFI of the same file: marks for --dump. A section has
 * no room for them, so each row is compared with the CFI again.
 */
#ifndef GEN_REPORT_DUMP_MARKS_H
#define GEN_REPORT_DUMP_MARKS_H

#include "base/attr.h"
#include "base/err.h"
#include "cfi/interp.h"
#include "gen/options/options.h"
#include "gen/rows/cfi_input.h"
#include "gen/rows/target.h"
#include "sframe/dump.h"

/* Borrows the image and the view. The struct does not move: input does not. */
struct report_marks {
	const struct image *image;
	const struct sf_view *view;
	bool made; /* there is something to compare with */
	struct cfi_input input;
	struct sf_section templates; /* of PLTs without CFI */
	struct cfi_interp interp;
	size_t range;  /* whose FDE the interpreter has; SIZE_MAX: none */
	bool readable; /* its CFI */
	struct target target;
	bool nomem; /* memory ran out: rows may lack their mark */
};

/*
 * Reads what rows are compared with: only where this program put the section in, and the file
 * has CFI that can be read. ERR_NOMEM. Freed with report_marks_deinit, also after a failure.
 */
ATTR_MUST_CHECK bool report_marks_make(const struct image *image,
    const struct sf_view *view, const struct options *options, struct report_marks *marks,
    struct err *err);
void report_marks_deinit(struct report_marks *marks);

/*
 * For sf_dump; context is a struct report_marks. "repaired": somewhere the CFI says something else.
 * "derived": somewhere there is code without CFI, and not a PLT that is known by its bytes.
 */
const char *report_marks_of(
    void *context, const struct sf_row *row, uint64_t start, uint64_t end);

#endif
