/* SPDX-License-Identifier: MIT */
/* Checks the rows of one function at each of its instructions. */
#include "gen/check/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"

bool validate_worker_init(struct validate_worker *worker, const struct image *image,
    const struct cfi_input *input, const struct validate_callees *callees,
    struct validate_result *result)
{
	*worker = (struct validate_worker){.image = image,
	    .input = input,
	    .callees = callees,
	    .result = result,
	    .interpreted = VALIDATE_NO_FDE,
	    .turns = calloc(input->ranges.n + 1, sizeof(*worker->turns))};
	cfi_interp_init(&worker->interp, &input->frames, &input->arch->cfi);
	cfi_interp_init(&worker->other, &input->frames, &input->arch->cfi);
	code_state_entry(code_abi(input->arch->code), &worker->entry);
	worker->paths = code_paths_new();
	return worker->paths && worker->turns;
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
	free(worker->edges.list);
	free(worker->outs.list);
	needs_deinit(&worker->needs);
	validate_refs_deinit(&worker->found);
	validate_refs_deinit(&worker->called);
	validate_refs_deinit(&worker->framed);
	validate_refs_deinit(&worker->bare);
	for (size_t i = 0; worker->turns && i < worker->input->ranges.n; i++)
		free(worker->turns[i].list);
	free(worker->turns);
	free(worker->uses);
	free(worker->links);
	free(worker->faults);
}

/* ---- questions of the analysis ---- */

static bool host_read(void *context, uint64_t addr, uint8_t width, uint64_t *value)
{
	const struct validate_worker *worker = context;

	return validate_read(worker->image, addr, width, value);
}

/* The first round does not know what follows a table. */
static uint32_t host_entries(void *context, uint64_t addr, uint8_t width)
{
	struct validate_worker *worker = context;

	worker->asked = true;
	return worker->refs ? validate_refs_entries(worker->refs, addr, width) : 0;
}

static bool host_keeps_first(
    void *context, const struct code_insn *call, const struct code_state *state)
{
	const struct validate_worker *worker = context;

	return validate_keeps_first(worker->callees, call, state);
}

/* Notes how a jump enters a function at its first byte: with a frame on the stack (SP is not where a call leaves it), or
 * bare (as a call does). Control can also get there from a call that was thought to end the function before it, which is
 * no jump, so the instruction is read. */
static void unit_note_jump(struct validate_worker *worker, uint64_t pc, uint64_t target,
    const struct code_state *state)
{
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const struct code_value sp = state->regs[abi->sp];
	struct code_insn insn;

	if (!validate_read_insn(worker->callees, pc, &insn) || insn.target != target)
		return;
	if (callee_is_bare(abi, state))
		worker->nomem |= !validate_refs_add(&worker->bare, target);
	else if (sp.kind == CODE_CFA && sp.off != abi->sp_off)
		worker->nomem |= !validate_refs_add(&worker->framed, target);
}

static void host_arrives(void *context, uint64_t from, uint64_t to)
{
	struct validate_worker *worker = context;

	worker->nomem |= from != to && !needs_edges_add(&worker->edges, from, to);
}

static void host_leaves(
    void *context, uint64_t pc, uint64_t target, const struct code_state *state)
{
	struct validate_worker *worker = context;
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	size_t to = validate_range_at(worker, target);
	struct validate_part *part = validate_part_at(worker, pc);

	worker->nomem |= !needs_edges_add(&worker->outs, pc, target);
	if (to == SIZE_MAX || !part)
		return;
	if (validate_begins_function(worker, to, target)) {
		if (worker->input->ranges.list[to].start == target)
			unit_note_jump(worker, pc, target, state);
		return;
	}
	if (!vec_reserve(&worker->links, &worker->cap_links, worker->n_links + 1)) {
		worker->nomem = true;
		return;
	}
	worker->links[worker->n_links++] = (struct validate_link){.from = part->range,
	    .to = (uint32_t)to,
	    .bare = worker->input->ranges.list[to].start == target &&
		    code_value_equal(state->regs[abi->sp], worker->entry.regs[abi->sp])};
}

/* ---- what comes of it ---- */

