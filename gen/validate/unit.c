/* SPDX-License-Identifier: MIT */
#include "gen/validate/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"

/* Instructions of callees that a unit may look at, besides one per byte. */
enum { UNIT_LEAST_BUDGET = 4096 };

bool validate_worker_init(struct validate_worker *worker, const struct image *image,
    const struct cfi_input *input, const struct validate_callees *callees,
    struct validate_result *result)
{
	*worker = (struct validate_worker){.image = image,
	    .input = input,
	    .callees = callees,
	    .result = result,
	    .stubs = SIZE_MAX};
	cfi_interp_init(&worker->interp, &input->frames, &input->arch->cfi);
	cfi_interp_init(&worker->other, &input->frames, &input->arch->cfi);
	worker->paths = code_paths_new();
	return worker->paths;
}

void validate_worker_deinit(struct validate_worker *worker)
{
	cfi_interp_deinit(&worker->interp);
	cfi_interp_deinit(&worker->other);
	code_paths_free(worker->paths);
	free(worker->parts);
	free(worker->code);
	free(worker->rows);
	free(worker->entries);
	free(worker->landings.list);
	free(worker->links);
	free(worker->faults);
}

/* ---- rows ---- */

/* The part that pc is in; NULL: none. */
static struct validate_part *unit_part(struct validate_worker *worker, uint64_t pc)
{
	for (size_t i = 0; i < worker->n_parts; i++)
		if (pc - worker->code[i].start <
		    worker->code[i].end - worker->code[i].start)
			return &worker->parts[i];
	return NULL;
}

/* The row in force at pc, which is in the part. */
static const struct cfi_row *unit_row(
    const struct validate_worker *worker, struct validate_part *part, uint64_t pc)
{
	const struct cfi_row *rows = &worker->rows[part->row];

	/* Most questions are about the row of the last one, or the next. */
	if (pc < rows[part->at].pc ||
	    (part->at + 2 < part->n_rows && pc >= rows[part->at + 2].pc))
		part->at = search_list_above(rows, part->n_rows, pc, pc) - 1;
	else if (part->at + 1 < part->n_rows && pc >= rows[part->at + 1].pc)
		part->at++;
	return &rows[part->at];
}

/* Whether a function begins where the row does: nothing has been saved yet. */
static bool unit_is_entry(const struct validate_worker *worker, const struct cfi_row *row)
{
	struct code_state entry;

	code_state_entry(code_abi(worker->input->arch->code), &entry);
	return validate_row(worker->input->arch, row, &entry).verdict == VALIDATE_AGREES;
}

static bool unit_add_part(struct validate_worker *worker, uint32_t index)
{
	const struct cfi_range *range = &worker->input->ranges.list[index];
	const struct cfi_fde *fde = &worker->input->frames.fdes[range->fde];
	struct validate_range *result = &worker->result->ranges[index];
	const struct cfi_table *table = &worker->interp.table;
	const GElf_Phdr *segment =
	    image_code_segment(worker->image, range->start, range->end - range->start);
	uint64_t readable =
	    segment ? segment->p_vaddr + segment->p_filesz - range->start : 0;
	const uint8_t *bytes = image_at_addr(worker->image, range->start, readable);
	struct err broken = {0};

	*result = (struct validate_range){.round = worker->round};
	if (range->overlapping || !bytes || readable < range->end - range->start ||
	    worker->input->frames.cies[fde->cie].signal_frame)
		return true;
	worker->interp.max_expr_ops = cfi_ranges_expr_ops(&worker->input->ranges, index);
	if (!cfi_interpret(&worker->interp, fde, &broken))
		return broken.kind != ERR_NOMEM;
	/* Of a PLT, whose rows follow from the address. */
	if (table->pc_dependent || !table->n_rows)
		return true;
	if (worker->trial && worker->trial->rows)
		worker->trial->rows(worker->trial->context, index, &worker->interp.table);
	if (!vec_reserve(&worker->parts, &worker->cap_parts, worker->n_parts + 1) ||
	    !vec_reserve(&worker->code, &worker->cap_code, worker->n_parts + 1) ||
	    !vec_reserve(&worker->entries, &worker->cap_entries, worker->n_entries + 1) ||
	    !vec_reserve(
		&worker->rows, &worker->cap_rows, worker->n_rows + table->n_rows) ||
	    !validate_landings_add(worker->image, worker->input, fde, &worker->landings))
		return false;
	result->looked_at = true;
	worker->parts[worker->n_parts] = (struct validate_part){
	    .range = index, .row = worker->n_rows, .n_rows = table->n_rows};
	worker->code[worker->n_parts++] =
	    (struct code_range){range->start, range->end, bytes, readable};
	memcpy(&worker->rows[worker->n_rows], table->rows,
	    table->n_rows * sizeof(*table->rows));
	worker->n_rows += table->n_rows;
	if (unit_is_entry(worker, &table->rows[0]))
		worker->entries[worker->n_entries++] = range->start;
	return true;
}

