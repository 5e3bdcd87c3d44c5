/* SPDX-License-Identifier: MIT */
/* Random call frame instructions, and what each of them changes. */
#include "cfi/opcodes.h"
#include "cfi/pointer.h"
#include "tests/prop/program.h"

/* ---- choices ---- */

static uint64_t pick_register(struct program *p)
{
	const struct truth_machine *m = p->machine;
	const uint8_t regs[] = {m->fp, m->fp, m->fp, m->fp, m->sp, m->ra, m->ra,
	    m->others[0], m->others[1], m->others[2], 12, 2, 18, 33, 63};

	return regs[program_random(p, sizeof(regs))];
}

static void set_rule(struct program *p, uint64_t reg, struct truth_rule rule)
{
	struct truth_rule *column = program_column(p, &p->state, reg);

	if (column)
		*column = rule;
}

static void set_from_cfa(
    struct program *p, uint64_t reg, enum truth_how how, int64_t factored)
{
	set_rule(p, reg,
	    (struct truth_rule){
		(uint8_t)how, TRUTH_CFA, .off = factored * p->data_align});
}

/* Offset of a CFA from a register: small and aligned, as real ones are, or at the edge of the format. */
static int64_t pick_cfa_off(struct program *p)
{
	static const int64_t edges[] = {0, 127, 128, 129, 32767, 32768, INT32_MAX,
	    INT64_C(0x80000000), INT64_C(0x7fffffffff)};

	if (program_chance(p, 92))
		return 8 * (int64_t)program_random(p, 40);
	return edges[program_random(p, sizeof(edges) / sizeof(edges[0]))];
}

/* A factored offset from the CFA, which makes that of the return address usual. */
static int64_t pick_factored(struct program *p, uint64_t reg)
{
	static const int64_t edges[] = {127, 128, 129, 32768, 32769, INT64_C(0x10000000),
	    INT64_C(0x80000000), INT64_C(0x80000001)};

	if (reg == p->machine->ra && p->machine->fixed_ra && program_chance(p, 85))
		return p->machine->fixed_ra / p->data_align;
	if (program_chance(p, 10))
		return edges[program_random(p, sizeof(edges) / sizeof(edges[0]))];
	return -(int64_t)(8 * (1 + program_random(p, 20))) / p->data_align;
}

/* ---- moving ---- */

static void move_to(struct program *p, uint64_t loc)
{
	if (loc > p->loc && p->n_segs < PROGRAM_SEGS)
		p->segs[p->n_segs++] = (struct program_seg){p->loc, p->state};
	p->loc = loc;
}

static uint64_t pick_units(struct program *p)
{
	const struct truth_state *s = &p->state;
	/* Where rules step, each PC is a row of its own in the worst case. */
	bool steps = s->cfa.mask || s->sp.mask || s->fp.mask || s->ra.mask;
	uint64_t kind = program_random(p, steps || p->small ? 96 : 1000);

	if (kind < 80)
		return program_random(p, 16);
	if (kind < 950)
		return program_random(p, 80);
	if (kind < 985)
		return program_random(p, 1000);
	return kind < 997 ? program_random(p, 5000) : 65000 + program_random(p, 2000);
}

/* An instruction that can hold so many units, not always the smallest. */
void program_advance(struct program *p, uint64_t least)
{
	uint64_t align = p->cie->code_align, units = pick_units(p);
	uint64_t kind;

	if (units * align < least)
		units = (least + align - 1) / align;
	kind = program_random(p, 5);
	if (kind == 0 && units < 0x40) {
		wr_u8(&p->out, (uint8_t)(DW_CFA_advance_loc | units));
	} else if (kind <= 1 && units <= UINT8_MAX) {
		wr_u8(&p->out, DW_CFA_advance_loc1);
		wr_u8(&p->out, (uint8_t)units);
	} else if (kind <= 2 && units <= UINT16_MAX) {
		wr_u8(&p->out, DW_CFA_advance_loc2);
		wr_u16(&p->out, (uint16_t)units);
	} else if (kind <= 3) {
		wr_u8(&p->out, DW_CFA_advance_loc4);
		wr_u32(&p->out, (uint32_t)units);
	} else {
		wr_u8(&p->out, DW_CFA_MIPS_advance_loc8);
		wr_u64(&p->out, units);
	}
	move_to(p, p->loc + units * align);
}

