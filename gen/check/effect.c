/* SPDX-License-Identifier: MIT */
/* Effects of functions: gathered at their ends, and applied at calls. */
#include "gen/check/effect.h"

static bool is_cfa(struct code_value value, int64_t off)
{
	return value.kind == CODE_CFA && value.off == off;
}

bool callee_has_return_address(const struct code_abi *abi, const struct code_state *state)
{
	return abi->ra == CODE_NO_REG
		   ? code_state_memory(state, state->regs[abi->sp]).kind == CODE_RA
		   : state->regs[abi->ra].kind == CODE_RA;
}

bool callee_is_bare(const struct code_abi *abi, const struct code_state *state)
{
	return is_cfa(state->regs[abi->sp], abi->sp_off) &&
	       callee_has_return_address(abi, state);
}

uint32_t callee_kept(const struct code_state *state)
{
	uint32_t kept = 0;

	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (state->regs[i].kind == CODE_CALLERS && state->regs[i].symbol == i)
			kept |= UINT32_C(1) << i;
	return kept;
}

/* Returns the registers that a function can still give back, because those that it
 * changed are in its frame. */
static uint32_t callee_saved(const struct code_state *state)
{
	uint32_t saved = callee_kept(state);

	for (uint8_t i = 0; i < state->n_slots; i++)
		if (state->slots[i].value.kind == CODE_CALLERS)
			saved |= UINT32_C(1) << state->slots[i].value.symbol;
	return saved;
}

/* Bytes that a return takes off the stack besides its address: of an immediate. */
static int32_t pops_besides(const struct code_abi *abi, const struct code_insn *insn)
{
	for (uint8_t i = 0; insn->control == CODE_RETURNS && i < insn->n_effects; i++)
		if (insn->effects[i].dst == abi->sp)
			return (int32_t)(insn->effects[i].off -
					 (abi->sp_exit_off - abi->sp_off));
	return 0;
}

/* Notes that a caller's value in the register is written through, or computed with, or handed on. */
static void note_through(
    const struct code_state *state, uint8_t reg, struct callee_effect *effect)
{
	if (reg < CODE_SCRATCH && state->regs[reg].kind == CODE_CALLERS)
		effect->through |= UINT32_C(1) << state->regs[reg].symbol;
}

/* Notes callers' registers that a callee, called in this state, writes through. */
static void note_callee_through(const struct code_state *before,
    const struct callee_effect *callee, struct callee_effect *effect)
{
	for (uint8_t i = 0; callee && i < CODE_SCRATCH; i++)
		if (callee->through >> i & 1)
			note_through(before, i, effect);
}

/* Notes that the function may write up to end above its CFA. */
static void note_written(struct callee_effect *effect, int64_t end)
{
	if (end > (int64_t)effect->written && end <= INT32_MAX)
		effect->written = (uint32_t)end;
}

static struct callee_effect returns_with(int64_t pops, bool surely, uint32_t kept)
{
	struct callee_effect end = {
	    .how = CALLEE_RETURNS, .surely = surely, .kept = kept};

	if (pops < INT16_MIN || pops > INT16_MAX)
		end.how = CALLEE_ODD;
	else if (pops) {
		end.how = CALLEE_POPS;
		end.pops = (int32_t)pops;
	}
	return end;
}

struct callee_effect callee_return(const struct code_abi *abi,
    const struct code_place *place, const struct code_state *after, bool described)
{
	const struct code_value sp = after->regs[abi->sp];
	const int32_t besides = pops_besides(abi, place->insn);
	struct code_value to = {.kind = CODE_RA};

	if (place->insn->control == CODE_RETURNS)
		to = abi->ra == CODE_NO_REG
			 ? code_state_memory(place->state, place->state->regs[abi->sp])
			 : after->regs[abi->ra];
	if (to.kind == CODE_RA && is_cfa(sp, abi->sp_exit_off + besides))
		return returns_with(besides, true, callee_kept(after));
	if (described)
		return returns_with(besides, false, callee_kept(after));
	if (to.kind == CODE_RA && sp.kind == CODE_CFA)
		return returns_with(sp.off - abi->sp_exit_off, true, callee_saved(after));
	return (struct callee_effect){
	    .how = besides || (sp.kind == CODE_CFA && sp.off != abi->sp_exit_off) ||
			   to.kind == CODE_RA
		       ? CALLEE_ODD
		       : CALLEE_MAY,
	    .kept = callee_saved(after)};
}

