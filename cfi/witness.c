/* SPDX-License-Identifier: MIT */
/*
 * libdwarf's register tables in our words. Separate because it is the only file that
 * includes libdwarf, whose interface differs between the 2021 release (Debian 12) and 0.x
 * and later.
 *
 * What libdwarf cannot tell: RA-sign state (it knows no such column); a value that CFA
 * expressions in other address spaces have (it stops at the LLVM opcodes);
 * DW_CFA_register towards one of the pseudo numbers below. CIEs with an augmentation it
 * does not know, such as AArch64's B, make it refuse the whole section, and so does one
 * damaged record.
 */
#include "cfi/witness.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"

#if __has_include(<libdwarf/libdwarf.h>)
#include <libdwarf/libdwarf.h>
#else
#include <libdwarf.h>
#endif

/* Pseudo register numbers. The table holds registers below its size; libdwarf refuses
 * programs that name others. */
#define WITNESS_TABLE_SIZE 188
#define WITNESS_UNDEFINED 40000
#define WITNESS_SAME 40001
#define WITNESS_CFA 40002

/* ---- the two interfaces of libdwarf ---- */

#ifdef DW_LIBDWARF_VERSION
typedef Dwarf_Obj_Access_Interface_a object_interface;
typedef Dwarf_Obj_Access_Methods_a object_methods;
typedef Dwarf_Obj_Access_Section_a object_section;
typedef Dwarf_Unsigned section_index;
typedef Dwarf_Small byte_order;
#define OBJECT_MEMBER(name) om_##name
#define SECTION_MEMBER(name) as_##name
#define INTERFACE_MEMBER(name) ai_##name
#define BIG_ENDIAN_ORDER DW_END_big
#define LITTLE_ENDIAN_ORDER DW_END_little
#define fde_list_dealloc dwarf_dealloc_fde_cie_list
#define object_finish(dbg) dwarf_object_finish(dbg)
typedef Dwarf_Small *program_ptr;
#ifndef DW_END_big /* dwarf.h has them, and a hundred names of ours */
#define DW_END_big 1
#define DW_END_little 2
#endif
#else
typedef Dwarf_Obj_Access_Interface object_interface;
typedef Dwarf_Obj_Access_Methods object_methods;
typedef Dwarf_Obj_Access_Section object_section;
typedef Dwarf_Half section_index;
typedef Dwarf_Endianness byte_order;
#define OBJECT_MEMBER(name) name
#define SECTION_MEMBER(name) name
#define INTERFACE_MEMBER(name) name
#define BIG_ENDIAN_ORDER DW_OBJECT_MSB
#define LITTLE_ENDIAN_ORDER DW_OBJECT_LSB
#define fde_list_dealloc dwarf_fde_cie_list_dealloc
#define object_finish(dbg) dwarf_object_finish((dbg), NULL)
typedef Dwarf_Ptr program_ptr;
#endif

/* The section as libdwarf lists it. */
struct reading {
	Dwarf_Debug dbg;
	Dwarf_Cie *cies;
	Dwarf_Fde *fdes;
	Dwarf_Signed n_cies, n_fdes;
};

/*
 * Since 0.8 libdwarf accepts only "same value" and "undefined" for a register that has no
 * rule. Neither can be told from a rule that says the same. So the section is read twice:
 * a register has no rule where each reading gives its own default.
 */
struct cfi_witness {
	struct cfi_section section;
	struct cfi_machine machine;
	object_interface interface;
	struct reading same, undefined; /* by what a register without a rule is */
	struct cfi_table table;
	uint64_t expr_ops; /* for the table in work */
};

/* One column at one PC, as libdwarf says it. */
struct cell {
	bool unspecified; /* no rule; nothing below is set */
	Dwarf_Small type; /* DW_EXPR_* */
	bool has_offset;
	int64_t reg, offset;
	const uint8_t *block;
	uint64_t block_len;
	Dwarf_Addr next_pc;
	Dwarf_Bool has_next;
};

