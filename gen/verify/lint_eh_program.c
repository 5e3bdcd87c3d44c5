/* SPDX-License-Identifier: MIT */
/* The state as the reader keeps it, instruction by instruction. */
#include "gen/verify/lint_eh_program.h"

#include <string.h>

#include "cfi/opcodes.h"
#include "cfi/pointer.h"

enum { EH_MAX_CIE = 128, EH_MAX_FDE = 32768, EH_MAX_LETTERS = 15 };
enum { EH_MAX_INSNS = 16384, EH_MAX_EXPR = 32, EH_MIN_FACTOR = -8 };
enum { EH_LENGTH = 4, EH_LETTERS = 9 }; /* bytes of a length; of what is before letters */

struct lint_eh_column {	     /* FP or RA */
	bool has_off, stale; /* off counts; it is not what the CFI says */
	int64_t off;
};

struct lint_eh_state {
	enum { EH_NO_CFA, EH_CFA_REGISTER, EH_CFA_MEMORY } cfa;
	struct lint_eh_column fp, ra;
};

struct lint_eh_run {
	const struct lint_eh *eh;
	const struct cfi_cie *cie;
	struct rd rd;
	uint64_t at; /* where the last instruction begins */
	struct lint_eh_state st, initial, remembered;
	bool is_initial, has_remembered;
	unsigned int n_insns;
	uint64_t step;	     /* bytes of code that the last instruction passes over */
	const uint8_t *expr; /* of the last instruction that has one */
};

/* True if the letters, z first, are those of data that ends where the instructions begin. */
static bool lint_eh_used_up(
    const struct cfi_section *section, const struct cfi_cie *cie, const char *letters)
{
	struct rd rd;

	rd_init(&rd, section->data, (size_t)cie->program_off, section->big_endian);
	rd_seek(&rd, cie->off + EH_LETTERS + strlen(letters) + 1);
	rd_uleb(&rd);
	rd_sleb(&rd);
	rd_u8(&rd);
	rd_uleb(&rd);
	while (*++letters) {
		const uint8_t encoding = *letters == 'S' ? 0 : rd_u8(&rd);

		if (*letters == 'P')
			cfi_pointer_read(
			    &rd, section, encoding & (uint8_t)~DW_EH_PE_indirect, 0);
	}
	return !rd.failed && rd_at_end(&rd);
}

static enum lint_eh_rule lint_eh_cie(const struct lint_eh *eh, const struct cfi_cie *cie)
{
	const struct cfi_section *section = &eh->frames.section;
	const char *letters = (const char *)section->data + cie->off + EH_LETTERS;

	if (cie->program_off + cie->program_len - cie->off - EH_LENGTH > EH_MAX_CIE)
		return LINT_EH_CIE_LENGTH;
	if (cie->version != 1)
		return LINT_EH_CIE_VERSION;
	if (letters[strspn(letters, "zPLRS")])
		return LINT_EH_CIE_LETTER;
	if (strlen(letters) > EH_MAX_LETTERS ||
	    (*letters == 'z'
		    ? strchr(letters + 1, 'z') || !lint_eh_used_up(section, cie, letters)
		    : letters[strspn(letters, "S")] != '\0'))
		return LINT_EH_CIE_STRING;
	if (cie->code_align == 0 || cie->code_align > eh->arch->insn_unit ||
	    cie->data_align >= 0 || cie->data_align < EH_MIN_FACTOR)
		return LINT_EH_CIE_FACTORS;
	if (cie->ra_reg != eh->arch->ra_reg)
		return LINT_EH_CIE_RETURN;
	return cie->fde_encoding == DW_EH_PE_aligned ? LINT_EH_ENCODING : LINT_EH_KEPT;
}

/*
 * Operands, by opcode up to the last of DWARF 5: u and s an unsigned and a signed LEB128, f and F the same times the data
 * factor, e an expression, a digit a number of so many bytes; - none at all. An empty string: not known to the reader.
 */
static const char eh_operands[DW_CFA_val_expression + 1][3] = {"-", "", "1", "2", "4",
    "uf", "u", "u", "u", "uu", "-", "-", "uu", "u", "u", "e", "ue", "uF", "us", "s", "uf",
    "uF", "ue"};

/* Reads the operands from number i on. */
static bool lint_eh_operands(
    struct lint_eh_run *run, const char *operands, size_t i, uint64_t values[2])
{
	struct rd *rd = &run->rd;
	int64_t product = 0;
	bool wraps = false;

	for (; operands[i]; i++) {
		const char kind = operands[i];

		if (kind >= '1' && kind <= '4')
			values[i] = kind == '1'	  ? rd_u8(rd)
				    : kind == '2' ? rd_u16(rd)
						  : rd_u32(rd);
		else if (kind == 's' || kind == 'F')
			values[i] = (uint64_t)rd_sleb(rd);
		else if (kind != '-')
			values[i] = rd_uleb(rd);
		if (kind == 'f' || kind == 'F') {
			wraps |= __builtin_mul_overflow(
			    (int64_t)values[i], run->cie->data_align, &product);
			values[i] = (uint64_t)product;
		}
		if (kind == 'e')
			run->expr = rd_skip(rd, values[i]);
	}
	return !rd->failed && !wraps;
}

