/* SPDX-License-Identifier: MIT */
#ifndef TESTS_BENCH_COMPARE_OTEL_H
#define TESTS_BENCH_COMPARE_OTEL_H

#include <stdint.h>

enum {
	OTEL_REG_CFA = 1,
	OTEL_REG_PC = 2,
	OTEL_REG_SP = 3,
	OTEL_REG_FP = 4,
	OTEL_REG_LR = 5,

	OTEL_FLAG_COMMAND = 1,
	OTEL_FLAG_FRAME = 2, /* AArch64: FP is below RA */
	OTEL_FLAG_LEAF_ONLY = 4,
	OTEL_FLAG_DEREF_CFA = 8,
	OTEL_FLAG_REGISTER_RA = 16,

	OTEL_COMMAND_INVALID = 0,
	OTEL_COMMAND_STOP = 1,
	OTEL_COMMAND_PLT = 2,
	OTEL_COMMAND_SIGNAL = 3,

	OTEL_IS_COMMAND = 0x8000, /* of a delta */
	OTEL_MERGE_LESS = 0x80,	  /* 8 less, not more */
	OTEL_DEREF_UNIT = 8,	  /* of what is added after the read */
	OTEL_DEREF_MAX = 0x20,
	OTEL_PAGE_BITS = 16,

	OTEL_DELTA_BYTES = 4,
	OTEL_PAGE_BYTES = 24,
	OTEL_RULE_BYTES = 12,
	OTEL_MAX_RULES = 16384,
	OTEL_GAP = 16, /* more than MinimumGap, which is 15 */
};

/* Registers that can hold a return address: DWARF numbers of x86-64, and their names. */
static const struct {
	uint16_t dwarf;
	uint8_t otel;
} otel_regs[] = {{0, 6}, {5, 7}, {8, 8}, {9, 9}, {11, 10}, {13, 11}, {15, 12},
    {16, OTEL_REG_PC}, {6, OTEL_REG_FP}, {7, OTEL_REG_SP}};

#define OTEL_N_REGS (sizeof(otel_regs) / sizeof(*otel_regs))

#endif
