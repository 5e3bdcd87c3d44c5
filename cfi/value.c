/* SPDX-License-Identifier: MIT */
/* Arithmetic with symbolic values. */
#include "cfi/value.h"

#include "cfi/opcodes.h"

void cfi_value_add(struct cfi_value *v, uint64_t c)
{
	if (v->kind == V_AT_REG || v->kind == V_AT_CFA || v->kind == V_AT_SUM)
		v->add += c;
	else
		v->off += c;
}

void cfi_value_deref(struct cfi_value *v, uint8_t size, uint8_t addr_size)
{
	v->add = 0;
	if (size == addr_size && v->kind == V_REG)
		v->kind = V_AT_REG;
	else if (size == addr_size && v->kind == V_CFA)
		v->kind = V_AT_CFA;
	else if (size == addr_size && v->kind == V_SUM)
		v->kind = V_AT_SUM;
	else
		v->kind = V_OPAQUE;
}

/* How many bits the constant v needs: 64 less its leading zeros. */
static uint8_t bit_length(uint64_t v)
{
	return v ? (uint8_t)(64 - __builtin_clzll(v)) : 0;
}

/* reg + (index << shift) into a; false when these are not what is added. */
static bool add_scaled(struct cfi_value *a, const struct cfi_value *b)
{
	const struct cfi_value *scaled = a->kind == V_SCALED ? a : b;
	const struct cfi_value *base = a->kind == V_SCALED ? b : a;
	uint8_t index = scaled->index, shift = scaled->shift;

	if (base->kind != V_REG || scaled->kind != V_SCALED)
		return false;
	a->reg = base->reg;
	a->off += b->off;
	a->index = index;
	a->shift = shift;
	a->kind = V_SUM;
	return true;
}

/* A register times a power of 2 into a. */
static bool multiply_register(struct cfi_value *a, const struct cfi_value *b, uint8_t op)
{
	uint64_t factor = b->off, shift = b->off;

	if (a->kind != V_REG || b->kind != V_CONST || a->reg > CFI_VALUE_MAX_INDEX)
		return false;
	if (op == DW_OP_mul) {
		if (factor == 0 || (factor & (factor - 1)) != 0)
			return false;
		shift = bit_length(factor) - 1u;
	} else if (op != DW_OP_shl) {
		return false;
	}
	if (shift > CFI_VALUE_MAX_SHIFT)
		return false;
	a->index = (uint8_t)a->reg;
	a->shift = (uint8_t)shift;
	a->reg = 0;
	a->off <<= shift;
	a->kind = V_SCALED;
	return true;
}

/* a + b or a - b into a, where at most one is symbolic, or the distance of two with one
 * base. */
static void add_or_subtract(struct cfi_value *a, const struct cfi_value *b, bool subtract)
{
	if (b->kind == V_CONST) {
		cfi_value_add(a, subtract ? -b->off : b->off);
	} else if (!subtract && a->kind == V_CONST) {
		uint64_t c = a->off;

		*a = *b;
		cfi_value_add(a, c);
	} else if (subtract && a->kind == b->kind && a->reg == b->reg &&
		   (a->kind == V_REG || a->kind == V_CFA)) {
		a->off -= b->off;
		a->kind = V_CONST;
	} else if (subtract || !add_scaled(a, b)) {
		a->kind = V_OPAQUE;
	}
}

/* Sets in a how the result of a binary operation depends on the PC. */
static void join_pc_bits(struct cfi_value *a, const struct cfi_value *b, uint8_t op)
{
	bool carries = a->carries_up && b->carries_up;
	uint8_t bits = a->pc_bits > b->pc_bits ? a->pc_bits : b->pc_bits, kept = 64;

	if (op == DW_OP_and && a->pc_bits == 0)
		kept = bit_length(a->off);
	else if (op == DW_OP_and && b->pc_bits == 0)
		kept = bit_length(b->off);
	a->pc_bits = carries && kept < bits ? kept : bits;
	a->carries_up =
	    carries && (op == DW_OP_and || op == DW_OP_or || op == DW_OP_xor ||
			   op == DW_OP_plus || op == DW_OP_minus || op == DW_OP_mul);
}

void cfi_value_binary(struct cfi_value *a, const struct cfi_value *b, uint8_t op)
{
	struct cfi_value known = *a;

	join_pc_bits(&known, b, op);
	if (op == DW_OP_plus || op == DW_OP_minus)
		add_or_subtract(a, b, op == DW_OP_minus);
	else if (!multiply_register(a, b, op) &&
		 (a->kind != V_CONST || b->kind != V_CONST ||
		     !cfi_fold(op, a->off, b->off, &a->off)))
		a->kind = V_OPAQUE;
	a->pc_bits = known.pc_bits;
	a->carries_up = known.carries_up;
}