struct callee_effect callee_jump(const struct code_abi *abi,
    const struct code_state *after, const struct callee_effect *target)
{
	const struct code_value sp = after->regs[abi->sp];
	const int64_t moved = sp.off - abi->sp_off;
	struct callee_effect end = {.how = CALLEE_MAY, .kept = callee_saved(after)};

	note_callee_through(after, target, &end);
	if (callee_is_bare(abi, after)) {
		end.kept = callee_kept(after);
		if (target) {
			end.how = target->how;
			end.pops = target->pops;
			end.surely = target->surely;
			end.kept &= target->kept;
			end.written = target->written;
		}
		return end;
	}
	/* The return address has been moved, to make room for other arguments. */
	if (sp.kind == CODE_CFA && callee_has_return_address(abi, after) && target &&
	    (target->how == CALLEE_RETURNS || target->how == CALLEE_POPS)) {
		end = returns_with(
		    moved + target->pops, target->surely, callee_kept(after));
		note_callee_through(after, target, &end);
		note_written(&end, moved + target->written);
		return end;
	}
	/* The function has taken more off the stack than its own frame already, or has moved its return address, and who returns is not known. */
	if (sp.kind == CODE_CFA &&
	    (moved > 0 || (moved && abi->ra == CODE_NO_REG &&
			      callee_has_return_address(abi, after))))
		end.how = CALLEE_ODD;
	return end;
}

void callee_add(struct callee_effect *sum, const struct callee_effect *end)
{
	if (end->how == CALLEE_NEVER)
		return;
	note_written(sum, end->written);
	sum->through |= end->through;
	sum->kept &= end->kept;
	sum->surely |= end->surely;
	if (sum->how == CALLEE_NEVER) {
		sum->how = end->how;
		sum->pops = end->pops;
		return;
	}
	if (sum->how == end->how && sum->pops == end->pops)
		return;
	/* An unknown end is assumed to be as the ABI says. */
	if (sum->how <= CALLEE_RETURNS && end->how <= CALLEE_RETURNS)
		sum->how = CALLEE_RETURNS;
	else
		sum->how = CALLEE_ODD;
	sum->pops = 0;
}

void callee_note_stores(const struct code_abi *abi, const struct code_place *place,
    struct callee_effect *effect)
{
	struct code_value sp = place->state->regs[abi->sp];

	/* SP above the entry's means that the frame is another function's. */
	if (sp.kind == CODE_CFA && sp.off > abi->sp_off)
		return;
	for (uint8_t i = 0; i < place->insn->n_effects; i++) {
		const struct code_effect *one = &place->insn->effects[i];
		struct code_value base;

		/* Some instructions move SP and then store. */
		if (one->kind == CODE_SET && one->dst == abi->sp)
			sp = one->base == one->dst && one->index == CODE_NO_REG
				 ? code_value_plus(sp, one->off)
				 : (struct code_value){.kind = CODE_UNKNOWN};
		if (one->kind == CODE_STORE || one->kind == CODE_SUBTRACT ||
		    (one->kind == CODE_SET && (one->off || one->index != CODE_NO_REG))) {
			note_through(place->state, one->base, effect);
			note_through(place->state, one->index, effect);
		}
		if (one->kind != CODE_STORE || one->base == CODE_NO_REG)
			continue;
		base = code_value_plus(
		    one->base == abi->sp ? sp : place->state->regs[one->base], one->off);
		if (base.kind == CODE_CFA && base.off >= 0)
			note_written(effect, base.off + one->width);
		if (base.kind != CODE_CFA)
			note_through(place->state, one->dst, effect);
	}
}

