/* SPDX-License-Identifier: MIT */
/* The symbolic stack machine for expressions, and the rule that its result is. */
#include "cfi/expr.h"

#include <string.h>

#include "base/num.h"
#include "cfi/opcodes.h"
#include "cfi/value.h"

#define EXPR_MAX_OPS 1000u
#define EXPR_MAX_STACK 64u
/* Bounds the operations over all load addresses that are tried for one expression; most expressions
 * stay far below. */
#define EXPR_MAX_ALL_OPS (4 * EXPR_MAX_OPS)

/* Any multiple of the page size, to tell results that depend on where the file is loaded. */
#define EXPR_OTHER_BIAS UINT64_C(0x2b5ad6b53000)
/* The bits of an address that the load address can change: above the smallest page, in what programs have. */
enum { EXPR_PAGE_BITS = 12, EXPR_ADDRESS_BITS = 47 };

struct machine {
	struct rd rd; /* over the section up to the expression's end */
	uint64_t start;
	uint64_t pc, bias;
	uint16_t pc_reg;
	uint8_t addr_size;
	uint8_t branch_pc_bits; /* as value.pc_bits, of the conditions of branches */
	bool uses_bias;		/* uses the PC, or another address in the file */
	bool uses_address;	/* the latter */
	bool stuck; /* an operation that cannot be followed: the whole result is opaque */
	struct cfi_value stack[EXPR_MAX_STACK];
	size_t depth;
};

/* Make and change values in place on the stack: copying one that was just written costs
 * more than the operation. */
static struct cfi_value *push(struct machine *m, enum cfi_value_kind kind, uint64_t off)
{
	struct cfi_value *v;

	if (m->depth == EXPR_MAX_STACK) {
		m->stuck = true;
		return &m->stack[0];
	}
	v = &m->stack[m->depth++];
	v->off = off;
	v->add = 0;
	v->reg = 0;
	v->kind = (uint8_t)kind;
	v->index = v->shift = 0;
	v->pc_bits = 0;
	v->carries_up = true;
	return v;
}

static void push_const(struct machine *m, uint64_t v)
{
	push(m, V_CONST, v);
}

/* The n topmost values, the deepest first; when there are fewer the result is stuck
 * anyway. */
static struct cfi_value *top(struct machine *m, size_t n)
{
	if (m->depth < n) {
		m->stuck = true;
		return &m->stack[0];
	}
	return &m->stack[m->depth - n];
}

static struct cfi_value *pop(struct machine *m)
{
	struct cfi_value *v = top(m, 1);

	if (!m->stuck)
		m->depth--;
	return v;
}

/* Pushes a copy of the value n below the top. */
static void pick(struct machine *m, uint64_t n)
{
	size_t from = m->depth - 1 - (size_t)n;

	if (n >= m->depth || m->depth == EXPR_MAX_STACK)
		m->stuck = true;
	else
		m->stack[m->depth++] = m->stack[from];
}

static void push_register(struct machine *m, uint64_t reg, int64_t off)
{
	uint16_t number;

	if (reg == m->pc_reg) {
		m->uses_bias = true;
		push(m, V_CONST, m->pc + m->bias + (uint64_t)off)->pc_bits = 64;
	} else if (!num_u16(reg, &number)) {
		m->stuck = true;
	} else {
		push(m, V_REG, (uint64_t)off)->reg = number;
	}
}

static void deref(struct machine *m, uint8_t size)
{
	cfi_value_deref(top(m, 1), size, m->addr_size);
}

static void binary(struct machine *m, uint8_t op)
{
	struct cfi_value *a = top(m, 2);

	if (m->stuck)
		return;
	m->depth--;
	cfi_value_binary(a, a + 1, op);
}

static void unary(struct machine *m, uint8_t op)
{
	struct cfi_value *v = top(m, 1);

	if (op == DW_OP_abs)
		v->carries_up = false;
	if (v->kind != V_CONST)
		v->kind = V_OPAQUE;
	else if (op == DW_OP_not)
		v->off = ~v->off;
	else if (op == DW_OP_neg || (int64_t)v->off < 0)
		v->off = -v->off;
}

/* Moves by a signed distance from the next operation, inside the expression or to its
 * end. */
static void jump(struct machine *m, int16_t distance, bool taken)
{
	int64_t target = (int64_t)m->rd.pos + distance;

	if (!taken || m->rd.failed)
		return;
	if (target < (int64_t)m->start || target > (int64_t)m->rd.size)
		m->stuck = true;
	else
		rd_seek(&m->rd, (uint64_t)target);
}

static void branch(struct machine *m, int16_t distance)
{
	const struct cfi_value *condition = pop(m);

	if (condition->pc_bits > m->branch_pc_bits)
		m->branch_pc_bits = condition->pc_bits;
	if (condition->kind != V_CONST)
		m->stuck = true;
	else
		jump(m, distance, condition->off != 0);
}

