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

/* CFI of the file. The struct does not move: input does not. */
struct report_marks_cfi {
	bool tried, made;	/* it was read; there is something to compare with */
	struct options options; /* borrows from those of the caller */
	struct cfi_input input;
	struct cfi_interp interp;
	size_t range;  /* whose FDE the interpreter has; SIZE_MAX: none */
	bool readable; /* its CFI */
	struct target target;
};

/* Borrows the image, the view and the options. The struct does not move. */
struct report_marks {
	const struct image *image;
	const struct sf_view *view;
	const struct options *options;
	struct report_marks_cfi all;		  /* of all sources that options name */
	struct report_marks_cfi alone[N_SOURCES]; /* of each source, once it is asked */
	struct sf_section templates;		  /* of PLTs without CFI */
	bool derive_tried;	    /* rows of code without CFI were looked for */
	bool derives;		    /* the section has them */
	bool validated;		    /* the code was asked which CFI it contradicts */
	struct cfi_table corrected; /* its rows are owned */
	bool nomem;		    /* memory ran out: rows may lack their mark */
};

/*
 * Reads what rows are compared with: only where this program put the section in. ERR_NOMEM. Freed
 * with report_marks_deinit, also after a failure.
 */
ATTR_MUST_CHECK bool report_marks_make(const struct image *image,
    const struct sf_view *view, const struct options *options, struct report_marks *marks,
    struct err *err);
void report_marks_deinit(struct report_marks *marks);

/*
 * For sf_dump; context is a struct report_marks. "repaired": somewhere there is CFI, each source
 * says something else, and the code gives the row. "derived": somewhere there is code without CFI that is not a PLT
 * known by its bytes, the instructions prove the row, and they do so for all such code.
 */
const char *report_marks_of(
    void *context, const struct sf_row *row, uint64_t start, uint64_t end);

#endif
