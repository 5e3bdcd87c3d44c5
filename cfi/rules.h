/* SPDX-License-Identifier: MIT */
/*
 * Effects of call frame instructions on the state, for the opcode switch in interp.c,
 * which is their only user.
 */
#ifndef CFI_RULES_H
#define CFI_RULES_H

#include <stdio.h>

#include "base/num.h"
#include "base/vec.h"
#include "cfi/opcodes.h"
#include "cfi/interp_internal.h"

/* AArch64 RA_SIGN_STATE, a pseudo register (aadwarf64, "DWARF register names"). */
#define AARCH64_RA_SIGN_STATE 34

static inline bool malformed(const struct cfi_run *r, size_t at, const char *what)
{
	return cfi_run_fail(r, ERR_MALFORMED, at, what);
}

/* The tracked column of a register; NULL for the others. The CIE names the RA column. */
static inline struct cfi_column *column_of(
    const struct cfi_run *r, struct cfi_state *st, uint64_t reg)
{
	if (reg == r->cie->ra_reg)
		return &st->ra;
	if (reg == r->in->machine.fp_reg)
		return &st->fp;
	if (reg == r->in->machine.sp_reg)
		return &st->sp;
	return NULL;
}

/* As column_of, for a register that gets a new rule. RA_SIGN_STATE is followed through its own
 * opcodes only. Any other rule for it is noted, because it would make ra_signed a guess. */
static inline struct cfi_column *column_to_set(struct cfi_run *r, uint64_t reg)
{
	struct cfi_column *col = column_of(r, &r->st, reg);

	if (!col && reg == AARCH64_RA_SIGN_STATE && r->in->machine.aarch64_ra_state)
		r->sign_state_set = true;
	return col;
}

static inline void set_rule(struct cfi_run *r, uint64_t reg, struct cfi_rule rule)
{
	struct cfi_column *col = column_to_set(r, reg);

	if (col) {
		*col = (struct cfi_column){.rule = rule};
		r->dirty = true;
	}
}

/* CFI_AT_CFA or CFI_CFA_PLUS with a factored offset. */
static inline bool set_offset(
    struct cfi_run *r, uint64_t reg, enum cfi_rule_kind kind, int64_t factored, size_t at)
{
	struct cfi_rule rule = {.kind = (uint8_t)kind};

	if (__builtin_mul_overflow(factored, r->cie->data_align, &rule.off))
		return malformed(r, at, "offset out of range");
	set_rule(r, reg, rule);
	return true;
}

/* An unsigned operand as a signed one. */
static inline bool to_signed(const struct cfi_run *r, uint64_t v, size_t at, int64_t *out)
{
	*out = (int64_t)v;
	return v <= INT64_MAX || malformed(r, at, "offset out of range");
}

/* As set_offset, with the unsigned operand that comes next. */
static inline bool read_offset(
    struct cfi_run *r, uint64_t reg, enum cfi_rule_kind kind, size_t at)
{
	int64_t off;

	return to_signed(r, rd_uleb(&r->rd), at, &off) &&
	       set_offset(r, reg, kind, off, at);
}

/* A register number that no rule can hold makes the rule opaque. */
static inline struct cfi_rule reg_plus(uint64_t reg, int64_t off, size_t at)
{
	struct cfi_rule rule = {.kind = CFI_REG_PLUS, .off = off};

	if (!num_u16(reg, &rule.reg))
		return (struct cfi_rule){.kind = CFI_OPAQUE, .off = (int64_t)at};
	return rule;
}

static inline void set_cfa(struct cfi_run *r, uint64_t reg, int64_t off, size_t at)
{
	r->st.cfa = (struct cfi_column){.rule = reg_plus(reg, off, at)};
	r->dirty = true;
}

/*
 * def_cfa_register and def_cfa_offset change half of a CFA of the form reg + off (DWARF 5, 6.4.2.2).
 * After an expression there are no halves: libgcc and readelf then take the last known other half,
 * libdwarf keeps the expression, libdw refuses the program; libgcrypt has such code. So the CFA is
 * opaque until it is defined as a whole. In another address space it is opaque, too.
 */
static inline bool cfa_has_halves(struct cfi_run *r, size_t at, bool *ok)
{
	struct cfi_column *cfa = &r->st.cfa;

	if (!cfa->is_expr && cfa->rule.kind == CFI_UNSPECIFIED) {
		*ok = malformed(r, at, "changes the CFA before it is defined");
		return false;
	}
	*ok = true;
	if (cfa->rule.kind == CFI_REG_PLUS && !cfa->is_expr)
		return true;
	*cfa = (struct cfi_column){.rule = {.kind = CFI_OPAQUE, .off = (int64_t)at}};
	r->dirty = true;
	return false;
}

