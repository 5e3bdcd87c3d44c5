/* SPDX-License-Identifier: MIT */
/* One FDE after the other, with its state as the reader keeps it. */
#include "gen/verify/lint_eh_program.h"

#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "cfi/opcodes.h"
#include "cfi/pointer.h"

enum {
	EH_MAX_CIE = 128,
	EH_MAX_FDE = 32768,
	EH_MAX_LETTERS = 15,
	EH_MAX_INSNS = 16384,
	EH_MAX_EXPR = 32,
	EH_MIN_CIE = 4 + 4, /* that lies between a CIE and its FDE, at least */
	EH_MIN_FACTOR = -8,
};

/* FP and RA. */
struct lint_eh_column {
	enum { EH_UNSPECIFIED, EH_AS_IT_IS, EH_AT_CFA, EH_CFA_PLUS, EH_REGISTER } kind;
	int64_t off;
	bool stale; /* the offset is not the one that the CFI means */
};

struct lint_eh_state {
	enum { EH_NO_CFA, EH_CFA_REGISTER, EH_CFA_MEMORY } cfa;
	int64_t cfa_off;
	struct lint_eh_column fp, ra;
};

struct lint_eh_run {
	struct lint_eh *eh;
	struct rd rd;
	struct lint_eh_state st, initial, remembered;
	bool is_initial, has_remembered;
	unsigned int n_insns;
	uint64_t step;	     /* bytes of code that the last instruction passes over */
	const uint8_t *expr; /* of the last instruction that has one */
};

/* ---- records ---- */

/* Reads a length, and ends rd with the record. */
static enum lint_eh_rule lint_eh_length(
    struct rd *rd, uint32_t most, enum lint_eh_rule length, enum lint_eh_rule readable)
{
	uint32_t len = rd_u32(rd);

	if (!rd->failed && (len == 0 || len > most))
		return length;
	if (!rd_has(rd, len))
		return readable;
	rd->size = rd->pos + len;
	return LINT_EH_KEPT;
}

static enum lint_eh_rule lint_eh_letters(
    struct lint_eh *eh, struct rd *rd, const char *letters)
{
	struct lint_eh_cie *cie = &eh->cie;
	struct rd data = *rd;

	cie->has_data = *letters == 'z';
	if (cie->has_data) {
		const uint64_t len = rd_uleb(rd);

		data = *rd;
		if (!rd_skip(rd, len))
			return LINT_EH_CIE_STRING;
		data.size = rd->pos;
		letters++;
	}
	for (; *letters; letters++) {
		if (!strchr("zPLRS", *letters))
			return LINT_EH_CIE_LETTER;
		if (*letters == 'z' || (*letters != 'S' && !cie->has_data))
			return LINT_EH_CIE_STRING;
		if (*letters == 'S')
			cie->signal_frame = true;
		else if (*letters == 'R')
			cie->encoding = rd_u8(&data);
		else if (*letters == 'L')
			rd_u8(&data);
		else if (cfi_pointer_read(&data, &eh->section,
			     rd_u8(&data) & (uint8_t)~DW_EH_PE_indirect, 0)
			     .status == CFI_POINTER_BAD)
			return LINT_EH_CIE_STRING;
	}
	return data.failed || data.pos != rd->pos ? LINT_EH_CIE_STRING : LINT_EH_KEPT;
}

static enum lint_eh_rule lint_eh_read_cie(struct lint_eh *eh, uint64_t off)
{
	const uint64_t most_code = eh->arch->insn_unit;
	struct lint_eh_cie *cie = &eh->cie;
	enum lint_eh_rule rule;
	const char *letters;
	struct rd rd;

