/* SPDX-License-Identifier: MIT */
/*
 * The CFA program interpreter. A state is changed by every instruction; only instructions
 * that move the location turn it into a row, at the one exit of the switch in
 * run_program().
 */
#include "cfi/interp.h"

#include <stdlib.h>

#include "cfi/opcodes.h"
#include "cfi/pointer.h"
#include "cfi/rules.h"
#include "cfi/interp_internal.h"

void cfi_interp_init(struct cfi_interp *interp, const struct cfi_frames *frames,
    const struct cfi_machine *machine)
{
	*interp = (struct cfi_interp){.frames = frames,
	    .machine = *machine,
	    .initial_cie = UINT32_MAX,
	    .max_expr_ops = CFI_MAX_EXPR_OPS};
}

void cfi_interp_deinit(struct cfi_interp *interp)
{
	free(interp->table.rows);
	free(interp->stack);
	*interp = (struct cfi_interp){.initial_cie = UINT32_MAX};
}

/*
 * Ends the state at the location loc. False on error, and, with *done, when the rest
 * describes nothing inside the FDE.
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

static bool set_loc(struct cfi_run *r, size_t at, bool *done)
{
	struct cfi_pointer ptr;

	/* A segment comes first, and there is only one (DWARF 5, 6.4.2.1). */
	rd_skip(&r->rd, r->cie->segment_size);
	ptr = cfi_pointer_read(&r->rd, r->sec, r->cie->fde_encoding, r->in->table.start);
	if (ptr.status != CFI_POINTER_OK)
		return malformed(r, at, "set_loc to an address that cannot be resolved");
	if (ptr.value < r->loc)
		return malformed(r, at, "the location moves backwards");
	r->in->table.movable = false;
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
			read_rule_expr(r, CFI_EXPR_ADDRESS);
			break;
		case DW_CFA_val_expression:
			read_rule_expr(r, CFI_EXPR_VALUE);
			break;
		case DW_CFA_AARCH64_negate_ra_state_with_pc:
			ok = negate_with_pc(r, at);
			break;
		case DW_CFA_AARCH64_negate_ra_state:
			window_save_or_negate(r, at);
			break;
		case DW_CFA_GNU_args_size: /* no rule uses it */
			r->in->table.args_size |= rd_uleb(rd) != 0;
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
		    r, ERR_UNSUPPORTED, rd->pos, "a register rule for RA_SIGN_STATE");
	return ok;
}

/* Stands at the start of a program that lies inside the section. */
static void start_run(struct cfi_run *r, uint64_t off, uint64_t len)
{
	rd_init(&r->rd, r->sec->data, (size_t)(off + len), r->sec->big_endian);
	rd_seek(&r->rd, off);
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
	if (r.cie->addr_size && r.cie->addr_size < r.sec->addr_size) {
		r.narrow = *r.sec;
		r.narrow.addr_size = r.cie->addr_size;
		r.sec = &r.narrow;
	}
	r.err = err;
	r.sign_state_set = false;
	r.loc = fde->pc;
	t->start = fde->pc;
	t->end = fde->pc + fde->range;
	t->n_rows = 0;
	t->pc_dependent = false;
	t->pc_dependent_from = 0;
	t->movable = true;
	t->args_size = false;
	t->reach = 0;
	interp->expr_ops = 0;
	if (!run_initial(interp, &r, fde->cie))
		return false;
	r.is_initial = false;
	r.st = interp->initial;
	start_run(&r, fde->program_off, fde->program_len);
	if (!run_program(&r))
		return false;
	t->reach = r.loc - t->start;
	t->movable &= r.loc < t->end;
	return r.loc >= t->end || cfi_run_emit(&r, t->end);
}
