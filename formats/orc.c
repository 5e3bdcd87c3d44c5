/* SPDX-License-Identifier: MIT */
/*
 * Linux' ORC of x86-64, as arch/x86/include/asm/orc_types.h has it since version 6.4: 5
 * types and a mark for signal frames. .orc_unwind_ip has an s32 for each row, the distance
 * from itself to the code, and .orc_unwind has its 6 bytes:
 *
 *   s16 sp_offset, s16 bp_offset, then from bit 0: sp_reg:4, bp_reg:4, type:3, signal:1
 *
 * The return address is always at CFA - 8 (arch/x86/kernel/unwind_orc.c). .orc_lookup, an
 * index of 4 bytes for each 256 bytes of the kernel's text, is not counted: modules have
 * none. Here .orc_unwind_ip is at the address of the first function, and .orc_unwind follows
 * it.
 */
#include "formats/table.h"

#include "base/num.h"
#include "base/rd.h"

enum {
	ORC_REG_UNDEFINED = 0, /* of BP: unchanged */
	ORC_REG_PREV_SP = 1,   /* the CFA */
	ORC_REG_DX = 2,
	ORC_REG_DI = 3,
	ORC_REG_BP = 4,
	ORC_REG_SP = 5,
	ORC_REG_R10 = 6,
	ORC_REG_R13 = 7,
	ORC_REG_BP_INDIRECT = 8, /* *(BP + offset) */
	ORC_REG_SP_INDIRECT = 9, /* *SP + offset */

	ORC_TYPE_UNDEFINED = 0,
	ORC_TYPE_END_OF_STACK = 1,
	ORC_TYPE_CALL = 2,

	ORC_ROW_BYTES = 6,
	ORC_IP_BYTES = 4,

	ORC_DWARF_BP = 6,
	ORC_DWARF_SP = 7,
};

/* Registers that are the CFA itself, as at the start of a function that aligns its stack:
 * their DWARF numbers. */
static const struct {
	uint16_t dwarf;
	uint8_t orc;
} orc_whole[] = {{1, ORC_REG_DX}, {5, ORC_REG_DI}, {10, ORC_REG_R10}, {13, ORC_REG_R13}};

static bool orc_s16(int64_t value, uint8_t *bytes)
{
	if (value < INT16_MIN || value > INT16_MAX)
		return false;
	bytes[0] = (uint8_t)(value & 0xff);
	bytes[1] = (uint8_t)((uint64_t)value >> 8 & 0xff);
	return true;
}

static enum formats_reason orc_cfa(
    const struct cfi_rule *cfa, uint8_t *reg, uint8_t *offset)
{
	int64_t off = cfa->off;

	if (cfa->kind == CFI_AT_REG) {
		if (cfa->reg == ORC_DWARF_BP && cfa->add == 0)
			*reg = ORC_REG_BP_INDIRECT;
		else if (cfa->reg == ORC_DWARF_SP && cfa->off == 0)
			*reg = ORC_REG_SP_INDIRECT;
		else
			return FORMATS_CFA_EXPRESSION;
		if (*reg == ORC_REG_SP_INDIRECT)
			off = cfa->add;
	} else if (cfa->reg == ORC_DWARF_SP || cfa->reg == ORC_DWARF_BP) {
		*reg = cfa->reg == ORC_DWARF_SP ? ORC_REG_SP : ORC_REG_BP;
	} else {
		for (size_t i = 0; i < sizeof(orc_whole) / sizeof(*orc_whole); i++)
			if (cfa->reg == orc_whole[i].dwarf)
				*reg = orc_whole[i].orc;
		if (*reg == ORC_REG_UNDEFINED || off != 0)
			return FORMATS_CFA_REGISTER;
	}
	return orc_s16(off, offset) ? FORMATS_SAID : FORMATS_CFA_OFFSET;
}

static enum formats_reason orc_fp(
    const struct cfi_rule *fp, uint8_t *reg, uint8_t *offset)
{
	if (fp->kind == CFI_SAME)
		return FORMATS_SAID;
	if (fp->kind == CFI_AT_CFA)
		*reg = ORC_REG_PREV_SP;
	else if (fp->kind == CFI_AT_REG && fp->reg == ORC_DWARF_BP && fp->add == 0)
		*reg = ORC_REG_BP;
	else
		return FORMATS_FP_PLACE;
	return orc_s16(fp->off, offset) ? FORMATS_SAID : FORMATS_FP_PLACE;
}

