/* SPDX-License-Identifier: MIT */
/* Shared by the files of the A64 decoder. */
#ifndef CODE_MACHINES_INSN_AARCH64_H
#define CODE_MACHINES_INSN_AARCH64_H

#include "code/machines/machines.h"

enum { A64_SP = 31, A64_LINK = 30 };

struct a64 {
	uint32_t word;
	uint64_t pc;
	struct code_insn *insn;
};

/* Words that are one kind of instruction: those that are `word` under `mask`. */
struct a64_row {
	uint32_t mask, word;
	bool (*read)(const struct a64 *a); /* false: unallocated */
};

static inline uint32_t code_a64_bits(
    const struct a64 *a, unsigned int low, unsigned int n)
{
	return a->word >> low & ((1u << n) - 1);
}

static inline bool code_a64_bit(const struct a64 *a, unsigned int at)
{
	return a->word >> at & 1;
}

static inline int64_t code_a64_signed(
    const struct a64 *a, unsigned int low, unsigned int n)
{
	const int64_t sign = (int64_t)1 << (n - 1);

	return ((int64_t)code_a64_bits(a, low, n) ^ sign) - sign;
}

/* A field where 31 is the zero register. */
static inline uint8_t code_a64_reg(const struct a64 *a, unsigned int low)
{
	const uint8_t reg = (uint8_t)code_a64_bits(a, low, 5);

	return reg == 31 ? CODE_NO_REG : reg;
}

/* A field where 31 is SP. */
static inline uint8_t code_a64_reg_sp(const struct a64 *a, unsigned int low)
{
	return (uint8_t)code_a64_bits(a, low, 5);
}

static inline uint8_t code_a64_width(const struct a64 *a)
{
	return code_a64_bit(a, 31) ? 8 : 4;
}

static inline bool code_a64_write(const struct a64 *a, uint8_t reg)
{
	if (reg != CODE_NO_REG)
		a->insn->writes |= UINT32_C(1) << reg;
	return true;
}

/* Calls the reader of the first row that the word matches; false without one. */
bool code_a64_by_rows(const struct a64 *a, const struct a64_row *rows, size_t n);
/* dst = base + off; nothing for the zero register as dst. */
void code_a64_set(
    const struct a64 *a, uint8_t dst, uint8_t base, int64_t off, uint8_t width);

/* The groups that have files of their own. */
bool code_a64_branch(const struct a64 *a);
bool code_a64_memory(const struct a64 *a);
bool code_a64_simd(const struct a64 *a);
bool code_a64_sve(const struct a64 *a);
bool code_a64_sme(const struct a64 *a);

#endif
