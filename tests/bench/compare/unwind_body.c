/* SPDX-License-Identifier: MIT */
/* Which of a function's rows its one encoding is for. */
#include "tests/bench/compare/unwind.h"

/* Answers of one function that are told apart. Real functions have some 10. */
enum { BODY_MAX_ANSWERS = 32 };

/* Bytes of code that are read at once. */
enum { BODY_CHUNK = 256 };

struct body_candidate {
	struct formats_answer answer;
	struct formats_saved saved;
	uint64_t bytes;	 /* for which it holds */
	uint64_t calls;	 /* of those, in rows where a call is possible */
	uint64_t likely; /* of those, in rows where a call is likely */
	enum formats_reason why;
};

/* The bytes of a call near at, of which n are in the row. */
static bool body_is_call(enum formats_isa isa, const uint8_t *at, uint64_t n)
{
	if (isa == FORMATS_X86_64)
		return (at[0] == 0xe8 && n >= 5) ||
		       (at[0] == 0xff && n >= 2 && (at[1] >> 3 & 7) == 2);
	/* BL; BLR, and its forms that authenticate. */
	return n >= 4 && ((at[3] & 0xfc) == 0x94 ||
			     ((at[3] & 0xfe) == 0xd6 && at[2] == 0x3f && at[1] < 16));
}

/* True if the code has the bytes of a call, or cannot be read. */
static bool body_has_call(const struct formats_input *input, uint64_t from, uint64_t to)
{
	enum formats_isa isa = input->machine.isa;
	uint64_t step = isa == FORMATS_X86_64 ? 1 : 4;
	uint8_t bytes[BODY_CHUNK + 4] = {0};

	for (uint64_t pc = from; pc < to; pc += BODY_CHUNK) {
		uint64_t left = to - pc, n = left < BODY_CHUNK ? left : BODY_CHUNK;
		size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);

		if (!input->code || !input->code(input->context, pc, bytes, size))
			return true;
		for (uint64_t i = 0; i < n; i += step)
			if (body_is_call(isa, bytes + i, left - i))
				return true;
	}
	return false;
}

/* True if SP and RA are as they are at a call. */
static bool body_is_ready(
    const struct formats_func *func, const struct formats_answer *answer)
{
	const struct cfi_rule *cfa = &answer->cfa;

	if (func->input->machine.isa == FORMATS_AARCH64)
		return answer->ra.kind != CFI_SAME;
	return answer->outermost || cfa->kind != CFI_REG_PLUS ||
	       cfa->reg != func->input->machine.cfi.sp_reg || cfa->off % 16 == 0;
}

static bool body_same(
    const struct body_candidate *candidate, const struct body_candidate *other)
{
	return candidate->why == other->why &&
	       formats_answer_same(&candidate->answer, &other->answer) &&
	       formats_saved_same(&candidate->saved, &other->saved);
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
		candidates[i].likely += row->likely;
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
	uint64_t calls = 0, likely = 0;
	size_t n = 0;

	while (formats_walk_next(&walk)) {
		row = (struct body_candidate){.bytes = walk.to - walk.from};
		row.why = formats_answer_read(&func->input->machine, func->signal_frame,
		    &func->table->rows[walk.row], &row.answer);
		if (row.why != FORMATS_SAID)
			row.answer = (struct formats_answer){0};
		row.saved = func->saved[walk.row];
		if (row.bytes >= 2 && body_has_call(func->input, walk.from, walk.to))
			row.calls = row.bytes;
		if (row.calls && body_is_ready(func, &row.answer))
			row.likely = row.bytes;
		calls += row.calls;
		likely += row.likely;
		n = body_add(candidates, n, &row);
	}
	for (size_t i = 1; i < n; i++)
		if (likely ? candidates[i].likely > best->likely
			   : candidates[i].bytes > best->bytes)
			best = &candidates[i];
	return (struct formats_body){.answer = best->answer,
	    .saved = best->saved,
	    .bytes = best->bytes,
	    .other = calls - best->calls,
	    .why = best->why};
}