static struct lint_eh_column *lint_eh_column_of(
    const struct arch *arch, struct lint_eh_state *st, uint64_t reg)
{
	return reg == arch->cfi.fp_reg ? &st->fp : reg == arch->ra_reg ? &st->ra : NULL;
}

/* A new rule for a register. */
static enum lint_eh_rule lint_eh_set(
    struct lint_eh_run *run, uint8_t op, uint64_t reg, int64_t off)
{
	const struct arch *arch = run->eh->arch;
	struct lint_eh_column *column = lint_eh_column_of(arch, &run->st, reg);
	const bool is_value = op == DW_CFA_val_offset || op == DW_CFA_val_offset_sf;

	if (reg == arch->cfi.sp_reg &&
	    (is_value ? off != arch->sp_from_cfa
		      : op == DW_CFA_undefined || !arch->sp_saved))
		return LINT_EH_SP_RULE;
	if (column)
		*column = (struct lint_eh_column){
		    .has_off = op != DW_CFA_undefined && op != DW_CFA_same_value,
		    .off = off};
	return LINT_EH_KEPT;
}

/* The reader takes the kind of the CIE's rule, and leaves the offset, or the number of a register, as it is. */
static enum lint_eh_rule lint_eh_restore(struct lint_eh_run *run, uint64_t reg)
{
	const struct arch *arch = run->eh->arch;
	struct lint_eh_column *column = lint_eh_column_of(arch, &run->st, reg);
	const struct lint_eh_column *before = lint_eh_column_of(arch, &run->initial, reg);

	if (column && !run->is_initial) {
		column->has_off = before->has_off;
		column->stale = before->has_off && column->off != before->off;
	}
	return run->is_initial ? LINT_EH_CIE_RESTORE : LINT_EH_KEPT;
}

/* *(FP + n), and SP + n + ((PC & 15 >= m) << k): of a realigned stack and of a PLT. */
static enum lint_eh_rule lint_eh_cfa_expr(struct lint_eh_run *run, uint64_t size)
{
	static const uint8_t plt[] = {DW_OP_breg0 + 7, 0, DW_OP_breg0 + 16, 0,
	    DW_OP_lit0 + 15, DW_OP_and, DW_OP_lit0, DW_OP_ge, DW_OP_lit0, DW_OP_shl,
	    DW_OP_plus};
	static const uint8_t mask[] = {
	    255, 0xf0, 255, 255, 255, 255, 0xf0, 255, 0xf0, 255, 255};
	const uint8_t *expr = run->expr;
	bool is_plt = size == sizeof(plt);

	if (size > EH_MAX_EXPR)
		return LINT_EH_EXPR_LENGTH;
	for (size_t i = 0; is_plt && i < sizeof(plt); i++)
		is_plt = (expr[i] & mask[i]) == plt[i];
	run->st.cfa = is_plt ? EH_CFA_REGISTER : EH_CFA_MEMORY;
	return run->eh->arch->elf_machine == EM_X86_64 &&
		       (is_plt || (size == 3 && expr[0] == DW_OP_breg0 + 6 &&
				      expr[1] < 0x80 && expr[2] == DW_OP_deref))
		   ? LINT_EH_KEPT
		   : LINT_EH_CFA_EXPR;
}

static enum lint_eh_rule lint_eh_rule_expr(
    struct lint_eh_run *run, uint8_t op, uint64_t reg, uint64_t size)
{
	const struct arch *arch = run->eh->arch;

	if (reg != arch->cfi.sp_reg && !lint_eh_column_of(arch, &run->st, reg))
		return LINT_EH_KEPT;
	if (size > EH_MAX_EXPR)
		return LINT_EH_EXPR_LENGTH;
	run->st.fp.has_off = run->st.fp.stale = false;
	return op == DW_CFA_expression && reg == arch->cfi.fp_reg &&
		       arch->elf_machine == EM_X86_64 && size == 2 &&
		       run->expr[0] == DW_OP_breg0 + 6 && run->expr[1] == 0
		   ? LINT_EH_KEPT
		   : LINT_EH_RULE_EXPR;
}

static enum lint_eh_rule lint_eh_do(
    struct lint_eh_run *run, uint8_t op, const uint64_t values[2])
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_GNU_args_size:
		return LINT_EH_KEPT;
	case DW_CFA_advance_loc1:
	case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		run->step = values[0] * run->cie->code_align;
		return LINT_EH_KEPT;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		run->st.cfa = EH_CFA_REGISTER;
		return LINT_EH_KEPT;
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		return run->st.cfa == EH_CFA_REGISTER ? LINT_EH_KEPT : LINT_EH_CFA_FORM;
	case DW_CFA_def_cfa_expression:
		return lint_eh_cfa_expr(run, values[0]);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return lint_eh_rule_expr(run, op, values[0], values[1]);
	case DW_CFA_restore_extended:
		return lint_eh_restore(run, values[0]);
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		if (run->has_remembered == (op == DW_CFA_remember_state))
			return LINT_EH_REMEMBER;
		run->has_remembered = !run->has_remembered;
		if (run->has_remembered)
			run->remembered = run->st;
		else
			run->st = run->remembered;
		return LINT_EH_KEPT;
	default:
		return lint_eh_set(run, op, values[0], (int64_t)values[1]);
	}
}