/* Finds the kind of a fault: tries the rows around the one that contradicts, and then all others. */
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
	struct cfi_row repaired = {0};
	const bool repairable = validate_repair(worker, place, &repaired);

	if (last && last->repairable == repairable && last->seeded == place->seeded &&
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
	    .seeded = place->seeded,
	    .row = *row,
	    .answer = answer,
	    .repairable = repairable,
	    .repaired = repaired};
	return true;
}

/*
 * True if a row before took SP for this other stack: code that raises exceptions skips frames through
 * a register, and then SP gets its value.
 */
static bool unit_is_elsewhere(const struct validate_worker *worker,
    struct validate_part *part, const struct cfi_row *row, struct validate_answer answer)
{
	if (answer.column != VALIDATE_CFA || answer.found.kind == CODE_UNKNOWN)
		return false;
	if (answer.verdict == VALIDATE_UNKNOWN)
		part->elsewhere = answer.found;
	return answer.verdict == VALIDATE_CONTRADICTS && row->cfa.kind == CFI_REG_PLUS &&
	       row->cfa.reg == code_abi(worker->input->arch->code)->sp &&
	       answer.found.kind == part->elsewhere.kind &&
	       answer.found.symbol == part->elsewhere.symbol;
}

/* Counts a place for the results of its part. */
static struct validate_range *unit_count(struct validate_worker *worker,
    const struct validate_part *part, const struct code_place *place)
{
	struct validate_range *result = &worker->result->ranges[part->range];

	if (worker->trial && worker->trial->place)
		worker->trial->place(worker->trial->context, part->range, place);
	result->instructions++;
	result->seeded += place->seeded;
	if (!place->seeded)
		callee_note_stores(
		    code_abi(worker->input->arch->code), place, &worker->effect);
	return result;
}

static bool unit_is_in_stack(const struct cfi_rule *rule)
{
	return rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME ||
	       rule->kind == CFI_AT_CFA;
}

/* Remembers a row that agrees, if it does so at quiet places, too. */
static void unit_remember(
    struct validate_worker *worker, struct validate_part *part, const struct cfi_row *row)
{
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const struct cfi_row *end = &worker->rows[part->row + part->n_rows];

	worker->agreed = NULL;
	if (row->cfa.kind != CFI_REG_PLUS ||
	    (row->cfa.reg != abi->sp && row->cfa.reg != abi->fp) ||
	    !unit_is_in_stack(&row->ra) || !unit_is_in_stack(&row->fp))
		return;
	worker->agreed = part;
	worker->agreed_start = row->pc;
	worker->agreed_end =
	    row + 1 < end ? row[1].pc : worker->code[part - worker->parts].end;
}

static bool unit_visit(void *context, const struct code_place *place)
{
	struct validate_worker *worker = context;
	struct validate_part *part;
	struct validate_range *result;
	const struct cfi_row *row;
	struct validate_answer answer;
	const uint8_t control = place->insn->control;
	const bool calls = control == CODE_CALLS || control == CODE_CALLS_TO;
	/* Some ways lead into the middle of an instruction, and then to bytes that are none: of a table that was read
	 * too far. */
	const bool inside =
	    place->pc < worker->seen.end && code_paths_is_broken(worker->paths);

	if (place->pc >= worker->seen.end)
		worker->seen.end = place->pc + place->insn->length;
	if (worker->round == 1 &&
	    (!validate_refs_note(&worker->found, worker->image, place) ||
		(place->insn->control == CODE_CALLS &&
		    !validate_refs_add(&worker->called, place->insn->target))))
		worker->nomem = true;
	if (control == CODE_CONTINUES && place->quiet && worker->agreed &&
	    place->pc >= worker->agreed_start && place->pc < worker->agreed_end) {
		unit_count(worker, worker->agreed, place)->agreeing++;
		return true;
	}
	part = validate_part_at(worker, place->pc);
	row = validate_row_in(worker, part, place->pc);
	if (row->doubtful) {
		worker->agreed = NULL;
		return true;
	}
	answer = validate_part_row(worker, part, row, place->state);
	if (control != CODE_CONTINUES)
		validate_note_end(worker, part, row, place, answer);
	worker->nomem |= calls && !validate_note_call(worker, part, place);
	if (unit_is_elsewhere(worker, part, row, answer) ||
	    ((inside || part->framed) && answer.verdict == VALIDATE_CONTRADICTS))
		answer.verdict = VALIDATE_UNKNOWN;
	result = unit_count(worker, part, place);
	worker->agreed = NULL;
	switch ((enum validate_verdict)answer.verdict) {
	case VALIDATE_AGREES:
		result->agreeing++;
		unit_remember(worker, part, row);
		return true;
	case VALIDATE_UNKNOWN:
		if (result->state < VALIDATE_OPEN)
			result->state = VALIDATE_OPEN;
		if (!result->first_open)
			result->first_open = place->pc;
		return true;
	case VALIDATE_CONTRADICTS:
		result->state = VALIDATE_WRONG;
		worker->seen.wrong_at_call |=
		    calls && place->ends && answer.column == VALIDATE_CFA;
		return unit_add_fault(worker, part, place, row, answer);
	}
	return true;
}

