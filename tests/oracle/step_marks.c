/* SPDX-License-Identifier: MIT */
/* The text of --dump, and a search in its marked rows. */
#include "tests/oracle/step_marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* The row before ends where the next one begins, or at the end of its function. */
struct reader {
	uint64_t func, func_end;
	uint64_t row;
	enum step_mark mark;
};

static enum step_mark mark_of(const char *line)
{
	if (strstr(line, "  derived"))
		return STEP_DERIVED;
	return strstr(line, "  repaired") ? STEP_REPAIRED : STEP_UNMARKED;
}

/* The row at hand is complete. */
static bool end_row(struct step_marks *marks, const struct reader *reader, uint64_t end)
{
	if (reader->mark == STEP_UNMARKED || end <= reader->row)
		return true;
	if (!vec_reserve(&marks->list, &marks->cap, marks->n + 1) ||
	    !vec_reserve(&marks->starts, &marks->cap_starts, marks->n_starts + 1))
		return false;
	marks->list[marks->n++] = (struct step_marked){reader->row, end, reader->mark};
	if (!marks->n_starts || marks->starts[marks->n_starts - 1] != reader->func)
		marks->starts[marks->n_starts++] = reader->func;
	return true;
}

static bool take_line(struct step_marks *marks, struct reader *reader, const char *line)
{
	uint64_t addr, size;
	int used = 0;

	if (sscanf(line, " func idx [%*u]: pc = 0x%" SCNx64 ", size = %" SCNu64, &addr,
		&size) == 2) {
		if (!end_row(marks, reader, reader->func_end))
			return false;
		*reader = (struct reader){.func = addr, .func_end = addr + size};
	} else if (sscanf(line, " %16" SCNx64 "  %n", &addr, &used) == 1 && used > 16) {
		if (!end_row(marks, reader, addr))
			return false;
		reader->row = addr;
		reader->mark = mark_of(line);
	}
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct step_marked *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_starts(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool finish(struct step_marks *marks)
{
	if (!marks->n)
		return true;
	qsort(marks->list, marks->n, sizeof(*marks->list), compare_ranges);
	qsort(marks->starts, marks->n_starts, sizeof(*marks->starts), compare_starts);
	marks->seen = calloc(1, marks->list[marks->n - 1].end - marks->list[0].start);
	return marks->seen != NULL;
}

bool step_marks_read(struct step_marks *marks, const char *path)
{
	struct reader reader = {0};
	char *line = NULL;
	size_t size = 0;
	bool ok = true;
	FILE *f = fopen(path, "re");

	*marks = (struct step_marks){0};
	if (!f)
		return false;
	while (ok && getline(&line, &size, f) > 0)
		ok = take_line(marks, &reader, line);
	ok = ok && end_row(marks, &reader, reader.func_end) && finish(marks);
	free(line);
	fclose(f);
	return ok;
}

void step_marks_deinit(struct step_marks *marks)
{
	free(marks->list);
	free(marks->starts);
	free(marks->seen);
}

enum step_mark step_marks_at(const struct step_marks *marks, uint64_t addr)
{
	size_t low = 0, high = marks->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (marks->list[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == marks->n || addr < marks->list[low].start)
		return STEP_UNMARKED;
	return marks->list[low].mark;
}

void step_marks_see(struct step_marks *marks, uint64_t addr, enum step_mark mark)
{
	uint8_t *seen = &marks->seen[addr - marks->list[0].start];

	marks->n_seen[mark] += !*seen;
	*seen = 1;
}
