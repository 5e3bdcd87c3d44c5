/* SPDX-License-Identifier: MIT */
/*
 * Conversion of an object: one .sframe for all of it, or one for each group or section of
 * code, with relocations for the starts of functions. Everything that was in the file
 * stays where it is; new bytes stand behind it.
 */
#ifndef GEN_OBJECT_WRITE_H
#define GEN_OBJECT_WRITE_H

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "gen/rows/coverage.h"
#include "gen/sources/input.h"
#include "gen/options/options.h"
#include "gen/rows/cfi_input.h"
#include "sframe/encode.h"
#include "sframe/model.h"

/* One .sframe section. */
struct object_sframe {
	size_t first, n; /* functions of the model */
	size_t text;	 /* the one section of code that it is for; 0: there are more */
	uint32_t group;	 /* the group that it goes with; 0: none */
	struct wr bytes;
	uint64_t off, rela_off; /* in the output */
};

struct object_output {
	struct object_sframe *sframes;
	size_t n_sframes;
	bool pcrel;
	uint8_t version;
	uint64_t file_size; /* bytes of the output; 0: it was not written */
	/* The input has a signature, which the output has no longer. */
	bool signed_module;
};

/* Refuses options that are not for objects, and asks for the one that is needed, by name. */
ATTR_MUST_CHECK bool object_options(const struct options *options, struct err *err);

/*
 * Takes functions out of the model that have rows for a part of their code only: linkers
 * drop or keep a function as a whole. *dropped gets the bytes of code that could have
 * had a row.
 */
ATTR_MUST_CHECK bool object_keep_whole(const struct cfi_input *input,
    struct sf_section *model, struct coverage *coverage, uint64_t *dropped,
    struct err *err);

/* Makes the sections' bytes; stats gets their sum. Sorts the model by section. */
ATTR_MUST_CHECK bool object_encode(const struct image *image,
    const struct options *options, struct sf_section *model, struct object_output *output,
    struct sf_encode_stats *stats, struct err *err);

/* Writes all but what insert_body has copied to fd. */
ATTR_MUST_CHECK bool object_write(const struct image *image,
    const struct sf_section *model, struct object_output *output, int fd,
    struct err *err);

/* Compares what was written with the input, byte by byte. ERR_INTERNAL names what is off. */
ATTR_MUST_CHECK bool object_check(const struct image *input,
    const struct object_output *output, const struct image *written, struct err *err);

void object_output_deinit(struct object_output *output);

#endif
