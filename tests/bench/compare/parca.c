/* SPDX-License-Identifier: MIT */
/*
 * The table that parca-agent's own BPF unwinder read until August 2024. Since then the agent
 * is built on OpenTelemetry's profiler. The source is bpf/unwinders/native.bpf.c and
 * pkg/stack/unwind/compact_unwind_table.go at commit f818b8749fd0 (2024-08-07). A row is
 * packed and has 14 bytes on x86-64, and 16 on AArch64:
 *
 *   u64 pc, [AArch64: s16 lr_offset,] u8 cfa_type, u8 rbp_type, s16 cfa_offset,
 *   s16 rbp_offset
 *
 * On x86-64 the return address is at CFA - 8. An offset of 0 says on AArch64 that it is in
 * LR. That agent cuts offsets to 16 bits; here code with larger ones is not expressed. A
 * row that ends a function stands wherever the next one does not start at once.
 */
#include "tests/bench/compare/table.h"

#include "base/rd.h"

enum {
	PARCA_CFA_UNDEFINED = 0,
	PARCA_CFA_FP = 1,
	PARCA_CFA_SP = 2,
	PARCA_CFA_EXPRESSION = 3, /* cfa_offset is 1 or 2, which PLT it is */
	PARCA_CFA_END = 4,

	PARCA_FP_UNCHANGED = 0,
	PARCA_FP_OFFSET = 1,
	PARCA_RA_UNDEFINED = 4,

	PARCA_PC_BYTES = 8,
};

/* In struct formats_words: cfa_type, rbp_type, then 3 offsets with the low byte first. */
enum { PARCA_CFA_AT = 2, PARCA_FP_AT = 4, PARCA_LR_AT = 6 };

static bool parca_s16(int64_t value, uint8_t *bytes)
{
	if (value < INT16_MIN || value > INT16_MAX)
		return false;
	bytes[0] = (uint8_t)(value & 0xff);
	bytes[1] = (uint8_t)((uint64_t)value >> 8 & 0xff);
	return true;
}

static enum formats_reason parca_ra(const struct formats_machine *machine,
    const struct cfi_rule *ra, struct formats_words *words)
{
	if (machine->isa == FORMATS_X86_64)
		return ra->kind == CFI_AT_CFA && ra->off == -8 ? FORMATS_SAID
							       : FORMATS_RA_PLACE;
	if (ra->kind == CFI_SAME)
		return FORMATS_SAID;
	return ra->kind == CFI_AT_CFA && ra->off != 0 &&
		       parca_s16(ra->off, words->bytes + PARCA_LR_AT)
		   ? FORMATS_SAID
		   : FORMATS_RA_PLACE;
}

static enum formats_reason parca_pack(const struct formats_func *func,
    const struct formats_answer *answer, struct formats_words *words)
{
	const struct formats_machine *machine = &func->input->machine;
	const struct cfi_rule *cfa = &answer->cfa, *fp = &answer->fp;

	if (func->signal_frame)
		return FORMATS_SIGNAL_FRAME;
	if (answer->outermost) {
		words->bytes[0] = PARCA_CFA_SP;
		words->bytes[1] = PARCA_RA_UNDEFINED;
		return FORMATS_SAID;
	}
	if (cfa->kind != CFI_REG_PLUS)
		return FORMATS_CFA_EXPRESSION;
	if (cfa->reg != machine->cfi.sp_reg && cfa->reg != machine->cfi.fp_reg)
		return FORMATS_CFA_REGISTER;
	words->bytes[0] = cfa->reg == machine->cfi.sp_reg ? PARCA_CFA_SP : PARCA_CFA_FP;
	if (!parca_s16(cfa->off, words->bytes + PARCA_CFA_AT))
		return FORMATS_CFA_OFFSET;
	if (fp->kind != CFI_SAME) {
		words->bytes[1] = PARCA_FP_OFFSET;
		if (fp->kind != CFI_AT_CFA ||
		    !parca_s16(fp->off, words->bytes + PARCA_FP_AT))
			return FORMATS_FP_PLACE;
	}
	return parca_ra(machine, &answer->ra, words);
}

