/* SPDX-License-Identifier: MIT */
/* The symbolic stack machine for expressions, and what its result means as a rule. */
#include "cfi/expr.h"

#include "base/num.h"
#include "cfi/opcodes.h"

#define EXPR_MAX_OPS 1000u
#define EXPR_MAX_STACK 64u

/* Any multiple of the page size, to tell results that depend on where the file is loaded.
 */
#define EXPR_OTHER_BIAS UINT64_C(0x2b5ad6b53000)

enum value_kind {
	V_CONST,  /* off */
	V_REG,	  /* reg + off */
	V_CFA,	  /* cfa + off */
	V_AT_REG, /* *(reg + off) + add */
	V_AT_CFA, /* *(cfa + off) + add */
	V_OPAQUE, /* none of these */
};

/* Constants are added modulo 2^64, as the machine does. */
struct value {
	uint64_t off, add;
	uint16_t reg;
	uint8_t kind; /* enum value_kind */
};

struct machine {
	struct rd rd; /* over the section up to the expression's end */
	uint64_t start;
	uint64_t pc, bias;
	uint16_t pc_reg;
	uint8_t addr_size;
	bool uses_pc;
	bool uses_bias; /* uses the PC, or another address in the file */
	bool stuck; /* an operation that cannot be followed: the whole result is opaque */
	struct value stack[EXPR_MAX_STACK];
	size_t depth;
};

static void push(struct machine *m, struct value v)
{
	if (m->depth == EXPR_MAX_STACK)
		m->stuck = true;
	else
		m->stack[m->depth++] = v;
}

static void push_const(struct machine *m, uint64_t v)
{
	push(m, (struct value){.kind = V_CONST, .off = v});
}

static struct value pop(struct machine *m)
{
	if (m->depth == 0) {
		m->stuck = true;
		return (struct value){.kind = V_OPAQUE};
	}
	return m->stack[--m->depth];
}

/* A copy of the value n below the top. */
static void pick(struct machine *m, uint64_t n)
{
	if (n >= m->depth)
		m->stuck = true;
	else
		push(m, m->stack[m->depth - 1 - n]);
}

static void push_register(struct machine *m, uint64_t reg, int64_t off)
{
	struct value v = {.kind = V_REG, .off = (uint64_t)off};

	if (reg == m->pc_reg) {
		m->uses_pc = m->uses_bias = true;
		push_const(m, m->pc + m->bias + (uint64_t)off);
	} else if (!num_u16(reg, &v.reg)) {
		m->stuck = true;
	} else {
		push(m, v);
	}
}

/* Reads size bytes of memory at v; one level can be said, and only whole addresses. */
static struct value deref(const struct machine *m, struct value v, uint8_t size)
{
	v.add = 0;
	if (size == m->addr_size && v.kind == V_REG)
		v.kind = V_AT_REG;
	else if (size == m->addr_size && v.kind == V_CFA)
		v.kind = V_AT_CFA;
	else
		v = (struct value){.kind = V_OPAQUE};
	return v;
}

static struct value add_const(struct value v, uint64_t c)
{
	if (v.kind == V_AT_REG || v.kind == V_AT_CFA)
		v.add += c;
	else
		v.off += c;
	return v;
}

/* a + b or a - b where at most one is symbolic, or the distance of two with one base. */
static struct value add_or_subtract(struct value a, struct value b, bool subtract)
{
	if (b.kind == V_CONST)
		return add_const(a, subtract ? -b.off : b.off);
	if (!subtract && a.kind == V_CONST)
		return add_const(b, a.off);
	if (subtract && a.kind == b.kind && a.reg == b.reg &&
		(a.kind == V_REG || a.kind == V_CFA))
		return (struct value){.kind = V_CONST, .off = a.off - b.off};
	return (struct value){.kind = V_OPAQUE};
}

