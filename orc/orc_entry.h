/* SPDX-License-Identifier: MIT */
/*
 * An entry of Linux' ORC tables of x86-64 (arch/x86/include/asm/orc_types.h). In each layout it has 6
 * bytes, little endian: s16 sp_offset, s16 bp_offset, then from bit 0 sp_reg:4, bp_reg:4 and
 *
 *   ORC_4_14  type:2, end:1
 *   ORC_6_3   type:2, signal:1, end:1
 *   ORC_6_4   type:3, signal:1
 *   ORC_7_1   type:3, signal:1, with other numbers of registers
 */
#ifndef ORC_ORC_ENTRY_H
#define ORC_ORC_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

enum { ORC_ENTRY_BYTES = 6 };

/* By the first version of Linux that has it. */
enum orc_layout { ORC_4_14, ORC_6_3, ORC_6_4, ORC_7_1, ORC_N_LAYOUTS };

/* What an offset counts from. */
enum orc_reg {
	ORC_UNDEFINED, /* of BP: it holds the caller's value */
	ORC_PREV_SP,   /* the caller's SP */
	ORC_AX,
	ORC_DX,
	ORC_DI,
	ORC_BP,
	ORC_SP,
	ORC_R10,
	ORC_R13,
	ORC_BP_INDIRECT, /* *(BP + offset) */
	ORC_SP_INDIRECT, /* *SP + offset; up to Linux 5.12 *(SP + offset) */
	ORC_UNKNOWN_REG, /* a number without a meaning */
	ORC_N_REGS = ORC_UNKNOWN_REG
};

enum orc_type {
	ORC_NOTHING,	  /* nothing is known of the code */
	ORC_END_OF_STACK, /* the outermost frame */
	ORC_CALL,	  /* the return address is at the caller's SP - 8 */
	ORC_REGS, /* the interrupted code's registers are there (struct pt_regs) */
	ORC_REGS_PARTIAL, /* IP, CS, FLAGS, SP and SS of them are, as the processor puts them */
	ORC_UNKNOWN_TYPE,
};

struct orc_entry {
	int16_t sp_offset, bp_offset;
	enum orc_reg sp_reg, bp_reg;
	enum orc_type type;
	bool
	    signal; /* the frame below was interrupted, so that its address is no return address */
};

void orc_read(enum orc_layout layout, const uint8_t bytes[ORC_ENTRY_BYTES],
    struct orc_entry *entry);
/* The entry has known registers and a known type. */
void orc_write(enum orc_layout layout, const struct orc_entry *entry,
    uint8_t bytes[ORC_ENTRY_BYTES]);

#endif