static bool op_advance(struct program *p)
{
	if (!p->cie)
		return false;
	program_advance(p, 0);
	return true;
}

static bool op_set_loc(struct program *p)
{
	uint64_t loc = p->loc + pick_units(p);

	if (!p->cie)
		return false;
	wr_u8(&p->out, DW_CFA_set_loc);
	program_pointer(p, p->cie->encoding, loc);
	p->used_set_loc = true;
	move_to(p, loc);
	return true;
}

/* ---- the CFA ---- */

static bool set_cfa(struct program *p, uint8_t op, uint64_t reg, int64_t off)
{
	wr_u8(&p->out, op);
	program_uleb(&p->out, reg);
	p->state.cfa =
	    (struct truth_rule){TRUTH_IS, TRUTH_REG, .reg = (uint8_t)reg, .off = off};
	p->state.cfa_plain = true;
	return true;
}

static uint64_t pick_cfa_register(struct program *p)
{
	const struct truth_machine *m = p->machine;
	const uint8_t regs[] = {m->sp, m->sp, m->sp, m->sp, m->sp, m->fp, m->fp, m->fp,
	    m->fp, m->others[2], m->ra, 0};

	return regs[program_random(p, sizeof(regs))];
}

static bool op_def_cfa(struct program *p)
{
	int64_t off = pick_cfa_off(p);

	set_cfa(p, DW_CFA_def_cfa, pick_cfa_register(p), off);
	program_uleb(&p->out, (uint64_t)off);
	return true;
}

static bool op_def_cfa_sf(struct program *p)
{
	int64_t factored = pick_cfa_off(p) / 8 - 2;

	set_cfa(p, DW_CFA_def_cfa_sf, pick_cfa_register(p), factored * p->data_align);
	program_sleb(&p->out, factored);
	return true;
}

static bool op_def_cfa_register(struct program *p)
{
	return p->state.cfa_plain && set_cfa(p, DW_CFA_def_cfa_register,
					 pick_cfa_register(p), p->state.cfa.off);
}

static bool op_def_cfa_offset(struct program *p)
{
	int64_t off = pick_cfa_off(p);

	if (!p->state.cfa_plain)
		return false;
	wr_u8(&p->out, DW_CFA_def_cfa_offset);
	program_uleb(&p->out, (uint64_t)off);
	p->state.cfa.off = off;
	return true;
}

static bool op_def_cfa_offset_sf(struct program *p)
{
	int64_t factored = pick_cfa_off(p) / 8 - 2;

	if (!p->state.cfa_plain)
		return false;
	wr_u8(&p->out, DW_CFA_def_cfa_offset_sf);
	program_sleb(&p->out, factored);
	p->state.cfa.off = factored * p->data_align;
	return true;
}

/* Address space 0 is the ordinary one. */
static bool op_def_aspace_cfa(struct program *p)
{
	int64_t factored = pick_cfa_off(p) / 8;
	uint64_t space = program_random(p, 5) == 0;

	if (program_chance(p, 50)) {
		set_cfa(p, DW_CFA_LLVM_def_aspace_cfa, pick_cfa_register(p), factored);
		program_uleb(&p->out, (uint64_t)factored);
	} else {
		set_cfa(p, DW_CFA_LLVM_def_aspace_cfa_sf, pick_cfa_register(p),
		    factored * p->data_align);
		program_sleb(&p->out, factored);
	}
	program_uleb(&p->out, space);
	if (space) {
		p->state.cfa =
		    (struct truth_rule){.how = TRUTH_IS, .base = TRUTH_UNKNOWN};
		p->state.cfa_plain = false;
	}
	return true;
}

static bool op_def_cfa_expression(struct program *p)
{
	wr_u8(&p->out, DW_CFA_def_cfa_expression);
	p->state.cfa = program_expression(p, false);
	p->state.cfa.how = TRUTH_IS;
	p->state.cfa_plain = false;
	return true;
}

/* ---- registers ---- */

