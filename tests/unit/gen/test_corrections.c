/* SPDX-License-Identifier: MIT */
/* Rows that are corrected: at every address, the table says what the correction or the row says. */
#include "gen/rows/corrections.h"
#include "tests/unit/unit.h"

enum { START = 0x1000, SIZE = 24, END = START + SIZE, ROUNDS = 20000, KINDS = 3 };

/* A row that differs from those of other offsets. */
static struct cfi_row row_of(uint64_t pc, int64_t off, bool doubtful)
{
	return (struct cfi_row){
	    .pc = pc, .cfa = {.kind = CFI_REG_PLUS, .off = off}, .doubtful = doubtful};
}

/* The rules at pc: those of the last row that begins there or before. */
static const struct cfi_row *row_at(const struct cfi_table *table, uint64_t pc)
{
	const struct cfi_row *row = NULL;

	for (size_t i = 0; i < table->n_rows && table->rows[i].pc <= pc; i++)
		row = &table->rows[i];
	return row;
}

static const struct cfi_row *wanted_at(
    const struct corrections *corrections, const struct cfi_table *table, uint64_t pc)
{
	for (size_t i = 0; i < corrections->n; i++)
		if (pc >= corrections->list[i].start && pc < corrections->list[i].end)
			return &corrections->list[i].row;
	return row_at(table, pc);
}

static uint64_t random_below(uint64_t *state, uint64_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % below;
}

/* Rows from START on; neighbours differ. */
static void make_table(uint64_t *state, struct cfi_table *table)
{
	int64_t off = 0;

	table->n_rows = 0;
	for (uint64_t pc = START; pc < END; pc += 1 + random_below(state, 9)) {
		off = (off + 1 + (int64_t)random_below(state, KINDS - 1)) % KINDS;
		table->rows[table->n_rows++] = row_of(pc, off, false);
	}
}

/* Some in the table, some beside it, some across its ends. */
static void make_corrections(uint64_t *state, struct corrections *corrections)
{
	uint64_t pc = START - 8 + random_below(state, 16);

	corrections->n = 0;
	while (pc < END + 4 && random_below(state, 4)) {
		uint64_t end = pc + 1 + random_below(state, 8);

		corrections->list[corrections->n++] = (struct correction){pc, end,
		    row_of(
			0, (int64_t)random_below(state, KINDS), random_below(state, 2))};
		pc = end + random_below(state, 8);
	}
}

static void compare(const struct corrections *corrections, const struct cfi_table *table,
    const struct cfi_table *made)
{
	ck_assert_uint_eq(made->rows[0].pc, START);
	for (size_t i = 1; i < made->n_rows; i++) {
		ck_assert_uint_gt(made->rows[i].pc, made->rows[i - 1].pc);
		ck_assert(!cfi_row_same(&made->rows[i], &made->rows[i - 1]));
	}
	for (uint64_t pc = START; pc < END; pc++)
		ck_assert_msg(
		    cfi_row_same(row_at(made, pc), wanted_at(corrections, table, pc)),
		    "another row at 0x%lx", (unsigned long)pc);
}

UNIT(every_address)
{
	struct cfi_row rows[SIZE];
	struct correction list[SIZE];
	struct cfi_table table = {
	    .start = START, .end = END, .rows = rows, .movable = true};
	struct cfi_table corrected = {0};
	struct corrections corrections = {.list = list};
	uint64_t state = 1, changed = 0;

	for (int i = 0; i < ROUNDS; i++) {
		const struct cfi_table *made;
		bool touched = false;

		make_table(&state, &table);
		make_corrections(&state, &corrections);
		for (size_t j = 0; j < corrections.n; j++)
			touched |= list[j].start < END && list[j].end > START;
		made = corrections_apply(&corrections, &table, &corrected);
		ck_assert_ptr_nonnull(made);
		ck_assert(corrections_touch(&corrections, START, END) == touched);
		ck_assert((made == &corrected) == touched);
		ck_assert(!touched || !made->movable);
		compare(&corrections, &table, made);
		changed += touched;
	}
	ck_assert_uint_gt(changed, ROUNDS / 4);
	ck_assert_uint_lt(changed, ROUNDS);
	free(corrected.rows);
}

UNIT(without_any)
{
	struct cfi_row row = row_of(START, 8, false);
	struct cfi_table table = {.start = START, .end = END, .rows = &row, .n_rows = 1};
	struct cfi_table corrected = {0};
	const struct corrections none = {0};

	ck_assert(!corrections_touch(NULL, START, END));
	ck_assert_ptr_eq(corrections_apply(NULL, &table, &corrected), &table);
	ck_assert_ptr_eq(corrections_apply(&none, &table, &corrected), &table);
}
