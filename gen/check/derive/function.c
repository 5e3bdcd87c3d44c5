/* SPDX-License-Identifier: MIT */
#include "gen/check/derive/function.h"

#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/check/derive/orphans.h"
#include "gen/check/judge.h"

/* Assemblers' tables begin before their first entry where an index begins above 0. */
enum { FUNCTION_TABLE_BIAS = 12 };
/* They have fewer entries than this. What lies behind them may not be known yet. */
enum { FUNCTION_MAX_ENTRIES = 512 };

static void unit_add_address(
    struct derive_worker *worker, uint64_t **list, size_t *n, size_t *cap, uint64_t addr)
{
	if (*n && (*list)[*n - 1] == addr)
		return;
	if (!vec_reserve(list, cap, *n + 1)) {
		worker->nomem = true;
		return;
	}
	(*list)[(*n)++] = addr;
}

/* The piece of the group that addr is in. */
static uint64_t unit_piece(const struct derive_worker *worker, uint64_t addr)
{
	size_t i = search_list_above(worker->code, worker->n_code, end, addr);

	return i < worker->n_code ? worker->code[i].start : addr;
}

/* The function of the gaps that begins at addr; NULL: none is known to. */
static const struct derive_piece *unit_function(
    const struct derive_worker *worker, uint64_t addr)
{
	size_t i = derive_piece_at(worker->groups, addr);

	return i != SIZE_MAX && worker->groups->pieces[i].start == addr &&
		       worker->groups->pieces[i].entry
		   ? &worker->groups->pieces[i]
		   : NULL;
}

/* Control goes to a function of the gaps: what it does matters. */
static void unit_note_callee(struct derive_worker *worker, uint64_t pc, uint64_t callee)
{
	if (worker->emit)
		return;
	if (!vec_reserve(&worker->calls, &worker->cap_calls, worker->n_calls + 1)) {
		worker->nomem = true;
		return;
	}
	worker->calls[worker->n_calls++] =
	    (struct derive_call){callee, unit_piece(worker, pc)};
}

/* A call also says that it is a function. */
static void unit_note_call(struct derive_worker *worker, uint64_t pc, uint64_t callee)
{
	const struct derive_piece *function = unit_function(worker, callee);

	if (!worker->emit && (!function || function->doubt >= DERIVE_WEAK) &&
	    !derive_starts_add(&worker->starts, callee, DERIVE_CALLED))
		worker->nomem = true;
	unit_note_callee(worker, pc, callee);
}

/* ---- questions of the analysis ---- */

static bool function_read(void *context, uint64_t addr, uint8_t width, uint64_t *value)
{
	const struct derive_worker *worker = context;

	return validate_read(worker->image, addr, width, value);
}

static bool function_keeps_first(
    void *context, const struct code_insn *call, const struct code_state *state)
{
	const struct derive_worker *worker = context;

	return validate_keeps_first(worker->callees, call, state);
}

static bool function_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after)
{
	struct derive_worker *worker = context;
	const struct derive_piece *callee;
	size_t i = search_list_above(worker->code, worker->n_code, end, pc);

	(void)after;
	if (i == worker->n_code)
		return false;
	/* Another function follows, or the code ends, unless data names the return address. */
	if (next >= worker->code[i].end) {
		callee = unit_function(worker, pc + call->length);
		if (!callee || callee->doubt != DERIVE_WEAK)
			return false;
	}
	if (call->control == CODE_CALLS && derive_gap_at(worker->gaps, call->target)) {
		unit_note_call(worker, pc, call->target);
		callee = unit_function(worker, call->target);
		if (callee && !callee->summary.returns && callee->doubt != DERIVE_SURE) {
			/* What is behind the call is not known, so the rest is not, either. */
			worker->summary.returns = false;
			return false;
		}
	}
	return !validate_never_returns(worker->callees, call);
}

/* The registers that a callee keeps, by the psABI. */
static uint32_t unit_all_kept(const struct derive_worker *worker)
{
	const struct code_abi *abi = code_abi(worker->input->arch->code);

	return ~(abi->clobbered | UINT32_C(1) << abi->sp);
}

static void function_called(
    void *context, uint64_t pc, const struct code_insn *call, struct code_state *state)
{
	const struct derive_worker *worker = context;
	const struct derive_piece *callee =
	    call->control == CODE_CALLS ? unit_function(worker, call->target) : NULL;
	const uint32_t wanted = unit_all_kept(worker);

	(void)pc;
	for (uint8_t i = 0; callee && i < CODE_SCRATCH; i++)
		if (wanted >> i & 1 && !(callee->summary.kept >> i & 1) &&
		    callee->summary.returns)
			state->regs[i] = (struct code_value){.kind = CODE_OTHER};
}