/* ---- questions of the analysis ---- */

static bool host_read(void *context, uint64_t addr, uint8_t width, uint64_t *value)
{
	const struct validate_worker *worker = context;
	const uint8_t *bytes = image_at_addr(worker->image, addr, width);
	struct rd rd;

	if (!bytes || !validate_is_constant(worker->image, addr))
		return false;
	rd_init(&rd, bytes, width, worker->image->big_endian);
	*value = width == 1   ? rd_u8(&rd)
		 : width == 2 ? rd_u16(&rd)
		 : width == 4 ? rd_u32(&rd)
			      : rd_u64(&rd);
	return true;
}

static bool host_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after)
{
	struct validate_worker *worker = context;
	struct validate_part *part = unit_part(worker, pc);

	/* Behind it is another function, or nothing. */
	if (!part || next >= worker->code[part - worker->parts].end)
		return false;
	if (validate_row(worker->input->arch, unit_row(worker, part, next), after)
		.verdict != VALIDATE_CONTRADICTS)
		return true;
	if (!validate_never_returns(worker->callees, call, &worker->budget))
		worker->result->ranges[part->range].reviews |= VALIDATE_REVIEW_CALL;
	return false;
}

static bool host_seed(void *context, uint64_t pc, struct code_state *state)
{
	struct validate_worker *worker = context;
	struct validate_part *part = unit_part(worker, pc);

	return part &&
	       validate_seed(worker->input->arch, unit_row(worker, part, pc), state);
}

/* The range that holds pc. SIZE_MAX: none. */
static size_t unit_range_at(const struct validate_worker *worker, uint64_t pc)
{
	const struct cfi_ranges *ranges = &worker->input->ranges;
	size_t i = search_list_above(ranges->list, ranges->n, start, pc);

	return i && pc < ranges->list[i - 1].end ? i - 1 : SIZE_MAX;
}

/* Whether a function begins at pc in the range, by its row: a stub of a PLT is one, too. */
static bool unit_begins_function(
    struct validate_worker *worker, size_t index, uint64_t pc)
{
	const struct cfi_range *range = &worker->input->ranges.list[index];
	const struct cfi_table *table = &worker->other.table;
	struct err broken = {0};
	size_t row;

	/* Many functions go to stubs, whose rows take long to make. */
	if (index == worker->stubs)
		return true;
	if (!cfi_interpret(
		&worker->other, &worker->input->frames.fdes[range->fde], &broken))
		return false;
	if (table->pc_dependent)
		worker->stubs = index;
	row = search_list_above(table->rows, table->n_rows, pc, pc);
	return table->pc_dependent ||
	       (row && unit_is_entry(worker, &table->rows[row - 1]));
}

static void host_leaves(void *context, uint64_t pc, uint64_t target)
{
	struct validate_worker *worker = context;
	size_t to = unit_range_at(worker, target);
	struct validate_part *part = unit_part(worker, pc);

	if (to == SIZE_MAX || !part || unit_begins_function(worker, to, target))
		return;
	if (!vec_reserve(&worker->links, &worker->cap_links, worker->n_links + 1)) {
		worker->nomem = true;
		return;
	}
	worker->links[worker->n_links++] =
	    (struct validate_link){part->range, (uint32_t)to};
}

/* ---- what comes of it ---- */

/* The rows around the one that contradicts, and then all others. */
static uint8_t unit_fault_kind(const struct validate_worker *worker,
    const struct validate_part *part, const struct code_state *state)
{
	const struct arch *arch = worker->input->arch;
	const struct cfi_row *rows = &worker->rows[part->row];

	if (part->at + 1 < part->n_rows &&
	    validate_row(arch, &rows[part->at + 1], state).verdict == VALIDATE_AGREES)
		return VALIDATE_FAULT_LATE;
	if (part->at > 0 &&
	    validate_row(arch, &rows[part->at - 1], state).verdict == VALIDATE_AGREES)
		return VALIDATE_FAULT_EARLY;
	for (size_t i = 0; i < part->n_rows && i < 64; i++)
		if (validate_row(arch, &rows[i], state).verdict == VALIDATE_AGREES)
			return VALIDATE_FAULT_OTHER;
	return VALIDATE_FAULT_MISSING;
}

