/* SPDX-License-Identifier: MIT */
/*
 * validate_mutants [-v] [-n LIMIT] [-l PERCENT] FILE...: how many broken rows eh2sframe check notices.
 *
 * In each FDE that the code confirms, one row is broken in each of some ways, and its function is looked
 * at again. A row that by the true states still gives the same values at each instruction is not broken,
 * and is counted apart. -n takes at most so many FDEs of a file, -l fails below so many percent for CFA
 * offsets, late rows and missing rows, and -v tells the rows that are not noticed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "gen/check/unit.h"

enum mutant_kind {
	MUTANT_CFA_HIGH,
	MUTANT_CFA_LOW,
	MUTANT_LATE,
	MUTANT_MISSING,
	MUTANT_CFA_REG,
	MUTANT_RA,
	MUTANT_FP,
	MUTANT_N,
};

static const char *const mutant_names[] = {
    "CFA + 8", "CFA - 8", "late", "missing", "CFA register", "RA rule", "FP rule"};

struct mutant_count {
	size_t made, same, contradicts, review, unknown, missed;
};

/* An instruction of the FDE and the true state before it. */
struct mutant_place {
	uint64_t pc;
	bool seeded;
	struct code_state state;
};

struct mutants {
	const struct cfi_input *input;
	struct validate_worker worker;
	struct validate_trial trial;
	uint32_t *leader; /* of each range: a lower range of its function, or itself */
	uint32_t target;  /* the range that is broken */
	bool watching;	  /* places and rows are kept */
	struct cfi_row *rows; /* true ones of the target */
	size_t n_rows, cap_rows;
	struct cfi_row *broken;
	size_t n_broken, cap_broken;
	struct mutant_place *places;
	size_t n_places, cap_places;
	struct mutant_count counts[MUTANT_N];
	bool verbose;
};

static void must(bool ok)
{
	if (ok)
		return;
	fputs("validate_mutants: out of memory\n", stderr);
	exit(99);
}

static void on_rows(void *context, uint32_t range, struct cfi_table *table)
{
	struct mutants *m = context;

	if (range != m->target)
		return;
	if (m->watching) {
		must(vec_reserve(&m->rows, &m->cap_rows, table->n_rows));
		memcpy(m->rows, table->rows, table->n_rows * sizeof(*m->rows));
		m->n_rows = table->n_rows;
	} else {
		memcpy(table->rows, m->broken, m->n_broken * sizeof(*m->broken));
		table->n_rows = m->n_broken;
	}
}

static void on_place(void *context, uint32_t range, const struct code_place *place)
{
	struct mutants *m = context;

	if (range != m->target || !m->watching)
		return;
	must(vec_reserve(&m->places, &m->cap_places, m->n_places + 1));
	m->places[m->n_places++] =
	    (struct mutant_place){place->pc, place->seeded, *place->state};
}

/* ---- functions of several ranges ---- */

static uint32_t leader_of(const struct mutants *m, uint32_t range)
{
	while (m->leader[range] != range)
		range = m->leader[range];
	return range;
}

/* Looks at the function of a range. The worst that is said of its ranges. */
static uint8_t look(struct mutants *m, uint32_t range)
{
	static uint32_t list[4096];
	uint32_t leader = leader_of(m, range);
	uint8_t worst = VALIDATE_CONFIRMED;
	size_t n = 0;

	m->worker.n_faults = m->worker.n_links = 0;
	/* Groups are small, and far apart only in files with hot and cold sections. */
	for (uint32_t i = leader; i < m->input->ranges.n && n < 4096; i++)
		if (i == leader || (m->leader[i] != i && leader_of(m, i) == leader))
			list[n++] = i;
	must(validate_unit(&m->worker, list, n));
	for (size_t i = 0; i < n; i++)
		if (m->worker.result->ranges[list[i]].state > worst)
			worst = m->worker.result->ranges[list[i]].state;
	return worst;
}