/* The stack is as at entry, and the return address is where a callee looks for it. */
static bool unit_is_bare(
    const struct derive_worker *worker, const struct code_state *state)
{
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const struct code_value sp = state->regs[abi->sp];
	const struct code_value cfa = {.kind = CODE_CFA, .off = abi->ra_off};

	if (sp.kind != CODE_CFA || sp.off != abi->sp_off)
		return false;
	return abi->ra == CODE_NO_REG ? code_state_memory(state, cfa).kind == CODE_RA
				      : state->regs[abi->ra].kind == CODE_RA;
}

static bool function_continues(void *context, uint64_t function, struct code_state *state)
{
	const struct derive_worker *worker = context;
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const struct derive_piece *callee = unit_function(worker, function);

	if (!callee || !callee->summary.returns || !unit_is_bare(worker, state))
		return false;
	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (i != abi->sp && !(callee->summary.kept >> i & 1))
			state->regs[i] = (struct code_value){.kind = CODE_OTHER};
	return true;
}

static uint32_t function_entries(void *context, uint64_t addr, uint8_t width)
{
	struct derive_worker *worker = context;
	const uint64_t end = derive_section_end(worker->image, addr);
	uint64_t n, most;

	worker->asked = true;
	n = validate_refs_entries(worker->refs, addr, width);
	most = end > addr ? (end - addr) / width : 0;
	if (n && n < most)
		most = n;
	return most < FUNCTION_MAX_ENTRIES ? (uint32_t)most : FUNCTION_MAX_ENTRIES;
}

/* The registers that hold what they held at entry. */
static uint32_t unit_kept(const struct code_state *state)
{
	uint32_t kept = 0;

	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (state->regs[i].kind == CODE_CALLERS && state->regs[i].symbol == i)
			kept |= UINT32_C(1) << i;
	return kept;
}

/* Whether a register that callees keep holds another value than at entry, for sure. */
static bool unit_spoils(
    const struct derive_worker *worker, const struct code_state *state)
{
	const uint32_t wanted = unit_all_kept(worker) & ~unit_kept(state);

	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (wanted >> i & 1 && state->regs[i].kind != CODE_UNKNOWN)
			return true;
	return false;
}

static void unit_need_fp(struct derive_worker *worker, const struct derive_piece *callee)
{
	if (!worker->emit && !callee->fp_needed)
		unit_add_address(worker, &worker->fp_needed, &worker->n_fp_needed,
		    &worker->cap_fp_needed, callee->start);
}

/* Another function goes on in place of this one, and returns to this one's caller. */
static void unit_tail(struct derive_worker *worker, uint64_t pc, uint64_t target,
    const struct code_state *state)
{
	const struct derive_piece *callee = unit_function(worker, target);
	const size_t i = search_list_above(worker->code, worker->n_code, end, pc);
	const bool falls = i < worker->n_code && worker->code[i].end == target;
	uint32_t kept = unit_kept(state);

	/* What only runs into a function can be the end of code that never gets there. */
	worker->hands_over |= unit_is_bare(worker, state) && !falls &&
			      (!callee || callee->doubt < DERIVE_WEAK ||
				  (callee->summary.returns && callee->summary.back));
	worker->spoils |= unit_spoils(worker, state);
	if (callee) {
		unit_note_callee(worker, pc, target);
		if (!worker->fp_free)
			unit_need_fp(worker, callee);
		worker->summary.returns &= callee->summary.returns;
		kept &= callee->summary.kept;
	}
	worker->summary.kept &= kept;
}

static void function_leaves(
    void *context, uint64_t pc, uint64_t target, const struct code_state *state)
{
	struct derive_worker *worker = context;
	const struct derive_piece *function = unit_function(worker, target);
	bool bare = unit_is_bare(worker, state);
	uint32_t wanted = unit_all_kept(worker);

	if (!derive_gap_at(worker->gaps, target) ||
	    (function && bare && (unit_kept(state) & wanted) == wanted)) {
		worker->summary.returns &= bare;
		unit_tail(worker, pc, target, state);
		return;
	}
	worker->summary.returns = false;
	if (worker->emit)
		return;
	if (function && function->doubt >= DERIVE_WEAK && !bare)
		worker->nomem |=
		    !derive_starts_add(&worker->dropped, target, DERIVE_WEAK);
	if (!vec_reserve(&worker->links.list, &worker->links.cap, worker->links.n + 1)) {
		worker->nomem = true;
		return;
	}
	worker->links.list[worker->links.n++] =
	    (struct derive_link){unit_piece(worker, pc), target};
}

