/* SPDX-License-Identifier: MIT */
/*
 * The page index. The code is cut into pages of a power of 2 of bytes, about one or two for
 * each function. For each page, and for the end, the index has the number of the last
 * function that starts at or before its first byte. So a search has few functions left. The
 * index is of this machine's byte order and has no addresses.
 */
#include "walk/look_up.h"

enum { WALK_INDEX_MAGIC = 0x49573245 }; /* "E2WI" */

/* The words in front of the pages. */
enum {
	WALK_INDEX_KIND,
	WALK_INDEX_N_FDES,
	WALK_INDEX_N_PAGES,
	WALK_INDEX_SHIFT,
	WALK_INDEX_PAGES,
};

size_t eh2sframe_walk_index_size(const struct eh2sframe_walk_section *opened)
{
	uint32_t n_pages = walk_opened(opened)->n_pages;

	return n_pages > 0 ? ((size_t)WALK_INDEX_PAGES + n_pages + 1) * sizeof(uint32_t)
			   : 0;
}

void eh2sframe_walk_index_make(struct eh2sframe_walk_section *opened, void *memory)
{
	struct walk_section *section = walk_opening(opened);
	uint32_t *words = memory, at = 0, n_pages = section->n_pages;
	const uint64_t bytes = walk_fde_bytes(section->version);

	if (n_pages == 0)
		return;
	words[WALK_INDEX_KIND] = WALK_INDEX_MAGIC;
	words[WALK_INDEX_N_FDES] = section->n_fdes;
	words[WALK_INDEX_N_PAGES] = n_pages;
	words[WALK_INDEX_SHIFT] = section->index_shift;
	for (uint64_t page = 0; page < n_pages; page++) {
		uint64_t start = page << section->index_shift;

		while (at + 1 < section->n_fdes &&
		       walk_start_behind(section, (at + 1) * bytes) <= start)
			at++;
		words[WALK_INDEX_PAGES + page] = at;
	}
	/* All of them start before the end, which may be 1 << 64. */
	words[WALK_INDEX_PAGES + n_pages] = section->n_fdes - 1;
	section->index = words + WALK_INDEX_PAGES;
}

bool eh2sframe_walk_index_use(
    struct eh2sframe_walk_section *opened, const void *memory, size_t size)
{
	struct walk_section *section = walk_opening(opened);
	const uint32_t *words = memory;

	if (section->n_pages == 0 || size < eh2sframe_walk_index_size(opened) ||
	    words[WALK_INDEX_KIND] != WALK_INDEX_MAGIC ||
	    words[WALK_INDEX_N_FDES] != section->n_fdes ||
	    words[WALK_INDEX_N_PAGES] != section->n_pages ||
	    words[WALK_INDEX_SHIFT] != section->index_shift)
		return false;
	section->index = words + WALK_INDEX_PAGES;
	return true;
}