/*
 * The two-operand operations on constants. Division is signed and comparisons are (DWARF
 * 5, 2.5.1.4); false where readers differ: division by zero, shifts by 64 or more, and a
 * remainder of negative operands (unsigned in libgcc, signed in libunwind).
 */
static bool binary_const(uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case DW_OP_and:
		*out = a & b;
		return true;
	case DW_OP_or:
		*out = a | b;
		return true;
	case DW_OP_xor:
		*out = a ^ b;
		return true;
	case DW_OP_mul:
		*out = a * b;
		return true;
	case DW_OP_div:
		*out = sb == -1 ? -a : sb ? (uint64_t)(sa / sb) : 0;
		return sb != 0;
	case DW_OP_mod:
		*out = b ? a % b : 0;
		return sa >= 0 && sb > 0;
	case DW_OP_shl:
		*out = b < 64 ? a << b : 0;
		return b < 64;
	case DW_OP_shr:
		*out = b < 64 ? a >> b : 0;
		return b < 64;
	case DW_OP_shra: /* spelt out: >> of a negative number is up to the compiler */
		*out = b >= 64 ? 0 : sa < 0 ? ~(~a >> b) : a >> b;
		return b < 64;
	case DW_OP_eq:
		*out = a == b;
		return true;
	case DW_OP_ne:
		*out = a != b;
		return true;
	case DW_OP_ge:
		*out = sa >= sb;
		return true;
	case DW_OP_gt:
		*out = sa > sb;
		return true;
	case DW_OP_le:
		*out = sa <= sb;
		return true;
	case DW_OP_lt:
		*out = sa < sb;
		return true;
	default:
		return false;
	}
}

static void binary(struct machine *m, uint8_t op)
{
	struct value b = pop(m), a = pop(m), result = {.kind = V_OPAQUE};

	if (op == DW_OP_plus || op == DW_OP_minus)
		result = add_or_subtract(a, b, op == DW_OP_minus);
	else if (a.kind == V_CONST && b.kind == V_CONST &&
		 binary_const(op, a.off, b.off, &result.off))
		result.kind = V_CONST;
	push(m, result);
}

static void unary(struct machine *m, uint8_t op)
{
	struct value v = pop(m);

	if (v.kind != V_CONST)
		v = (struct value){.kind = V_OPAQUE};
	else if (op == DW_OP_not)
		v.off = ~v.off;
	else if (op == DW_OP_neg || (int64_t)v.off < 0)
		v.off = -v.off;
	push(m, v);
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
		m->rd.pos = (size_t)target;
}

static void branch(struct machine *m, int16_t distance)
{
	struct value condition = pop(m);

	if (condition.kind != V_CONST)
		m->stuck = true;
	else
		jump(m, distance, condition.off != 0);
}

/* Top three: the first becomes the third, the others move up. */
static void rotate(struct machine *m)
{
	struct value first = pop(m), second = pop(m), third = pop(m);

	push(m, first);
	push(m, third);
	push(m, second);
}

static void swap(struct machine *m)
{
	struct value first = pop(m), second = pop(m);

	push(m, first);
	push(m, second);
}

/* Operations with a literal operand; false for others. */
static bool step_const(struct machine *m, uint8_t op)
{
	struct rd *rd = &m->rd;

	switch (op) {
	case DW_OP_addr:
		m->uses_bias = true;
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
		if (op < DW_OP_lit0 || op > DW_OP_lit31)
			return false;
		push_const(m, op - DW_OP_lit0);
		return true;
	}
}

