/* SPDX-License-Identifier: MIT */
/*
 * Turns libdwarf's register tables into ours: rules, rows, the table of one FDE.
 *
 * libdwarf cannot tell RA-sign state (it knows no such column); a value that CFA
 * expressions in other address spaces have (it stops at the LLVM opcodes);
 * DW_CFA_register towards one of the pseudo numbers below. CIEs with an augmentation it
 * does not know, such as AArch64's B, make it refuse the whole section, and so does one
 * damaged record.
 */
#include "cfi/libdwarf_internal.h"

#include "base/num.h"
#include "base/vec.h"

/* ---- rules ---- */

/* The bytes libdwarf returns for an expression are the section's own. */
static struct cfi_rule rule_of_block(struct cfi_libdwarf *w, const struct cell *c,
    enum cfi_expr_use use, uint64_t pc, uint8_t *pc_bits)
{
	struct cfi_expr expr = {.len = c->block_len, .use = (uint8_t)use};
	uintptr_t start = (uintptr_t)w->section.data, block = (uintptr_t)c->block;

	if (block < start ||
	    !num_range_inside(block - start, c->block_len, w->section.size))
		return (struct cfi_rule){.kind = CFI_OPAQUE};
	expr.off = block - start;
	w->spent |= w->expr_ops >= CFI_MAX_EXPR_OPS;
	if (w->spent)
		return (struct cfi_rule){.kind = CFI_OPAQUE, .off = (int64_t)expr.off};
	return cfi_expr_eval(
	    &w->section, &expr, pc, w->machine.pc_reg, pc_bits, &w->expr_ops);
}

/* Without an offset libdwarf names a register, or one of the pseudo numbers. */
static struct cfi_rule rule_of_register(const struct cell *c)
{
	struct cfi_rule rule = {.kind = CFI_REG_PLUS};

	if (c->reg == LIBDWARF_UNDEFINED)
		rule.kind = CFI_UNDEFINED;
	else if (c->reg == LIBDWARF_SAME)
		rule.kind = CFI_SAME;
	else if (c->reg < 0 || !num_u16((uint64_t)c->reg, &rule.reg))
		rule.kind = CFI_OPAQUE;
	return rule;
}

static struct cfi_rule rule_of_cell(struct cfi_libdwarf *w, const struct cell *c,
    bool is_cfa, uint64_t pc, uint8_t *pc_bits)
{
	struct cfi_rule rule = {.off = c->offset};

	if (c->unspecified)
		return (struct cfi_rule){.kind = CFI_UNSPECIFIED};
	switch (c->type) {
	case DW_EXPR_OFFSET:
		if (!is_cfa && c->has_offset) {
			rule.kind = CFI_AT_CFA;
			return rule;
		}
		rule = rule_of_register(c);
		if (rule.kind == CFI_REG_PLUS && c->has_offset)
			rule.off = c->offset;
		return rule;
	case DW_EXPR_VAL_OFFSET:
		rule.kind = CFI_CFA_PLUS;
		return rule;
	case DW_EXPR_EXPRESSION:
		return rule_of_block(
		    w, c, is_cfa ? CFI_EXPR_CFA : CFI_EXPR_ADDRESS, pc, pc_bits);
	case DW_EXPR_VAL_EXPRESSION:
		return rule_of_block(
		    w, c, is_cfa ? CFI_EXPR_CFA : CFI_EXPR_VALUE, pc, pc_bits);
	default:
		return (struct cfi_rule){.kind = CFI_OPAQUE};
	}
}

/* ---- rows ---- */

/* libdwarf's four cells for one stretch of code. */
struct stretch {
	struct cell cfa, sp, fp, ra;
};

static struct cfi_row libdwarf_row_at(
    struct cfi_libdwarf *w, const struct stretch *s, uint64_t pc, uint8_t *pc_bits)
{
	struct cfi_row row = {.pc = pc};

	row.cfa = rule_of_cell(w, &s->cfa, true, pc, pc_bits);
	row.sp = rule_of_cell(w, &s->sp, false, pc, pc_bits);
	row.fp = rule_of_cell(w, &s->fp, false, pc, pc_bits);
	row.ra = rule_of_cell(w, &s->ra, false, pc, pc_bits);
	return row;
}

static bool libdwarf_push_row(
    struct cfi_table *t, const struct cfi_row *row, struct err *err)
{
	if (t->n_rows && cfi_row_same(&t->rows[t->n_rows - 1], row))
		return true;
	if (t->n_rows == CFI_MAX_ROWS)
		return err_set(err, ERR_LIMIT, "libdwarf: too many rows");
	if (!vec_reserve(&t->rows, &t->cap_rows, t->n_rows + 1))
		return err_set_nomem(err);
	t->rows[t->n_rows] = *row;
	if (t->n_rows)
		cfi_row_follow(&t->rows[t->n_rows], &t->rows[t->n_rows - 1]);
	t->n_rows++;
	return true;
}

/* Rules that depend on the PC and are not expanded PC by PC are opaque, as in the
 * interpreter. */
