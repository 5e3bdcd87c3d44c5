/* SPDX-License-Identifier: MIT */
#include "gen/elf/window.h"

#include <stdlib.h>
#include <string.h>

/* A place at most so far behind the last window is read on to. */
enum { WINDOW_NEAR = 64 << 10, WINDOW_PAGE = 4096 };

/* Windows grow for who reads on: of places in any other order little is read each time. */
static bool window_fill(
    struct image_window *window, uint64_t off, size_t size, struct err *err)
{
	const struct image *image = window->image;
	const uint64_t start = off - off % WINDOW_PAGE;
	const bool near =
	    off >= window->off && off - window->off <= window->size + WINDOW_NEAR;
	uint64_t want = off - start + size + WINDOW_PAGE;

	if (near && want < 2 * window->size)
		want = 2 * window->size;
	if (!window->bytes)
		window->bytes = malloc(IMAGE_WINDOW);
	if (!window->bytes)
		return err_set_nomem(err);
	want = want < IMAGE_WINDOW ? want : IMAGE_WINDOW;
	want = want < image->size - start ? want : image->size - start;
	window->off = start;
	window->size = 0;
	if (!image_read(image, window->bytes, start, (size_t)want, err))
		return false;
	window->size = (size_t)want;
	return true;
}

const uint8_t *image_window_some(
    struct image_window *window, uint64_t off, size_t *size, struct err *err)
{
	const uint8_t *memory = image_memory(window->image);
	uint64_t at = off - window->off;

	if (memory)
		return memory + off;
	if (off < window->off || at >= window->size) {
		if (!window_fill(window, off, *size, err))
			return NULL;
		at = off - window->off;
	}
	if (*size > window->size - at)
		*size = (size_t)(window->size - at);
	return window->bytes + at;
}

const uint8_t *image_window_at(
    struct image_window *window, const uint8_t *bytes, size_t size)
{
	const uint64_t off = (uint64_t)(bytes - window->image->bytes);
	const uint8_t *memory = image_memory(window->image);
	struct err ignored;

	if (!window->image->pages)
		return bytes;
	if (memory)
		return memory + off;
	if (size > IMAGE_WINDOW - WINDOW_PAGE ||
	    ((off < window->off || off - window->off > window->size ||
		 size > window->size - (off - window->off)) &&
		!window_fill(window, off, size, &ignored)))
		return bytes;
	return window->bytes + (off - window->off);
}

bool image_window_same(struct image_window *a, uint64_t a_off, struct image_window *b,
    uint64_t b_off, uint64_t size)
{
	struct err err;

	while (size) {
		size_t n = size < IMAGE_WINDOW ? (size_t)size : IMAGE_WINDOW;
		const uint8_t *a_bytes = image_window_some(a, a_off, &n, &err);
		const uint8_t *b_bytes =
		    a_bytes ? image_window_some(b, b_off, &n, &err) : NULL;

		/* The mapping has no more than can be read, but it needs no memory. */
		if (!b_bytes)
			return err.kind == ERR_NOMEM &&
			       memcmp(a->image->bytes + a_off, b->image->bytes + b_off,
				   (size_t)size) == 0;
		if (memcmp(a_bytes, b_bytes, n) != 0)
			return false;
		a_off += n;
		b_off += n;
		size -= n;
	}
	return true;
}

void image_window_free(struct image_window *window)
{
	free(window->bytes);
	window->bytes = NULL;
	window->size = 0;
}