static bool put_offset(struct program *p, uint8_t op, bool sf, enum truth_how how)
{
	uint64_t reg = pick_register(p);
	int64_t factored = pick_factored(p, reg);

	if (!sf && factored < 0)
		factored = -factored;
	wr_u8(&p->out, op);
	program_uleb(&p->out, reg);
	if (sf)
		program_sleb(&p->out, factored);
	else
		program_uleb(&p->out, (uint64_t)factored);
	set_from_cfa(p, reg, how, factored);
	return true;
}

static bool op_offset(struct program *p)
{
	uint64_t reg = pick_register(p);
	int64_t factored = pick_factored(p, reg);

	if (factored < 0 || reg > DW_CFA_low_mask)
		return false;
	wr_u8(&p->out, (uint8_t)(DW_CFA_offset | reg));
	program_uleb(&p->out, (uint64_t)factored);
	set_from_cfa(p, reg, TRUTH_SAVED_AT, factored);
	return true;
}

static bool op_offset_extended(struct program *p)
{
	if (program_chance(p, 20))
		return put_offset(p, DW_CFA_offset_extended, false, TRUTH_SAVED_AT);
	return put_offset(p, DW_CFA_offset_extended_sf, true, TRUTH_SAVED_AT);
}

static bool op_negative_offset(struct program *p)
{
	uint64_t reg = pick_register(p);
	int64_t factored = pick_factored(p, reg);

	if (factored > 0)
		return false;
	wr_u8(&p->out, DW_CFA_GNU_negative_offset_extended);
	program_uleb(&p->out, reg);
	program_uleb(&p->out, (uint64_t)-factored);
	set_from_cfa(p, reg, TRUTH_SAVED_AT, factored);
	return true;
}

static bool op_val_offset(struct program *p)
{
	return program_chance(p, 20) && put_offset(p, DW_CFA_val_offset, false, TRUTH_IS);
}

static bool op_val_offset_sf(struct program *p)
{
	uint64_t reg = pick_register(p);
	bool is_sp = reg == p->machine->sp;
	int64_t factored =
	    is_sp ? p->machine->sp_off / p->data_align : pick_factored(p, reg);

	if (!is_sp && program_chance(p, 80))
		return false;
	wr_u8(&p->out, DW_CFA_val_offset_sf);
	program_uleb(&p->out, reg);
	program_sleb(&p->out, factored);
	set_from_cfa(p, reg, TRUTH_IS, factored);
	return true;
}

static bool put_simple(struct program *p, uint8_t op, enum truth_how how)
{
	uint64_t reg = pick_register(p);

	if (reg != p->machine->fp && program_chance(p, 75))
		return false;
	wr_u8(&p->out, op);
	program_uleb(&p->out, reg);
	set_rule(p, reg, (struct truth_rule){.how = (uint8_t)how});
	return true;
}

static bool op_undefined(struct program *p)
{
	return put_simple(p, DW_CFA_undefined, TRUTH_UNDEFINED);
}

static bool op_same_value(struct program *p)
{
	return put_simple(p, DW_CFA_same_value, TRUTH_SAME);
}

static bool op_register(struct program *p)
{
	uint64_t reg = pick_register(p);
	uint64_t other = program_chance(p, 50) ? reg : p->machine->others[1];

	if (reg == p->machine->ra && p->machine->fixed_ra && program_chance(p, 80))
		return false;
	wr_u8(&p->out, DW_CFA_register);
	program_uleb(&p->out, reg);
	program_uleb(&p->out, other);
	set_rule(p, reg, (struct truth_rule){TRUTH_IS, TRUTH_REG, .reg = (uint8_t)other});
	return true;
}

static bool op_expression(struct program *p)
{
	uint64_t reg = pick_register(p);
	struct truth_rule rule;

	wr_u8(&p->out, DW_CFA_expression);
	program_uleb(&p->out, reg);
	rule = program_expression(p, true);
	rule.how = TRUTH_SAVED_AT;
	set_rule(p, reg, rule);
	return true;
}

