/* SPDX-License-Identifier: MIT */
#include "orc/orc_entry.h"

#include "base/rd.h"

enum { ORC_NUMBERS = 16 };

/* The registers by number: up to Linux 7.0, and since then. */
static const uint8_t regs_4_14[ORC_NUMBERS] = {ORC_UNDEFINED, ORC_PREV_SP, ORC_DX, ORC_DI,
    ORC_BP, ORC_SP, ORC_R10, ORC_R13, ORC_BP_INDIRECT, ORC_SP_INDIRECT, ORC_UNKNOWN_REG,
    ORC_UNKNOWN_REG, ORC_UNKNOWN_REG, ORC_UNKNOWN_REG, ORC_UNKNOWN_REG, ORC_UNKNOWN_REG};
static const uint8_t regs_7_1[ORC_NUMBERS] = {ORC_UNDEFINED, ORC_AX, ORC_DX, ORC_SP,
    ORC_BP, ORC_DI, ORC_R10, ORC_R13, ORC_PREV_SP, ORC_SP_INDIRECT, ORC_BP_INDIRECT,
    ORC_UNKNOWN_REG, ORC_UNKNOWN_REG, ORC_UNKNOWN_REG, ORC_UNKNOWN_REG, ORC_UNKNOWN_REG};

static const uint8_t *regs_of(enum orc_layout layout)
{
	return layout == ORC_7_1 ? regs_7_1 : regs_4_14;
}

/* Up to Linux 6.3: an entry without a base of SP says that nothing is known, or with the bit "end"
 * that the frame is the outermost one. */
static enum orc_type old_type(enum orc_reg sp_reg, unsigned int type, bool end)
{
	static const enum orc_type types[] = {
	    ORC_CALL, ORC_REGS, ORC_REGS_PARTIAL, ORC_UNKNOWN_TYPE};

	if (sp_reg == ORC_UNDEFINED)
		return end ? ORC_END_OF_STACK : ORC_NOTHING;
	return types[type];
}

void orc_read(
    enum orc_layout layout, const uint8_t bytes[ORC_ENTRY_BYTES], struct orc_entry *entry)
{
	struct rd rd;
	unsigned int flags;

	rd_init(&rd, bytes, ORC_ENTRY_BYTES, false);
	entry->sp_offset = rd_s16(&rd);
	entry->bp_offset = rd_s16(&rd);
	flags = rd_u16(&rd);
	entry->sp_reg = (enum orc_reg)regs_of(layout)[flags & 15];
	entry->bp_reg = (enum orc_reg)regs_of(layout)[flags >> 4 & 15];
	flags >>= 8;
	if (layout >= ORC_6_4) {
		entry->type = (flags & 7) < ORC_UNKNOWN_TYPE ? (enum orc_type)(flags & 7)
							     : ORC_UNKNOWN_TYPE;
		entry->signal = flags >> 3 & 1;
		return;
	}
	entry->type =
	    old_type(entry->sp_reg, flags & 3, flags >> (layout == ORC_6_3 ? 3 : 2) & 1);
	/* Before there was a bit for it, the kernel took the type. */
	entry->signal = layout == ORC_6_3
			    ? flags >> 2 & 1
			    : entry->type == ORC_REGS || entry->type == ORC_REGS_PARTIAL;
}

static unsigned int number_of(enum orc_layout layout, enum orc_reg reg)
{
	const uint8_t *regs = regs_of(layout);
	unsigned int i = 0;

	while (i < ORC_NUMBERS - 1 && regs[i] != reg)
		i++;
	return i;
}

static unsigned int type_bits(enum orc_layout layout, const struct orc_entry *entry)
{
	const unsigned int type =
	    entry->type >= ORC_CALL ? entry->type - (unsigned int)ORC_CALL : 0;

	if (layout >= ORC_6_4)
		return entry->type | (unsigned int)entry->signal << 3;
	if (layout == ORC_6_3)
		return type | (unsigned int)entry->signal << 2 |
		       (entry->type == ORC_END_OF_STACK) << 3;
	return type | (entry->type == ORC_END_OF_STACK) << 2;
}

void orc_write(
    enum orc_layout layout, const struct orc_entry *entry, uint8_t bytes[ORC_ENTRY_BYTES])
{
	const unsigned int words[] = {(uint16_t)entry->sp_offset,
	    (uint16_t)entry->bp_offset,
	    number_of(layout, entry->sp_reg) | number_of(layout, entry->bp_reg) << 4 |
		type_bits(layout, entry) << 8};

	for (int i = 0; i < ORC_ENTRY_BYTES; i++)
		bytes[i] = (uint8_t)(words[i / 2] >> i % 2 * 8 & 0xff);
}