void callee_note_call(const struct code_abi *abi, const struct code_state *before,
    const struct callee_effect *callee, struct callee_effect *effect)
{
	const struct code_value sp = before->regs[abi->sp];

	if (callee && callee->written && sp.kind == CODE_CFA)
		note_written(effect, sp.off - abi->sp_exit_off + callee->written);
	note_callee_through(before, callee, effect);
	for (uint8_t i = 0; i < CODE_SCRATCH; i++) {
		if (!(abi->clobbered >> i & 1))
			continue;
		note_through(before, i, effect);
		if (before->regs[i].kind == CODE_CFA && before->regs[i].off >= 0)
			note_written(effect, before->regs[i].off + 8);
	}
}

bool callee_same(const struct callee_effect *a, const struct callee_effect *b)
{
	return a->how == b->how && a->surely == b->surely && a->pops == b->pops &&
	       a->kept == b->kept && a->written == b->written && a->through == b->through;
}

/* True if the value of the slot is still in its register. */
static bool is_held(
    const struct code_abi *abi, const struct code_state *state, struct code_value value)
{
	if (value.kind == CODE_CALLERS)
		return code_value_equal(state->regs[value.symbol], value);
	return abi->ra != CODE_NO_REG && code_value_equal(state->regs[abi->ra], value);
}

/* True if the address is in a register that a callee may use, or, strictly, in memory. */
static bool is_given(const struct code_abi *abi, const struct code_state *before,
    bool strict, struct code_value where)
{
	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (abi->clobbered >> i & 1 && code_value_equal(before->regs[i], where))
			return true;
	for (uint8_t i = 0; strict && i < before->n_slots; i++)
		if (code_value_equal(before->slots[i].value, where))
			return true;
	return false;
}

void callee_forget_given(const struct code_abi *abi, const struct code_state *before,
    bool strict, struct code_state *after)
{
	const struct code_value unknown = {.kind = CODE_UNKNOWN};

	for (uint8_t i = after->n_slots; i-- > 0;)
		if (is_given(abi, before, strict, after->slots[i].where) &&
		    (strict || is_held(abi, after, after->slots[i].value)))
			code_state_set_memory(after, after->slots[i].where, unknown);
}

/* True if the callee writes through this address, which its caller keeps in a register. */
static bool is_kept_address(const struct callee_effect *effect,
    const struct code_state *before, struct code_value where)
{
	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (effect->through >> i & 1 && code_value_equal(before->regs[i], where))
			return true;
	return false;
}

void callee_apply(const struct code_abi *abi, const struct callee_effect *effect,
    const struct code_state *before, bool strict, struct code_state *after)
{
	const struct code_value sp = before->regs[abi->sp];
	const struct code_value unknown = {.kind = CODE_UNKNOWN};
	/* Words that the callee pops were its own. */
	const int64_t own = effect->how == CALLEE_POPS ? effect->pops : 0;

	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (!((abi->clobbered | UINT32_C(1) << abi->sp | effect->kept) >> i & 1))
			after->regs[i] = (struct code_value){
			    .kind = strict ? CODE_OTHER : CODE_UNKNOWN};
	if (effect->how == CALLEE_ODD)
		after->regs[abi->sp] = unknown;
	if (effect->how == CALLEE_POPS)
		after->regs[abi->sp] =
		    code_value_plus(after->regs[abi->sp], effect->pops);
	for (uint8_t i = after->n_slots; i-- > 0;) {
		const struct code_slot slot = after->slots[i];
		const int64_t off = slot.where.off - sp.off + abi->sp_exit_off;

		if ((slot.where.kind == sp.kind && slot.where.symbol == sp.symbol &&
			off >= 0 &&
			(off < own ||
			    (off < effect->written &&
				(strict || is_held(abi, after, slot.value))))) ||
		    (strict && is_kept_address(effect, before, slot.where)))
			code_state_set_memory(after, slot.where, unknown);
	}
}
