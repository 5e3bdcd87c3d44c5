/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a file that are looked at once, mostly in their order: copied, compared, searched for padding. They are read, as others
 * can write to the file and mapping pages for one look costs more, unless they are in memory that nobody else writes to.
 */
#ifndef GEN_ELF_WINDOW_H
#define GEN_ELF_WINDOW_H

#include "gen/elf/image.h"

enum { IMAGE_WINDOW = 256 << 10 }; /* bytes; they stay in a processor's cache */

/* Zeroed but for image. */
struct image_window {
	const struct image *image; /* borrowed */
	uint8_t *bytes;		   /* IMAGE_WINDOW of them, or NULL */
	uint64_t off;		   /* of the first in the file */
	size_t size;		   /* that were read */
};

/* Gives bytes at an offset inside of the file, as image->bytes has them: at least one, *size says how many. They stay until the next
 * call. NULL: ERR_IO, ERR_NOMEM. */
ATTR_MUST_CHECK const uint8_t *image_window_some(
    struct image_window *window, uint64_t off, size_t *size, struct err *err);
/* Gives the size bytes that are mapped at bytes, which stay until the next call; where they cannot be read, the mapped ones. */
ATTR_MUST_CHECK const uint8_t *image_window_at(
    struct image_window *window, const uint8_t *bytes, size_t size);
/* Lets the processor fetch the mapped byte at bytes, which is asked for soon. Only a hint. */
static inline void image_window_soon(
    const struct image_window *window, const uint8_t *bytes)
{
	const uint8_t *memory = image_memory(window->image);

	if (memory)
		__builtin_prefetch(memory + (bytes - window->image->bytes));
}
/* True if size bytes are the same. */
ATTR_MUST_CHECK bool image_window_same(struct image_window *a, uint64_t a_off,
    struct image_window *b, uint64_t b_off, uint64_t size);
void image_window_free(struct image_window *window);

#endif