static void unit_all_open(struct validate_worker *worker)
{
	for (size_t i = 0; i < worker->n_parts; i++)
		worker->result->ranges[worker->parts[i].range].state = VALIDATE_OPEN;
}

/* Compilers sort those of one function. */
static void unit_sort_landings(struct validate_landings *landings)
{
	for (size_t i = 1; i < landings->n; i++)
		if (landings->list[i].start < landings->list[i - 1].start)
			qsort(landings->list, landings->n, sizeof(*landings->list),
			    search_order);
}

/* Settles the class of each range, once all places have been seen. */
static void unit_settle(struct validate_worker *worker)
{
	for (size_t i = 0; i < worker->n_parts; i++) {
		struct validate_range *result =
		    &worker->result->ranges[worker->parts[i].range];

		/* Bytes that cannot be decoded end a way, and nothing is known of what is behind them. */
		result->undecoded =
		    !result->instructions || code_paths_is_broken(worker->paths);
		if (result->state == VALIDATE_CONFIRMED && result->undecoded)
			result->state = VALIDATE_OPEN;
		if (!worker->n_entries)
			result->reviews |= VALIDATE_REVIEW_ENTRY;
		if (result->state == VALIDATE_CONFIRMED && result->reviews)
			result->state = VALIDATE_REVIEW;
	}
}

static bool unit_look(
    struct validate_worker *worker, const uint32_t *ranges, size_t n, bool strict)
{
	struct code_paths_input input = {.machine = worker->input->arch->code,
	    .strict = strict,
	    .host = {.context = worker,
		.read = host_read,
		.returns = validate_call_returns,
		.seed = validate_seed_at,
		.contradicts = validate_contradicts_at,
		.keeps_first = host_keeps_first,
		.kept = validate_called,
		.entries = host_entries,
		.arrives = host_arrives,
		.leaves = host_leaves}};
	const size_t n_faults = worker->n_faults;
	struct err err = {0};

	worker->n_parts = worker->n_rows = worker->n_entries = worker->landings.n = 0;
	needs_edges_clear(&worker->edges);
	needs_edges_clear(&worker->outs);
	worker->effect = CALLEE_NONE;
	memset(&worker->seen, 0, sizeof(worker->seen));
	worker->rowless = true;
	for (size_t i = 0; i < n; i++)
		if (!validate_add_part(worker, ranges[i]))
			return false;
	if (worker->rowless)
		return true;
	if (worker->tries_entry && !worker->n_entries) {
		worker->entries[worker->n_entries++] = worker->code[0].start;
		worker->parts[0].entry = true;
	}
	worker->comes_back = worker->returns_oddly = false;
	unit_sort_landings(&worker->landings);
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
	validate_end_unit(worker, n_faults);
	unit_settle(worker);
	return !worker->nomem;
}

/* Returns the worst verdict on the unit's ranges. */
static uint8_t unit_verdict(const struct validate_worker *worker)
{
	uint8_t worst = VALIDATE_CONFIRMED;

	for (size_t i = 0; i < worker->n_parts; i++) {
		uint8_t state = worker->result->ranges[worker->parts[i].range].state;

		worst = state > worst ? state : worst;
	}
	return worst;
}

