/* SPDX-License-Identifier: MIT */
/* Follows what ends need backwards, against the moves of the instructions. */
#include "gen/check/needs.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

void needs_begin(struct needs *needs, const struct code_abi *abi)
{
	needs->abi = abi;
	needs->n_places = needs->n_moves = needs->n_ends = 0;
	needs->nomem = false;
}

void needs_deinit(struct needs *needs)
{
	free(needs->places);
	free(needs->moves);
	free(needs->ends);
}

/* ---- edges ---- */

void needs_edges_clear(struct needs_edges *edges)
{
	edges->n = edges->sorted = 0;
}

void needs_edges_sort(struct needs_edges *edges)
{
	size_t n = 0;

	if (edges->n > edges->sorted)
		qsort(edges->list, edges->n, sizeof(*edges->list), search_order_pairs);
	for (size_t i = 0; i < edges->n; i++)
		if (!n || search_order_pairs(&edges->list[n - 1], &edges->list[i]))
			edges->list[n++] = edges->list[i];
	edges->n = edges->sorted = n;
}

bool needs_edges_add(struct needs_edges *edges, uint64_t from, uint64_t to)
{
	const struct needs_edge edge = {from, to};

	if (edges->n && !search_order_pairs(&edges->list[edges->n - 1], &edge))
		return true;
	/* A way is followed anew when it becomes less known. */
	if (edges->n == edges->cap && edges->n > 2 * edges->sorted)
		needs_edges_sort(edges);
	if (!vec_reserve(&edges->list, &edges->cap, edges->n + 1))
		return false;
	edges->list[edges->n++] = edge;
	return true;
}

size_t needs_edges_from(const struct needs_edges *edges, uint64_t pc)
{
	const size_t i = search_list_from(edges->list, edges->n, from, pc);

	return i < edges->n && edges->list[i].from == pc ? i : edges->n;
}

/* ---- instructions ---- */

static void needs_add_move(struct needs *needs, const struct needs_move *move)
{
	if (vec_reserve(&needs->moves, &needs->cap_moves, needs->n_moves + 1))
		needs->moves[needs->n_moves++] = *move;
	else
		needs->nomem = true;
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
static void needs_note_effect(struct needs *needs, const struct code_effect *effect,
    struct code_value regs[CODE_N_REGS])
{
	const bool plain = effect->base != CODE_NO_REG && effect->index == CODE_NO_REG;
	struct needs_move move = {.dst = effect->dst, .base = effect->base};
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
		    effect->kind == CODE_STORE ? NEEDS_MOVE_STORE : NEEDS_MOVE_LOAD;
		if (effect->width == 8 &&
		    (base.kind == CODE_CFA || base.kind == CODE_MADE))
			move.where = code_value_plus(base, effect->off);
		break;
	case CODE_SET:
	case CODE_SUBTRACT:
		/* A number in the index is one as well as in the instruction. */
		value = needs_result(needs->abi, effect, regs);
		if (effect->base != CODE_NO_REG && effect->width == 8 &&
		    (effect->index == CODE_NO_REG ||
			(value.kind == CODE_CFA && regs[effect->base].kind == CODE_CFA)))
			move.kind = NEEDS_MOVE_COPY;
		break;
	case CODE_ALIGN:
	case CODE_BOUND:
		break;
	}
	if (move.kind != NEEDS_MOVE_STORE)
		regs[effect->dst] = value;
	needs_add_move(needs, &move);
}

void needs_note(struct needs *needs, const struct code_place *place, bool next)
{
	const struct code_insn *insn = place->insn;
	struct needs_place noted = {.pc = place->pc,
	    .length = insn->length,
	    .next = next,
	    .first_move = (uint32_t)needs->n_moves,
	    .lost = insn->writes | insn->unsure};
	struct code_value regs[CODE_N_REGS];

	memcpy(regs, place->state->regs, sizeof(regs));
	if (insn->control == CODE_CALLS || insn->control == CODE_CALLS_TO)
		noted.lost |= needs->abi->clobbered;
	for (uint8_t i = 0; i < insn->n_effects; i++)
		needs_note_effect(needs, &insn->effects[i], regs);
	noted.n_moves = (uint8_t)(needs->n_moves - noted.first_move);
	if (vec_reserve(&needs->places, &needs->cap_places, needs->n_places + 1))
		needs->places[needs->n_places++] = noted;
	else
		needs->nomem = true;
}

