/* SPDX-License-Identifier: MIT */
/*
 * The pass over instructions that change nothing a row depends on, by their brief form: 9 of 10 do not. What
 * is not certain here is left to go_state_step. The state is the same afterwards as by that, as the
 * test go_quick shows.
 */
#include "code/brief/brief.h"
#include "go/go_state.h"

#include <string.h>

/* Where SP is as it is at state->pc, by the table, and which the pass has not left: addresses. */
struct quick_level {
	uint64_t start, end;
};

static struct quick_level level_of(const struct go_state *state)
{
	const struct go_levels *levels = state->code->levels;
	const size_t next = state->level + 1;
	struct quick_level level = {levels->list[state->level].pc, state->end};

	if (next < levels->n && levels->list[next].pc < state->end)
		level.end = levels->list[next].pc;
	return level;
}

static bool is_known(const struct go_state *state, uint8_t reg)
{
	return reg == CODE_NO_REG || go_state_reg(state, reg).kind != GO_UNKNOWN;
}

static bool quick_hits(const struct go_state *state, const struct go_saved *saved,
    const struct code_brief *brief, int64_t off)
{
	return brief->src[0] == saved->reg || brief->src[1] == saved->reg ||
	       (go_state_has_slot(state, saved) &&
		   go_state_hits(saved->slot, off, brief->width));
}

/* Whether the access leaves alone what is saved, and loads no constant of the function. */
static bool quick_access(const struct go_state *state, const struct code_brief *brief)
{
	struct go_value where = {GO_CONST, 0};

	if (!brief->loads && !brief->stores)
		return true;
	if (brief->base != CODE_NO_REG)
		where = go_state_reg(state, brief->base);
	if (where.kind == GO_UNKNOWN)
		return true;
	/* A sum with what is not known is not known. */
	if (brief->index != CODE_NO_REG)
		return !is_known(state, brief->index);
	if (__builtin_add_overflow(where.off, brief->off, &where.off))
		return false;
	if (where.kind == GO_CONST)
		return brief->stores || (uint64_t)where.off <= state->pc ||
		       (uint64_t)where.off >= state->end;
	if (!brief->stores)
		return true;
	if (where.off > INT32_MAX || where.off < INT32_MIN ||
	    quick_hits(state, &state->fp, brief, where.off))
		return false;
	return state->ra.reg != CODE_NO_REG
		   ? !quick_hits(state, &state->ra, brief, where.off)
		   : !go_state_hits(state->abi->ra_off, where.off, brief->width);
}

/* Gives the written register its value. False: it is one of the frame, or the value is not told. */
static bool quick_write(struct go_state *state, const struct code_brief *brief)
{
	const uint8_t dst = brief->dst;
	struct go_value value = {GO_UNKNOWN, 0};

	if (dst == CODE_NO_REG)
		return true;
	if (dst == state->abi->sp || dst == state->fp.reg || dst == state->ra.reg)
		return false;
	if (brief->gives == BRIEF_ASK && is_known(state, brief->from[0]) &&
	    is_known(state, brief->from[1]))
		return false;
	if (brief->gives == BRIEF_SUM) {
		value = (struct go_value){GO_CONST, 0};
		if (brief->from[0] != CODE_NO_REG)
			value = go_state_reg(state, brief->from[0]);
		if (__builtin_add_overflow(value.off, brief->value, &value.off))
			return false;
	}
	go_state_set_reg(state, dst, value);
	return true;
}

/* The function that it calls has returned. */
static bool quick_call(struct go_state *state)
{
	if (state->ra.reg != CODE_NO_REG) {
		/* It can be the check of the stack, before the prologue. */
		if (!go_state_has_slot(state, &state->ra))
			return false;
		state->ra.touched = true;
		state->ra.clean = false;
	}
	go_state_forget(state);
	return true;
}

static bool quick_branch(
    struct go_state *state, const struct quick_level *level, uint64_t target)
{
	if (target < state->code->start || target >= state->end)
		return true;
	if ((target < level->start || target >= level->end) &&
	    state->abi->sp_off - go_levels_at(state->code->levels, target) != state->sp)
		return false;
	if (target > state->reached)
		state->reached = target;
	return true;
}

