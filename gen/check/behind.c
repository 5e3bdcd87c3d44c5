/* SPDX-License-Identifier: MIT */
#include "gen/check/unit.h"

#include <string.h>

#include "base/search.h"
#include "base/vec.h"

bool validate_behind_add(struct validate_behind *behind, uint64_t pc, uint64_t call)
{
	size_t i = search_list_above(behind->list, behind->n, pc, pc);

	if (i && behind->list[i - 1].pc == pc)
		return true;
	if (behind->n == VALIDATE_MAX_BEHIND) {
		if (i == 0)
			return true;
		memmove(
		    &behind->list[0], &behind->list[1], (--i) * sizeof(behind->list[0]));
		behind->n--;
	} else {
		if (!vec_reserve(&behind->list, &behind->cap, behind->n + 1))
			return false;
		memmove(&behind->list[i + 1], &behind->list[i],
		    (behind->n - i) * sizeof(behind->list[0]));
	}
	behind->list[i] = (struct validate_behind_place){pc, call};
	behind->n++;
	return true;
}

bool validate_behind_find(
    const struct validate_behind *behind, uint64_t pc, uint64_t *call)
{
	const size_t i = search_list_above(behind->list, behind->n, pc, pc);

	if (!i || behind->list[i - 1].pc != pc)
		return false;
	*call = behind->list[i - 1].call;
	return true;
}

/* Whether the row at the call is wrong by as much as the one behind it: that tells nothing of the call. */
static bool behind_is_wrong_before(struct validate_worker *worker,
    struct validate_part *part, uint64_t pc, const struct code_state *after,
    struct validate_answer behind)
{
	const struct cfi_row *row = validate_row_in(worker, part, pc);
	struct validate_answer at;

	if (row->doubtful || behind.column != VALIDATE_CFA ||
	    behind.found.kind != CODE_CFA)
		return false;
	at = validate_part_row(worker, part, row, after);
	return at.verdict == VALIDATE_CONTRADICTS && at.column == VALIDATE_CFA &&
	       code_value_equal(at.found, behind.found);
}

bool validate_call_returns(void *context, uint64_t pc, const struct code_insn *call,
    uint64_t next, const struct code_state *after)
{
	struct validate_worker *worker = context;
	struct validate_part *part = validate_part_at(worker, pc);
	const struct cfi_row *row;
	struct validate_answer answer;

	/* Behind it is another function, or nothing. */
	if (!part || next >= worker->code[part - worker->parts].end)
		return false;
	row = validate_row_in(worker, part, next);
	if (row->doubtful)
		return !validate_never_returns(worker->callees, call);
	answer = validate_part_row(worker, part, row, after);
	if (answer.verdict != VALIDATE_CONTRADICTS)
		return true;
	if (!validate_never_returns(worker->callees, call)) {
		worker->result->ranges[part->range].reviews |= VALIDATE_REVIEW_CALL;
		if (behind_is_wrong_before(worker, part, pc, after, answer) &&
		    !validate_behind_add(&worker->behind, next, pc))
			worker->nomem = true;
	}
	return false;
}

/* The state behind a call that was noted, unless the row at the call is right by all ways that lead there. */
static bool behind_seed(struct validate_worker *worker, struct validate_part *part,
    uint64_t pc, struct code_state *state)
{
	struct validate_answer answer;
	uint64_t call;

	if (!validate_behind_find(&worker->behind, pc, &call) ||
	    !code_paths_behind(worker->paths, call, state))
		return false;
	answer =
	    validate_part_row(worker, part, validate_row_in(worker, part, pc), state);
	return answer.verdict != VALIDATE_CONTRADICTS ||
	       behind_is_wrong_before(worker, part, call, state, answer);
}

bool validate_seed_at(void *context, uint64_t pc, struct code_state *state)
{
	struct validate_worker *worker = context;
	struct validate_part *part = validate_part_at(worker, pc);

	return part && (behind_seed(worker, part, pc, state) ||
			   validate_seed(worker->input->arch,
			       validate_row_in(worker, part, pc), state));
}

bool validate_contradicts_at(void *context, uint64_t pc, const struct code_state *state)
{
	struct validate_worker *worker = context;
	struct validate_part *part = validate_part_at(worker, pc);
	const struct cfi_row *row = part ? validate_row_in(worker, part, pc) : NULL;

	return row && validate_part_row(worker, part, row, state).verdict ==
			  VALIDATE_CONTRADICTS;
}
