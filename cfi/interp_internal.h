/* SPDX-License-Identifier: MIT */
/* Shared by the interpreter's two files: the run of a program, and how it becomes rows. */
#ifndef CFI_INTERP_INTERNAL_H
#define CFI_INTERP_INTERNAL_H

#include "cfi/interp.h"

/* One run of one program. */
struct cfi_run {
	struct cfi_interp *in;
	const struct cfi_section *sec;
	/* Copy of the section with the CIE's size of addresses, where that differs; then sec points here. */
	struct cfi_section narrow;
	const struct cfi_cie *cie;
	struct rd rd; /* over the section up to the program's end */
	struct cfi_state st;
	bool is_initial;     /* the CIE's instructions: the location must not move */
	bool dirty;	     /* st has changed since the last row */
	bool sign_state_set; /* a rule was given for AArch64's RA_SIGN_STATE */
	uint64_t loc;	     /* address from which st holds */
	struct err *err;
};

/* True if a rule must be evaluated to be known. */
static inline bool cfi_state_has_expr(const struct cfi_state *st)
{
	return st->cfa.is_expr | st->sp.is_expr | st->fp.is_expr | st->ra.is_expr;
}

/* Appends rows for the state st over [loc, end): 1, or as many as an expression that
 * depends on the PC has values. */
ATTR_MUST_CHECK bool cfi_run_emit(struct cfi_run *r, uint64_t end);

/* Sets an error for the instruction at section offset at; always returns false. */
bool cfi_run_fail(
    const struct cfi_run *r, enum err_kind kind, size_t at, const char *what);

#endif
