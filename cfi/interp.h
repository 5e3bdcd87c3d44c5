/* SPDX-License-Identifier: MIT */
/*
 * Runs the CFA programs of a CIE and an FDE (DWARF 5, 6.4.2) and gives the row table.
 * Only the columns a machine lists are tracked; the rest is parsed and passed over.
 */
#ifndef CFI_INTERP_H
#define CFI_INTERP_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/expr.h"
#include "cfi/frames.h"
#include "cfi/row.h"

/* The machine, as far as the interpreter depends on it. */
struct cfi_machine {
	uint16_t sp_reg, fp_reg; /* DWARF numbers */
	uint16_t pc_reg;	 /* the number by which expressions name the PC */
	/* Opcodes 0x2c and 0x2d are DW_CFA_AARCH64_negate_ra_state[_with_pc] here, not
	 * the SPARC DW_CFA_GNU_window_save. */
	bool aarch64_ra_state;
};

/* Bounds; beyond them an FDE is refused with ERR_LIMIT. The longest table seen has 7,391
 * rows. */
#define CFI_MAX_ROWS 1048576u
#define CFI_MAX_REMEMBER 1024u
/* The initial instructions are run again, or compared, whenever the CIE changes from one FDE to the
 * next, so their length is bounded to keep the whole linear. Real ones have 3 to 30
 * bytes. */
#define CFI_MAX_INITIAL 1024u
/* A row whose rule depends on the PC is expanded PC by PC up to this many bytes of code,
 * and all expressions of one FDE may run this many operations, or as many as the caller
 * allows it; beyond, the rule stays CFI_OPAQUE. */
#define CFI_MAX_PC_DEPENDENT 2097152u
#define CFI_MAX_EXPR_OPS 67108864u

/* One column while a program runs: a rule, or an expression that is evaluated when a row
 * is emitted, because its value may depend on the PC. */
struct cfi_column {
	struct cfi_rule rule;
	struct cfi_expr expr;
	bool is_expr;
};

struct cfi_state {
	struct cfi_column cfa, sp, fp, ra;
	bool ra_signed, ra_signed_with_pc;
};

/* The interpreter's own memory, reused from FDE to FDE; one per thread. */
struct cfi_interp {
	const struct cfi_frames *frames; /* borrowed; must outlive this */
	struct cfi_machine machine;
	struct cfi_table table;	  /* the result of the last cfi_interpret */
	struct cfi_state initial; /* after the initial instructions of CIE initial_cie */
	uint32_t initial_cie;	  /* UINT32_MAX: none */
	bool initial_ok;
	struct err initial_err;	 /* when not initial_ok */
	struct cfi_state *stack; /* DW_CFA_remember_state */
	size_t n_stack, cap_stack;
	uint64_t expr_ops;     /* operations run for this FDE */
	uint64_t max_expr_ops; /* CFI_MAX_EXPR_OPS, unless the caller sets it */
};

void cfi_interp_init(struct cfi_interp *interp, const struct cfi_frames *frames,
    const struct cfi_machine *machine);
void cfi_interp_deinit(struct cfi_interp *interp);

/*
 * Interprets one FDE of interp->frames; the result is interp->table, valid until the next
 * call. False with a message naming section and offset when the program is truncated, has
 * an unknown opcode, pops an empty stack, moves the location backwards, or exceeds a
 * bound (ERR_MALFORMED, ERR_LIMIT: this FDE is lost, others are not affected) or when
 * memory runs out (ERR_NOMEM).
 */
ATTR_MUST_CHECK bool cfi_interpret(
    struct cfi_interp *interp, const struct cfi_fde *fde, struct err *err);

#endif