static bool unit_look_again(struct validate_worker *worker, const uint32_t *ranges,
    size_t n, bool strict, size_t n_faults, size_t n_links)
{
	worker->n_faults = n_faults;
	worker->n_links = n_links;
	return unit_look(worker, ranges, n, strict);
}

/*
 * A function can begin although no row says so, and no call leads there: its address is taken. If a way
 * from its first byte returns with SP as it was there, and each one that returns does, then what was
 * the return address for it was that at the first byte.
 */
static bool unit_try_entry(struct validate_worker *worker, const uint32_t *ranges,
    size_t n, size_t n_faults, size_t n_links)
{
	if (worker->rowless || worker->n_entries || worker->n_parts != 1 ||
	    worker->n_links > n_links || worker->parts[0].resolver)
		return true;
	worker->tries_entry = true;
	if (!unit_look_again(worker, ranges, n, false, n_faults, n_links))
		return false;
	if (worker->comes_back && !worker->returns_oddly)
		return true;
	worker->tries_entry = false;
	return unit_look_again(worker, ranges, n, false, n_faults, n_links);
}

/* Gives the contradictions of a strict look the rows that the look before it gives, where both found the same. Nothing else
 * is left of that look, whose contradictions lie in front of them. */
static void unit_take_repairs(
    struct validate_worker *worker, size_t n_faults, size_t first)
{
	struct validate_fault *faults = worker->faults;

	for (size_t i = first, j = n_faults; i < worker->n_faults; i++) {
		while (j < first && faults[j].end <= faults[i].start)
			j++;
		if (j < first && faults[j].repairable &&
		    faults[j].start <= faults[i].start &&
		    faults[j].end >= faults[i].end &&
		    faults[j].answer.column == faults[i].answer.column &&
		    code_value_equal(faults[j].answer.found, faults[i].answer.found)) {
			faults[i].repairable = true;
			faults[i].repaired = faults[j].repaired;
		}
	}
	if (worker->n_faults > first)
		memmove(&faults[n_faults], &faults[first],
		    (worker->n_faults - first) * sizeof(*faults));
	worker->n_faults -= first - n_faults;
}

/* A table that was read too far leads to places with another state. Where not all agrees, doubtful
 * tables are left out, if that helps; and always where something contradicts, so that nothing does because of them. */
bool validate_unit(struct validate_worker *worker, const uint32_t *ranges, size_t n)
{
	const size_t n_faults = worker->n_faults, n_links = worker->n_links;
	uint8_t loose;

	worker->asked = worker->tries_entry = worker->passes = worker->distrusts = false;
	if (!unit_look(worker, ranges, n, false) ||
	    !unit_try_entry(worker, ranges, n, n_faults, n_links))
		return false;
	for (bool again = worker->seen.wrong_at_call; again;
	     again = worker->passes && unit_verdict(worker) != VALIDATE_WRONG) {
		worker->passes = !worker->passes;
		if (!unit_look_again(worker, ranges, n, false, n_faults, n_links))
			return false;
	}
	/* A callee that comes back need not do so each time. */
	worker->distrusts =
	    worker->seen.overruled &&
	    (worker->seen.doubted || unit_verdict(worker) == VALIDATE_OPEN);
	if (worker->distrusts &&
	    !unit_look_again(worker, ranges, n, false, n_faults, n_links))
		return false;
	loose = unit_verdict(worker);
	if (!worker->rowless && code_paths_is_loose(worker->paths) &&
	    loose >= VALIDATE_OPEN) {
		const size_t first = worker->n_faults;

		if (!unit_look_again(worker, ranges, n, true, first, n_links))
			return false;
		unit_take_repairs(worker, n_faults, first);
		if (loose != VALIDATE_WRONG && unit_verdict(worker) >= loose &&
		    !unit_look_again(worker, ranges, n, false, n_faults, n_links))
			return false;
		worker->asked = true;
	}
	for (size_t i = 0; i < n; i++)
		worker->result->ranges[ranges[i]].asked = worker->asked;
	return true;
}
