/* SPDX-License-Identifier: MIT */
/*
 * What the ends of an entry's ways take SP, the frame pointer and the return address from, followed back to each
 * place. A row says the same: a copy that the program made for itself is never what it names, and a register
 * that holds the value by the ways that are known is not, where the code itself takes it from a slot.
 */
#include "base/search.h"
#include "base/vec.h"
#include "gen/check/derive/walk.h"
#include "gen/check/judge.h"

/* ---- instructions ---- */

static void needs_add_move(struct derive_walker *walker, const struct derive_move *move)
{
	if (vec_reserve(&walker->moves, &walker->cap_moves, walker->n_moves + 1))
		walker->moves[walker->n_moves++] = *move;
	else
		walker->nomem = true;
}

/* The value that the effect gives to its register. */
static struct code_value needs_result(const struct code_abi *abi,
    const struct code_effect *effect, const struct code_value regs[CODE_N_REGS])
{
	const struct code_insn insn = {
	    .control = CODE_CONTINUES, .n_effects = 1, .effects = {*effect}};
	struct code_state state;

	code_state_unknown(&state);
	memcpy(state.regs, regs, sizeof(state.regs));
	code_state_step(&state, abi, 0, &insn);
	return state.regs[effect->dst];
}

/* Notes the effect, and applies it to the registers that addresses are made of. */
static void needs_note_effect(struct derive_walker *walker,
    const struct code_effect *effect, struct code_value regs[CODE_N_REGS])
{
	const bool plain = effect->base != CODE_NO_REG && effect->index == CODE_NO_REG;
	struct derive_move move = {.dst = effect->dst, .base = effect->base};
	const struct code_value base =
	    plain ? regs[effect->base] : (struct code_value){.kind = CODE_UNKNOWN};
	struct code_value value = {.kind = CODE_UNKNOWN};

	switch ((enum code_effect_kind)effect->kind) {
	case CODE_COMPARE:
	case CODE_SIGN:
	case CODE_AUTHENTICATE:
		return;
	case CODE_STORE:
	case CODE_LOAD:
		move.kind =
		    effect->kind == CODE_STORE ? DERIVE_MOVE_STORE : DERIVE_MOVE_LOAD;
		if (effect->width == 8 &&
		    (base.kind == CODE_CFA || base.kind == CODE_MADE))
			move.where = code_value_plus(base, effect->off);
		break;
	case CODE_SET:
	case CODE_SUBTRACT:
		/* A number in the index is one as well as in the instruction. */
		value = needs_result(walker->abi, effect, regs);
		if (effect->base != CODE_NO_REG && effect->width == 8 &&
		    (effect->index == CODE_NO_REG ||
			(value.kind == CODE_CFA && regs[effect->base].kind == CODE_CFA)))
			move.kind = DERIVE_MOVE_COPY;
		break;
	case CODE_ALIGN:
	case CODE_BOUND:
		break;
	}
	if (move.kind != DERIVE_MOVE_STORE)
		regs[effect->dst] = value;
	needs_add_move(walker, &move);
}

void derive_needs_note(struct derive_walker *walker, const struct code_place *place,
    struct derive_place *noted)
{
	const struct code_insn *insn = place->insn;
	struct code_value regs[CODE_N_REGS];

	memcpy(regs, place->state->regs, sizeof(regs));
	noted->first_move = (uint32_t)walker->n_moves;
	noted->lost = insn->writes | insn->unsure;
	noted->via = insn->control == CODE_JUMPS_TO ? insn->via : CODE_NO_REG;
	if (insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO)
		noted->lost |= walker->abi->clobbered;
	for (uint8_t i = 0; i < insn->n_effects; i++)
		needs_note_effect(walker, &insn->effects[i], regs);
	noted->n_moves = (uint8_t)(walker->n_moves - noted->first_move);
}

/* ---- back over one instruction ---- */

static struct derive_need need_of_reg(uint8_t reg)
{
	return (struct derive_need){
	    .kind = reg == CODE_NO_REG ? DERIVE_NEED_LOST : DERIVE_NEED_REG, .reg = reg};
}

static struct derive_need need_of_slot(struct code_value where)
{
	return (struct derive_need){
	    .kind = where.kind == CODE_UNKNOWN ? DERIVE_NEED_LOST : DERIVE_NEED_SLOT,
	    .where = where};
}

static bool needs_overlap(struct code_value a, struct code_value b)
{
	return a.kind == b.kind && a.symbol == b.symbol && a.off < b.off + 8 &&
	       b.off < a.off + 8;
}

static void need_before(
    struct derive_need *need, const struct derive_move *move, enum derive_need_of of)
{
	const bool written = need->kind == DERIVE_NEED_REG && need->reg == move->dst;