/* ---- back over one instruction ---- */

struct need need_of_reg(uint8_t reg)
{
	return (struct need){
	    .kind = reg == CODE_NO_REG ? NEED_LOST : NEED_REG, .reg = reg};
}

struct need need_of_slot(struct code_value where)
{
	return (struct need){
	    .kind = where.kind == CODE_UNKNOWN ? NEED_LOST : NEED_SLOT, .where = where};
}

static bool needs_overlap(struct code_value a, struct code_value b)
{
	return a.kind == b.kind && a.symbol == b.symbol && a.off < b.off + 8 &&
	       b.off < a.off + 8;
}

static void need_before(struct need *need, const struct needs_move *move, enum need_of of)
{
	const bool written = need->kind == NEED_REG && need->reg == move->dst;

	switch ((enum needs_move_kind)move->kind) {
	case NEEDS_MOVE_LOSES:
		if (written)
			need->kind = NEED_LOST;
		break;
	case NEEDS_MOVE_COPY:
		if (written)
			need->reg = move->base;
		break;
	case NEEDS_MOVE_LOAD:
		/* SP that is loaded from the frame is as far from where it was as the frame is. */
		if (written)
			*need = of == NEED_SP && move->where.kind == CODE_CFA
				    ? need_of_reg(move->base)
				    : need_of_slot(move->where);
		break;
	case NEEDS_MOVE_STORE:
		if (need->kind != NEED_SLOT || !needs_overlap(need->where, move->where))
			break;
		if (code_value_equal(need->where, move->where))
			*need = need_of_reg(move->dst);
		else
			need->kind = NEED_LOST;
		break;
	}
}

static void needs_before(
    const struct needs *needs, const struct needs_place *place, struct need list[N_NEEDS])
{
	for (int of = 0; of < N_NEEDS; of++) {
		if (list[of].kind == NEED_REG &&
		    (uint64_t)place->lost >> list[of].reg & 1)
			list[of].kind = NEED_LOST;
		for (uint8_t i = place->n_moves; i-- > 0;)
			need_before(&list[of], &needs->moves[place->first_move + i],
			    (enum need_of)of);
	}
}

/* ---- where ways meet ---- */

static bool need_same(const struct need *a, const struct need *b)
{
	return a->kind == b->kind && a->reg == b->reg &&
	       code_value_equal(a->where, b->where);
}

bool needs_same(const struct need a[N_NEEDS], const struct need b[N_NEEDS])
{
	bool same = true;

	for (int of = 0; of < N_NEEDS; of++)
		same &= need_same(&a[of], &b[of]);
	return same;
}

bool needs_are_usual(const struct code_abi *abi, const struct need list[N_NEEDS])
{
	for (int of = 0; of < N_NEEDS; of++)
		if (list[of].kind == NEED_REG && list[of].reg != abi->sp &&
		    list[of].reg != abi->fp && list[of].reg != abi->ra)
			return false;
	return true;
}

/* Adds another way's need. Of SP and the frame pointer the latter holds for both: only SP can be elsewhere. */
static void need_join(const struct code_abi *abi, struct need *need,
    const struct need *other, enum need_of of)
{
	const bool by_frame = of == NEED_SP && need->kind == NEED_REG &&
			      other->kind == NEED_REG &&
			      (need->reg == abi->sp || need->reg == abi->fp) &&
			      (other->reg == abi->sp || other->reg == abi->fp);

	if (other->kind == NEED_NOTHING || need_same(need, other))
		return;
	if (need->kind == NEED_NOTHING)
		*need = *other;
	else
		*need =
		    by_frame ? need_of_reg(abi->fp) : (struct need){.kind = NEED_LOST};
}

