/* SPDX-License-Identifier: MIT */
/*
 * Takes a section out again that this program put in. write_image leaves a record of the
 * original ELF header in its segment, and every original byte, both header tables
 * included, in place; so undoing is cutting the file and restoring the header, and gives
 * the original byte for byte.
 */
#ifndef GEN_UNDO_H
#define GEN_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/image.h"

struct undo {
	uint64_t size;	  /* of the original file, bytes; at most the image's size */
	uint8_t ehdr[64]; /* the original ELF header */
};

/*
 * Finds the record. *found is false when the image has none. ERR_UNSUPPORTED when there
 * is one but the file was changed since (strip, objcopy), so that it no longer leads
 * back.
 */
ATTR_MUST_CHECK bool undo_find(
	const struct image *image, struct undo *undo, bool *found, struct err *err);

/* Writes the original file to fd (open for writing, at offset 0, empty). ERR_IO. */
ATTR_MUST_CHECK bool undo_write(
	const struct image *image, const struct undo *undo, int fd, struct err *err);

#endif