static enum formats_reason orc_pack(const struct formats_func *func,
    const struct formats_answer *answer, struct formats_words *words)
{
	uint8_t sp_reg = 0, bp_reg = 0, type = ORC_TYPE_CALL, *bytes = words->bytes;
	enum formats_reason why = FORMATS_SAID;

	if (answer->outermost) {
		type = ORC_TYPE_END_OF_STACK;
	} else {
		if (answer->ra.kind != CFI_AT_CFA || answer->ra.off != -8)
			return FORMATS_RA_PLACE;
		why = orc_cfa(&answer->cfa, &sp_reg, bytes);
		if (why == FORMATS_SAID)
			why = orc_fp(&answer->fp, &bp_reg, bytes + 2);
	}
	bytes[4] = (uint8_t)(sp_reg | bp_reg << 4);
	bytes[5] = (uint8_t)(type | (func->signal_frame ? 1 << 3 : 0));
	return why;
}

static bool orc_write(struct formats_table *table)
{
	struct wr *wr = &table->bytes;

	table->n_rows = table->n;
	for (size_t i = 0; i < table->n; i++)
		wr_u32(wr,
		    (uint32_t)(table->entries[i].pc - table->base - ORC_IP_BYTES * i));
	for (size_t i = 0; i < table->n; i++)
		wr_bytes(wr, table->entries[i].words.bytes, ORC_ROW_BYTES);
	return true;
}

const struct formats_table_kind formats_orc = {.name = "orc",
    .gap = FORMATS_GAP,
    .reach = INT32_MAX,
    .joins = true,
    .pack = orc_pack,
    .write = orc_write};

/* How far row i is from the base, bytes. */
static uint32_t orc_ip(const struct formats_table *table, size_t i)
{
	struct rd rd;

	rd_init(&rd, table->bytes.data, table->bytes.size, false);
	rd.pos = ORC_IP_BYTES * i;
	return rd_u32(&rd) + (uint32_t)(ORC_IP_BYTES * i);
}

/* The CFA of a row that is not an end. */
static bool orc_read_cfa(uint8_t reg, int16_t off, struct cfi_rule *cfa)
{
	*cfa = (struct cfi_rule){.kind = CFI_REG_PLUS, .off = off};
	switch (reg) {
	case ORC_REG_SP:
		cfa->reg = ORC_DWARF_SP;
		return true;
	case ORC_REG_BP:
		cfa->reg = ORC_DWARF_BP;
		return true;
	case ORC_REG_BP_INDIRECT:
		cfa->kind = CFI_AT_REG;
		cfa->reg = ORC_DWARF_BP;
		return true;
	case ORC_REG_SP_INDIRECT:
		*cfa = (struct cfi_rule){
		    .kind = CFI_AT_REG, .reg = ORC_DWARF_SP, .add = off};
		return true;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof(orc_whole) / sizeof(*orc_whole); i++) {
		if (orc_whole[i].orc != reg)
			continue;
		*cfa = (struct cfi_rule){.kind = CFI_REG_PLUS, .reg = orc_whole[i].dwarf};
		return true;
	}
	return false;
}

static bool orc_read_fp(uint8_t reg, int16_t off, struct cfi_rule *fp)
{
	*fp = (struct cfi_rule){.kind = CFI_SAME};
	if (reg == ORC_REG_PREV_SP)
		*fp = (struct cfi_rule){.kind = CFI_AT_CFA, .off = off};
	else if (reg == ORC_REG_BP)
		*fp = (struct cfi_rule){
		    .kind = CFI_AT_REG, .reg = ORC_DWARF_BP, .off = off};
	return reg == ORC_REG_UNDEFINED || fp->kind != CFI_SAME;
}

bool formats_orc_find(
    const struct formats_table *table, uint64_t pc, struct formats_answer *answer)
{
	size_t low = 0, high = table->n_rows;
	int16_t sp_offset, bp_offset;
	uint8_t regs, rest;
	struct rd rd;

	*answer = (struct formats_answer){0};
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (orc_ip(table, middle) <= pc - table->base)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || pc < table->base)
		return false;
	rd_init(&rd, table->bytes.data, table->bytes.size, false);
	rd.pos = ORC_IP_BYTES * table->n_rows + ORC_ROW_BYTES * (low - 1);
	sp_offset = rd_s16(&rd);
	bp_offset = rd_s16(&rd);
	regs = rd_u8(&rd);
	rest = rd_u8(&rd);
	if (rd.failed || (rest & 7) == ORC_TYPE_UNDEFINED)
		return false;
	if ((rest & 7) == ORC_TYPE_END_OF_STACK) {
		answer->outermost = true;
		return true;
	}
	answer->ra = (struct cfi_rule){.kind = CFI_AT_CFA, .off = -8};
	return orc_read_cfa(regs & 15, sp_offset, &answer->cfa) &&
	       orc_read_fp(regs >> 4, bp_offset, &answer->fp);
}