static void needs_join(const struct needs *needs, struct need list[N_NEEDS],
    const struct need others[N_NEEDS])
{
	for (int of = 0; of < N_NEEDS; of++)
		need_join(needs->abi, &list[of], &others[of], (enum need_of)of);
}

static struct need need_of_rule(const struct cfi_rule *rule, uint8_t reg)
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
	return (struct need){.kind = NEED_LOST};
}

struct need needs_usual_ra(const struct code_abi *abi)
{
	return abi->ra != CODE_NO_REG ? need_of_reg(abi->ra)
				      : need_of_slot((struct code_value){
					    .kind = CODE_CFA, .off = abi->ra_off});
}

static void needs_add_end(struct needs *needs, struct needs_end end)
{
	struct needs_place *place =
	    needs->n_places ? &needs->places[needs->n_places - 1] : NULL;

	if (!place || !vec_reserve(&needs->ends, &needs->cap_ends, needs->n_ends + 1)) {
		needs->nomem = true;
		return;
	}
	place->ends = true;
	end.pc = place->pc;
	needs->ends[needs->n_ends++] = end;
}

void needs_note_end(struct needs *needs, struct need ra)
{
	needs_add_end(needs, (struct needs_end){.list = {need_of_reg(needs->abi->sp),
						    need_of_reg(needs->abi->fp), ra}});
}

void needs_note_row(struct needs *needs, const struct cfi_row *row)
{
	const struct code_abi *abi = needs->abi;

	needs_add_end(needs,
	    (struct needs_end){
		.list = {need_of_rule(&row->cfa, CODE_NO_REG),
		    need_of_rule(&row->fp, abi->fp),
		    row->ra.kind == CFI_UNSPECIFIED ? needs_usual_ra(abi)
						    : need_of_rule(&row->ra, abi->ra)}});
}

void needs_note_doubt(struct needs *needs)
{
	const struct need lost = {.kind = NEED_LOST};

	needs_add_end(needs, (struct needs_end){.list = {lost, lost, lost}});
}

const struct need *needs_at(const struct needs *needs, uint64_t pc)
{
	const size_t i = search_list_from(needs->places, needs->n_places, pc, pc);

	return i < needs->n_places && needs->places[i].pc == pc ? needs->places[i].list
								: NULL;
}

static bool needs_of_place(
    struct needs *needs, struct needs_place *place, const struct needs_edges *edges)
{
	struct need list[N_NEEDS] = {0};
	const struct need *next;
	bool same;

	if (place->ends)
		for (size_t i =
			 search_list_from(needs->ends, needs->n_ends, pc, place->pc);
		     i < needs->n_ends && needs->ends[i].pc == place->pc; i++)
			needs_join(needs, list, needs->ends[i].list);
	next = place->next ? needs_at(needs, place->pc + place->length) : NULL;
	if (next)
		needs_join(needs, list, next);
	for (size_t i = needs_edges_from(edges, place->pc);
	     i < edges->n && edges->list[i].from == place->pc; i++) {
		next = needs_at(needs, edges->list[i].to);
		if (next)
			needs_join(needs, list, next);
	}
	needs_before(needs, place, list);
	same = needs_same(list, place->list);
	memcpy(place->list, list, sizeof(list));
	return same;
}

/* Jumps back take another round. */
enum { NEEDS_MAX_ROUNDS = 256 };

bool needs_spread(struct needs *needs, const struct needs_edges *edges)
{
	bool again = true;

	if (needs->n_places)
		qsort(
		    needs->places, needs->n_places, sizeof(*needs->places), search_order);
	if (needs->n_ends)
		qsort(needs->ends, needs->n_ends, sizeof(*needs->ends), search_order);
	for (int round = 0; again && round < NEEDS_MAX_ROUNDS; round++) {
		again = false;
		for (size_t i = needs->n_places; i-- > 0;)
			again |= !needs_of_place(needs, &needs->places[i], edges);
	}
	return !again && !needs->nomem;
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
    struct code_state *state, const struct need *need, struct code_value value)
{
	needs_forget(state, value, need->where);
	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if ((need->kind != NEED_REG || need->reg != i) &&
		    code_value_equal(state->regs[i], value))
			state->regs[i] = (struct code_value){.kind = CODE_OTHER};
}

