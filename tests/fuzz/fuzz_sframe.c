/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an .sframe section: opened, checked, printed and swept. A section that
 * passes the checks must be readable to its last row, and its rows must come in order.
 */
#include "tests/fuzz/fuzz.h"

#include "sframe/cursor.h"
#include "sframe/check.h"
#include "sframe/decode.h"
#include "sframe/dump.h"

const char *const fuzz_section = ".sframe";

/* High enough that the distances of a small section stay above 0. */
#define ADDRESS UINT64_C(0x100000)

/* A few bytes of PCMASK can stand for millions of stretches; more of them shows nothing
 * new. */
enum { MAX_SEGMENTS = 20000 };

static void cursor_all(const struct sf_view *view)
{
	struct sf_segment segment;
	struct sf_cursor cursor;
	struct err err = {0};
	uint64_t at = 0;
	size_t n = 0;

	FUZZ_ASSERT(sf_cursor_init(&cursor, view, &err), "%s", err.text);
	while (n < MAX_SEGMENTS && sf_cursor_next(&cursor, UINT64_MAX, &segment, &err)) {
		FUZZ_ASSERT(segment.start < segment.end, "segment %zu", n);
		FUZZ_ASSERT(segment.start >= at, "segment %zu", n);
		at = segment.end;
		n++;
	}
	FUZZ_ASSERT(!cursor.failed, "%s", err.text);
	/* Back to the middle: the other way to find a function. */
	sf_cursor_seek(&cursor, at / 2);
	if (sf_cursor_next(&cursor, UINT64_MAX, &segment, &err))
		FUZZ_ASSERT(segment.end > at / 2, "seek");
	sf_cursor_deinit(&cursor);
}

/* True if every function and row can be read; *ascend: the rows of each ascend. */
static bool read_all(const struct sf_view *view, bool *ascend)
{
	bool ok = true;

	*ascend = true;

	for (uint32_t i = 0; i < view->n_funcs; i++) {
		uint64_t least = 0;
		struct sf_view_func func;
		struct sf_row_iter iter;
		struct err err = {0};
		struct sf_row row;

		if (!sf_view_func(view, i, &func, &err)) {
			ok = false;
			continue;
		}
		sf_rows_begin(view, &func, &iter);
		for (; sf_rows_next(&iter, &row, &err); least = (uint64_t)row.start + 1)
			/* One at the end is allowed, and holds for nothing. */
			*ascend &= row.start >= least && row.start <= func.func.size;
		ok = ok && !iter.failed;
	}
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *null = fopen("/dev/null", "w");
	struct sf_view view;
	struct err err = {0};
	bool whole, ascend, printed;

	FUZZ_ASSERT(null, "no /dev/null");
	if (sf_view_open(data, size, ADDRESS, &view, &err)) {
		whole = read_all(&view, &ascend);
		printed = sf_dump(&view, ".sframe", null, &err);
		FUZZ_ASSERT(whole || !printed, "damage was printed");
		if (sf_check_all(&view, &err)) {
			FUZZ_ASSERT(
			    whole && printed, "damage passed the checks: %s", err.text);
			FUZZ_ASSERT(ascend, "rows out of order passed the checks");
			cursor_all(&view);
		}
	}
	fclose(null);
	return 0;
}
