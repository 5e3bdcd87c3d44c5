/* SPDX-License-Identifier: MIT */
/*
 * The CFA program interpreter. A state is changed by every instruction; only instructions
 * that move the location turn it into a row, at the one exit of the switch in
 * run_program().
 */
#include "cfi/interp.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "cfi/opcodes.h"
#include "cfi/pointer.h"
#include "cfi/run.h"

/* AArch64 RA_SIGN_STATE, a pseudo register (aadwarf64, "DWARF register names"). */
#define AARCH64_RA_SIGN_STATE 34

/* The initial instructions are run again whenever the CIE changes from one FDE to the
 * next, so their length is bounded to keep the whole linear. Real ones have 3 to 30
 * bytes. */
#define CFI_MAX_INITIAL 1024u

void cfi_interp_init(struct cfi_interp *interp, const struct cfi_frames *frames,
	const struct cfi_machine *machine)
{
	*interp = (struct cfi_interp){
		.frames = frames, .machine = *machine, .initial_cie = UINT32_MAX};
}

void cfi_interp_deinit(struct cfi_interp *interp)
{
	free(interp->table.rows);
	free(interp->stack);
	*interp = (struct cfi_interp){.initial_cie = UINT32_MAX};
}

static bool malformed(const struct cfi_run *r, size_t at, const char *what)
{
	return cfi_run_fail(r, ERR_MALFORMED, at, what);
}

/*
 * The state so far holds up to the location loc. False on error, and, with *done, when
 * the rest describes nothing inside the FDE.
 */
static inline bool advance_to(struct cfi_run *r, uint64_t loc, bool *done)
{
	uint64_t end = r->in->table.end;

	if (r->is_initial)
		return malformed(r, r->rd.pos, "the location moves in a CIE");
	*done = loc >= end;
	if (loc > r->loc && (r->dirty || cfi_state_has_expr(&r->st)) &&
		!cfi_run_emit(r, *done ? end : loc))
		return false;
	r->loc = loc;
	return true;
}

static inline bool advance_by(struct cfi_run *r, uint64_t delta, bool *done)
{
	uint64_t bytes, loc;

	if (__builtin_mul_overflow(delta, r->cie->code_align, &bytes) ||
		__builtin_add_overflow(r->loc, bytes, &loc))
		return malformed(
			r, r->rd.pos, "the location passes the end of the address space");
	return advance_to(r, loc, done);
}

/* ---- rules ---- */

/* The tracked column of a register; NULL for the others. The RA column goes by the CIE.
 */
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

/* The same for a new rule. RA_SIGN_STATE is followed through its own opcodes only: any
 * other rule for it would make ra_signed a guess, and is noted. */
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
static inline bool set_offset(struct cfi_run *r, uint64_t reg, enum cfi_rule_kind kind,
	int64_t factored, size_t at)
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

/* The same, with the unsigned operand that comes next. */
static inline bool read_offset(
	struct cfi_run *r, uint64_t reg, enum cfi_rule_kind kind, size_t at)
{
	int64_t off;

	return to_signed(r, rd_uleb(&r->rd), at, &off) &&
	       set_offset(r, reg, kind, off, at);
}

/* A register number that no rule can hold makes the rule opaque. */
static struct cfi_rule reg_plus(uint64_t reg, int64_t off, size_t at)
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
 * def_cfa_register and def_cfa_offset change half of a CFA of the form reg + off (DWARF
 * 5, 6.4.2.2). After an expression there are no halves: libgcc and readelf then take the
 * last known other half, libdwarf keeps the expression, libdw refuses the program;
 * libgcrypt has such code. So the CFA is opaque until it is defined as a whole, and so it
 * is in another address space.
 */
