/* SPDX-License-Identifier: MIT */
/*
 * Where the section goes in the file, and the file with it in. The layout moves the
 * program header table into a new read-only PT_LOAD above everything, together with the
 * section; no byte of the input outside the ELF header changes (docs/ARCHITECTURE.md,
 * "Insertion").
 *
 * Not done with libelf: its writer zero-fills between the ELF header and a moved program
 * header table, that is, all code, and reports success.
 */
#ifndef GEN_WRITE_H
#define GEN_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/image.h"

struct write_plan {
	uint64_t sframe_addr;  /* of the section once loaded, unbiased */
	uint64_t sframe_off;   /* in the output file */
	uint64_t sframe_size;  /* bytes */
	uint64_t segment_addr; /* of the new PT_LOAD; its file offset is congruent */
	uint64_t segment_off, segment_size;
	uint64_t segment_align;
	uint64_t phdr_off; /* of the program header table, in the output file */
	uint64_t shdr_off; /* of the section header table, in the output file */
	uint64_t
		strtab_off; /* of the new section name table; 0 without section headers */
	uint64_t file_size; /* bytes of the output */
};

/*
 * Plans a section of sframe_size bytes into image. ERR_UNSUPPORTED or ERR_LIMIT, naming
 * the reason, when no place is safe.
 */
ATTR_MUST_CHECK bool write_plan(const struct image *image, uint64_t sframe_size,
	struct write_plan *plan, struct err *err);

/* Writes the whole output to fd (open for writing, at offset 0, empty). ERR_IO. */
ATTR_MUST_CHECK bool write_image(const struct image *image, const struct write_plan *plan,
	const uint8_t *sframe, int fd, struct err *err);

/*
 * Checks the finished file against the input: original sections and segments where they
 * were, with their bytes; PT_LOADs ascending, not overlapping, congruent; the section
 * mapped and covered by PT_GNU_SFRAME. ERR_INTERNAL names what is off.
 */
ATTR_MUST_CHECK bool write_check(
	const struct image *input, const struct image *output, struct err *err);

#endif