	switch ((enum derive_move_kind)move->kind) {
	case DERIVE_MOVE_LOSES:
		if (written)
			need->kind = DERIVE_NEED_LOST;
		break;
	case DERIVE_MOVE_COPY:
		if (written)
			need->reg = move->base;
		break;
	case DERIVE_MOVE_LOAD:
		/* SP that is loaded from the frame is as far from where it was as the frame is. */
		if (written)
			*need = of == DERIVE_NEED_SP && move->where.kind == CODE_CFA
				    ? need_of_reg(move->base)
				    : need_of_slot(move->where);
		break;
	case DERIVE_MOVE_STORE:
		if (need->kind != DERIVE_NEED_SLOT ||
		    !needs_overlap(need->where, move->where))
			break;
		if (code_value_equal(need->where, move->where))
			*need = need_of_reg(move->dst);
		else
			need->kind = DERIVE_NEED_LOST;
		break;
	}
}

static void needs_before(const struct derive_walker *walker,
    const struct derive_place *place, struct derive_need needs[DERIVE_N_NEEDS])
{
	for (int of = 0; of < DERIVE_N_NEEDS; of++) {
		if (needs[of].kind == DERIVE_NEED_REG && place->lost >> needs[of].reg & 1)
			needs[of].kind = DERIVE_NEED_LOST;
		for (uint8_t i = place->n_moves; i-- > 0;)
			need_before(&needs[of], &walker->moves[place->first_move + i],
			    (enum derive_need_of)of);
	}
}

/* ---- where ways meet ---- */

static bool need_same(const struct derive_need *a, const struct derive_need *b)
{
	return a->kind == b->kind && a->reg == b->reg &&
	       code_value_equal(a->where, b->where);
}

bool derive_needs_same(const struct derive_need a[DERIVE_N_NEEDS],
    const struct derive_need b[DERIVE_N_NEEDS])
{
	bool same = true;

	for (int of = 0; of < DERIVE_N_NEEDS; of++)
		same &= need_same(&a[of], &b[of]);
	return same;
}

bool derive_needs_are_usual(
    const struct code_abi *abi, const struct derive_need needs[DERIVE_N_NEEDS])
{
	for (int of = 0; of < DERIVE_N_NEEDS; of++)
		if (needs[of].kind == DERIVE_NEED_REG && needs[of].reg != abi->sp &&
		    needs[of].reg != abi->fp && needs[of].reg != abi->ra)
			return false;
	return true;
}

/* Adds what another way needs. Where one way leaves by SP and another one by the frame pointer, the latter
 * holds for both: only SP can be elsewhere. */
static void need_join(const struct code_abi *abi, struct derive_need *need,
    const struct derive_need *other, enum derive_need_of of)
{
	const bool by_frame = of == DERIVE_NEED_SP && need->kind == DERIVE_NEED_REG &&
			      other->kind == DERIVE_NEED_REG &&
			      (need->reg == abi->sp || need->reg == abi->fp) &&
			      (other->reg == abi->sp || other->reg == abi->fp);

	if (other->kind == DERIVE_NEED_NOTHING || need_same(need, other))
		return;
	if (need->kind == DERIVE_NEED_NOTHING)
		*need = *other;
	else
		*need = by_frame ? need_of_reg(abi->fp)
				 : (struct derive_need){.kind = DERIVE_NEED_LOST};
}

static void needs_join(const struct derive_walker *walker,
    struct derive_need needs[DERIVE_N_NEEDS],
    const struct derive_need others[DERIVE_N_NEEDS])
{
	for (int of = 0; of < DERIVE_N_NEEDS; of++)
		need_join(walker->abi, &needs[of], &others[of], (enum derive_need_of)of);
}

static struct derive_need need_of_rule(const struct cfi_rule *rule, uint8_t reg)
{
	switch ((enum cfi_rule_kind)rule->kind) {
	case CFI_UNSPECIFIED:
	case CFI_SAME:
		return need_of_reg(reg);
	case CFI_AT_CFA:
		return need_of_slot(
		    (struct code_value){.kind = CODE_CFA, .off = rule->off});
	case CFI_REG_PLUS:
		return need_of_reg(
		    rule->reg < CODE_SCRATCH ? (uint8_t)rule->reg : CODE_NO_REG);
	case CFI_UNDEFINED:
	case CFI_CFA_PLUS:
	case CFI_AT_REG:
	case CFI_AT_SUM:
	case CFI_CONST:
	case CFI_OPAQUE:
		break;
	}
	return (struct derive_need){.kind = DERIVE_NEED_LOST};
}

/* Adds what a way needs that ends behind the place: a return, a tail call, or a jump to code with CFI. */
static void needs_join_end(struct derive_walker *walker, const struct derive_place *place,
    struct derive_need needs[DERIVE_N_NEEDS])
{
	const struct code_abi *abi = walker->abi;
	const struct derive_need bare[DERIVE_N_NEEDS] = {need_of_reg(abi->sp),
	    need_of_reg(abi->fp),
	    need_of_reg(place->via == CODE_NO_REG ? abi->ra : place->via)};
	size_t i = search_list_from(walker->outs, walker->n_outs, from, place->pc);

