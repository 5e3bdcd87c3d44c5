/* SPDX-License-Identifier: MIT */
/*
 * Compares the functions and rows that the library gives with a section that it wrote.
 * dump reads them from the file. Also compares its gaps with the code that has no rows.
 */
#include "tests/lib/lib.h"

#include <inttypes.h>
#include <string.h>

/* The word of dump for a location. */
static void word_of(char *word, size_t size, const char *machine,
    const struct eh2sframe_location *location)
{
	uint32_t sp = !strcmp(machine, "x86-64")  ? 7
		      : !strcmp(machine, "s390x") ? 15
						  : 31;
	uint32_t fp = !strcmp(machine, "x86-64")  ? 6
		      : !strcmp(machine, "s390x") ? 11
						  : 29;
	int64_t off = location->offset;
	char name[16];

	if (location->reg == sp || location->reg == fp)
		strcpy(name, location->reg == sp ? "sp" : "fp");
	else
		snprintf(name, sizeof(name), "r%" PRIu32, location->reg);
	switch (location->place) {
	case EH2SFRAME_PLACE_SAME:
		snprintf(word, size, "u");
		return;
	case EH2SFRAME_PLACE_AT_CFA:
		snprintf(word, size, "c%+" PRId64, off);
		return;
	case EH2SFRAME_PLACE_REGISTER:
		if (off)
			snprintf(word, size, "%s%+" PRId64, name, off);
		else
			snprintf(word, size, "%s", name);
		return;
	case EH2SFRAME_PLACE_AT_REGISTER:
		snprintf(word, size, "(%s%+" PRId64 ")", name, off);
		return;
	}
	snprintf(word, size, "place %d", (int)location->place);
}

/*
 * Makes a word of the dump like those of word_of: registers without an offset of 0,
 * padding as no place.
 */
static void plain(char *word)
{
	size_t n = strlen(word);

	if (n > 2 && !strcmp(word + n - 2, "+0"))
		word[n - 2] = '\0';
	if (!strcmp(word, "U"))
		strcpy(word, "u");
	/* Only x86-64 has a place for RA in the header. */
	if (!strcmp(word, "f"))
		strcpy(word, "c-8");
	if (!strcmp(word, "r14") || !strcmp(word, "r15") || !strcmp(word, "r11"))
		return;
}

static bool row_is(
    const struct eh2sframe_row *row, uint64_t base, const char *machine, const char *line)
{
	char cfa[40], fp[40], ra[40], want[3][40];
	bool sign = strstr(line, "[s]") != NULL;
	uint64_t pc;

	if (strstr(line, "RA undefined"))
		return row->rule.flags & EH2SFRAME_FLAG_OUTERMOST &&
		       sscanf(line, "%" SCNx64, &pc) == 1 && pc == base + row->start;
	if (sscanf(line, "%" SCNx64 " %39s %39s %39[^[ \n]", &pc, cfa, fp, ra) != 4)
		return false;
	plain(cfa);
	plain(fp);
	plain(ra);
	word_of(want[0], 40, machine, &row->rule.cfa);
	word_of(want[1], 40, machine, &row->rule.fp);
	word_of(want[2], 40, machine, &row->rule.ra);
	/* In a default row a register is printed as its number. */
	if (fp[0] == 'r' && row->rule.fp.place == EH2SFRAME_PLACE_REGISTER)
		snprintf(want[1], 40, "r%" PRIu32, row->rule.fp.reg);
	if (ra[0] == 'r' && row->rule.ra.place == EH2SFRAME_PLACE_REGISTER)
		snprintf(want[2], 40, "r%" PRIu32, row->rule.ra.reg);
	return pc == base + row->start && !strcmp(cfa, want[0]) && !strcmp(fp, want[1]) &&
	       !strcmp(ra, want[2]) &&
	       sign == ((row->rule.flags & EH2SFRAME_FLAG_SIGNED) != 0);
}

/* The head of a function in the dump. */
static bool function_is(
    const struct eh2sframe_function *function, size_t i, const char *line)
{
	bool repeats = (function->flags & EH2SFRAME_FLAG_REPEATS) != 0;
	unsigned int block = 0;
	const char *rest;
	uint64_t start, size;
	size_t number;

	if (sscanf(line, " func idx [%zu]: pc = 0x%" SCNx64 ", size = %" SCNu64, &number,
		&start, &size) != 3)
		return false;
	rest = strstr(line, "rep_size = ");
	if (rest)
		sscanf(rest, "rep_size = %u", &block);
	return number == i && start == function->start && size == function->size &&
	       block == function->block_size &&
	       repeats == (strstr(line, "PCMASK") != NULL);
}

/* The next line of the dump that is neither empty nor a heading; NULL at the end. */
static char *next_line(char **at)
{
	char *line;

	do {
		line = strsep(at, "\n");
	} while (line && (!*line || strstr(line, "STARTPC")));
	return line;
}