static inline bool set_cfa_register(struct cfi_run *r, uint64_t reg, size_t at)
{
	bool ok = true;

	if (cfa_has_halves(r, at, &ok))
		set_cfa(r, reg, r->st.cfa.rule.off, at);
	return ok;
}

static inline bool set_cfa_offset(struct cfi_run *r, int64_t off, size_t at)
{
	bool ok = true;

	if (cfa_has_halves(r, at, &ok)) {
		r->st.cfa.rule.off = off;
		r->dirty = true;
	}
	return ok;
}

/* The offset operand of a def_cfa instruction; those named _sf have it signed and
 * factored. */
static inline bool read_cfa_offset(struct cfi_run *r, bool sf, size_t at, int64_t *out)
{
	if (!sf)
		return to_signed(r, rd_uleb(&r->rd), at, out);
	return !__builtin_mul_overflow(rd_sleb(&r->rd), r->cie->data_align, out) ||
	       malformed(r, at, "offset out of range");
}

/* Space 0 is the ordinary one. A CFA in another space is an address that no rule can
 * express. */
static inline void set_aspace_cfa(struct cfi_run *r, uint64_t reg, int64_t off, size_t at)
{
	if (rd_uleb(&r->rd) == 0)
		set_cfa(r, reg, off, at);
	else {
		r->st.cfa =
		    (struct cfi_column){.rule = {.kind = CFI_OPAQUE, .off = (int64_t)at}};
		r->dirty = true;
	}
}

/* The block that comes next is the expression of col, if any. */
static inline void read_expr(
    struct cfi_run *r, enum cfi_expr_use use, struct cfi_column *col)
{
	uint64_t len = rd_uleb(&r->rd);
	struct cfi_expr expr = {.off = r->rd.pos, .len = len, .use = (uint8_t)use};

	rd_skip(&r->rd, len);
	if (col && !r->rd.failed) {
		*col = (struct cfi_column){.expr = expr, .is_expr = true};
		r->dirty = true;
	}
}

/* As read_expr, for the register whose number comes first. */
static inline void read_rule_expr(struct cfi_run *r, enum cfi_expr_use use)
{
	uint64_t reg = rd_uleb(&r->rd);

	read_expr(r, use, column_to_set(r, reg));
}

static inline void restore_rule(struct cfi_run *r, uint64_t reg)
{
	/* Initial instructions have no earlier rule to restore. */
	struct cfi_state none = {0}, *initial = r->is_initial ? &none : &r->in->initial;
	struct cfi_column *col = column_of(r, &r->st, reg);

	if (col) {
		*col = *column_of(r, initial, reg);
		r->dirty = true;
	} else if (r->in->machine.aarch64_ra_state && reg == AARCH64_RA_SIGN_STATE) {
		r->st.ra_signed = initial->ra_signed;
		r->st.ra_signed_with_pc = initial->ra_signed_with_pc;
		r->dirty = true;
	}
}

static inline bool remember(struct cfi_run *r, size_t at)
{
	struct cfi_interp *in = r->in;

	if (in->n_stack == CFI_MAX_REMEMBER)
		return cfi_run_fail(r, ERR_LIMIT, at, "too many remembered states");
	if (!vec_reserve(&in->stack, &in->cap_stack, in->n_stack + 1))
		return err_set_nomem(r->err);
	in->stack[in->n_stack++] = r->st;
	return true;
}

static inline bool restore_remembered(struct cfi_run *r, size_t at)
{
	struct cfi_interp *in = r->in;

	if (in->n_stack == 0)
		return malformed(r, at, "restore_state without remember_state");
	r->st = in->stack[--in->n_stack];
	r->dirty = true;
	return true;
}

/* Opcode 0x2d has different meanings on AArch64 and SPARC. On other machines it has
 * none, so tracked registers among those that SPARC saves (16 to 31) are unknown after
 * it. */
static inline void window_save_or_negate(struct cfi_run *r, size_t at)
{
	if (r->in->machine.aarch64_ra_state) {
		r->st.ra_signed = !r->st.ra_signed;
		r->dirty = true;
		return;
	}
	for (uint64_t reg = 16; reg < 32; reg++)
		set_rule(
		    r, reg, (struct cfi_rule){.kind = CFI_OPAQUE, .off = (int64_t)at});
}

static inline bool unknown(struct cfi_run *r, uint8_t op, size_t at)
{
	char what[32];

	snprintf(what, sizeof(what), "unknown opcode 0x%02x", op);
	return malformed(r, at, what);
}

static inline bool negate_with_pc(struct cfi_run *r, size_t at)
{
	if (!r->in->machine.aarch64_ra_state)
		return unknown(r, DW_CFA_AARCH64_negate_ra_state_with_pc, at);
	r->st.ra_signed = !r->st.ra_signed;
	r->st.ra_signed_with_pc = !r->st.ra_signed_with_pc;
	r->dirty = true;
	return true;
}

#endif