/* The topmost of n values becomes the deepest of them, the others move up. */
static void rotate(struct machine *m, size_t n)
{
	struct cfi_value *v = top(m, n), last;

	if (m->stuck)
		return;
	last = v[n - 1];
	memmove(v + 1, v, (n - 1) * sizeof(*v));
	v[0] = last;
}

/* Operations with a literal operand; false for others. */
static bool step_const(struct machine *m, uint8_t op)
{
	struct rd *rd = &m->rd;

	switch (op) {
	case DW_OP_addr:
		m->uses_bias = m->uses_address = true;
		push_const(m, rd_u64(rd) + m->bias);
		return true;
	case DW_OP_const1u:
		push_const(m, rd_u8(rd));
		return true;
	case DW_OP_const1s:
		push_const(m, (uint64_t)rd_s8(rd));
		return true;
	case DW_OP_const2u:
		push_const(m, rd_u16(rd));
		return true;
	case DW_OP_const2s:
		push_const(m, (uint64_t)rd_s16(rd));
		return true;
	case DW_OP_const4u:
		push_const(m, rd_u32(rd));
		return true;
	case DW_OP_const4s:
		push_const(m, (uint64_t)rd_s32(rd));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push_const(m, rd_u64(rd));
		return true;
	case DW_OP_constu:
		push_const(m, rd_uleb(rd));
		return true;
	case DW_OP_consts:
		push_const(m, (uint64_t)rd_sleb(rd));
		return true;
	default:
		return false;
	}
}

/* Operations that move values on the stack; false for others. */
static bool step_stack(struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_OP_dup:
		pick(m, 0);
		return true;
	case DW_OP_drop:
		pop(m);
		return true;
	case DW_OP_over:
		pick(m, 1);
		return true;
	case DW_OP_pick:
		pick(m, rd_u8(&m->rd));
		return true;
	case DW_OP_swap:
		rotate(m, 2);
		return true;
	case DW_OP_rot:
		rotate(m, 3);
		return true;
	default:
		return false;
	}
}

static void step(struct machine *m)
{
	struct rd *rd = &m->rd;
	uint8_t op = rd_u8(rd);
	uint64_t reg;

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, op - DW_OP_breg0, rd_sleb(rd));
		return;
	}
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push_const(m, op - DW_OP_lit0);
		return;
	}
	if (step_const(m, op) || step_stack(m, op))
		return;
	switch (op) {
	case DW_OP_nop:
		break;
	case DW_OP_bregx:
		reg = rd_uleb(rd);
		push_register(m, reg, rd_sleb(rd));
		break;
	case DW_OP_deref:
		deref(m, m->addr_size);
		break;
	case DW_OP_deref_size:
		deref(m, rd_u8(rd));
		break;
	case DW_OP_plus_uconst:
		cfi_value_add(top(m, 1), rd_uleb(rd));
		break;
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
		unary(m, op);
		break;
	case DW_OP_skip:
		jump(m, rd_s16(rd), true);
		break;
	case DW_OP_bra:
		branch(m, rd_s16(rd));
		break;
	default:
		/* plus..xor and eq..ne are binary. The others are unknown, or
		 * need a frame base, types or other address spaces, which CFI
		 * does not have. */
		if ((op >= DW_OP_and && op <= DW_OP_xor) ||
		    (op >= DW_OP_eq && op <= DW_OP_ne))
			binary(m, op);
		else
			m->stuck = true;
	}
}

/* Runs the expression; of m, pc, pc_reg and bias are set by the caller. */
static const struct cfi_value *expr_run(struct machine *m, const struct cfi_section *sec,
    const struct cfi_expr *expr, uint64_t *ops)
{
	m->uses_bias = m->uses_address = m->stuck = false;
	m->branch_pc_bits = 0;
	m->depth = 0;
	m->stack[0] =
	    (struct cfi_value){.kind = V_OPAQUE}; /* what top() gives when stuck */
	m->start = expr->off;
	m->addr_size = sec->addr_size;
	rd_init(&m->rd, sec->data, (size_t)(expr->off + expr->len), sec->big_endian);
	rd_seek(&m->rd, expr->off);
	/* DW_CFA_expression and val_expression start with the CFA (DWARF 5, 6.4.2.3). */
	if (expr->use != CFI_EXPR_CFA)
		push(m, V_CFA, 0);
	for (unsigned int n = 0; m->rd.pos < m->rd.size && !m->stuck && !m->rd.failed;
	     n++) {
		++*ops;
		if (n == EXPR_MAX_OPS)
			m->stuck = true;
		else
			step(m);
	}
	if (!m->stuck && !m->rd.failed && m->depth)
		return top(m, 1);
	m->depth = 0;
	return push(m, V_OPAQUE, 0);
}

