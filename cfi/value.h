/* SPDX-License-Identifier: MIT */
/* Values on the stack of an expression (expr.c), and arithmetic with them. */
#ifndef CFI_VALUE_H
#define CFI_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of the fields of struct cfi_rule. */
#define CFI_VALUE_MAX_INDEX 31u
#define CFI_VALUE_MAX_SHIFT 7u

enum cfi_value_kind {
	V_CONST,  /* off */
	V_REG,	  /* reg + off */
	V_CFA,	  /* cfa + off */
	V_AT_REG, /* *(reg + off) + add */
	V_AT_CFA, /* *(cfa + off) + add */
	V_SCALED, /* (index << shift) + off */
	V_SUM,	  /* reg + (index << shift) + off */
	V_AT_SUM, /* *(reg + (index << shift) + off) + add */
	V_OPAQUE, /* none of these */
};

/* Constants are added modulo 2^64, as the machine does. */
struct cfi_value {
	uint64_t off, add;
	uint16_t reg;
	uint8_t kind;	      /* enum cfi_value_kind */
	uint8_t index, shift; /* within the limits above */
	/* The value depends on this many low bits of the PC and on no higher ones. */
	uint8_t pc_bits;
	/* Any k low bits of it depend on at most k low bits of the PC. This holds for
	 * the PC, and for sums, products and masks of it. */
	bool carries_up;
};

void cfi_value_add(struct cfi_value *v, uint64_t c);

/* Replaces the value by the size bytes of memory at it, on a machine whose addresses have addr_size.
 * Opaque where no rule can express that: a rule has one level, and only whole addresses. */
void cfi_value_deref(struct cfi_value *v, uint8_t size, uint8_t addr_size);

/* Replaces a by the result of a binary operation (DW_OP_*) on a and b. */
void cfi_value_binary(struct cfi_value *a, const struct cfi_value *b, uint8_t op);

/*
 * a op b for the two-operand operation op of constants (DWARF 5, 2.5.1.4), modulo 2^64; division and
 * comparisons are signed. False for other operations, and where readers differ: division by zero, shifts
 * by 64 or more, and a remainder of negative operands (unsigned in libgcc, signed in
 * libunwind).
 */
bool cfi_fold(uint8_t op, uint64_t a, uint64_t b, uint64_t *out);

#endif