static bool cfa_has_halves(struct cfi_run *r, size_t at, bool *ok)
{
	struct cfi_column *cfa = &r->st.cfa;

	if (!cfa->is_expr && cfa->rule.kind == CFI_UNSPECIFIED) {
		*ok = malformed(r, at, "half of a CFA that was never defined");
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

/* Space 0 is the ordinary one; a CFA in another is an address we have no name for. */
static void set_aspace_cfa(struct cfi_run *r, uint64_t reg, int64_t off, size_t at)
{
	if (rd_uleb(&r->rd) == 0)
		set_cfa(r, reg, off, at);
	else {
		r->st.cfa = (struct cfi_column){
			.rule = {.kind = CFI_OPAQUE, .off = (int64_t)at}};
		r->dirty = true;
	}
}

/* The block that comes next is the expression of col, if any. */
static void read_expr(struct cfi_run *r, enum cfi_expr_use use, struct cfi_column *col)
{
	uint64_t len = rd_uleb(&r->rd);
	struct cfi_expr expr = {.off = r->rd.pos, .len = len, .use = (uint8_t)use};

	rd_skip(&r->rd, len);
	if (col && !r->rd.failed) {
		*col = (struct cfi_column){.expr = expr, .is_expr = true};
		r->dirty = true;
	}
}

static void restore_rule(struct cfi_run *r, uint64_t reg)
{
	/* What the initial instructions themselves restore was never given a rule. */
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

static bool remember(struct cfi_run *r, size_t at)
{
	struct cfi_interp *in = r->in;

	if (in->n_stack == CFI_MAX_REMEMBER)
		return cfi_run_fail(r, ERR_LIMIT, at, "too many remembered states");
	if (!vec_reserve(&in->stack, &in->cap_stack, in->n_stack + 1))
		return err_set_nomem(r->err);
	in->stack[in->n_stack++] = r->st;
	return true;
}

static bool restore_remembered(struct cfi_run *r, size_t at)
{
	struct cfi_interp *in = r->in;

	if (in->n_stack == 0)
		return malformed(r, at, "restore_state without remember_state");
	r->st = in->stack[--in->n_stack];
	r->dirty = true;
	return true;
}

/* Opcode 0x2d is one thing on AArch64 and another on SPARC. Off both it has no meaning,
 * so that a tracked register among those SPARC saves (16 to 31) is no longer known. */
static void window_save_or_negate(struct cfi_run *r, size_t at)
{
	if (r->in->machine.aarch64_ra_state) {
		r->st.ra_signed = !r->st.ra_signed;
		r->dirty = true;
		return;
	}
	for (uint64_t reg = 16; reg < 32; reg++)
		set_rule(r, reg,
			(struct cfi_rule){.kind = CFI_OPAQUE, .off = (int64_t)at});
}

static bool unknown(struct cfi_run *r, uint8_t op, size_t at)
{
	char what[32];

	snprintf(what, sizeof(what), "unknown opcode 0x%02x", op);
	return malformed(r, at, what);
}

static bool negate_with_pc(struct cfi_run *r, size_t at)
{
	if (!r->in->machine.aarch64_ra_state)
		return unknown(r, DW_CFA_AARCH64_negate_ra_state_with_pc, at);
	r->st.ra_signed = !r->st.ra_signed;
	r->st.ra_signed_with_pc = !r->st.ra_signed_with_pc;
	r->dirty = true;
	return true;
}

static bool set_loc(struct cfi_run *r, size_t at, bool *done)
{
	struct cfi_pointer ptr = cfi_pointer_read(
		&r->rd, r->sec, r->cie->fde_encoding, r->in->table.start);

	if (ptr.status != CFI_POINTER_OK)
		return malformed(r, at, "set_loc to an address that cannot be resolved");
	if (ptr.value < r->loc)
		return malformed(r, at, "the location moves backwards");
	return advance_to(r, ptr.value, done);
}

/* ---- the program ---- */

/* Each instruction changes the state; those that move the location go through
 * advance_to(). */
static bool run_program(struct cfi_run *r)
{
	struct rd *rd = &r->rd;
	bool ok = true, done = false;
	uint64_t reg;
	int64_t off;

	while (ok && !done && rd->pos < rd->size) {
		size_t at = rd->pos;
		uint8_t op = rd_u8(rd);

		switch (op & DW_CFA_high_mask) {
		case DW_CFA_advance_loc:
			ok = advance_by(r, op & DW_CFA_low_mask, &done);
			continue;
		case DW_CFA_offset:
			ok = read_offset(r, op & DW_CFA_low_mask, CFI_AT_CFA, at);
			goto next;
		case DW_CFA_restore:
			restore_rule(r, op & DW_CFA_low_mask);
			continue;
		default:
			break;
		}
		switch (op) {
		case DW_CFA_nop:
			break;
		case DW_CFA_set_loc:
			ok = set_loc(r, at, &done);
			break;
		case DW_CFA_advance_loc1:
			ok = advance_by(r, rd_u8(rd), &done);
			break;
		case DW_CFA_advance_loc2:
			ok = advance_by(r, rd_u16(rd), &done);
			break;
		case DW_CFA_advance_loc4:
			ok = advance_by(r, rd_u32(rd), &done);
			break;
		case DW_CFA_MIPS_advance_loc8:
			ok = advance_by(r, rd_u64(rd), &done);
			break;
		case DW_CFA_offset_extended:
			reg = rd_uleb(rd);
			ok = read_offset(r, reg, CFI_AT_CFA, at);
			break;
		case DW_CFA_offset_extended_sf:
			reg = rd_uleb(rd);
			ok = set_offset(r, reg, CFI_AT_CFA, rd_sleb(rd), at);
			break;
		case DW_CFA_GNU_negative_offset_extended:
			reg = rd_uleb(rd);
			ok = to_signed(r, rd_uleb(rd), at, &off) &&
			     set_offset(r, reg, CFI_AT_CFA, -off, at);
			break;
		case DW_CFA_val_offset:
			reg = rd_uleb(rd);
			ok = read_offset(r, reg, CFI_CFA_PLUS, at);
			break;
		case DW_CFA_val_offset_sf:
			reg = rd_uleb(rd);
			ok = set_offset(r, reg, CFI_CFA_PLUS, rd_sleb(rd), at);
			break;
		case DW_CFA_restore_extended:
			restore_rule(r, rd_uleb(rd));
			break;
		case DW_CFA_undefined:
			set_rule(
				r, rd_uleb(rd), (struct cfi_rule){.kind = CFI_UNDEFINED});
			break;
		case DW_CFA_same_value:
			set_rule(r, rd_uleb(rd), (struct cfi_rule){.kind = CFI_SAME});
			break;
		case DW_CFA_register:
			reg = rd_uleb(rd);
			set_rule(r, reg, reg_plus(rd_uleb(rd), 0, at));
			break;
		case DW_CFA_remember_state:
			ok = remember(r, at);
			break;
		case DW_CFA_restore_state:
			ok = restore_remembered(r, at);
			break;
		case DW_CFA_def_cfa:
		case DW_CFA_def_cfa_sf:
			reg = rd_uleb(rd);
			ok = read_cfa_offset(r, op == DW_CFA_def_cfa_sf, at, &off);
			if (ok)
				set_cfa(r, reg, off, at);
			break;
		case DW_CFA_def_cfa_register:
			ok = set_cfa_register(r, rd_uleb(rd), at);
			break;
		case DW_CFA_def_cfa_offset:
		case DW_CFA_def_cfa_offset_sf:
			ok = read_cfa_offset(
				     r, op == DW_CFA_def_cfa_offset_sf, at, &off) &&
			     set_cfa_offset(r, off, at);
			break;
		case DW_CFA_def_cfa_expression:
			read_expr(r, CFI_EXPR_CFA, &r->st.cfa);
			break;
		case DW_CFA_expression:
			read_expr(r, CFI_EXPR_ADDRESS, column_to_set(r, rd_uleb(rd)));
			break;
		case DW_CFA_val_expression:
			read_expr(r, CFI_EXPR_VALUE, column_to_set(r, rd_uleb(rd)));
			break;
		case DW_CFA_AARCH64_negate_ra_state_with_pc:
			ok = negate_with_pc(r, at);
			break;
		case DW_CFA_AARCH64_negate_ra_state:
			window_save_or_negate(r, at);
			break;
		case DW_CFA_GNU_args_size: /* bytes pushed for a call: no rule uses it */
			rd_uleb(rd);
			break;
		case DW_CFA_LLVM_def_aspace_cfa:
		case DW_CFA_LLVM_def_aspace_cfa_sf:
			reg = rd_uleb(rd);
			ok = read_cfa_offset(
				r, op == DW_CFA_LLVM_def_aspace_cfa_sf, at, &off);
			if (ok)
				set_aspace_cfa(r, reg, off, at);
			break;
		default:
			ok = unknown(r, op, at);
		}
	next:
		if (ok && rd->failed)
			ok = malformed(r, at, "truncated instruction");
	}
	if (ok && r->sign_state_set)
		ok = cfi_run_fail(
			r, ERR_UNSUPPORTED, rd->pos, "a rule for RA_SIGN_STATE");
	return ok;
}

/* Stands at the start of a program that lies inside the section. */
static void start_run(struct cfi_run *r, uint64_t off, uint64_t len)
{
	rd_init(&r->rd, r->sec->data, (size_t)(off + len), r->sec->big_endian);
	r->rd.pos = (size_t)off;
	r->in->n_stack = 0;
	r->dirty = true;
}

/* Makes interp->initial that of CIE number cie. */
static bool run_initial(struct cfi_interp *in, struct cfi_run *r, uint32_t cie)
{
	uint64_t len = r->cie->program_len;

	if (in->initial_cie == cie) {
		if (!in->initial_ok)
			*r->err = in->initial_err;
		return in->initial_ok;
	}
	r->is_initial = true;
	r->st = (struct cfi_state){0};
	start_run(r, r->cie->program_off, len);
	in->initial_ok = len > CFI_MAX_INITIAL
				 ? cfi_run_fail(r, ERR_LIMIT, r->rd.pos, "too long")
				 : run_program(r);
	in->initial_cie = cie;
	in->initial = r->st;
	if (!in->initial_ok)
		in->initial_err = *r->err;
	return in->initial_ok;
}

bool cfi_interpret(struct cfi_interp *interp, const struct cfi_fde *fde, struct err *err)
{
	struct cfi_table *t = &interp->table;
	struct cfi_run r;

	r.in = interp;
	r.sec = &interp->frames->section;
	r.cie = &interp->frames->cies[fde->cie];
	r.err = err;
	r.sign_state_set = false;
	r.loc = fde->pc;
	t->start = fde->pc;
	t->end = fde->pc + fde->range;
	t->n_rows = 0;
	t->pc_dependent = false;
	t->pc_dependent_from = 0;
	interp->expr_ops = 0;
	if (!run_initial(interp, &r, fde->cie))
		return false;
	r.is_initial = false;
	r.st = interp->initial;
	start_run(&r, fde->program_off, fde->program_len);
	if (!run_program(&r))
		return false;
	return r.loc >= t->end || cfi_run_emit(&r, t->end);
}