	*cie = (struct lint_eh_cie){.off = off};
	rd_init(&rd, eh->section.data, eh->section.size, eh->section.big_endian);
	rd_seek(&rd, off);
	rule = lint_eh_length(&rd, EH_MAX_CIE, LINT_EH_CIE_LENGTH, LINT_EH_CIE_PLACE);
	if (rule != LINT_EH_KEPT)
		return rule;
	if (rd_u32(&rd) != 0)
		return LINT_EH_CIE_PLACE;
	if (rd_u8(&rd) != 1)
		return LINT_EH_CIE_VERSION;
	letters = rd_cstr(&rd);
	if (!letters || strlen(letters) > EH_MAX_LETTERS)
		return LINT_EH_CIE_STRING;
	cie->code_align = rd_uleb(&rd);
	cie->data_align = rd_sleb(&rd);
	if (cie->code_align == 0 || cie->code_align > most_code || cie->data_align >= 0 ||
	    cie->data_align < EH_MIN_FACTOR)
		return LINT_EH_CIE_FACTORS;
	if (rd_u8(&rd) != eh->arch->ra_reg)
		return LINT_EH_CIE_RETURN;
	cie->encoding = DW_EH_PE_absptr;
	rule = lint_eh_letters(eh, &rd, letters);
	if (rule == LINT_EH_KEPT && rd.failed)
		rule = LINT_EH_CIE_STRING;
	cie->program = rd.pos;
	cie->end = rd.size;
	return rule;
}

/* The code of the FDE, and where its instructions are. */
static enum lint_eh_rule lint_eh_read_code(
    struct lint_eh *eh, struct rd *rd, struct lint_eh_fde *fde)
{
	const uint8_t encoding = eh->cie.encoding,
		      application = encoding & DW_EH_PE_application_mask;
	struct cfi_pointer pc, size;

	if (encoding != DW_EH_PE_omit &&
	    (application == DW_EH_PE_funcrel || application == DW_EH_PE_aligned ||
		encoding & DW_EH_PE_indirect))
		return LINT_EH_ENCODING;
	pc = cfi_pointer_read(rd, &eh->section, encoding, 0);
	size = cfi_pointer_read_size(rd, &eh->section, encoding);
	if (eh->cie.has_data)
		rd_skip(rd, rd_uleb(rd));
	if (rd->failed || pc.status == CFI_POINTER_BAD || size.status == CFI_POINTER_BAD)
		return LINT_EH_FDE_READABLE;
	*fde = (struct lint_eh_fde){pc.value, size.value, rd->pos, rd->size};
	return image_code_segment(eh->image, fde->pc, fde->size) ? LINT_EH_KEPT
								 : LINT_EH_FDE_CODE;
}

enum lint_eh_rule lint_eh_read(struct lint_eh *eh, uint64_t off, struct lint_eh_fde *fde)
{
	enum lint_eh_rule rule;
	uint64_t cie;
	struct rd rd;

	*fde = (struct lint_eh_fde){0};
	eh->at = off;
	rd_init(&rd, eh->section.data, eh->section.size, eh->section.big_endian);
	rd_seek(&rd, off);
	rule = lint_eh_length(&rd, EH_MAX_FDE, LINT_EH_FDE_LENGTH, LINT_EH_FDE_READABLE);
	if (rule != LINT_EH_KEPT)
		return rule;
	cie = rd_u32(&rd);
	if (rd.failed)
		return LINT_EH_FDE_READABLE;
	if (cie > off + 4 || off + 4 - cie + EH_MIN_CIE > off ||
	    off + 4 - cie < eh->start)
		return LINT_EH_CIE_PLACE;
	cie = off + 4 - cie;
	if (cie != eh->cie.off || eh->cie.end == 0)
		eh->cie.broken = lint_eh_read_cie(eh, cie);
	if (eh->cie.broken != LINT_EH_KEPT) {
		eh->at = cie;
		return eh->cie.broken;
	}
	return lint_eh_read_code(eh, &rd, fde);
}

/* ---- instructions ---- */

/*
 * Operands: u an unsigned and F a signed LEB128, f and F times the data factor, e an expression, a digit a number of so
 * many bytes; - none at all. An empty string: not known to the reader.
 */
