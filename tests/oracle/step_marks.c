/* SPDX-License-Identifier: MIT */
/* Ranges of a JSON report, and a search in them. */
#include "tests/oracle/step_marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

const char *const step_mark_names[STEP_N_MARKS] = {
    "by CFI", "repaired", "derived", "template"};

/* Takes a line of the report: an entry of "not_by_cfi" has one to itself. */
static bool take_line(struct step_marks *marks, const char *line)
{
	uint64_t start, size, func;
	char kind[16];
	enum step_mark mark = STEP_REPAIRED;

	if (sscanf(line,
		" {\"start\":\"0x%" SCNx64 "\",\"size\":%" SCNu64
		",\"kind\":\"%15[a-z]\",\"function\":\"0x%" SCNx64,
		&start, &size, kind, &func) != 4)
		return true;
	while (mark < STEP_N_MARKS && strcmp(kind, step_mark_names[mark]) != 0)
		mark++;
	if (mark == STEP_N_MARKS ||
	    !vec_reserve(&marks->list, &marks->cap, marks->n + 1) ||
	    !vec_reserve(&marks->starts, &marks->cap_starts, marks->n_starts + 1))
		return false;
	marks->list[marks->n++] = (struct step_marked){start, start + size, mark};
	if (mark == STEP_TEMPLATE)
		return true;
	if (!marks->n_starts || marks->starts[marks->n_starts - 1] != func)
		marks->starts[marks->n_starts++] = func;
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

static size_t span(const struct step_marks *marks)
{
	return marks->list[marks->n - 1].end - marks->list[0].start;
}

static bool finish(struct step_marks *marks)
{
	if (!marks->n)
		return true;
	qsort(marks->list, marks->n, sizeof(*marks->list), compare_ranges);
	qsort(marks->starts, marks->n_starts, sizeof(*marks->starts), compare_starts);
	marks->seen = calloc(1, span(marks));
	return marks->seen != NULL;
}

bool step_marks_read(struct step_marks *marks, const char *path)
{
	char *line = NULL;
	size_t size = 0;
	bool ok = true;
	FILE *f = fopen(path, "re");

	*marks = (struct step_marks){0};
	if (!f)
		return false;
	while (ok && getline(&line, &size, f) > 0)
		ok = take_line(marks, line);
	ok = ok && finish(marks);
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

bool step_marks_load(struct step_marks *marks, const char *path)
{
	FILE *f = marks->n ? fopen(path, "re") : NULL;
	size_t size;

	if (!f)
		return true;
	size = fread(marks->seen, 1, span(marks), f);
	fclose(f);
	for (size_t i = 0; i < size; i++)
		if (marks->seen[i])
			marks->n_seen[step_marks_at(marks, marks->list[0].start + i)]++;
	return size == span(marks);
}

bool step_marks_save(const struct step_marks *marks, const char *path)
{
	FILE *f = fopen(path, "we");
	bool ok;

	if (!f)
		return false;
	ok = fwrite(marks->seen, 1, span(marks), f) == span(marks);
	return fclose(f) == 0 && ok;
}

bool step_marks_seen(const struct step_marks *marks, uint64_t start, uint64_t end)
{
	start -= marks->list[0].start;
	end -= marks->list[0].start;
	return memchr(marks->seen + start, 1, (size_t)(end - start)) != NULL;
}