/* Leaves the CFA in the register or slot that is needed alone. False: it is not there. */
static bool needs_keep_cfa(
    const struct code_abi *abi, struct need need, struct code_state *state)
{
	/* Another register has a copy of SP, which is certainly still there. */
	if (need.kind == NEED_REG && need.reg != abi->fp &&
	    state->regs[abi->sp].kind == CODE_CFA && !state->sp_assumed)
		need.reg = abi->sp;
	if (need.kind == NEED_LOST || need.kind == NEED_NOTHING ||
	    (need.kind == NEED_REG && state->regs[need.reg].kind != CODE_CFA))
		return false;
	for (uint8_t i = 0; i < CODE_SCRATCH; i++)
		if (state->regs[i].kind == CODE_CFA &&
		    (need.kind != NEED_REG || need.reg != i))
			state->regs[i] = (struct code_value){.kind = CODE_OTHER};
	for (uint8_t i = state->n_slots; i-- > 0;)
		if (state->slots[i].value.kind == CODE_CFA &&
		    !code_value_equal(state->slots[i].where, need.where))
			code_state_set_memory(state, state->slots[i].where,
			    (struct code_value){.kind = CODE_OTHER});
	return true;
}

/* The slot of the return address, on machines that have none in a register. False: it cannot be told. */
static bool needs_slot(
    const struct code_abi *abi, const struct need *need, struct code_value *where)
{
	*where = need->where;
	if (need->kind == NEED_SLOT)
		return true;
	/* It is in a register that no call keeps, so nobody but the code itself writes to its slot. */
	*where = (struct code_value){.kind = CODE_CFA, .off = abi->ra_off};
	return need->kind == NEED_REG && (uint64_t)abi->clobbered >> need->reg & 1;
}

bool needs_apply(
    const struct code_abi *abi, const struct need list[N_NEEDS], struct code_state *state)
{
	const struct code_value ra = {.kind = CODE_RA};
	struct code_value where = list[NEED_RA].where;

	if (!needs_keep_cfa(abi, list[NEED_SP], state) ||
	    (abi->ra == CODE_NO_REG && !needs_slot(abi, &list[NEED_RA], &where)))
		return false;
	needs_keep(state, &list[NEED_FP],
	    (struct code_value){.kind = CODE_CALLERS, .symbol = abi->fp});
	needs_forget(state, (struct code_value){.kind = CODE_RA_SIGNED}, where);
	if (abi->ra != CODE_NO_REG)
		needs_keep(state, &list[NEED_RA], ra);
	else
		needs_forget(state, ra, where);
	return true;
}

/* The register if it has the value, else the only slot that has it. */
static struct need needs_only(
    const struct code_state *state, uint8_t reg, struct code_value value)
{
	struct need need = {.kind = NEED_LOST};
	int n = 0;

	if (reg != CODE_NO_REG && code_value_equal(state->regs[reg], value))
		return need_of_reg(reg);
	for (uint8_t i = 0; i < state->n_slots; i++)
		if (code_value_equal(state->slots[i].value, value)) {
			need = need_of_slot(state->slots[i].where);
			n++;
		}
	return n == 1 ? need : (struct need){.kind = NEED_LOST};
}

bool needs_apply_none(const struct code_abi *abi, struct code_state *state)
{
	const uint8_t cfa = state->regs[abi->sp].kind == CODE_CFA ? abi->sp : abi->fp;
	struct need list[N_NEEDS] = {need_of_reg(cfa),
	    needs_only(state, abi->fp,
		(struct code_value){.kind = CODE_CALLERS, .symbol = abi->fp}),
	    needs_only(state, abi->ra, (struct code_value){.kind = CODE_RA})};

	if (list[NEED_RA].kind == NEED_LOST)
		list[NEED_RA] = needs_only(
		    state, abi->ra, (struct code_value){.kind = CODE_RA_SIGNED});
	return list[NEED_FP].kind != NEED_LOST && list[NEED_RA].kind != NEED_LOST &&
	       needs_apply(abi, list, state);
}