static void make_opaque(struct cfi_libdwarf *w, const struct cell *c, bool is_cfa,
    uint64_t pc, struct cfi_rule *rule)
{
	uint8_t pc_bits = 0;

	*rule = rule_of_cell(w, c, is_cfa, pc, &pc_bits);
	if (pc_bits)
		*rule = (struct cfi_rule){
		    .kind = CFI_OPAQUE, .off = (int64_t)(c->block - w->section.data)};
}

static bool push_stretch(struct cfi_libdwarf *w, const struct stretch *s, uint64_t start,
    uint64_t end, struct err *err)
{
	struct cfi_table *t = &w->table;
	uint8_t pc_bits = 0;
	struct cfi_row row = libdwarf_row_at(w, s, start, &pc_bits);

	if (pc_bits && end - start > CFI_MAX_PC_DEPENDENT) {
		make_opaque(w, &s->cfa, true, start, &row.cfa);
		make_opaque(w, &s->sp, false, start, &row.sp);
		make_opaque(w, &s->fp, false, start, &row.fp);
		make_opaque(w, &s->ra, false, start, &row.ra);
		pc_bits = 0;
	}
	if (pc_bits && !t->pc_dependent) {
		t->pc_dependent = true;
		t->pc_dependent_from = start;
	}
	for (uint64_t pc = start;;) {
		if (w->spent) {
			t->end = pc;
			return true;
		}
		if (!libdwarf_push_row(t, &row, err))
			return false;
		if (!pc_bits || ++pc >= end)
			return true;
		row = libdwarf_row_at(w, s, pc, &pc_bits);
	}
}

/* The return address column is the CIE's. */
static bool ra_column(
    const struct reading *r, Dwarf_Fde fde, Dwarf_Half *column, struct err *err)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned bytes, code_align, program_len;
	Dwarf_Signed data_align;
	Dwarf_Small version;
	Dwarf_Half offset_size;
	Dwarf_Cie cie;
	char *augmentation;
	program_ptr program;
	int status = dwarf_get_cie_of_fde(fde, &cie, &error);

	if (status == DW_DLV_OK)
		status = dwarf_get_cie_info_b(cie, &bytes, &version, &augmentation,
		    &code_align, &data_align, column, &program, &program_len,
		    &offset_size, &error);
	return status == DW_DLV_OK ||
	       cfi_libdwarf_refuse(r, status, error, "cannot read a CIE", err);
}

static bool ask_stretch(const struct cfi_libdwarf *w, size_t i, Dwarf_Half ra,
    uint64_t pc, struct stretch *s, struct err *err)
{
	return cfi_libdwarf_ask(w, i, LIBDWARF_CFA, pc, &s->cfa, err) &&
	       cfi_libdwarf_ask(w, i, w->machine.sp_reg, pc, &s->sp, err) &&
	       cfi_libdwarf_ask(w, i, w->machine.fp_reg, pc, &s->fp, err) &&
	       cfi_libdwarf_ask(w, i, ra, pc, &s->ra, err);
}

bool cfi_libdwarf_table(struct cfi_libdwarf *reader, size_t i, size_t max_rows,
    const struct cfi_table **table, uint64_t *end, struct err *err)
{
	Dwarf_Fde fde = reader->same.fdes[i];
	struct cfi_table *t = &reader->table;
	Dwarf_Error error = NULL;
	Dwarf_Addr start;
	Dwarf_Unsigned range;
	Dwarf_Half ra;
	int status = dwarf_get_fde_range(
	    fde, &start, &range, NULL, NULL, NULL, NULL, NULL, &error);

	*end = 0;
	*table = t;
	t->n_rows = 0;
	reader->spent = false;
	t->pc_dependent = false;
	t->pc_dependent_from = 0;
	if (status != DW_DLV_OK)
		return cfi_libdwarf_refuse(
		    &reader->same, status, error, "cannot read the range of an FDE", err);
	t->start = start;
	t->end = start;
	/* All ones, or one less, mean that the linker discarded the function. */
	if (cfi_section_debug(&reader->section) && start >= UINT64_MAX - 1)
		return true;
	if (__builtin_add_overflow(start, range, &t->end))
		return err_set(err, ERR_UNSUPPORTED,
		    "libdwarf: an FDE wraps around; leave out --witness=libdwarf");
	*end = t->end;
	if (!ra_column(&reader->same, fde, &ra, err))
		return false;
	for (uint64_t pc = t->start; pc < t->end; max_rows--) {
		struct stretch s;
		uint64_t next = t->end;

		if (max_rows == 0) {
			/* The rows up to here are right; the table just ends early. */
			t->end = pc;
			break;
		}
		if (!ask_stretch(reader, i, ra, pc, &s, err))
			return false;
		if (s.cfa.has_next && s.cfa.next_pc > pc && s.cfa.next_pc < next)
			next = s.cfa.next_pc;
		if (!push_stretch(reader, &s, pc, next, err))
			return false;
		pc = next;
	}
	return true;
}

const char *cfi_libdwarf_version(void)
{
	return dwarf_package_version();
}