static const char eh_operands[][3] = {
    [DW_CFA_nop] = "-",
    [DW_CFA_advance_loc1] = "1",
    [DW_CFA_advance_loc2] = "2",
    [DW_CFA_advance_loc4] = "4",
    [DW_CFA_offset_extended] = "uf",
    [DW_CFA_restore_extended] = "u",
    [DW_CFA_undefined] = "u",
    [DW_CFA_same_value] = "u",
    [DW_CFA_register] = "uu",
    [DW_CFA_remember_state] = "-",
    [DW_CFA_restore_state] = "-",
    [DW_CFA_def_cfa] = "uu",
    [DW_CFA_def_cfa_register] = "u",
    [DW_CFA_def_cfa_offset] = "u",
    [DW_CFA_def_cfa_expression] = "e",
    [DW_CFA_expression] = "ue",
    [DW_CFA_offset_extended_sf] = "uF",
    [DW_CFA_def_cfa_sf] = "uF",
    [DW_CFA_def_cfa_offset_sf] = "F",
    [DW_CFA_val_offset] = "uf",
    [DW_CFA_val_offset_sf] = "uF",
    [DW_CFA_val_expression] = "ue",
    [DW_CFA_GNU_args_size] = "u",
};

/* Reads the operands from number i on. */
static bool lint_eh_operands(
    struct lint_eh_run *run, const char *operands, size_t i, uint64_t values[2])
{
	const int64_t factor = run->eh->cie.data_align;
	struct rd *rd = &run->rd;
	int64_t product = 0;
	bool wraps = false;

	for (; i < 2 && operands[i]; i++) {
		if (operands[i] == '1')
			values[i] = rd_u8(rd);
		else if (operands[i] == '2')
			values[i] = rd_u16(rd);
		else if (operands[i] == '4')
			values[i] = rd_u32(rd);
		else if (operands[i] == 'F')
			wraps |= __builtin_mul_overflow(rd_sleb(rd), factor, &product);
		else if (operands[i] != '-')
			values[i] = rd_uleb(rd);
		if (operands[i] == 'f')
			wraps |= __builtin_mul_overflow(values[i], factor, &product);
		if (operands[i] == 'f' || operands[i] == 'F')
			values[i] = (uint64_t)product;
		if (operands[i] == 'e')
			run->expr = rd_skip(rd, values[i]);
	}
	return !rd->failed && !wraps;
}

static struct lint_eh_column *lint_eh_column_of(
    const struct lint_eh *eh, struct lint_eh_state *st, uint64_t reg)
{
	return reg == eh->arch->cfi.fp_reg ? &st->fp
	       : reg == eh->arch->ra_reg   ? &st->ra
					   : NULL;
}

/* A new rule for a register. */
static enum lint_eh_rule lint_eh_set(
    struct lint_eh_run *run, uint8_t op, uint64_t reg, int64_t off)
{
	const struct arch *arch = run->eh->arch;
	struct lint_eh_column *column = lint_eh_column_of(run->eh, &run->st, reg);
	const bool is_value = op == DW_CFA_val_offset || op == DW_CFA_val_offset_sf;

	if (reg == arch->cfi.sp_reg &&
	    (is_value ? off != arch->sp_from_cfa
		      : op == DW_CFA_undefined || !arch->sp_saved))
		return LINT_EH_SP_RULE;
	if (!column)
		return LINT_EH_KEPT;
	*column = (struct lint_eh_column){.off = off};
	if (is_value)
		column->kind = EH_CFA_PLUS;
	else if (op == DW_CFA_register)
		column->kind = EH_REGISTER;
	else if (op == DW_CFA_undefined || op == DW_CFA_same_value)
		column->kind = EH_AS_IT_IS;
	else
		column->kind = EH_AT_CFA;
	return LINT_EH_KEPT;
}

/* The reader takes the kind of the CIE's rule and leaves the offset as it is. */
static enum lint_eh_rule lint_eh_restore(struct lint_eh_run *run, uint64_t reg)
{
	struct lint_eh_column *column = lint_eh_column_of(run->eh, &run->st, reg);
	const struct lint_eh_column *before =
	    lint_eh_column_of(run->eh, &run->initial, reg);

