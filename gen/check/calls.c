/* SPDX-License-Identifier: MIT */
/* Calls: what is known of their callees, and whether the rows behind them can be looked at. */
#include "base/vec.h"
#include "gen/check/unit.h"

/* Returns the range of the called function; SIZE_MAX: it has none, or is not known.
 * before is the state at the call, or NULL. */
static size_t call_callee(const struct validate_worker *worker,
    const struct code_insn *call, const struct code_state *before)
{
	const struct cfi_range *ranges = worker->input->ranges.list;
	uint64_t target = call->target;
	size_t i;

	if (call->control == CODE_CALLS_TO)
		target = before && call->via < CODE_SCRATCH &&
				 before->regs[call->via].kind == CODE_CONST
			     ? (uint64_t)before->regs[call->via].off
			     : validate_call_own(worker->callees, call);
	i = validate_range_at(worker, target);
	if (call->control == CODE_CALLS && (i == SIZE_MAX || ranges[i].start != target)) {
		target = validate_stub_own(worker->callees, target);
		i = validate_range_at(worker, target);
	}
	return i != SIZE_MAX && ranges[i].start == target ? i : SIZE_MAX;
}

/* The effect of the callee on SP and memory, once it is known; else NULL. */
static const struct callee_effect *call_effect(const struct validate_worker *worker,
    const struct code_insn *call, const struct code_state *before)
{
	const size_t i = worker->effects ? call_callee(worker, call, before) : SIZE_MAX;

	return i != SIZE_MAX && worker->effects[i].how >= CALLEE_RETURNS
		   ? &worker->effects[i]
		   : NULL;
}

bool validate_note_use(
    struct validate_worker *worker, const struct validate_part *part, size_t to)
{
	const struct validate_link *last =
	    worker->n_uses ? &worker->uses[worker->n_uses - 1] : NULL;

	if (to == SIZE_MAX || (last && last->from == part->range && last->to == to))
		return true;
	if (!vec_reserve(&worker->uses, &worker->cap_uses, worker->n_uses + 1))
		return false;
	worker->uses[worker->n_uses++] =
	    (struct validate_link){.from = part->range, .to = (uint32_t)to};
	return true;
}

bool validate_note_call(struct validate_worker *worker, const struct validate_part *part,
    const struct code_place *place)
{
	return validate_note_use(
	    worker, part, call_callee(worker, place->insn, place->state));
}

void validate_called(void *context, uint64_t pc, const struct code_insn *call,
    const struct code_state *before, struct code_state *after)
{
	struct validate_worker *worker = context;
	const struct code_abi *abi = code_abi(worker->input->arch->code);
	const struct callee_effect *effect = call_effect(worker, call, before);

	callee_forget_given(abi, before, false, after);
	if (effect)
		callee_apply(abi, effect, before, false, after);
	worker->seen.unsure |= !effect || effect->how == CALLEE_ODD;
	after->sp_assumed |= effect && (effect->how != CALLEE_RETURNS || !effect->surely);
	validate_go_keeps(worker, pc, call, before, after);
}

bool validate_call_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after)
{
	struct validate_worker *worker = context;
	const struct callee_effect *effect = call_effect(worker, call, NULL);
	struct validate_part *part = validate_part_at(worker, pc);
	const struct cfi_row *row;
	struct validate_answer answer;
	bool contradicts, never;

	/* Behind the call is another function, or nothing. */
	if (!part || next >= worker->code[part - worker->parts].end)
		return false;
	row = validate_row_in(worker, part, next);
	answer = validate_part_row(worker, part, row, after);
	contradicts = answer.verdict == VALIDATE_CONTRADICTS;
	if (!contradicts && !row->doubtful)
		return true;
	never = validate_never_returns(worker->callees, call);
	/* A function that returns is not the library's, whatever its name. */
	if (effect && effect->surely && !worker->distrusts &&
	    (!never || validate_is_named_by_symbol(worker->callees, call->target))) {
		worker->seen.overruled |= contradicts;
		return true;
	}
	/* With the same CFA, which calls keep, the row is wrong before the call, too. */
	if (row->doubtful ||
	    (worker->passes && !effect && answer.column == VALIDATE_CFA &&
		cfi_rule_equal(&row->cfa, &validate_row_in(worker, part, pc)->cfa)))
		return !never;
	worker->result->ranges[part->range].doubts |= contradicts;
	if (contradicts && !never)
		worker->result->ranges[part->range].reviews |= VALIDATE_REVIEW_CALL;
	return !contradicts;
}

bool validate_seed_at(void *context, uint64_t pc, struct code_state *state)
{
	struct validate_worker *worker = context;
	struct validate_part *part = validate_part_at(worker, pc);

	return part && validate_seed(
			   worker->input->arch, validate_row_in(worker, part, pc), state);
}

bool validate_contradicts_at(void *context, uint64_t pc, const struct code_state *state)
{
	struct validate_worker *worker = context;
	struct validate_part *part = validate_part_at(worker, pc);
	const struct cfi_row *row = part ? validate_row_in(worker, part, pc) : NULL;

	return row && validate_part_row(worker, part, row, state).verdict ==
			  VALIDATE_CONTRADICTS;
}