/* Asks for one column; WITNESS_CFA asks for the CFA. A DW_DLV_ status. */
static int ask(Dwarf_Fde fde, Dwarf_Half column, Dwarf_Addr pc, struct cell *c,
	Dwarf_Error *error)
{
	Dwarf_Addr row_pc;
	int status;
#ifdef DW_LIBDWARF_VERSION
	Dwarf_Unsigned relevant = 0, reg = 0, offset = 0;
	Dwarf_Block block = {0};
#else
	Dwarf_Signed relevant = 0, reg = 0, offset = 0;
	Dwarf_Ptr block = NULL;
#endif

	if (column == WITNESS_CFA)
		status = dwarf_get_fde_info_for_cfa_reg3_b(fde, pc, &c->type, &relevant,
			&reg, &offset, &block, &row_pc, &c->has_next, &c->next_pc, error);
	else
		status = dwarf_get_fde_info_for_reg3_b(fde, column, pc, &c->type,
			&relevant, &reg, &offset, &block, &row_pc, &c->has_next,
			&c->next_pc, error);
#ifdef DW_LIBDWARF_VERSION
	c->block = block.bl_data;
	c->block_len = block.bl_len;
#else
	c->block = block;
	c->block_len = (uint64_t)offset;
#endif
	c->has_offset = relevant != 0;
	c->reg = (int64_t)reg;
	c->offset = (int64_t)offset;
	return status;
}

/* The object: section 0 is the customary empty one, section 1 is .eh_frame. */
static int get_section_info(
	void *obj, section_index index, object_section *ret, int *error)
{
	const struct cfi_witness *w = obj;

	(void)error;
	memset(ret, 0, sizeof(*ret));
	ret->SECTION_MEMBER(name) = index == 1 ? ".eh_frame" : "";
	if (index == 1) {
		ret->SECTION_MEMBER(addr) = w->section.addr;
		ret->SECTION_MEMBER(size) = w->section.size;
		ret->SECTION_MEMBER(type) = 1; /* SHT_PROGBITS */
	}
	return index <= 1 ? DW_DLV_OK : DW_DLV_NO_ENTRY;
}

static byte_order get_byte_order(void *obj)
{
	const struct cfi_witness *w = obj;

	return w->section.big_endian ? BIG_ENDIAN_ORDER : LITTLE_ENDIAN_ORDER;
}

/* With 8, big-endian zero terminators would be taken for IRIX 64-bit lengths. */
static Dwarf_Small get_length_size(void *obj)
{
	(void)obj;
	return 4;
}

static Dwarf_Small get_pointer_size(void *obj)
{
	return ((const struct cfi_witness *)obj)->section.addr_size;
}

static Dwarf_Unsigned get_section_count(void *obj)
{
	(void)obj;
	return 2;
}

static int load_section(void *obj, section_index index, Dwarf_Small **ret, int *error)
{
	const struct cfi_witness *w = obj;

	(void)error;
	if (index != 1)
		return DW_DLV_NO_ENTRY;
	/* libdwarf has no const; it does not write where there is nothing to relocate. */
	memcpy(ret, &w->section.data, sizeof(*ret));
	return DW_DLV_OK;
}

#ifdef DW_LIBDWARF_VERSION
static Dwarf_Unsigned get_filesize(void *obj)
{
	return ((const struct cfi_witness *)obj)->section.size;
}
#endif

static const object_methods witness_methods = {
	.OBJECT_MEMBER(get_section_info) = get_section_info,
	.OBJECT_MEMBER(get_byte_order) = get_byte_order,
	.OBJECT_MEMBER(get_length_size) = get_length_size,
	.OBJECT_MEMBER(get_pointer_size) = get_pointer_size,
	.OBJECT_MEMBER(get_section_count) = get_section_count,
	.OBJECT_MEMBER(load_section) = load_section,
#ifdef DW_LIBDWARF_VERSION
	.om_get_filesize = get_filesize,
#endif
};

/* ---- opening and closing ---- */

/* Makes an error of libdwarf's, and frees that; always false. */
static bool refuse(const struct reading *r, int status, Dwarf_Error error,
	const char *what, struct err *err)
{
	if (status != DW_DLV_ERROR)
		return err_set(err, ERR_UNSUPPORTED, "libdwarf: %s: no entry", what);
	err_set(err, ERR_UNSUPPORTED, "libdwarf: %s: %s", what, dwarf_errmsg(error));
	dwarf_dealloc_error(r->dbg, error);
	return false;
}

static bool reading_open(struct reading *r, object_interface *interface,
	Dwarf_Half initial, struct err *err)
{
	Dwarf_Error error = NULL;
	int status = dwarf_object_init_b(
		interface, NULL, NULL, DW_GROUPNUMBER_ANY, &r->dbg, &error);

	if (status != DW_DLV_OK)
		return refuse(r, status, error, "cannot open .eh_frame", err);
	dwarf_set_frame_rule_table_size(r->dbg, WITNESS_TABLE_SIZE);
	dwarf_set_frame_undefined_value(r->dbg, WITNESS_UNDEFINED);
	dwarf_set_frame_same_value(r->dbg, WITNESS_SAME);
	dwarf_set_frame_cfa_value(r->dbg, WITNESS_CFA);
	dwarf_set_frame_rule_initial_value(r->dbg, initial);
	status = dwarf_get_fde_list_eh(
		r->dbg, &r->cies, &r->n_cies, &r->fdes, &r->n_fdes, &error);
	return status != DW_DLV_ERROR ||
		refuse(r, status, error, "cannot list .eh_frame", err);
}