static bool parca_pack_plt(uint8_t plt_at, struct formats_words *words)
{
	words->bytes[0] = PARCA_CFA_EXPRESSION;
	words->bytes[PARCA_CFA_AT] = plt_at == 11 ? 1 : 2;
	return plt_at == 11 || plt_at == 10;
}

/* The stored number, in the byte order of the table. */
static void parca_put(struct wr *wr, const uint8_t *bytes)
{
	wr_u16(wr, (uint16_t)(bytes[0] | bytes[1] << 8));
}

static bool parca_write(struct formats_table *table)
{
	struct wr *wr = &table->bytes;

	table->n_rows = table->n;
	for (size_t i = 0; i < table->n; i++) {
		const uint8_t *bytes = table->entries[i].words.bytes;

		wr_u64(wr, table->entries[i].pc);
		if (table->machine->isa == FORMATS_AARCH64)
			parca_put(wr, bytes + PARCA_LR_AT);
		wr_bytes(wr, bytes, 2);
		parca_put(wr, bytes + PARCA_CFA_AT);
		parca_put(wr, bytes + PARCA_FP_AT);
	}
	return true;
}

const struct formats_table_kind formats_parca = {.name = "parca",
    .gap = 1,
    .joins = true,
    .pack = parca_pack,
    .pack_plt = parca_pack_plt,
    .unknown = {{PARCA_CFA_END}},
    .write = parca_write};

/* A reader that stands at row i. */
static struct rd parca_row(const struct formats_table *table, size_t i)
{
	size_t size = table->machine->isa == FORMATS_AARCH64 ? 16 : 14;
	struct rd rd;

	rd_init(&rd, table->bytes.data, table->bytes.size, table->bytes.big_endian);
	rd_seek(&rd, size * i);
	return rd;
}

static size_t parca_last(const struct formats_table *table, uint64_t pc)
{
	size_t low = 0, high = table->n_rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct rd rd = parca_row(table, middle);

		if (rd_u64(&rd) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool formats_parca_find(
    const struct formats_table *table, uint64_t pc, struct formats_answer *answer)
{
	const struct cfi_machine *regs = &table->machine->cfi;
	size_t after = parca_last(table, pc);
	int16_t lr = -8, cfa, fp;
	uint8_t cfa_type, fp_type;
	struct rd rd;

	*answer = (struct formats_answer){0};
	if (after == 0)
		return false;
	rd = parca_row(table, after - 1);
	rd_u64(&rd);
	if (table->machine->isa == FORMATS_AARCH64)
		lr = rd_s16(&rd);
	cfa_type = rd_u8(&rd);
	fp_type = rd_u8(&rd);
	cfa = rd_s16(&rd);
	fp = rd_s16(&rd);
	answer->outermost = fp_type == PARCA_RA_UNDEFINED;
	if (rd.failed || cfa_type == PARCA_CFA_UNDEFINED || cfa_type >= PARCA_CFA_END ||
	    answer->outermost)
		return !rd.failed && answer->outermost;
	answer->cfa =
	    (struct cfi_rule){.kind = CFI_REG_PLUS, .off = cfa, .reg = regs->sp_reg};
	if (cfa_type == PARCA_CFA_FP)
		answer->cfa.reg = regs->fp_reg;
	if (cfa_type == PARCA_CFA_EXPRESSION)
		answer->cfa.off = pc % 16 >= (cfa == 1 ? 11 : 10) ? 16 : 8;
	answer->ra = lr ? (struct cfi_rule){.kind = CFI_AT_CFA, .off = lr}
			: (struct cfi_rule){.kind = CFI_SAME};
	answer->fp = fp_type == PARCA_FP_OFFSET
			 ? (struct cfi_rule){.kind = CFI_AT_CFA, .off = fp}
			 : (struct cfi_rule){.kind = CFI_SAME};
	return true;
}
