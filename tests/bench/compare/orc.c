/* SPDX-License-Identifier: MIT */
/*
 * Linux' ORC of x86-64, in the layout that versions 6.4 to 7.0 have. .orc_unwind_ip has an s32
 * for each row, the distance from itself to the code, and .orc_unwind has its 6 bytes, little
 * endian: s16 sp_offset, s16 bp_offset, then from bit 0 sp_reg:4, bp_reg:4, type:3, signal:1
 * (arch/x86/include/asm/orc_types.h).
 *
 * The return address is always at CFA - 8 (arch/x86/kernel/unwind_orc.c). .orc_lookup, an
 * index of 4 bytes for each 256 bytes of the kernel's text, is not counted: modules have
 * none. Here .orc_unwind_ip is at the address of the first function, and .orc_unwind follows
 * it.
 */
#include "tests/bench/compare/table.h"

#include "base/num.h"
#include "base/rd.h"

enum {
	ORC_IP_SIZE = 4,
	ORC_ENTRY_BYTES = 6,

	ORC_DWARF_BP = 6,
	ORC_DWARF_SP = 7,
};

/* An offset counts from one of these. */
enum {
	ORC_UNDEFINED, /* of BP: it holds the caller's value */
	ORC_PREV_SP,   /* the caller's SP */
	ORC_DX,
	ORC_DI,
	ORC_BP,
	ORC_SP,
	ORC_R10,
	ORC_R13,
	ORC_BP_INDIRECT, /* *(BP + offset) */
	ORC_SP_INDIRECT, /* *SP + offset */
};

enum {
	ORC_NOTHING,	  /* nothing is known of the code */
	ORC_END_OF_STACK, /* the outermost frame */
	ORC_CALL,	  /* the return address is at the caller's SP - 8 */
};

struct orc_entry {
	int16_t sp_offset, bp_offset;
	uint8_t sp_reg, bp_reg, type;
	bool signal;
};

/* Registers that are the CFA itself, as at the start of a function that aligns its stack:
 * their DWARF numbers. */
static const struct {
	uint16_t dwarf;
	uint8_t orc;
} orc_whole[] = {{1, ORC_DX}, {5, ORC_DI}, {10, ORC_R10}, {13, ORC_R13}};

static bool orc_s16(int64_t value, int16_t *offset)
{
	if (value < INT16_MIN || value > INT16_MAX)
		return false;
	*offset = (int16_t)value;
	return true;
}

static enum formats_reason orc_cfa(const struct cfi_rule *cfa, struct orc_entry *entry)
{
	int64_t off = cfa->off;

	if (cfa->kind == CFI_AT_REG) {
		if (cfa->reg == ORC_DWARF_BP && cfa->add == 0)
			entry->sp_reg = ORC_BP_INDIRECT;
		else if (cfa->reg == ORC_DWARF_SP && cfa->off == 0)
			entry->sp_reg = ORC_SP_INDIRECT;
		else
			return FORMATS_CFA_EXPRESSION;
		if (entry->sp_reg == ORC_SP_INDIRECT)
			off = cfa->add;
	} else if (cfa->reg == ORC_DWARF_SP || cfa->reg == ORC_DWARF_BP) {
		entry->sp_reg = cfa->reg == ORC_DWARF_SP ? ORC_SP : ORC_BP;
	} else {
		for (size_t i = 0; i < sizeof(orc_whole) / sizeof(*orc_whole); i++)
			if (cfa->reg == orc_whole[i].dwarf)
				entry->sp_reg = orc_whole[i].orc;
		if (entry->sp_reg == ORC_UNDEFINED || off != 0)
			return FORMATS_CFA_REGISTER;
	}
	return orc_s16(off, &entry->sp_offset) ? FORMATS_SAID : FORMATS_CFA_OFFSET;
}

static enum formats_reason orc_fp(const struct cfi_rule *fp, struct orc_entry *entry)
{
	if (fp->kind == CFI_SAME)
		return FORMATS_SAID;
	if (fp->kind == CFI_AT_CFA)
		entry->bp_reg = ORC_PREV_SP;
	else if (fp->kind == CFI_AT_REG && fp->reg == ORC_DWARF_BP && fp->add == 0)
		entry->bp_reg = ORC_BP;
	else
		return FORMATS_FP_PLACE;
	return orc_s16(fp->off, &entry->bp_offset) ? FORMATS_SAID : FORMATS_FP_PLACE;
}

static void orc_write(const struct orc_entry *entry, uint8_t *bytes)
{
	const unsigned int words[] = {(uint16_t)entry->sp_offset,
	    (uint16_t)entry->bp_offset,
	    entry->sp_reg | (unsigned int)entry->bp_reg << 4 |
		(unsigned int)entry->type << 8 | (unsigned int)entry->signal << 11};

	for (int i = 0; i < ORC_ENTRY_BYTES; i++)
		bytes[i] = (uint8_t)(words[i / 2] >> i % 2 * 8 & 0xff);
}

