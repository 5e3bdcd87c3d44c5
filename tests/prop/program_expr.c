/* SPDX-License-Identifier: MIT */
/* Random DWARF expressions whose value is known beforehand. */
#include "cfi/opcodes.h"
#include "tests/prop/program.h"

struct expr {
	struct program *p;
	struct wr out; /* owned; the operations */
	struct truth_rule value;
};

static void expr_op(struct expr *e, uint8_t op)
{
	wr_u8(&e->out, op);
}

/* Pushes a number below 2^15 in one of several ways. */
static void expr_number(struct expr *e, uint32_t n)
{
	switch (program_random(e->p, 4)) {
	case 0:
		if (n <= 31) {
			expr_op(e, (uint8_t)(DW_OP_lit0 + n));
			break;
		}
		__attribute__((fallthrough));
	case 1:
		expr_op(e, DW_OP_constu);
		program_uleb(&e->out, n);
		break;
	case 2:
		expr_op(e, DW_OP_consts);
		program_sleb(&e->out, n);
		break;
	default:
		expr_op(e, DW_OP_const2u);
		wr_u16(&e->out, (uint16_t)n);
	}
}

static void expr_register(struct expr *e)
{
	const struct truth_machine *m = e->p->machine;
	const uint8_t regs[] = {m->sp, m->sp, m->sp, m->sp, m->fp, m->fp, m->others[0],
	    m->others[1], m->others[2], 15};
	uint8_t reg = regs[program_random(e->p, sizeof(regs))];
	int64_t off = (int64_t)program_random(e->p, 600) - 100;

	if (program_chance(e->p, 80)) {
		expr_op(e, (uint8_t)(DW_OP_breg0 + reg));
	} else {
		expr_op(e, DW_OP_bregx);
		program_uleb(&e->out, reg);
	}
	program_sleb(&e->out, off);
	e->value = (struct truth_rule){.base = TRUTH_REG, .reg = reg, .off = off};
}

/* Changes the offset, here and there by a detour. */
static void expr_add(struct expr *e)
{
	uint32_t n = (uint32_t)program_random(e->p, 40);

	switch (program_random(e->p, 5)) {
	case 0:
		expr_op(e, DW_OP_plus_uconst);
		program_uleb(&e->out, n);
		e->value.off += n;
		break;
	case 1:
		expr_number(e, n);
		expr_op(e, DW_OP_minus);
		e->value.off -= n;
		break;
	case 2: /* number + value, and something on top that goes away */
		expr_number(e, n);
		expr_op(e, DW_OP_swap);
		expr_op(e, DW_OP_plus);
		expr_op(e, DW_OP_dup);
		expr_op(e, DW_OP_drop);
		e->value.off += n;
		break;
	case 3: /* an addition that a branch passes over */
		expr_number(e, 1 + n);
		expr_op(e, DW_OP_bra);
		wr_u16(&e->out, 2);
		expr_op(e, DW_OP_lit31);
		expr_op(e, DW_OP_plus);
		break;
	default: /* n times 8 */
		expr_number(e, n);
		expr_number(e, 3);
		expr_op(e, DW_OP_shl);
		expr_op(e, DW_OP_plus);
		e->value.off += 8 * (int64_t)n;
	}
}

/* The linkers' way: + (((pc & mask) >= at_least) << shift). */
static void expr_step(struct expr *e)
{
	uint8_t mask = (uint8_t)((4u << program_random(e->p, 6)) - 1);
	uint8_t shift = (uint8_t)(3 + program_random(e->p, 2));

	e->value.mask = mask;
	e->value.at_least = (uint8_t)program_random(e->p, mask + 1u);
	e->value.step = (uint8_t)(1u << shift);
	if (e->p->machine->pc <= 31) {
		expr_op(e, DW_OP_breg0 + e->p->machine->pc);
	} else {
		expr_op(e, DW_OP_bregx);
		program_uleb(&e->out, e->p->machine->pc);
	}
	program_sleb(&e->out, 0);
	expr_number(e, mask);
	expr_op(e, DW_OP_and);
	expr_number(e, e->value.at_least);
	expr_op(e, DW_OP_ge);
	expr_number(e, shift);
	expr_op(e, DW_OP_shl);
	expr_op(e, DW_OP_plus);
}

/* Something that has no formula as a row has them. */
static void expr_spoil(struct expr *e)
{
	switch (program_random(e->p, 3)) {
	case 0:
		expr_op(e, DW_OP_deref);
		e->value.base =
		    e->value.base == TRUTH_CFA ? TRUTH_FROM_CFA : TRUTH_FROM_REG;
		break;
	case 1:
		expr_op(e, DW_OP_breg0 + 1);
		program_sleb(&e->out, 0);
		expr_op(e, DW_OP_plus);
		e->value.base = TRUTH_UNKNOWN;
		break;
	default:
		expr_number(e, 16);
		expr_op(e, DW_OP_neg);
		expr_op(e, DW_OP_and);
		e->value.base = TRUTH_UNKNOWN;
	}
}

struct truth_rule program_expression(struct program *p, bool with_cfa)
{
	struct expr e = {.p = p, .value = {.base = TRUTH_CFA}};

	wr_init(&e.out, p->machine->big_endian);
	if (!with_cfa || program_chance(p, 25)) {
		if (program_chance(p, 92)) {
			expr_register(&e);
		} else {
			uint32_t n = (uint32_t)program_random(p, 1000);

			expr_number(&e, n);
			e.value = (struct truth_rule){.base = TRUTH_NUMBER, .off = n};
		}
	} else if (program_chance(p, 50)) {
		/* The RA's place, or the FP's most usual one. */
		uint32_t n = program_chance(p, 60) ? 8 : 16;

		expr_number(&e, n);
		expr_op(&e, DW_OP_minus);
		e.value.off = -(int64_t)n;
	}
	for (uint64_t n = program_chance(p, 60) ? 0 : program_random(p, 3); n > 0; n--)
		expr_add(&e);
	if (program_chance(p, 35))
		expr_step(&e);
	if (e.value.base != TRUTH_NUMBER && program_chance(p, 10))
		expr_spoil(&e);
	program_uleb(&p->out, e.out.size);
	wr_bytes(&p->out, e.out.data, e.out.size);
	wr_deinit(&e.out);
	return e.value;
}