/* ---- what comes of it ---- */

void derive_unit_at_end(struct derive_worker *worker, const struct code_place *place)
{
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const struct code_insn *insn = place->insn;
	const struct code_value sp = place->state->regs[abi->sp];
	const uint32_t kept = unit_kept(place->state), wanted = unit_all_kept(worker);
	const bool returns = insn->control == CODE_RETURNS;

	if (!returns &&
	    ((insn->control != CODE_JUMPS_TO && insn->control != CODE_BRANCHES_TO) ||
		place->state->regs[insn->via].kind == CODE_CONST ||
		place->state->regs[insn->via].kind == CODE_TABLE))
		return;
	/* A jump to an address that is not known is a tail call if it leaves no frame behind, and
	 * nothing of its own in registers. */
	if (unit_is_bare(worker, place->state) &&
	    (returns || (kept & wanted) == wanted)) {
		worker->summary.kept &= kept;
		worker->comes_back |= returns;
		worker->spoils |= unit_spoils(worker, place->state);
		return;
	}
	worker->summary.returns = false;
	/* An SP that does not come from this one, as from the caller's frame pointer, is odd, too. */
	worker->odd |= returns && sp.kind != CODE_UNKNOWN;
	worker->unsure |= returns;
}

/* The row of a place. Where callers do without the frame pointer, it is said to be unchanged. */
static bool unit_row(const struct derive_worker *worker, const struct code_state *state,
    struct cfi_row *row)
{
	const struct arch *arch = worker->input->arch;
	const uint8_t fp = code_abi(arch->code)->fp;
	struct code_state without;

	if (validate_row_of(arch, state, row))
		return true;
	if (!worker->fp_free || state->regs[fp].kind == CODE_CFA)
		return false;
	memcpy(&without, state, sizeof(without));
	without.regs[fp] = (struct code_value){.kind = CODE_CALLERS, .symbol = fp};
	return validate_row_of(arch, &without, row);
}

/* Whether a callee's frame must tell the frame pointer: not where it is in memory here, or of no
 * use to this function's callers, and not where no row says how to go on from here. */
static void unit_at_call(struct derive_worker *worker, const struct code_place *place)
{
	const struct derive_piece *callee = unit_function(worker, place->insn->target);
	const uint8_t fp = code_abi(worker->input->arch->code)->fp;
	struct cfi_row row;

	if (!callee || !unit_row(worker, place->state, &row))
		return;
	if ((row.fp.kind == CFI_UNSPECIFIED && !worker->fp_free) ||
	    (row.cfa.kind == CFI_REG_PLUS && row.cfa.reg == fp))
		unit_need_fp(worker, callee);
}

const struct cfi_row derive_seen_end = {.cfa = {.kind = CFI_REG_PLUS}};

/* Control never goes from there to the next instruction. */
static bool function_ends(const struct code_insn *insn)
{
	return insn->control == CODE_JUMPS || insn->control == CODE_JUMPS_TO ||
	       insn->control == CODE_RETURNS || insn->control == CODE_STOPS;
}

static bool function_visit(void *context, const struct code_place *place)
{
	struct derive_worker *worker = context;
	const struct code_insn *insn = place->insn;
	const struct cfi_row none = {0};
	struct cfi_row row;
	bool found;

	derive_unit_at_end(worker, place);
	if (!worker->emit) {
		if (!validate_refs_note(&worker->found, worker->image, place))
			worker->nomem = true;
		if (insn->control == CODE_CALLS)
			unit_at_call(worker, place);
		return !worker->nomem;
	}
	found = derive_is_good(worker, place->pc) && unit_row(worker, place->state, &row);
	if (worker->trial && worker->trial->place)
		worker->trial->place(worker->trial->context, place, found);
	if ((found && !derived_add(&worker->rows, worker->at, place->pc,
			  place->pc + insn->length, &row)) ||
	    !derived_add(&worker->seen, 0, place->pc, place->pc + insn->length,
		function_ends(insn) ? &derive_seen_end : &none))
		worker->nomem = true;
	return !worker->nomem;
}

