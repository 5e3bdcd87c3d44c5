/* SPDX-License-Identifier: MIT */
/*
 * derive_hidden [-v] [-l PERCENT] FILE...: CFI hidden, derived again, and compared at each PC.
 *
 * The file is looked at as if it had no CFI; functions begin where its FDEs do, and exceptions continue
 * where its call-site tables say. At each instruction
 * that the derivation reaches, the row of the CFI is held against what the derivation knows there. -l
 * fails below so many percent of instructions with a row, and -v tells the places that differ.
 * Differences in FDEs that the code does not confirm are counted apart: the CFI is wrong there.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/task.h"
#include "base/vec.h"
#include "gen/check/derive/derive.h"
#include "gen/check/derive/function.h"
#include "gen/check/validate.h"

/* MARK_WRONG and the column that differs. */
enum { MARK_REACHED = 1, MARK_ROW, MARK_WRONG };
static const char *const columns[] = {"CFA", "RA", "FP"};

struct hidden {
	const struct cfi_input *input;
	struct validate_result check; /* of the CFI by its code */
	pthread_mutex_t lock;
	struct cfi_interp interp;
	size_t range;	/* whose table is in interp */
	uint64_t first; /* address of the first byte with CFI */
	uint8_t *marks; /* for each byte from there on */
	size_t n_marks;
	size_t reached, with_row, wrong, doubtful;
	bool verbose;
};

static void must(bool ok, const struct err *err)
{
	if (ok)
		return;
	fprintf(stderr, "derive_hidden: %s\n", err->text);
	exit(99);
}

/* The row of the CFI at pc; NULL: none. */
static const struct cfi_row *row_at(struct hidden *hidden, uint64_t pc, size_t *range)
{
	const struct cfi_ranges *ranges = &hidden->input->ranges;
	struct err broken = {0};

	*range = search_list_above(ranges->list, ranges->n, end, pc);
	if (*range == ranges->n || ranges->list[*range].start > pc ||
	    !hidden->check.ranges[*range].looked_at)
		return NULL;
	if (*range != hidden->range &&
	    !cfi_interpret(&hidden->interp,
		&hidden->input->frames.fdes[ranges->list[*range].fde], &broken))
		return NULL;
	hidden->range = *range;
	return &hidden->interp.table.rows[cfi_table_row_at(&hidden->interp.table, pc)];
}

/* Whether the check has doubts about the FDE at pc. */
static bool is_doubtful(const struct hidden *hidden, uint64_t pc)
{
	const struct cfi_ranges *ranges = &hidden->input->ranges;
	size_t i = search_list_above(ranges->list, ranges->n, end, pc);

	return i < ranges->n && hidden->check.ranges[i].state != VALIDATE_CONFIRMED;
}

/* A place comes up once in each pass; the last one counts. */
static void on_place(void *context, const struct code_place *place, bool has_row)
{
	struct hidden *hidden = context;
	const struct cfi_row *row;
	struct validate_answer answer;
	uint8_t mark = 0;
	size_t range;

	pthread_mutex_lock(&hidden->lock);
	row = row_at(hidden, place->pc, &range);
	if (row) {
		mark = has_row ? MARK_ROW : MARK_REACHED;
		answer = validate_row(hidden->input->arch, row, place->state);
		if (has_row && answer.verdict == VALIDATE_CONTRADICTS)
			mark = (uint8_t)(MARK_WRONG + answer.column);
		hidden->marks[place->pc - hidden->first] = mark;
	}
	pthread_mutex_unlock(&hidden->lock);
}

/* Counts the marks; where a row stood in the last pass. */
static void count(struct hidden *hidden, const struct derived *rows)
{
	for (size_t i = 0; i < hidden->n_marks; i++) {
		const uint64_t pc = hidden->first + i;
		const uint8_t mark = hidden->marks[i];
		size_t at = search_list_above(rows->list, rows->n, end, pc);
		bool row = at < rows->n && rows->list[at].start <= pc;
		bool doubtful = mark >= MARK_WRONG && row && is_doubtful(hidden, pc);

		hidden->reached += mark != 0;
		hidden->with_row += mark >= MARK_ROW && row;
		hidden->doubtful += doubtful;
		hidden->wrong += mark >= MARK_WRONG && row && !doubtful;
		if (mark >= MARK_WRONG && row && hidden->verbose)
			printf("0x%" PRIx64 ": %s %s; the row: CFA=r%u%+" PRId64 "\n", pc,
			    columns[mark - MARK_WRONG],
			    doubtful ? "differs, and the CFI is in doubt" : "differs",
			    (unsigned)rows->list[at].row.cfa.reg,
			    rows->list[at].row.cfa.off);
	}
}

/* The row of the first instruction that does something. GCC has a nop before a landing pad that would be the
 * first byte of an FDE, and its row is that of an entry. */