	if (run->is_initial)
		return LINT_EH_CIE_RESTORE;
	if (column) {
		column->kind = before->kind;
		column->stale = before->kind >= EH_AT_CFA && column->off != before->off;
	}
	return LINT_EH_KEPT;
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
	if (run->eh->arch->elf_machine != EM_X86_64)
		return LINT_EH_CFA_EXPR;
	for (size_t i = 0; is_plt && i < sizeof(plt); i++)
		is_plt = (expr[i] & mask[i]) == plt[i];
	run->st.cfa_off = 0;
	run->st.cfa = is_plt ? EH_CFA_REGISTER : EH_CFA_MEMORY;
	return is_plt ||
		       (size == 3 && expr[0] == DW_OP_breg0 + run->eh->arch->cfi.fp_reg &&
			   expr[1] < 0x80 && expr[2] == DW_OP_deref)
		   ? LINT_EH_KEPT
		   : LINT_EH_CFA_EXPR;
}

static enum lint_eh_rule lint_eh_rule_expr(
    struct lint_eh_run *run, uint8_t op, uint64_t reg, uint64_t size)
{
	const struct arch *arch = run->eh->arch;

	if (reg != arch->cfi.sp_reg && !lint_eh_column_of(run->eh, &run->st, reg))
		return LINT_EH_KEPT;
	if (size > EH_MAX_EXPR)
		return LINT_EH_EXPR_LENGTH;
	if (op != DW_CFA_expression || reg != arch->cfi.fp_reg ||
	    arch->elf_machine != EM_X86_64 || size != 2 ||
	    run->expr[0] != DW_OP_breg0 + reg || run->expr[1] != 0)
		return LINT_EH_RULE_EXPR;
	run->st.fp = (struct lint_eh_column){.kind = EH_AS_IT_IS};
	return LINT_EH_KEPT;
}

static enum lint_eh_rule lint_eh_cfa(
    struct lint_eh_run *run, uint8_t op, const uint64_t values[2])
{
	const bool is_whole = op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf;
	const int64_t off = (int64_t)values[is_whole];

	if (!is_whole && run->st.cfa != EH_CFA_REGISTER)
		return LINT_EH_CFA_FORM;
	run->st.cfa = EH_CFA_REGISTER;
	if (op == DW_CFA_def_cfa_register)
		return LINT_EH_KEPT;
	run->st.cfa_off = off;
	return (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_offset) && off < 0
		   ? LINT_EH_FAR_OFFSET
		   : LINT_EH_KEPT;
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
		run->step = values[0] * run->eh->cie.code_align;
		return LINT_EH_KEPT;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		return lint_eh_cfa(run, op, values);
	case DW_CFA_def_cfa_expression:
		return lint_eh_cfa_expr(run, values[0]);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return lint_eh_rule_expr(run, op, values[0], values[1]);
	case DW_CFA_restore_extended:
		return lint_eh_restore(run, values[0]);
	case DW_CFA_remember_state:
		if (run->has_remembered)
			return LINT_EH_REMEMBER;
		run->remembered = run->st;
		run->has_remembered = true;
		return LINT_EH_KEPT;
	case DW_CFA_restore_state:
		if (!run->has_remembered)
			return LINT_EH_REMEMBER;
		run->st = run->remembered;
		run->has_remembered = false;
		return LINT_EH_KEPT;
	default:
		return lint_eh_set(run, op, values[0], (int64_t)values[1]);
	}
}

/* Reads and does one instruction. */
static enum lint_eh_rule lint_eh_insn(struct lint_eh_run *run)
{
	uint64_t values[2] = {0};
	uint8_t op;
	size_t i = 0;