/* The value itself is what the rule yields: the CFA, or the register's contents. */
static bool rule_of_value(const struct cfi_value *v, struct cfi_rule *rule)
{
	rule->off = (int64_t)v->off;
	switch ((enum cfi_value_kind)v->kind) {
	case V_CONST:
		rule->kind = CFI_CONST;
		return true;
	case V_REG:
		rule->kind = CFI_REG_PLUS;
		rule->reg = v->reg;
		return true;
	case V_CFA:
		rule->kind = CFI_CFA_PLUS;
		return true;
	case V_AT_REG:
		rule->kind = CFI_AT_REG;
		rule->reg = v->reg;
		return num_s32((int64_t)v->add, &rule->add);
	case V_AT_CFA:
		rule->kind = CFI_AT_CFA;
		return v->add == 0;
	case V_AT_SUM:
		rule->kind = CFI_AT_SUM;
		rule->reg = v->reg;
		rule->array = cfi_rule_array(v->index, v->shift);
		return num_s32((int64_t)v->add, &rule->add);
	case V_SCALED:
	case V_SUM:
	case V_OPAQUE:
		return false;
	}
	return false;
}

/* The value is the address at which the register is saved. */
static bool rule_of_address(const struct cfi_value *v, struct cfi_rule *rule)
{
	rule->off = (int64_t)v->off;
	rule->reg = v->reg;
	rule->kind = v->kind == V_CFA ? CFI_AT_CFA : CFI_AT_REG;
	return v->kind == V_CFA || v->kind == V_REG;
}

/* Widens pc_bits to those that decided a run and its result. */
static void join_run_bits(
    const struct machine *m, const struct cfi_value *v, uint8_t *pc_bits)
{
	if (v->pc_bits > *pc_bits)
		*pc_bits = v->pc_bits;
	if (m->branch_pc_bits > *pc_bits)
		*pc_bits = m->branch_pc_bits;
}

/*
 * True if the expression gives the same rule when the file is loaded bias bytes higher. The second
 * run may take a branch that depends on more bits of the PC than the first run did.
 */
static bool expr_same(struct machine *m, const struct cfi_section *sec,
    const struct cfi_expr *expr,
    bool (*to_rule)(const struct cfi_value *, struct cfi_rule *),
    const struct cfi_rule *rule, uint64_t bias, uint8_t *pc_bits, uint64_t *ops)
{
	struct cfi_rule elsewhere = {0};
	const struct cfi_value *v;

	m->bias = bias;
	v = expr_run(m, sec, expr, ops);
	join_run_bits(m, v, pc_bits);
	return to_rule(v, &elsewhere) && cfi_rule_equal(rule, &elsewhere);
}

struct cfi_rule cfi_expr_eval(const struct cfi_section *sec, const struct cfi_expr *expr,
    uint64_t pc, uint16_t pc_reg, uint8_t *pc_bits, uint64_t *ops)
{
	const struct cfi_rule opaque = {.kind = CFI_OPAQUE, .off = (int64_t)expr->off};
	bool (*to_rule)(const struct cfi_value *, struct cfi_rule *) =
	    expr->use == CFI_EXPR_ADDRESS ? rule_of_address : rule_of_value;
	struct cfi_rule rule = {0};
	struct machine m; /* not initialised as a whole: its stack is large */
	const struct cfi_value *v;
	const uint64_t most = *ops + EXPR_MAX_ALL_OPS;
	bool ok, only_in_page;

	/* Wrapping arithmetic here is that of 64-bit machines. */
	if (sec->addr_size != 8 || !num_range_inside(expr->off, expr->len, sec->size))
		return opaque;
	m.pc = pc;
	m.pc_reg = pc_reg;
	m.bias = 0;
	v = expr_run(&m, sec, expr, ops);
	ok = to_rule(v, &rule);
	join_run_bits(&m, v, pc_bits);
	only_in_page = !m.uses_address && v->pc_bits <= EXPR_PAGE_BITS &&
		       m.branch_pc_bits <= EXPR_PAGE_BITS;
	if (ok && m.uses_bias) {
		/* Addresses are as in the file. A rule cannot express a result that
		 * changes with the load address. */
		ok = expr_same(
		    &m, sec, expr, to_rule, &rule, EXPR_OTHER_BIAS, pc_bits, ops);
		/* Tries each bit, because one number leaves some bits as they are. */
		for (int bit = EXPR_PAGE_BITS;
		     ok && !only_in_page && bit < EXPR_ADDRESS_BITS; bit++)
			ok = *ops < most && expr_same(&m, sec, expr, to_rule, &rule,
						UINT64_C(1) << bit, pc_bits, ops);
	}
	return ok ? rule : opaque;
}