	if (i == walker->n_outs || walker->outs[i].from != place->pc)
		needs_join(walker, needs, bare);
	for (; i < walker->n_outs && walker->outs[i].from == place->pc; i++) {
		const struct cfi_row *row =
		    derive_gap_at(walker->gaps, walker->outs[i].to)
			? NULL
			: derive_described_row(walker, walker->outs[i].to);
		struct derive_need by_row[DERIVE_N_NEEDS];

		if (row) {
			by_row[DERIVE_NEED_SP] = need_of_rule(&row->cfa, CODE_NO_REG);
			by_row[DERIVE_NEED_FP] = need_of_rule(&row->fp, abi->fp);
			by_row[DERIVE_NEED_RA] = need_of_rule(&row->ra, abi->ra);
		}
		needs_join(walker, needs, row ? by_row : bare);
	}
}

static bool needs_of_place(struct derive_walker *walker, struct derive_place *place)
{
	struct derive_need needs[DERIVE_N_NEEDS] = {0};
	const struct derive_place *next;
	bool same;

	if (place->flags & DERIVE_END)
		needs_join_end(walker, place, needs);
	next = place->flags & DERIVE_NEXT
		   ? derive_place_at(walker, place->pc + place->length)
		   : NULL;
	if (next)
		needs_join(walker, needs, next->needs);
	for (size_t i = search_list_from(walker->edges, walker->n_edges, from, place->pc);
	     i < walker->n_edges && walker->edges[i].from == place->pc; i++) {
		next = derive_place_at(walker, walker->edges[i].to);
		if (next)
			needs_join(walker, needs, next->needs);
	}
	needs_before(walker, place, needs);
	same = derive_needs_same(needs, place->needs);
	memcpy(place->needs, needs, sizeof(needs));
	return same;
}

/* Jumps back take another round. */
enum { NEEDS_MAX_ROUNDS = 256 };

bool derive_needs(struct derive_walker *walker)
{
	bool again = true;

	for (int round = 0; again && round < NEEDS_MAX_ROUNDS; round++) {
		again = false;
		for (size_t i = walker->n_places; i-- > 0;)
			again |= !needs_of_place(walker, &walker->places[i]);
	}
	return !again;
}

/* ---- the row ---- */

/* Takes the value out of all slots but the one at where. */
static void needs_forget(
    struct code_state *state, struct code_value value, struct code_value where)
{
	for (uint8_t i = state->n_slots; i-- > 0;)
		if (code_value_equal(state->slots[i].value, value) &&
		    !code_value_equal(state->slots[i].where, where))
			code_state_set_memory(state, state->slots[i].where,
			    (struct code_value){.kind = CODE_OTHER});
}

/* Leaves value in the register or slot that is needed alone. */
static void needs_keep(
    struct code_state *state, const struct derive_need *need, struct code_value value)
{
	needs_forget(state, value, need->where);
	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if ((need->kind != DERIVE_NEED_REG || need->reg != i) &&
		    code_value_equal(state->regs[i], value))
			state->regs[i] = (struct code_value){.kind = CODE_OTHER};
}

/* Leaves the CFA in the register or slot that is needed alone. False: it is not there. */
static bool needs_keep_cfa(
    const struct code_abi *abi, struct derive_need need, struct code_state *state)
{
	/* Another register has a copy of SP, which is still there. */
	if (need.kind == DERIVE_NEED_REG && need.reg != abi->fp &&
	    state->regs[abi->sp].kind == CODE_CFA)
		need.reg = abi->sp;
	if (need.kind == DERIVE_NEED_LOST || need.kind == DERIVE_NEED_NOTHING ||
	    (need.kind == DERIVE_NEED_REG && state->regs[need.reg].kind != CODE_CFA))
		return false;
	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (state->regs[i].kind == CODE_CFA &&
		    (need.kind != DERIVE_NEED_REG || need.reg != i))
			state->regs[i] = (struct code_value){.kind = CODE_OTHER};
	for (uint8_t i = state->n_slots; i-- > 0;)
		if (state->slots[i].value.kind == CODE_CFA &&
		    !code_value_equal(state->slots[i].where, need.where))
			code_state_set_memory(state, state->slots[i].where,
			    (struct code_value){.kind = CODE_OTHER});
	return true;
}

bool derive_needs_apply(const struct code_abi *abi,
    const struct derive_need needs[DERIVE_N_NEEDS], struct code_state *state)
{
	const struct derive_need fixed = {
	    .kind = DERIVE_NEED_SLOT, .where = {.kind = CODE_CFA, .off = abi->ra_off}};
	const bool in_register = abi->ra != CODE_NO_REG;
	const struct derive_need *ra = in_register ? &needs[DERIVE_NEED_RA] : &fixed;

	if (!needs_keep_cfa(abi, needs[DERIVE_NEED_SP], state))
		return false;
	needs_keep(state, &needs[DERIVE_NEED_FP],
	    (struct code_value){.kind = CODE_CALLERS, .symbol = abi->fp});
	needs_forget(state, (struct code_value){.kind = CODE_RA_SIGNED}, ra->where);
	if (in_register)
		needs_keep(state, ra, (struct code_value){.kind = CODE_RA});
	else
		needs_forget(state, (struct code_value){.kind = CODE_RA}, ra->where);
	return true;
}