static void join_all(struct mutants *m)
{
	for (bool joined = true; joined;) {
		joined = false;
		for (uint32_t i = 0; i < m->input->ranges.n; i++) {
			if (m->leader[i] != i)
				continue;
			look(m, i);
			for (size_t k = 0; k < m->worker.n_links; k++) {
				uint32_t a = leader_of(m, m->worker.links[k].from);
				uint32_t b = leader_of(m, m->worker.links[k].to);

				joined |= a != b;
				m->leader[a > b ? a : b] = a < b ? a : b;
			}
		}
	}
}

/* ---- breaking rows ---- */

static uint64_t next_place(const struct mutants *m, uint64_t pc)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < m->n_places; i++)
		if (m->places[i].pc > pc && m->places[i].pc < next)
			next = m->places[i].pc;
	return next;
}

/* Breaks row i. False: it cannot be broken so. */
static bool break_row(struct mutants *m, enum mutant_kind kind, size_t i)
{
	const struct code_abi *abi = code_abi(m->input->arch->code);
	struct cfi_row *row = &m->broken[i];
	const uint64_t end =
	    i + 1 < m->n_rows ? m->rows[i + 1].pc : m->input->ranges.list[m->target].end;

	switch (kind) {
	case MUTANT_CFA_HIGH:
	case MUTANT_CFA_LOW:
		row->cfa.off += kind == MUTANT_CFA_HIGH ? 8 : -8;
		return row->cfa.kind == CFI_REG_PLUS;
	case MUTANT_LATE:
		row->pc = next_place(m, row->pc);
		return i > 0 && row->pc < end;
	case MUTANT_MISSING:
		memmove(row, row + 1, (m->n_rows - i - 1) * sizeof(*row));
		m->n_broken--;
		return i > 0;
	case MUTANT_CFA_REG:
		row->cfa.reg = row->cfa.reg == abi->sp ? abi->fp : abi->sp;
		return row->cfa.kind == CFI_REG_PLUS;
	case MUTANT_RA:
		row->ra.off = row->ra.kind == CFI_AT_CFA ? row->ra.off - 8 : -16;
		if (row->ra.kind == CFI_UNDEFINED)
			return false;
		row->ra.kind = CFI_AT_CFA;
		return true;
	case MUTANT_FP:
		row->fp.kind = row->fp.kind == CFI_AT_CFA ? CFI_SAME : CFI_AT_CFA;
		row->fp.off = row->fp.kind == CFI_AT_CFA ? -16 : 0;
		return true;
	case MUTANT_N:
		break;
	}
	return false;
}

/* The row that is in force at pc. */
static const struct cfi_row *row_at(const struct cfi_row *rows, size_t n, uint64_t pc)
{
	while (n > 1 && rows[n - 1].pc > pc)
		n--;
	return &rows[n - 1];
}

/* True if the broken rows still give the same at each instruction. Sets *seeded where all that is
 * not the same has a state that comes from a row. */
static bool is_same(const struct mutants *m, bool *seeded)
{
	bool same = true;

	*seeded = true;
	for (size_t i = 0; i < m->n_places; i++) {
		const struct cfi_row *row =
		    row_at(m->broken, m->n_broken, m->places[i].pc);

		if (validate_row(m->input->arch, row, &m->places[i].state).verdict ==
		    VALIDATE_AGREES)
			continue;
		same = false;
		*seeded &= m->places[i].seeded;
	}
	return same;
}

static void tell_missed(
    const struct mutants *m, enum mutant_kind kind, size_t row, bool seeded)
{
	printf("# not noticed: %s, row at %" PRIx64 " of %" PRIx64 "%s\n",
	    mutant_names[kind], m->rows[row].pc, m->input->ranges.list[m->target].start,
	    seeded ? ", where states come from rows" : "");
}

static void mutate(struct mutants *m, enum mutant_kind kind, uint8_t before)
{
	struct mutant_count *count = &m->counts[kind];
	const size_t first = (size_t)(m->target * UINT32_C(2654435761) >> 8) % m->n_rows;
	size_t i = 0, row = 0;
	uint8_t state;
	bool seeded;

	must(vec_reserve(&m->broken, &m->cap_broken, m->n_rows));
	for (; i < m->n_rows; i++) {
		row = (first + i) % m->n_rows;
		memcpy(m->broken, m->rows, m->n_rows * sizeof(*m->rows));
		m->n_broken = m->n_rows;
		if (break_row(m, kind, row))
			break;
	}
	if (i == m->n_rows)
		return;
	count->made++;
	if (is_same(m, &seeded)) {
		count->same++;
		return;
	}
	state = look(m, m->target);
	if (state <= before) {
		count->missed++;
		if (m->verbose)
			tell_missed(m, kind, row, seeded);
		return;
	}
	count->contradicts += state == VALIDATE_WRONG;
	count->review += state == VALIDATE_REVIEW;
	count->unknown += state == VALIDATE_OPEN;
}

