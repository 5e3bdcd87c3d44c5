/* SPDX-License-Identifier: MIT */
/* Which of a function's rows its one encoding is for. */
#include "formats/unwind.h"

/* Answers of one function that are told apart. Real functions have some 10. */
enum { BODY_MAX_ANSWERS = 32 };

struct body_candidate {
	struct formats_answer answer;
	struct cfi_saved saved;
	uint64_t bytes; /* for which it holds */
	uint64_t calls; /* of those, in rows that can have a call */
	enum formats_reason why;
};

static bool body_can_call(const struct formats_func *func,
    const struct formats_walk *walk, const struct formats_answer *answer)
{
	const struct cfi_rule *cfa = &answer->cfa;

	if (func->input->machine.isa == FORMATS_AARCH64)
		return answer->ra.kind != CFI_SAME;
	if (walk->to - walk->from < 2)
		return false;
	return answer->outermost || cfa->kind != CFI_REG_PLUS ||
	       cfa->reg != func->input->machine.cfi.sp_reg || cfa->off % 16 == 0;
}

static bool body_same(
    const struct body_candidate *candidate, const struct body_candidate *other)
{
	return candidate->why == other->why &&
	       formats_answer_same(&candidate->answer, &other->answer) &&
	       cfi_saved_same(&candidate->saved, &other->saved);
}

/* Adds a row to the candidate that says the same. What comes when there are too many
 * candidates is none of them. */
static size_t body_add(
    struct body_candidate *candidates, size_t n, const struct body_candidate *row)
{
	for (size_t i = 0; i < n; i++) {
		if (!body_same(&candidates[i], row))
			continue;
		candidates[i].bytes += row->bytes;
		candidates[i].calls += row->calls;
		return n;
	}
	if (n == BODY_MAX_ANSWERS)
		return n;
	candidates[n] = *row;
	return n + 1;
}

struct formats_body formats_find_body(const struct formats_func *func)
{
	struct body_candidate candidates[BODY_MAX_ANSWERS], row;
	struct formats_walk walk = formats_walk_begin(func);
	const struct body_candidate *best = &candidates[0];
	uint64_t calls = 0;
	size_t n = 0;

	while (formats_walk_next(&walk)) {
		row = (struct body_candidate){.bytes = walk.to - walk.from};
		row.why = formats_answer_read(&func->input->machine, func->signal_frame,
		    &func->table->rows[walk.row], &row.answer);
		if (row.why != FORMATS_SAID)
			row.answer = (struct formats_answer){0};
		row.saved = func->saved[walk.row];
		if (body_can_call(func, &walk, &row.answer))
			row.calls = row.bytes;
		calls += row.calls;
		n = body_add(candidates, n, &row);
	}
	for (size_t i = 1; i < n; i++)
		if (calls ? candidates[i].calls > best->calls
			  : candidates[i].bytes > best->bytes)
			best = &candidates[i];
	return (struct formats_body){.answer = best->answer,
	    .saved = best->saved,
	    .bytes = best->bytes,
	    .other = calls - best->calls,
	    .why = best->why};
}
