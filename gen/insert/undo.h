/* SPDX-License-Identifier: MIT */
/*
 * Takes a section out that this program put in. insert_image leaves every original byte in
 * place, except in a few ranges (the ELF header, a header table, padding). A record after
 * the loaded bytes holds these. Undoing cuts the file and puts the ranges back. The result
 * is the original, byte for byte.
 */
#ifndef GEN_INSERT_UNDO_H
#define GEN_INSERT_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/elf/image.h"

/* Borrows the image it was found in (must outlive it). */
struct undo {
	uint64_t size; /* of the original file, bytes; at most the image's size */
	const uint8_t *ranges;
	size_t ranges_size, n_ranges;
	bool big_endian;
};

/*
 * Finds the record. *found is false when the image has none. ERR_UNSUPPORTED when there
 * is one but the file was changed since (strip, objcopy), so that it no longer leads
 * back.
 */
ATTR_MUST_CHECK bool undo_find(
    const struct image *image, struct undo *undo, bool *found, struct err *err);

/*
 * The ranges one after the other, ascending and inside the original; *pos starts as 0.
 * False behind the last one.
 */
ATTR_MUST_CHECK bool undo_next(
    const struct undo *undo, size_t *pos, struct image_patch *range);

/* Fills in all ranges, which borrow the record; returns their number. */
size_t undo_patches(
    const struct undo *undo, struct image_patch patches[IMAGE_MAX_RESTORED]);

/* Writes the original file to fd (open for writing, at offset 0, empty). ERR_IO. */
ATTR_MUST_CHECK bool undo_write(
    const struct image *image, const struct undo *undo, int fd, struct err *err);

#endif