static void reading_close(struct reading *r)
{
	if (r->fdes)
		fde_list_dealloc(r->dbg, r->cies, r->n_cies, r->fdes, r->n_fdes);
	if (r->dbg)
		object_finish(r->dbg);
}

static bool open_section(struct cfi_witness *w, struct err *err)
{
	w->interface.INTERFACE_MEMBER(object) = w;
	w->interface.INTERFACE_MEMBER(methods) = &witness_methods;
	return reading_open(&w->same, &w->interface, WITNESS_SAME, err) &&
		reading_open(&w->undefined, &w->interface, WITNESS_UNDEFINED, err);
}

struct cfi_witness *cfi_witness_new(const struct cfi_section *section,
	const struct cfi_machine *machine, struct err *err)
{
	struct cfi_witness *w = calloc(1, sizeof(*w));

	if (!w) {
		err_set_nomem(err);
		return NULL;
	}
	w->section = *section;
	w->machine = *machine;
	if (!open_section(w, err)) {
		cfi_witness_free(w);
		return NULL;
	}
	return w;
}

void cfi_witness_free(struct cfi_witness *witness)
{
	if (!witness)
		return;
	reading_close(&witness->same);
	reading_close(&witness->undefined);
	free(witness->table.rows);
	free(witness);
}

size_t cfi_witness_n_fdes(const struct cfi_witness *witness)
{
	return (size_t)witness->same.n_fdes;
}

/* ---- rules ---- */

/* The bytes libdwarf returns for an expression are the section's own. */
static struct cfi_rule rule_of_block(struct cfi_witness *w, const struct cell *c,
	enum cfi_expr_use use, uint64_t pc, uint8_t *pc_bits)
{
	struct cfi_expr expr = {.len = c->block_len, .use = (uint8_t)use};
	uintptr_t start = (uintptr_t)w->section.data, block = (uintptr_t)c->block;

	if (block < start ||
		!num_range_inside(block - start, c->block_len, w->section.size))
		return (struct cfi_rule){.kind = CFI_OPAQUE};
	expr.off = block - start;
	if (w->expr_ops >= CFI_MAX_EXPR_OPS)
		return (struct cfi_rule){.kind = CFI_OPAQUE, .off = (int64_t)expr.off};
	return cfi_expr_eval(
		&w->section, &expr, pc, w->machine.pc_reg, pc_bits, &w->expr_ops);
}

/* Without an offset libdwarf names a register, or one of the pseudo numbers. */
static struct cfi_rule rule_of_register(const struct cell *c)
{
	struct cfi_rule rule = {.kind = CFI_REG_PLUS};

	if (c->reg == WITNESS_UNDEFINED)
		rule.kind = CFI_UNDEFINED;
	else if (c->reg == WITNESS_SAME)
		rule.kind = CFI_SAME;
	else if (c->reg < 0 || !num_u16((uint64_t)c->reg, &rule.reg))
		rule.kind = CFI_OPAQUE;
	return rule;
}