static bool unit_add_fault(struct validate_worker *worker,
    const struct validate_part *part, const struct code_place *place,
    const struct cfi_row *row, struct validate_answer answer)
{
	struct validate_fault *last =
	    worker->n_faults ? &worker->faults[worker->n_faults - 1] : NULL;
	uint8_t kind = unit_fault_kind(worker, part, place->state);
	struct cfi_row repaired;
	bool repairable = !place->seeded && !code_paths_is_disputed(worker->paths) &&
			  validate_row_of(worker->input->arch, place->state, &repaired);

	if (last && last->repairable == repairable &&
	    (!repairable || cfi_row_same(&last->repaired, &repaired)) &&
	    last->range == part->range && last->end == place->pc &&
	    last->row.pc == row->pc && last->kind == kind &&
	    last->round == worker->round && last->answer.column == answer.column &&
	    code_value_equal(last->answer.found, answer.found)) {
		last->end += place->insn->length;
		last->n_instructions++;
		return true;
	}
	if (!vec_reserve(&worker->faults, &worker->cap_faults, worker->n_faults + 1)) {
		worker->nomem = true;
		return false;
	}
	worker->faults[worker->n_faults++] = (struct validate_fault){.start = place->pc,
	    .end = place->pc + place->insn->length,
	    .range = part->range,
	    .n_instructions = 1,
	    .kind = kind,
	    .round = worker->round,
	    .row = *row,
	    .answer = answer,
	    .repairable = repairable};
	if (repairable)
		worker->faults[worker->n_faults - 1].repaired = repaired;
	return true;
}

/* Whether control goes back to the caller, or to another function in place of this one. */
static bool unit_is_left(struct validate_worker *worker, const struct code_place *place)
{
	const struct code_insn *insn = place->insn;
	size_t to;

	if (insn->control != CODE_JUMPS && insn->control != CODE_BRANCHES)
		return insn->control == CODE_RETURNS;
	if (unit_part(worker, insn->target))
		return false;
	to = unit_range_at(worker, insn->target);
	return to != SIZE_MAX && unit_begins_function(worker, to, insn->target);
}

/* Whether the function is left with SP elsewhere than at its entry. */
static bool unit_returns_oddly(
    struct validate_worker *worker, const struct code_place *place)
{
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const struct code_value sp = place->state->regs[abi->sp];

	return sp.kind != CODE_UNKNOWN &&
	       (sp.kind != CODE_CFA || sp.off != abi->sp_off) &&
	       unit_is_left(worker, place);
}

static bool unit_visit(void *context, const struct code_place *place)
{
	struct validate_worker *worker = context;
	struct validate_part *part = unit_part(worker, place->pc);
	struct validate_range *result = &worker->result->ranges[part->range];
	const struct cfi_row *row = unit_row(worker, part, place->pc);
	struct validate_answer answer =
	    validate_row(worker->input->arch, row, place->state);

	if (worker->trial && worker->trial->place)
		worker->trial->place(worker->trial->context, part->range, place);
	result->instructions++;
	result->seeded += place->seeded;
	if (unit_returns_oddly(worker, place))
		result->reviews |= VALIDATE_REVIEW_RETURN;
	switch ((enum validate_verdict)answer.verdict) {
	case VALIDATE_AGREES:
		result->agreeing++;
		return true;
	case VALIDATE_UNKNOWN:
		if (result->state < VALIDATE_OPEN)
			result->state = VALIDATE_OPEN;
		if (!result->first_open)
			result->first_open = place->pc;
		return true;
	case VALIDATE_CONTRADICTS:
		result->state = VALIDATE_WRONG;
		return unit_add_fault(worker, part, place, row, answer);
	}
	return true;
}

static void unit_all_open(struct validate_worker *worker)
{
	for (size_t i = 0; i < worker->n_parts; i++)
		worker->result->ranges[worker->parts[i].range].state = VALIDATE_OPEN;
}

bool validate_unit(struct validate_worker *worker, const uint32_t *ranges, size_t n)
{
	struct code_paths_input input = {.machine = worker->input->arch->code,
	    .host = {worker, host_read, host_returns, host_seed, host_leaves}};
	struct err err = {0};

	worker->n_parts = worker->n_rows = worker->n_entries = worker->landings.n = 0;
	for (size_t i = 0; i < n; i++)
		if (!unit_add_part(worker, ranges[i]))
			return false;
	if (!worker->n_parts)
		return true;
	worker->budget = UNIT_LEAST_BUDGET;
	for (size_t i = 0; i < worker->n_parts; i++)
		worker->budget += worker->code[i].end - worker->code[i].start;
	if (worker->landings.n)
		qsort(worker->landings.list, worker->landings.n,
		    sizeof(*worker->landings.list), search_order);
	input.ranges = worker->code;
	input.n_ranges = worker->n_parts;
	input.entries = worker->entries;
	input.n_entries = worker->n_entries;
	input.landings = worker->landings.list;
	input.n_landings = worker->landings.n;
	if (!code_paths_run(worker->paths, &input, &err)) {
		unit_all_open(worker);
		return err.kind == ERR_LIMIT;
	}
	(void)code_paths_visit(worker->paths, unit_visit, worker);
	for (size_t i = 0; i < worker->n_parts; i++) {
		struct validate_range *result =
		    &worker->result->ranges[worker->parts[i].range];

		if (!worker->n_entries)
			result->reviews |= VALIDATE_REVIEW_ENTRY;
		if (result->state == VALIDATE_CONFIRMED && result->reviews)
			result->state = VALIDATE_REVIEW;
	}
	return !worker->nomem;
}