/* Operations that move values about; false for others. */
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
		swap(m);
		return true;
	case DW_OP_rot:
		rotate(m);
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

	if (step_const(m, op) || step_stack(m, op))
		return;
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, op - DW_OP_breg0, rd_sleb(rd));
		return;
	}
	switch (op) {
	case DW_OP_nop:
		break;
	case DW_OP_bregx:
		reg = rd_uleb(rd);
		push_register(m, reg, rd_sleb(rd));
		break;
	case DW_OP_deref:
		push(m, deref(m, pop(m), m->addr_size));
		break;
	case DW_OP_deref_size:
		push(m, deref(m, pop(m), rd_u8(rd)));
		break;
	case DW_OP_plus_uconst:
		push(m, add_const(pop(m), rd_uleb(rd)));
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
		/* plus..xor and eq..ne are binary; the rest needs what CFI does not have
		 * (a frame base, types, other address spaces) or is unknown. */
		if ((op >= DW_OP_and && op <= DW_OP_xor) ||
			(op >= DW_OP_eq && op <= DW_OP_ne))
			binary(m, op);
		else
			m->stuck = true;
	}
}

/* Runs the expression; of m, pc, pc_reg and bias are set by the caller. */
static struct value run(struct machine *m, const struct cfi_section *sec,
	const struct cfi_expr *expr, uint64_t *ops)
{
	m->uses_pc = m->uses_bias = m->stuck = false;
	m->depth = 0;
	m->start = expr->off;
	m->addr_size = sec->addr_size;
	rd_init(&m->rd, sec->data, (size_t)(expr->off + expr->len), sec->big_endian);
	m->rd.pos = (size_t)expr->off;
	/* DW_CFA_expression and val_expression start with the CFA (DWARF 5, 6.4.2.3). */
	if (expr->use != CFI_EXPR_CFA)
		push(m, (struct value){.kind = V_CFA});
	for (unsigned int n = 0; m->rd.pos < m->rd.size && !m->stuck && !m->rd.failed;
		n++) {
		++*ops;
		if (n == EXPR_MAX_OPS)
			m->stuck = true;
		else
			step(m);
	}
	if (m->stuck || m->rd.failed || m->depth == 0)
		return (struct value){.kind = V_OPAQUE};
	return m->stack[m->depth - 1];
}

/* The value itself is what the rule yields: the CFA, or the register's contents. */
static bool rule_of_value(const struct value *v, struct cfi_rule *rule)
{
	rule->off = (int64_t)v->off;
	switch ((enum value_kind)v->kind) {
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
	case V_OPAQUE:
		return false;
	}
	return false;
}

/* The value is the address at which the register is saved. */
static bool rule_of_address(const struct value *v, struct cfi_rule *rule)
{
	rule->off = (int64_t)v->off;
	rule->reg = v->reg;
	rule->kind = v->kind == V_CFA ? CFI_AT_CFA : CFI_AT_REG;
	return v->kind == V_CFA || v->kind == V_REG;
}

struct cfi_rule cfi_expr_eval(const struct cfi_section *sec, const struct cfi_expr *expr,
	uint64_t pc, uint16_t pc_reg, bool *uses_pc, uint64_t *ops)
{
	const struct cfi_rule opaque = {.kind = CFI_OPAQUE, .off = (int64_t)expr->off};
	bool (*to_rule)(const struct value *, struct cfi_rule *) =
		expr->use == CFI_EXPR_ADDRESS ? rule_of_address : rule_of_value;
	struct cfi_rule rule = {0}, elsewhere = {0};
	struct machine m; /* not initialised as a whole: its stack is large */
	struct value v;
	bool ok;

	/* Wrapping arithmetic here is that of 64-bit machines. */
	if (sec->addr_size != 8 || !num_range_inside(expr->off, expr->len, sec->size))
		return opaque;
	m.pc = pc;
	m.pc_reg = pc_reg;
	m.bias = 0;
	v = run(&m, sec, expr, ops);
	ok = to_rule(&v, &rule);
	if (m.uses_pc)
		*uses_pc = true;
	if (ok && m.uses_bias) {
		/* Addresses are as in the file; an answer that changes with the place
		 * where the file is loaded cannot be written down. */
		m.bias = EXPR_OTHER_BIAS;
		v = run(&m, sec, expr, ops);
		ok = to_rule(&v, &elsewhere) && cfi_rule_equal(&rule, &elsewhere);
	}
	return ok ? rule : opaque;
}