static void mutate_all(struct mutants *m, size_t limit)
{
	const size_t n = m->input->ranges.n;
	const size_t step = limit && n > limit ? n / limit : 1;

	m->target = UINT32_MAX;
	join_all(m);
	m->worker.trial = &m->trial;
	for (uint32_t i = 0; i < n; i += (uint32_t)step) {
		uint8_t before;

		m->target = i;
		m->watching = true;
		m->n_places = m->n_rows = 0;
		before = look(m, i);
		m->watching = false;
		if (!m->n_rows || m->worker.result->ranges[i].state != VALIDATE_CONFIRMED)
			continue;
		for (int kind = 0; kind < MUTANT_N; kind++)
			mutate(m, (enum mutant_kind)kind, before);
	}
}

/* True if every kind of mutant is noticed as often as it must be. */
static bool tell_counts(const struct mutants *m, const char *file, double least)
{
	bool ok = true;

	for (int kind = 0; kind < MUTANT_N; kind++) {
		const struct mutant_count *c = &m->counts[kind];
		const size_t different = c->made - c->same;
		const double noticed =
		    different
			? 100.0 * (double)(different - c->missed) / (double)different
			: 100.0;

		printf(
		    "# %s: %s: %zu, %zu of them the same; contradicts %zu, review %zu, "
		    "unknown %zu, not noticed %zu: %.2f %%\n",
		    file, mutant_names[kind], c->made, c->same, c->contradicts, c->review,
		    c->unknown, c->missed, noticed);
		ok &= kind > MUTANT_MISSING || noticed >= least;
	}
	return ok;
}

static bool run_file(const char *file, size_t limit, double least, bool verbose)
{
	struct validate_result result = {0};
	struct validate_callees callees = {0};
	struct mutants m = {.verbose = verbose};
	struct cfi_input input = {0};
	struct image image = {0};
	struct options options;
	struct err err = {0};
	bool ok;

	options_init(&options);
	if (!image_open(file, &image, &err) ||
	    !cfi_input_read(&image, &image, &options, &input, &err)) {
		printf("# %s: cannot be looked at: %s\n", file, err.text);
		exit(99);
	}
	if (!code_can_decode(input.arch->code)) {
		printf("# %s: this build does not decode its instructions\n", file);
		exit(77);
	}
	must(validate_callees_read(&image, &input, &callees));
	result.ranges = calloc(input.ranges.n + 1, sizeof(*result.ranges));
	m.leader = calloc(input.ranges.n + 1, sizeof(*m.leader));
	must(result.ranges && m.leader);
	must(validate_worker_init(&m.worker, &image, &input, &callees, &result));
	m.input = &input;
	m.trial = (struct validate_trial){&m, on_rows, on_place};
	for (uint32_t i = 0; i < input.ranges.n; i++)
		m.leader[i] = i;
	mutate_all(&m, limit);
	ok = tell_counts(&m, file, least);
	validate_worker_deinit(&m.worker);
	validate_callees_deinit(&callees);
	free(result.ranges);
	free(m.leader);
	free(m.rows);
	free(m.broken);
	free(m.places);
	cfi_input_deinit(&input);
	image_close(&image);
	options_deinit(&options);
	return ok;
}

int main(int argc, char **argv)
{
	bool verbose = false, ok = true;
	size_t limit = 0;
	double least = 0;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else if (!strcmp(argv[i], "-n") && i + 1 < argc)
			limit = strtoul(argv[++i], NULL, 10);
		else if (!strcmp(argv[i], "-l") && i + 1 < argc)
			least = strtod(argv[++i], NULL);
		else
			ok &= run_file(argv[i], limit, least, verbose);
	}
	return !ok;
}