static struct orc_entry orc_read(struct rd *rd)
{
	struct orc_entry entry;
	uint16_t flags;

	entry.sp_offset = rd_s16(rd);
	entry.bp_offset = rd_s16(rd);
	flags = rd_u16(rd);
	entry.sp_reg = flags & 15;
	entry.bp_reg = flags >> 4 & 15;
	entry.type = flags >> 8 & 7;
	entry.signal = flags >> 11 & 1;
	return entry;
}

static enum formats_reason orc_pack(const struct formats_func *func,
    const struct formats_answer *answer, struct formats_words *words)
{
	struct orc_entry entry = {.type = answer->outermost ? ORC_END_OF_STACK : ORC_CALL,
	    .signal = func->signal_frame};
	enum formats_reason why = FORMATS_SAID;

	if (!answer->outermost) {
		if (answer->ra.kind != CFI_AT_CFA || answer->ra.off != -8)
			return FORMATS_RA_PLACE;
		why = orc_cfa(&answer->cfa, &entry);
		if (why == FORMATS_SAID)
			why = orc_fp(&answer->fp, &entry);
	}
	orc_write(&entry, words->bytes);
	return why;
}

static bool orc_put(struct formats_table *table)
{
	struct wr *wr = &table->bytes;

	table->n_rows = table->n;
	for (size_t i = 0; i < table->n; i++)
		wr_u32(
		    wr, (uint32_t)(table->entries[i].pc - table->base - ORC_IP_SIZE * i));
	for (size_t i = 0; i < table->n; i++)
		wr_bytes(wr, table->entries[i].words.bytes, ORC_ENTRY_BYTES);
	return true;
}

const struct formats_table_kind formats_orc = {.name = "orc",
    .gap = FORMATS_GAP,
    .reach = INT32_MAX,
    .joins = true,
    .pack = orc_pack,
    .write = orc_put};

/* How far row i is from the base, bytes. */
static uint32_t orc_ip(const struct formats_table *table, size_t i)
{
	struct rd rd;

	rd_init(&rd, table->bytes.data, table->bytes.size, false);
	rd_seek(&rd, ORC_IP_SIZE * i);
	return rd_u32(&rd) + (uint32_t)(ORC_IP_SIZE * i);
}

/* The CFA of a row that is not an end. */
static bool orc_read_cfa(const struct orc_entry *entry, struct cfi_rule *cfa)
{
	const int16_t off = entry->sp_offset;

	*cfa = (struct cfi_rule){.kind = CFI_REG_PLUS, .reg = ORC_DWARF_SP, .off = off};
	if (entry->sp_reg == ORC_SP)
		return true;
	if (entry->sp_reg == ORC_SP_INDIRECT) {
		*cfa = (struct cfi_rule){
		    .kind = CFI_AT_REG, .reg = ORC_DWARF_SP, .add = off};
		return true;
	}
	if (entry->sp_reg == ORC_BP || entry->sp_reg == ORC_BP_INDIRECT) {
		cfa->kind = entry->sp_reg == ORC_BP ? CFI_REG_PLUS : CFI_AT_REG;
		cfa->reg = ORC_DWARF_BP;
		return true;
	}
	for (size_t i = 0; i < sizeof(orc_whole) / sizeof(*orc_whole); i++) {
		if (orc_whole[i].orc != entry->sp_reg)
			continue;
		*cfa = (struct cfi_rule){.kind = CFI_REG_PLUS, .reg = orc_whole[i].dwarf};
		return true;
	}
	return false;
}

static bool orc_read_fp(const struct orc_entry *entry, struct cfi_rule *fp)
{
	*fp = (struct cfi_rule){.kind = CFI_SAME};
	if (entry->bp_reg == ORC_PREV_SP)
		*fp = (struct cfi_rule){.kind = CFI_AT_CFA, .off = entry->bp_offset};
	else if (entry->bp_reg == ORC_BP)
		*fp = (struct cfi_rule){
		    .kind = CFI_AT_REG, .reg = ORC_DWARF_BP, .off = entry->bp_offset};
	return entry->bp_reg == ORC_UNDEFINED || fp->kind != CFI_SAME;
}

bool formats_orc_find(
    const struct formats_table *table, uint64_t pc, struct formats_answer *answer)
{
	size_t low = 0, high = table->n_rows;
	struct orc_entry entry;
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
	rd_seek(&rd, ORC_IP_SIZE * table->n_rows + ORC_ENTRY_BYTES * (low - 1));
	entry = orc_read(&rd);
	if (rd.failed || entry.type == ORC_NOTHING)
		return false;
	if (entry.type == ORC_END_OF_STACK) {
		answer->outermost = true;
		return true;
	}
	answer->ra = (struct cfi_rule){.kind = CFI_AT_CFA, .off = -8};
	return orc_read_cfa(&entry, &answer->cfa) && orc_read_fp(&entry, &answer->fp);
}