static bool op_val_expression(struct program *p)
{
	uint64_t reg = pick_register(p);
	struct truth_rule rule;

	wr_u8(&p->out, DW_CFA_val_expression);
	program_uleb(&p->out, reg);
	rule = program_expression(p, true);
	rule.how = TRUTH_IS;
	/* The value read from an address is what is saved there. */
	if (rule.base == TRUTH_FROM_CFA) {
		rule.how = TRUTH_SAVED_AT;
		rule.base = TRUTH_CFA;
	} else if (rule.base == TRUTH_FROM_REG) {
		rule.how = TRUTH_SAVED_AT;
		rule.base = TRUTH_REG;
	}
	set_rule(p, reg, rule);
	return true;
}

/* ---- taking back ---- */

static bool op_restore(struct program *p)
{
	uint64_t reg = pick_register(p);
	struct truth_state initial;
	struct truth_rule *rule;

	if (!p->cie || reg > DW_CFA_low_mask)
		return false;
	if (program_chance(p, 60)) {
		wr_u8(&p->out, (uint8_t)(DW_CFA_restore | reg));
	} else {
		wr_u8(&p->out, DW_CFA_restore_extended);
		program_uleb(&p->out, reg);
	}
	initial = p->cie->initial;
	rule = program_column(p, &initial, reg);
	if (rule)
		set_rule(p, reg, *rule);
	return true;
}

static bool op_remember(struct program *p)
{
	if (!p->cie || p->depth == PROGRAM_DEPTH)
		return false;
	wr_u8(&p->out, DW_CFA_remember_state);
	p->stack[p->depth++] = p->state;
	return true;
}

static bool op_restore_state(struct program *p)
{
	if (!p->cie || p->depth == 0)
		return false;
	wr_u8(&p->out, DW_CFA_restore_state);
	p->state = p->stack[--p->depth];
	return true;
}

/* ---- no rules ---- */

static bool op_nothing(struct program *p)
{
	bool args = program_chance(p, 50);

	wr_u8(&p->out, args ? DW_CFA_GNU_args_size : DW_CFA_nop);
	if (args)
		program_uleb(&p->out, program_random(p, 300));
	return true;
}

static const struct {
	const char *name;
	bool (*make)(struct program *p);
	unsigned int weight;
} ops[] = {
    {"advance_loc*", op_advance, 60},
    {"set_loc", op_set_loc, 3},
    {"def_cfa", op_def_cfa, 12},
    {"def_cfa_sf", op_def_cfa_sf, 4},
    {"def_cfa_register", op_def_cfa_register, 6},
    {"def_cfa_offset", op_def_cfa_offset, 12},
    {"def_cfa_offset_sf", op_def_cfa_offset_sf, 4},
    {"def_aspace_cfa*", op_def_aspace_cfa, 2},
    {"def_cfa_expression", op_def_cfa_expression, 4},
    {"offset", op_offset, 12},
    {"offset_extended*", op_offset_extended, 10},
    {"negative_offset_extended", op_negative_offset, 2},
    {"val_offset", op_val_offset, 2},
    {"val_offset_sf", op_val_offset_sf, 6},
    {"undefined", op_undefined, 2},
    {"same_value", op_same_value, 4},
    {"register", op_register, 2},
    {"expression", op_expression, 2},
    {"val_expression", op_val_expression, 2},
    {"restore", op_restore, 25},
    {"remember_state", op_remember, 5},
    {"restore_state", op_restore_state, 5},
    {"nop, args_size", op_nothing, 4},
    {"window_save", program_window_save, 1},
    {"negate_ra_state*", program_sign, 8},
};

enum { N_OPS = sizeof(ops) / sizeof(ops[0]) };

_Static_assert(
    (int)N_OPS <= (int)PROGRAM_OPS, "program.used has a place for each instruction");

const char *program_op_name(size_t i)
{
	return i < N_OPS ? ops[i].name : NULL;
}

bool program_instruction(struct program *p)
{
	unsigned int total = 0;
	uint64_t at;
	size_t i = 0;

	for (size_t j = 0; j < N_OPS; j++)
		total += ops[j].weight;
	for (at = program_random(p, total); at >= ops[i].weight; i++)
		at -= ops[i].weight;
	if (!ops[i].make(p))
		return false;
	p->used[i]++;
	return true;
}