	run->eh->at = run->rd.pos;
	run->step = 0;
	if (run->n_insns++ >= EH_MAX_INSNS)
		return LINT_EH_INSN_COUNT;
	op = rd_u8(&run->rd);
	if (op & DW_CFA_high_mask) {
		values[0] = op & DW_CFA_low_mask;
		op &= DW_CFA_high_mask;
		op = op == DW_CFA_advance_loc ? DW_CFA_advance_loc1
		     : op == DW_CFA_offset    ? DW_CFA_offset_extended
					      : DW_CFA_restore_extended;
		i = 1;
	}
	if (op >= sizeof(eh_operands) / sizeof(eh_operands[0]) || !eh_operands[op][0])
		return LINT_EH_INSN_KNOWN;
	if (!lint_eh_operands(run, eh_operands[op], i, values))
		return LINT_EH_INSN_READABLE;
	return lint_eh_do(run, op, values);
}

static bool lint_eh_far(const struct lint_eh_column *column)
{
	int32_t narrow;

	return (column->kind == EH_AT_CFA || column->kind == EH_CFA_PLUS) &&
	       !num_s32(column->off, &narrow);
}

/* What is made of the state at an address. */
static enum lint_eh_rule lint_eh_row(const struct lint_eh_state *st)
{
	int32_t narrow;

	if (st->cfa == EH_NO_CFA)
		return LINT_EH_CFA_NONE;
	if (!num_s32(st->cfa_off, &narrow) || lint_eh_far(&st->fp) ||
	    lint_eh_far(&st->ra))
		return LINT_EH_FAR_OFFSET;
	return st->fp.stale || st->ra.stale ? LINT_EH_RESTORED : LINT_EH_KEPT;
}

static void lint_eh_enter(struct lint_eh_run *run, uint64_t program, uint64_t end)
{
	rd_init(
	    &run->rd, run->eh->section.data, (size_t)end, run->eh->section.big_endian);
	rd_seek(&run->rd, program);
	run->has_remembered = false;
}

/* The first rule that the instructions of the FDE break, from *loc on; bytes before it are counted. */
static enum lint_eh_rule lint_eh_program(struct lint_eh *eh,
    const struct lint_eh_fde *fde, uint64_t end, uint64_t *loc, enum lint_eh_rule *first)
{
	struct lint_eh_run run = {.eh = eh, .is_initial = true};
	enum lint_eh_rule rule = LINT_EH_KEPT, row;

	/* The CIE's may move the location, too; nobody's do. */
	lint_eh_enter(&run, eh->cie.program, eh->cie.end);
	while (rule == LINT_EH_KEPT && !rd_at_end(&run.rd))
		rule = lint_eh_insn(&run);
	run.initial = run.st;
	run.is_initial = false;
	lint_eh_enter(&run, fde->program, fde->end);
	while (rule == LINT_EH_KEPT && *loc < end) {
		bool is_last = rd_at_end(&run.rd);

		rule = is_last ? LINT_EH_KEPT : lint_eh_insn(&run);
		if (rule != LINT_EH_KEPT || (run.step == 0 && !is_last))
			continue;
		if (is_last || run.step > end - *loc)
			run.step = end - *loc;
		row = lint_eh_row(&run.st);
		if (row == LINT_EH_KEPT)
			eh->result->walked.bytes += run.step;
		else
			lint_eh_broken(eh, row, eh->at, *loc, run.step);
		*first = *first == LINT_EH_KEPT ? row : *first;
		*loc += run.step;
	}
	return rule;
}

void lint_eh_func(struct lint_eh *eh, uint64_t off, uint64_t pc, uint64_t end)
{
	enum lint_eh_rule first = LINT_EH_KEPT, rule;
	struct lint_eh_fde fde;
	uint64_t loc = pc;

	rule = lint_eh_read(eh, off, &fde);
	if (rule == LINT_EH_KEPT && eh->cie.signal_frame)
		rule = LINT_EH_SIGNAL_FRAME;
	else if (rule == LINT_EH_KEPT)
		rule = lint_eh_program(eh, &fde, end, &loc, &first);
	if (rule != LINT_EH_KEPT)
		lint_eh_broken(eh, rule, eh->at, loc, end - loc);
	first = first == LINT_EH_KEPT ? rule : first;
	if (first == LINT_EH_KEPT)
		eh->result->walked.functions++;
	else
		eh->result->severe[lint_eh_rule_severity(first)].functions++;
}
