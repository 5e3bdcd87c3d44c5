/* SPDX-License-Identifier: MIT */
/* Reasons why functions have no rows. */
#include "gen/sources/go/go_cfi.h"

const char *go_reason_text(enum go_reason why)
{
	static const char *const texts[GO_N_REASONS] = {
	    [GO_HAS_ROWS] = "it has rows",
	    [GO_OTHER_STACK] = "it changes to another stack",
	    [GO_ALIGNS] = "it aligns SP, by a distance that is known only when it runs",
	    [GO_SP_MOVES] = "SP moves in a way that Go's table does not tell",
	    [GO_MARKED] = "Go marks it as not called as others are",
	    [GO_SIGNAL] = "a signal leads to it, not a call",
	    [GO_RETURN_MOVED] = "the return address is not where calls put it",
	    [GO_WAYS_DIFFER] =
		"a jump leads to code that has the caller's registers elsewhere",
	    [GO_NOT_DECODED] = "it has bytes that are no known instruction",
	};

	return texts[why];
}

/* Registers that hold SP as it was, or SP made a multiple of 16: a bit for each. */
struct reason_copies {
	uint64_t copies, aligned;
};

/* Returns a register's bit; none for CODE_NO_REG: a constant that is stored or compared. */
static uint64_t reason_bit(uint8_t reg)
{
	return reg < 64 ? UINT64_C(1) << reg : 0;
}

/* Returns the effect's reason to refuse SP; GO_HAS_ROWS: none. found is the reason so far. */
static enum go_reason reason_of_effect(const struct code_effect *effect, uint8_t sp,
    enum go_reason found, struct reason_copies *held)
{
	const uint64_t dst = reason_bit(effect->dst);
	uint64_t base = 0;

	if (effect->kind == CODE_STORE || effect->kind == CODE_COMPARE)
		return GO_HAS_ROWS;
	if (effect->index == CODE_NO_REG)
		base = reason_bit(effect->base);
	if (effect->dst == sp) {
		if (effect->kind == CODE_ALIGN || held->aligned & base)
			return GO_ALIGNS;
		/* SP as it was before was saved on this stack. */
		if (effect->kind == CODE_LOAD)
			return found == GO_ALIGNS && effect->base == sp ? found
									: GO_OTHER_STACK;
		return held->copies & base ? GO_HAS_ROWS : GO_OTHER_STACK;
	}
	if (effect->kind == CODE_ALIGN && held->copies & base) {
		held->copies &= ~dst;
		held->aligned |= dst;
		return GO_HAS_ROWS;
	}
	held->aligned &= ~dst;
	held->copies &= ~dst;
	if (effect->kind == CODE_SET && held->copies & base)
		held->copies |= dst;
	return GO_HAS_ROWS;
}

enum go_reason go_reason_sp_write(const struct go_code *code)
{
	const uint8_t sp = code_abi(code->machine)->sp;
	const uint64_t end = code->levels->end;
	struct reason_copies held = {.copies = reason_bit(sp)};
	enum go_reason found = GO_MARKED;
	struct code_insn insn;

	for (uint64_t pc = code->start; pc < end; pc += insn.length) {
		if (!code_insn_read(code->machine, code->bytes + (pc - code->start),
			end - pc, pc, &insn) ||
		    insn.length > end - pc)
			break;
		for (uint8_t i = 0; i < insn.n_effects; i++) {
			enum go_reason why =
			    reason_of_effect(&insn.effects[i], sp, found, &held);

			if (why == GO_OTHER_STACK)
				return why;
			if (why != GO_HAS_ROWS)
				found = why;
		}
	}
	return found;
}