static const struct cfi_row *first_row(const struct image *image, const struct arch *arch,
    const struct cfi_table *table, const struct cfi_range *range)
{
	const uint64_t size = range->end - range->start;
	const uint8_t *bytes = image_at_addr(image, range->start, size);
	struct code_insn insn;
	uint64_t at = 0;

	while (
	    bytes && at < size &&
	    code_insn_read(arch->code, bytes + at, size - at, range->start + at, &insn) &&
	    insn.filler && insn.control == CODE_CONTINUES)
		at += insn.length;
	return &table->rows[cfi_table_row_at(table, range->start + at)];
}

/* The starts of FDEs whose first row says that a function begins, and where exceptions continue: no CFI
 * says that. */
static void starts_of(const struct hidden *hidden, const struct image *image,
    struct derive_starts *starts, struct validate_landings *landings)
{
	const struct cfi_ranges *ranges = &hidden->input->ranges;
	const struct arch *arch = hidden->input->arch;
	struct err none = {.text = "out of memory"};
	struct code_state entry;
	struct cfi_interp interp;

	code_state_entry(code_abi(arch->code), &entry);
	cfi_interp_init(&interp, &hidden->input->frames, &arch->cfi);
	for (size_t i = 0; i < ranges->n; i++) {
		const struct cfi_fde *fde =
		    &hidden->input->frames.fdes[ranges->list[i].fde];
		struct err broken = {0};

		if (!hidden->check.ranges[i].looked_at ||
		    !cfi_interpret(&interp, fde, &broken))
			continue;
		/* With bytes that are pushed for a call, SP at a landing pad is not that at the call. */
		if (!interp.table.args_size)
			must(validate_landings_add(image, hidden->input, fde, landings),
			    &none);
		if (validate_row(arch,
			first_row(image, arch, &interp.table, &ranges->list[i]), &entry)
			.verdict == VALIDATE_AGREES)
			must(
			    derive_starts_add(starts, ranges->list[i].start, DERIVE_SURE),
			    &none);
	}
	cfi_interp_deinit(&interp);
	if (landings->n)
		qsort(landings->list, landings->n, sizeof(*landings->list), search_order);
}

/* Whether it went well. */
static bool try_file(const char *path, bool verbose, double least)
{
	const unsigned int jobs = task_processors();
	struct hidden hidden = {
	    .lock = PTHREAD_MUTEX_INITIALIZER, .verbose = verbose, .range = SIZE_MAX};
	struct derive_starts starts = {0};
	struct validate_landings landings = {0};
	struct derive_trial trial = {&hidden, &starts, &landings, on_place};
	struct derived rows = {0};
	struct cfi_input input = {0}, bare;
	struct options options;
	struct image image = {0};
	struct err err = {0};
	uint64_t all;
	double percent;

	options_init(&options);
	must(image_open(path, &image, &err), &err);
	must(cfi_input_read(&image, &image, &options, &input, &err), &err);
	hidden.input = &input;
	must(validate_cfi(&image, &input, jobs, &hidden.check, &err), &err);
	cfi_interp_init(&hidden.interp, &input.frames, &input.arch->cfi);
	starts_of(&hidden, &image, &starts, &landings);
	if (input.ranges.n) {
		hidden.first = input.ranges.list[0].start;
		hidden.n_marks =
		    (size_t)(input.ranges.list[input.ranges.n - 1].end - hidden.first);
	}
	hidden.marks = calloc(hidden.n_marks + 1, 1);
	must(hidden.marks, &err);
	bare = input;
	bare.ranges.n = 0;
	must(derive_code(&image, &bare, jobs, &trial, &rows, &err), &err);
	count(&hidden, &rows);
	/* What the check reaches is all that there is. */
	all = hidden.check.instructions;
	percent = all ? 100.0 * (double)hidden.with_row / (double)all : 100.0;
	printf("%s: %" PRIu64
	       " instructions, %zu reached, %zu with a row (%.2f %%), %zu wrong, "
	       "%zu in FDEs that the code does not confirm\n",
	    path, all, hidden.reached, hidden.with_row, percent, hidden.wrong,
	    hidden.doubtful);
	free(hidden.marks);
	free(landings.list);
	derived_deinit(&rows);
	derive_starts_deinit(&starts);
	cfi_interp_deinit(&hidden.interp);
	validate_result_deinit(&hidden.check);
	cfi_input_deinit(&input);
	image_close(&image);
	options_deinit(&options);
	return !hidden.wrong && percent >= least;
}

int main(int argc, char **argv)
{
	bool verbose = false, ok = true;
	double least = 0.0;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++)
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else if (!strcmp(argv[i], "-l") && i + 1 < argc)
			least = strtod(argv[++i], NULL);
		else
			return 2;
	if (i == argc)
		return 2;
	for (; i < argc; i++)
		ok &= try_file(argv[i], verbose, least);
	return ok ? 0 : 1;
}