static struct cfi_rule rule_of_cell(struct cfi_witness *w, const struct cell *c,
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

static struct cfi_row row_at(
	struct cfi_witness *w, const struct stretch *s, uint64_t pc, uint8_t *pc_bits)
{
	struct cfi_row row = {.pc = pc};

	row.cfa = rule_of_cell(w, &s->cfa, true, pc, pc_bits);
	row.sp = rule_of_cell(w, &s->sp, false, pc, pc_bits);
	row.fp = rule_of_cell(w, &s->fp, false, pc, pc_bits);
	row.ra = rule_of_cell(w, &s->ra, false, pc, pc_bits);
	return row;
}

static bool push_row(struct cfi_table *t, const struct cfi_row *row, struct err *err)
{
	if (t->n_rows && cfi_row_same(&t->rows[t->n_rows - 1], row))
		return true;
	if (t->n_rows == CFI_MAX_ROWS)
		return err_set(err, ERR_LIMIT, "libdwarf: too many rows");
	if (!vec_reserve(&t->rows, &t->cap_rows, t->n_rows + 1))
		return err_set_nomem(err);
	t->rows[t->n_rows++] = *row;
	return true;
}

/* Rules over the PC that are not followed PC by PC are as opaque as the interpreter makes
 * them. */
static void make_opaque(struct cfi_witness *w, const struct cell *c, bool is_cfa,
	uint64_t pc, struct cfi_rule *rule)
{
	uint8_t pc_bits = 0;

	rule_of_cell(w, c, is_cfa, pc, &pc_bits);
	if (pc_bits)
		*rule = (struct cfi_rule){
			.kind = CFI_OPAQUE, .off = (int64_t)(c->block - w->section.data)};
}

static bool push_stretch(struct cfi_witness *w, const struct stretch *s, uint64_t start,
	uint64_t end, struct err *err)
{
	struct cfi_table *t = &w->table;
	uint8_t pc_bits = 0;
	struct cfi_row row = row_at(w, s, start, &pc_bits);

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
		if (!push_row(t, &row, err))
			return false;
		if (!pc_bits || ++pc >= end)
			return true;
		row = row_at(w, s, pc, &pc_bits);
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
	return status == DW_DLV_OK || refuse(r, status, error, "cannot read a CIE", err);
}

/* Asks reading r for a column of FDE number i. */
static bool ask_reading(const struct reading *r, size_t i, Dwarf_Half column,
	Dwarf_Addr pc, struct cell *c, struct err *err)
{
	Dwarf_Error error = NULL;
	int status = ask(r->fdes[i], column, pc, c, &error);

	return status == DW_DLV_OK || refuse(r, status, error, "cannot read a row", err);
}

static bool is_default(const struct cell *c, int64_t initial)
{
	return c->type == DW_EXPR_OFFSET && !c->has_offset && c->reg == initial;
}

/* The second reading is asked only where the first gives its default. */
static bool ask_register(const struct cfi_witness *w, size_t i, Dwarf_Half column,
	Dwarf_Addr pc, struct cell *c, struct err *err)
{
	struct cell other;

	c->unspecified = false;
	if (!ask_reading(&w->same, i, column, pc, c, err))
		return false;
	if (!is_default(c, WITNESS_SAME))
		return true;
	if (!ask_reading(&w->undefined, i, column, pc, &other, err))
		return false;
	c->unspecified = is_default(&other, WITNESS_UNDEFINED);
	return true;
}

static bool ask_stretch(const struct cfi_witness *w, size_t i, Dwarf_Half ra, uint64_t pc,
	struct stretch *s, struct err *err)
{
	return ask_register(w, i, WITNESS_CFA, pc, &s->cfa, err) &&
		ask_register(w, i, w->machine.sp_reg, pc, &s->sp, err) &&
		ask_register(w, i, w->machine.fp_reg, pc, &s->fp, err) &&
		ask_register(w, i, ra, pc, &s->ra, err);
}

bool cfi_witness_table(struct cfi_witness *witness, size_t i, size_t max_rows,
	const struct cfi_table **table, uint64_t *end, struct err *err)
{
	Dwarf_Fde fde = witness->same.fdes[i];
	struct cfi_table *t = &witness->table;
	Dwarf_Error error = NULL;
	Dwarf_Addr start;
	Dwarf_Unsigned range;
	Dwarf_Half ra;
	int status = dwarf_get_fde_range(
		fde, &start, &range, NULL, NULL, NULL, NULL, NULL, &error);

	*end = 0;
	*table = t;
	t->n_rows = 0;
	t->pc_dependent = false;
	t->pc_dependent_from = 0;
	witness->expr_ops = 0;
	if (status != DW_DLV_OK)
		return refuse(&witness->same, status, error,
			"cannot read the range of an FDE", err);
	t->start = start;
	if (__builtin_add_overflow(start, range, &t->end))
		return err_set(err, ERR_UNSUPPORTED, "libdwarf: an FDE wraps around");
	*end = t->end;
	if (!ra_column(&witness->same, fde, &ra, err))
		return false;
	for (uint64_t pc = t->start; pc < t->end; max_rows--) {
		struct stretch s;
		uint64_t next = t->end;

		if (max_rows == 0) {
			/* What was read is still right up to here. */
			t->end = pc;
			break;
		}
		if (!ask_stretch(witness, i, ra, pc, &s, err))
			return false;
		if (s.cfa.has_next && s.cfa.next_pc > pc && s.cfa.next_pc < next)
			next = s.cfa.next_pc;
		if (!push_stretch(witness, &s, pc, next, err))
			return false;
		pc = next;
	}
	return true;
}