/* Reads and does one instruction. */
static enum lint_eh_rule lint_eh_insn(struct lint_eh_run *run)
{
	uint64_t values[2] = {0};
	const char *operands;
	uint8_t op, high;

	run->at = run->rd.pos;
	run->step = 0;
	if (run->n_insns++ >= EH_MAX_INSNS)
		return LINT_EH_INSN_COUNT;
	op = rd_u8(&run->rd);
	high = op & DW_CFA_high_mask;
	if (high) {
		values[0] = op & DW_CFA_low_mask;
		op = high == DW_CFA_advance_loc ? DW_CFA_advance_loc1
		     : high == DW_CFA_offset	? DW_CFA_offset_extended
						: DW_CFA_restore_extended;
	}
	operands = op == DW_CFA_GNU_args_size	 ? "u"
		   : op <= DW_CFA_val_expression ? eh_operands[op]
						 : "";
	if (!*operands)
		return LINT_EH_INSN_KNOWN;
	if (!lint_eh_operands(run, operands, high != 0, values))
		return LINT_EH_INSN_READABLE;
	return lint_eh_do(run, op, values);
}

static enum lint_eh_rule lint_eh_row(const struct lint_eh_state *st)
{
	if (st->cfa == EH_NO_CFA)
		return LINT_EH_CFA_NONE;
	return st->fp.stale || st->ra.stale ? LINT_EH_RESTORED : LINT_EH_KEPT;
}

static void lint_eh_enter(struct lint_eh_run *run, uint64_t program, uint64_t size)
{
	const struct cfi_section *section = &run->eh->frames.section;

	rd_init(&run->rd, section->data, (size_t)(program + size), section->big_endian);
	rd_seek(&run->rd, program);
	run->has_remembered = false;
}

/* Counts the bytes of rows up to end, or up to the instruction that breaks the rule that is returned; *first is the first
 * rule that a row breaks. */
static enum lint_eh_rule lint_eh_rows(struct lint_eh *eh, struct lint_eh_run *run,
    const struct cfi_fde *fde, uint64_t end, uint64_t *loc, enum lint_eh_rule *first)
{
	enum lint_eh_rule rule = LINT_EH_KEPT, row;

	lint_eh_enter(run, run->cie->program_off, run->cie->program_len);
	while (rule == LINT_EH_KEPT && !rd_at_end(&run->rd))
		rule = lint_eh_insn(run);
	run->initial = run->st;
	run->is_initial = false;
	lint_eh_enter(run, fde->program_off, fde->program_len);
	while (rule == LINT_EH_KEPT && *loc < end) {
		run->step = end - *loc;
		if (!rd_at_end(&run->rd))
			rule = lint_eh_insn(run);
		if (rule != LINT_EH_KEPT || run->step == 0)
			continue;
		if (run->step > end - *loc)
			run->step = end - *loc;
		row = lint_eh_row(&run->st);
		if (row == LINT_EH_KEPT)
			eh->result->walked.bytes += run->step;
		else
			lint_eh_broken(eh, row, run->at, *loc, run->step);
		*first = *first == LINT_EH_KEPT ? row : *first;
		*loc += run->step;
	}
	return rule;
}

void lint_eh_func(struct lint_eh *eh, const struct cfi_fde *fde, uint64_t end)
{
	const struct cfi_cie *cie = &eh->frames.cies[fde->cie];
	struct lint_eh_run run = {
	    .eh = eh, .cie = cie, .at = fde->off, .is_initial = true};
	enum lint_eh_rule first = LINT_EH_KEPT, rule = lint_eh_cie(eh, cie);
	uint64_t loc = fde->pc;

	if (fde->program_off + fde->program_len - fde->off - EH_LENGTH > EH_MAX_FDE)
		rule = LINT_EH_FDE_LENGTH;
	else if (cie->off < eh->start || cie->off > fde->off)
		rule = LINT_EH_CIE_PLACE;
	else if (rule != LINT_EH_KEPT)
		run.at = cie->off;
	else if (!image_code_segment(eh->image, fde->pc, fde->range))
		rule = LINT_EH_FDE_CODE;
	else if (cie->signal_frame)
		rule = LINT_EH_SIGNAL_FRAME;
	else
		rule = lint_eh_rows(eh, &run, fde, end, &loc, &first);
	if (rule != LINT_EH_KEPT)
		lint_eh_broken(eh, rule, run.at, loc, end - loc);
	first = first == LINT_EH_KEPT ? rule : first;
	if (first == LINT_EH_KEPT)
		eh->result->walked.functions++;
	else
		eh->result->severe[lint_eh_words[first].severity].functions++;
}
