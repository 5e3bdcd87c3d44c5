/* SPDX-License-Identifier: MIT */
/*
 * DWARF expressions in CFI (DWARF 5, 2.5 and 6.4.2), evaluated symbolically: the result
 * is a constant, a register or the CFA plus a constant, or what memory holds at one of
 * these or at the sum of two registers, one of them times a power of 2. The PC is known, so an expression over it, such as the linkers' PLT rule,
 * becomes a constant.
 */
#ifndef CFI_EXPR_H
#define CFI_EXPR_H

#include "base/rd.h"
#include "cfi/row.h"
#include "cfi/section.h"

enum cfi_expr_use {
	CFI_EXPR_CFA,	  /* DW_CFA_def_cfa_expression: the value is the CFA */
	CFI_EXPR_ADDRESS, /* DW_CFA_expression: the value is where the register is saved
			   */
	CFI_EXPR_VALUE,	  /* DW_CFA_val_expression: the value is the register's */
};

struct cfi_expr {
	uint64_t off; /* of the first operation, from the start of the section */
	uint64_t len; /* bytes */
	uint8_t use;  /* enum cfi_expr_use */
};

/*
 * The rule that the expression is at address pc. pc_reg is the DWARF number under which
 * the expression may name the PC (x86-64: 16). *pc_bits is raised to the number of low
 * bits of the PC on which the result depends: 0 for none, 64 for all. With n below 64
 * the result is the same at every PC that is equal modulo 2^n. A damaged expression, or
 * one that no rule can express, is CFI_OPAQUE. Never runs more than a fixed number of
 * operations; *ops is raised by those it ran.
 */
struct cfi_rule cfi_expr_eval(const struct cfi_section *sec, const struct cfi_expr *expr,
    uint64_t pc, uint16_t pc_reg, uint8_t *pc_bits, uint64_t *ops);

#endif