static bool unit_begin(struct derive_worker *worker, const uint32_t *members, size_t n)
{
	worker->n_code = worker->n_entries = 0;
	worker->members = members;
	worker->odd = worker->unsure = worker->asked = worker->comes_back =
	    worker->hands_over = worker->sure = worker->limited = worker->spoils = false;
	worker->fp_free = true;
	worker->n_links_before = worker->links.n;
	worker->n_starts_before = worker->starts.n;
	worker->n_calls_before = worker->n_calls;
	worker->summary = (struct derive_summary){.returns = true, .kept = UINT32_MAX};
	worker->at = worker->rows.n;
	if (!vec_reserve(&worker->code, &worker->cap_code, n) ||
	    !vec_reserve(&worker->entries, &worker->cap_entries, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct derive_piece *piece = &worker->groups->pieces[members[i]];
		const struct derive_gap *gap = derive_gap_at(worker->gaps, piece->start);

		worker->code[worker->n_code++] = (struct code_range){
		    piece->start, piece->end, piece->bytes, gap->end - piece->start};
		if (!piece->entry)
			continue;
		worker->entries[worker->n_entries++] = piece->start;
		worker->sure |= piece->doubt < DERIVE_WEAK;
		worker->fp_free &= !piece->fp_needed;
	}
	return true;
}

/* No function begins at the starts of a group whose ways do not fit, if they have this doubt or
 * more. What was found on those ways is void. False: the group has no such start. */
static bool unit_drop(struct derive_worker *worker, enum derive_doubt doubt)
{
	bool any = false;

	for (size_t i = 0; i < worker->n_code; i++) {
		const struct derive_piece *piece =
		    &worker->groups->pieces[worker->members[i]];

		if (!piece->entry || piece->doubt < doubt)
			continue;
		any = true;
		worker->nomem |=
		    !derive_starts_add(&worker->dropped, piece->start, DERIVE_WEAK);
	}
	if (!any)
		return false;
	worker->links.n = worker->n_links_before;
	worker->starts.n = worker->n_starts_before;
	worker->n_calls = worker->n_calls_before;
	return true;
}

static void unit_end(struct derive_worker *worker)
{
	bool broken = code_paths_is_broken(worker->paths), dropped = false;

	if (code_paths_is_open(worker->paths) || broken)
		worker->summary.returns = false;
	if (worker->emit) {
		/* A weak start that no way comes back from can be a label as well. */
		if (worker->odd || worker->limited || (worker->spoils && !worker->sure) ||
		    !(worker->sure || worker->comes_back || worker->hands_over))
			worker->rows.n = worker->at;
		return;
	}
	if (worker->odd || (worker->unsure && worker->sure) || broken ||
	    (worker->spoils && !worker->sure))
		dropped = unit_drop(worker, DERIVE_WEAK);
	else if (!(worker->n_entries == 1 && worker->summary.returns &&
		     worker->comes_back))
		dropped = unit_drop(worker, DERIVE_ORPHAN);
	worker->summary.returns &= !worker->odd && !worker->limited;
	if (!worker->summary.returns)
		worker->summary.kept = 0;
	worker->summary.back = worker->comes_back || worker->hands_over;
	for (size_t i = 0; i < worker->n_code; i++) {
		struct derive_piece *piece = &worker->groups->pieces[worker->members[i]];

		piece->next = worker->summary;
		/* A start that is found to be called meanwhile is not dropped. */
		piece->done = !dropped;
	}
	if (worker->asked)
		unit_add_address(worker, &worker->askers, &worker->n_askers,
		    &worker->cap_askers, worker->code[0].start);
}

bool derive_unit_paths(struct derive_worker *worker, const uint64_t *entries,
    size_t n_entries, bool (*visit)(void *context, const struct code_place *place),
    struct err *err)
{
	struct code_paths_input input = {.machine = worker->input->arch->code,
	    .ranges = worker->code,
	    .n_ranges = worker->n_code,
	    .entries = entries,
	    .n_entries = n_entries,
	    .labels = true,
	    .bias = FUNCTION_TABLE_BIAS,
	    .host = {.context = worker,
		.read = function_read,
		.returns = function_returns,
		.leaves = function_leaves,
		.keeps_first = function_keeps_first,
		.called = function_called,
		.continues = function_continues,
		.entries = function_entries}};

	if (worker->trial) {
		input.landings = worker->trial->landings->list;
		input.n_landings = worker->trial->landings->n;
	}
	if (code_paths_run(worker->paths, &input, err)) {
		(void)code_paths_visit(worker->paths, visit, worker);
		return true;
	}
	worker->summary.returns = false;
	worker->limited = true;
	return err->kind != ERR_NOMEM;
}

bool derive_unit(struct derive_worker *worker, const uint32_t *members, size_t n)
{
	struct err err = {0};

	if (!unit_begin(worker, members, n) ||
	    (worker->emit && !derive_confirm(worker)) ||
	    !derive_unit_paths(
		worker, worker->entries, worker->n_entries, function_visit, &err))
		return false;
	unit_end(worker);
	return !worker->nomem;
}