/* One instruction; false: it has changed nothing. */
static bool quick_step(struct go_state *state, const struct quick_level *level,
    const struct code_brief *brief)
{
	const bool call = brief->control == CODE_CALLS || brief->control == CODE_CALLS_TO;

	if (brief->length >= level->end - state->pc || brief->control == CODE_JUMPS ||
	    brief->control == CODE_RETURNS)
		return false;
	if (call ? !quick_call(state)
		 : !quick_access(state, brief) || !quick_write(state, brief))
		return false;
	if (brief->control == CODE_BRANCHES && !quick_branch(state, level, brief->target))
		return false;
	state->behind_call = call || (state->behind_call && brief->filler);
	state->pc += brief->length;
	return true;
}

/* The effects of an instruction that is not a call. False when the brief form does not have all of them. */
static bool quick_effects(
    const struct go_state *state, const struct code_brief *brief, struct code_insn *insn)
{
	struct code_effect effect = {.index = CODE_NO_REG, .index_bits = 64, .width = 8};
	const bool other = brief->gives == BRIEF_OTHER || brief->gives == BRIEF_ASK;

	if ((brief->loads || brief->stores) && brief->index != CODE_NO_REG)
		return false;
	if (brief->gives == BRIEF_ASK && is_known(state, brief->from[0]) &&
	    is_known(state, brief->from[1]))
		return false;
	if (other && brief->dst != CODE_NO_REG)
		insn->writes = UINT32_C(1) << brief->dst;
	effect.dst = brief->dst;
	effect.base = brief->base;
	effect.off = brief->off;
	if (brief->stores) {
		/* Of a pair of registers each is stored. */
		if (brief->width != 8 &&
		    (brief->src[0] != CODE_NO_REG || brief->src[1] != CODE_NO_REG))
			return false;
		effect.kind = CODE_STORE;
		effect.dst = brief->src[0];
		effect.width = brief->width;
	} else if (brief->loads) {
		effect.kind = CODE_LOAD;
		if (brief->gives != BRIEF_LOADED)
			return false;
	} else if (brief->gives == BRIEF_SUM && brief->dst != CODE_NO_REG) {
		effect.kind = CODE_SET;
		effect.base = brief->from[0];
		effect.off = brief->value;
	} else {
		return true;
	}
	insn->effects[insn->n_effects++] = effect;
	return true;
}

/* The whole instruction, as far as go_state_step and the pass ask. */
static bool quick_insn(
    const struct go_state *state, const struct code_brief *brief, struct code_insn *insn)
{
	memset(insn, 0, offsetof(struct code_insn, effects));
	insn->target = brief->target;
	insn->length = brief->length;
	insn->control = brief->control;
	insn->filler = brief->filler;
	return brief->control == CODE_CALLS || brief->control == CODE_CALLS_TO ||
	       quick_effects(state, brief, insn);
}

/* Takes the instruction at state->pc, or tells of it. */
static inline bool quick_take(struct go_state *state, const struct quick_level *level,
    struct code_insn *insn, bool *told)
{
	const struct go_code *code = state->code;
	struct code_brief brief;

	*told = false;
	if (!code_brief_read(code->machine, code->bytes + (state->pc - code->start),
		state->end - state->pc, state->pc, &brief))
		return false;
	if (quick_step(state, level, &brief))
		return true;
	*told = quick_insn(state, &brief, insn);
	return false;
}

bool go_quick_step_or_tell(struct go_state *state, struct code_insn *insn)
{
	const struct quick_level level = level_of(state);
	bool told;

	return !quick_take(state, &level, insn, &told) && told;
}

bool go_quick_steps(struct go_state *state, struct code_insn *insn)
{
	const struct quick_level level = level_of(state);
	bool told;

	go_state_begin(state);
	while (quick_take(state, &level, insn, &told))
		;
	return told;
}
