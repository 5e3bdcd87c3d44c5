/* SPDX-License-Identifier: MIT */
/* The page index of sections that no linker writes. */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "include/eh2sframe-walk.h"
#include "walk/opened.h"

enum { N = 3, HEADER = 28, FDE = 16 };

/* Version 3: N functions of 8 bytes, CFA = SP + 8. Their starts are relative to their fields. */
static uint8_t bytes[HEADER + N * FDE + 8] = {0xe2, 0xde, 3, 5, 3, 0, 0xf8, 0, N, 0, 0, 0,
    N, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, N *FDE};

static void put_starts(const int64_t starts[N])
{
	for (uint64_t i = 0; i < N; i++) {
		const uint64_t field = (uint64_t)starts[i] - i * FDE;
		const uint32_t size = 8;

		memcpy(bytes + HEADER + i * FDE, &field, 8);
		memcpy(bytes + HEADER + i * FDE + 8, &size, 4);
	}
}

/* Functions that are almost 1 << 64 bytes apart: the end of the last page was 0 when it was made by a
 * shift, and the functions of that page were not found. fuzz_walk found it. */
UNIT(the_last_page_ends_behind_all)
{
	static const uint8_t rows[] = {1, 0, 0, 0, 0, 0, 3, 8};
	static const int64_t starts[N] = {INT64_MIN, INT64_MAX - 256, INT64_MAX - 128};
	struct eh2sframe_walk_section section, indexed;
	struct eh2sframe_rule rule;
	void *index;

	put_starts(starts);
	memcpy(bytes + HEADER + N * FDE, rows, sizeof(rows));
	ck_assert(
	    eh2sframe_walk_open(&section, bytes, sizeof(bytes), 0x1000, 0, UINT64_MAX));
	indexed = section;
	index = malloc(eh2sframe_walk_index_size(&indexed));
	ck_assert_ptr_nonnull(index);
	eh2sframe_walk_index_make(&indexed, index);
	for (size_t i = 0; i < N; i++) {
		const uint64_t pc = 0x1000 + HEADER + (uint64_t)starts[i];

		ck_assert_int_eq(eh2sframe_walk_look_up(&section, pc + 7, &rule),
		    EH2SFRAME_WALK_WHY_GOES_ON);
		ck_assert_int_eq(eh2sframe_walk_look_up(&indexed, pc + 7, &rule),
		    EH2SFRAME_WALK_WHY_GOES_ON);
		ck_assert_int_eq(eh2sframe_walk_look_up(&indexed, pc + 8, &rule),
		    EH2SFRAME_WALK_WHY_NO_ROW);
	}
	free(index);
}

/* Another process can write to a mapped file between the two calls. The pages were counted again by the second one. */
UNIT(the_index_is_as_large_as_it_was_said)
{
	struct eh2sframe_walk_section section;
	uint8_t *index;
	size_t size;

	put_starts((const int64_t[N]){0, 1, 2});
	ck_assert(
	    eh2sframe_walk_open(&section, bytes, sizeof(bytes), 0x1000, 0, UINT64_MAX));
	size = eh2sframe_walk_index_size(&section);
	index = malloc(size + 64);
	ck_assert_ptr_nonnull(index);
	memset(index + size, 0x5a, 64);
	put_starts((const int64_t[N]){0, 1, 5});
	ck_assert_uint_eq(eh2sframe_walk_index_size(&section), size);
	eh2sframe_walk_index_make(&section, index);
	for (size_t i = 0; i < 64; i++)
		ck_assert_uint_eq(index[size + i], 0x5a);
	free(index);
}

/* The tables of a section that was cut off were counted before they were found outside of it, and a look-up read
 * them at NULL. */
UNIT(a_section_that_does_not_open_has_no_rows)
{
	struct eh2sframe_walk_section section;
	struct eh2sframe_rule rule;
	uint32_t page = 0;

	for (size_t size = 0; size < HEADER + N * FDE; size++) {
		memset(&section, 0x5a, sizeof(section));
		ck_assert(!eh2sframe_walk_open(
		    &section, bytes, size, 0x1000, 0x1000, UINT64_MAX));
		ck_assert_int_eq(eh2sframe_walk_look_up(&section, 0x2000, &rule),
		    EH2SFRAME_WALK_WHY_NO_ROW);
		ck_assert_uint_eq(eh2sframe_walk_index_size(&section), 0);
		ck_assert(!eh2sframe_walk_index_use(&section, &page, sizeof(page)));
	}
}

/* A file that dlclose can unmap is opened by each walk. To read all of its functions took longer than the walk. */
UNIT(an_order_is_believed_where_the_section_says_so)
{
	struct eh2sframe_walk_section section;

	put_starts((const int64_t[N]){2, 1, 0});
	ck_assert(
	    !eh2sframe_walk_open(&section, bytes, sizeof(bytes), 0x1000, 0, UINT64_MAX));
	ck_assert(walk_open(&section, bytes, sizeof(bytes), 0x1000, 0, UINT64_MAX, true));
	bytes[WALK_HEADER_FLAGS] = WALK_PCREL;
	ck_assert(
	    !walk_open(&section, bytes, sizeof(bytes), 0x1000, 0, UINT64_MAX, true));
}