/*
 * Goes through both side by side. Returns the number of rows, or -1 with the line in
 * *bad.
 */
static long side_by_side(const struct eh2sframe_result *result, const char *machine,
    char *dump, const char **bad)
{
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	char *at = strstr(dump, "    func idx");
	long n_rows = 0;
	size_t i;

	for (i = 0; eh2sframe_result_function(result, i, &function); i++) {
		bool repeats = (function.flags & EH2SFRAME_FLAG_REPEATS) != 0;
		size_t k;

		*bad = at ? next_line(&at) : "the end";
		if (!*bad || !function_is(&function, i, *bad))
			return -1;
		for (k = 0; eh2sframe_result_row(result, i, k, &row); k++, n_rows++) {
			*bad = next_line(&at);
			if (!*bad ||
			    !row_is(&row, repeats ? 0 : function.start, machine, *bad))
				return -1;
		}
		if (k != function.n_rows)
			return -1;
	}
	*bad = at ? next_line(&at) : NULL;
	return *bad ? -1 : n_rows;
}

/* Gaps ascend, are not empty, do not overlap functions, and add up to what the counts
 * say. */
static bool gaps_are_right(const struct eh2sframe_result *result)
{
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	uint64_t missing = 0, end = 0;
	size_t at = 0;

	for (size_t i = 0; eh2sframe_result_gap(result, i, &gap); i++) {
		if (gap.start < end || gap.end <= gap.start || !*gap.reason || !*gap.text)
			return false;
		end = gap.end;
		missing += gap.end - gap.start;
		while (eh2sframe_result_function(result, at, &function) &&
		       function.start + function.size <= gap.start)
			at++;
		if (eh2sframe_result_function(result, at, &function) &&
		    function.start < gap.end)
			return false;
	}
	return missing ==
	       eh2sframe_result_count(result, EH2SFRAME_COUNT_CODE_BYTES) -
		   eh2sframe_result_count(result, EH2SFRAME_COUNT_COVERED_BYTES);
}

/* Rules ascend, are not empty, lie in gaps and say where the return address is. */
static bool rules_are_right(const struct eh2sframe_result *result, const char *machine)
{
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	struct eh2sframe_extra extra;
	size_t at = 0;
	uint64_t end = 0;

	for (size_t i = 0; eh2sframe_result_extra(result, i, &extra); i++) {
		if (extra.start < end || extra.end <= extra.start)
			return false;
		for (end = extra.start; end < extra.end; at++) {
			if (!eh2sframe_result_gap(result, at, &gap) || gap.start > end)
				return false;
			end = gap.end > end ? gap.end : end;
		}
		at--;
		end = extra.end;
		if (!(extra.rule.flags & EH2SFRAME_FLAG_OUTERMOST) &&
		    extra.rule.ra.place == EH2SFRAME_PLACE_SAME &&
		    !strcmp(machine, "x86-64"))
			return false;
	}
	return true;
}

void test_rows(const char *path)
{
	static const char *const sets[] = {
	    "format=2", "format=3", "format=3 optimize=none", "format=2 optimize=size"};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		struct eh2sframe_options *options = options_of(sets[i]);
		struct eh2sframe_error error = {0};
		struct eh2sframe_file *file, *written;
		struct eh2sframe_result *result;
		struct bytes whole = {0}, dump = {0};
		const char *bad = "";
		long n_rows;
		bool ok;

		file = eh2sframe_open_path(path, options, &error);
		result = file ? eh2sframe_convert(file, NULL, &error) : NULL;
		ok = result && eh2sframe_result_write_memory(
				   result, (void **)&whole.data, &whole.size, &error);
		written =
		    eh2sframe_open_memory(whole.data, whole.size, path, NULL, &error);
		ok = ok && written &&
		     eh2sframe_file_dump(written, bytes_add, &dump, &error);
		bytes_add(&dump, "", 1);
		n_rows = ok ? side_by_side(
				  result, eh2sframe_file_machine(file), dump.data, &bad)
			    : -1;
		check(n_rows > 0 && (uint64_t)n_rows == eh2sframe_result_count(result,
							    EH2SFRAME_COUNT_SECTION_ROWS),
		    "%s, %s: %ld rows as dump has them%s%s%s", path, sets[i], n_rows,
		    n_rows < 0 ? ", but at: " : "", n_rows < 0 && bad ? bad : "",
		    ok ? "" : error.text);
		check(strstr(sets[i], "size") || gaps_are_right(result), "%s, %s: gaps",
		    path, sets[i]);
		check(rules_are_right(result, eh2sframe_file_machine(file)),
		    "%s, %s: rules", path, sets[i]);
		eh2sframe_result_free(result);
		eh2sframe_close(file);
		eh2sframe_close(written);
		eh2sframe_free(whole.data);
		bytes_free(&dump);
		eh2sframe_options_free(options);
	}
}
