/* SPDX-License-Identifier: MIT */
/*
 * The encodings of x86-64. From bit 0 on:
 *
 *   RBP frame: 5 registers of 3 bits, at ascending addresses from RBP - 8 * offset; a bit
 *     unused; offset of 8 bits
 *   stack immediate: permutation of 10 bits, number of registers of 3 bits, 3 bits unused,
 *     stack size / 8 of 8 bits
 *   stack indirect: the same, but the 3 bits are the stack's bytes / 8 beside those that an
 *     instruction subtracts, and the 8 bits say where in the function that number stands
 */
#include <string.h>

#include "tests/bench/compare/unwind.h"

const uint16_t formats_x86_64_saved[5] = {3, 12, 13, 14, 15};

enum {
	X86_64_RBP = 6, /* the DWARF number, and the format's number, too */
	X86_64_RSP = 7,
	X86_64_MAX_REGS = 6,
	X86_64_FRAME_REGS = 5,
	X86_64_N_SAVED = 5,
};

/* How many values the digits of a permutation stand for, by the number of registers. */
static const uint16_t x86_64_weights[X86_64_MAX_REGS + 1][X86_64_MAX_REGS] = {
    {0},
    {1},
    {5, 1},
    {20, 4, 1},
    {60, 12, 3, 1},
    {120, 24, 6, 2, 1},
    {120, 24, 6, 2, 1, 0},
};

/* The format numbers rbx, r12 to r15 and rbp from 1 on. */
static enum formats_reason x86_64_frame(
    const struct formats_body *body, uint32_t *encoding)
{
	int32_t lowest = -16;
	uint32_t regs = 0;

	for (int i = 0; i < X86_64_N_SAVED; i++)
		if (body->saved.at[i] && body->saved.at[i] < lowest)
			lowest = body->saved.at[i];
	for (int i = 0; i < X86_64_N_SAVED; i++) {
		int64_t at = body->saved.at[i], slot = (at - lowest) / 8;

		if (at == FORMATS_SAVED_NOT)
			continue;
		if (at == FORMATS_SAVED_OTHER || at > -24 || (at - lowest) % 8 ||
		    slot >= X86_64_FRAME_REGS || (regs >> 3 * slot & 7))
			return FORMATS_SAVED_PLACE;
		regs |= (uint32_t)(i + 1) << 3 * slot;
	}
	if (lowest % 8 || lowest < -16 - 8 * 255)
		return FORMATS_SAVED_PLACE;
	*encoding =
	    UNWIND_X86_64_MODE_RBP_FRAME | (uint32_t)((-16 - lowest) / 8) << 16 | regs;
	return FORMATS_SAID;
}

/* The registers right below the return address, from the lowest address on. */
static bool x86_64_pushed(const struct formats_body *body, uint8_t *regs, uint32_t *n)
{
	int64_t at[X86_64_MAX_REGS] = {0};

	*n = 0;
	for (int i = 0; i < X86_64_N_SAVED; i++)
		at[i] = body->saved.at[i];
	if (body->answer.fp.kind == CFI_AT_CFA)
		at[X86_64_N_SAVED] = body->answer.fp.off;
	else if (body->answer.fp.kind != CFI_SAME)
		return false;
	for (int i = 0; i < X86_64_MAX_REGS; i++)
		*n += at[i] != FORMATS_SAVED_NOT;
	memset(regs, 0, X86_64_MAX_REGS);
	for (int i = 0; i < X86_64_MAX_REGS; i++) {
		int64_t slot;

		if (at[i] == FORMATS_SAVED_NOT)
			continue;
		if (at[i] > -16 || at[i] < -8 * ((int64_t)*n + 1) || at[i] % 8)
			return false;
		slot = *n - 1 - (-16 - at[i]) / 8;
		if (regs[slot])
			return false;
		regs[slot] = (uint8_t)(i + 1);
	}
	return true;
}

/* Each register as its place among those that have not come before. */
static uint32_t x86_64_permutation(const uint8_t *regs, uint32_t n)
{
	uint32_t permutation = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = regs[i] - 1u;

		for (uint32_t k = 0; k < i; k++)
			place -= regs[k] < regs[i];
		permutation += place * x86_64_weights[n][i];
	}
	return permutation;
}

static bool x86_64_number(
    const struct formats_input *input, uint64_t addr, uint32_t *number)
{
	uint8_t bytes[4];

	if (!input->code || !input->code(input->context, addr, bytes, sizeof(bytes)))
		return false;
	*number = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
		  (uint32_t)bytes[3] << 24;
	return true;
}

/*
 * Where the code subtracts the size from RSP (48 81 ec, then the number): the number is the
 * stack's size less up to 7 times 8. The offset of the number must fit 8 bits.
 */
static bool x86_64_find_sub(
    const struct formats_func *func, uint64_t size, uint32_t *offset, uint32_t *adjust)
{
	for (uint32_t i = 3; i <= 255 && i + 4 <= func->end - func->start; i++) {
		uint32_t number = 0, opcode = 0;

		if (!x86_64_number(func->input, func->start + i - 3, &opcode) ||
		    (opcode & 0xffffff) != 0xec8148 ||
		    !x86_64_number(func->input, func->start + i, &number))
			continue;
		if (number > size || (size - number) % 8 || (size - number) / 8 > 7)
			continue;
		*offset = i;
		*adjust = (uint32_t)((size - number) / 8);
		return true;
	}
	return false;
}

static enum formats_reason x86_64_frameless(
    const struct formats_func *func, const struct formats_body *body, uint32_t *encoding)
{
	int64_t size = body->answer.cfa.off;
	uint32_t n = 0, at = 0, adjust = 0;
	uint8_t regs[X86_64_MAX_REGS];

	if (!x86_64_pushed(body, regs, &n))
		return FORMATS_SAVED_PLACE;
	if (size % 8 || size < 8 * ((int64_t)n + 1) || size > INT32_MAX)
		return FORMATS_CFA_OFFSET;
	*encoding = n << 10 | x86_64_permutation(regs, n);
	if (size <= 255 * 8) {
		*encoding |= UNWIND_X86_64_MODE_STACK_IMMD | (uint32_t)(size / 8) << 16;
		return FORMATS_SAID;
	}
	if (!x86_64_find_sub(func, (uint64_t)size, &at, &adjust))
		return FORMATS_STACK_SIZE;
	*encoding |= UNWIND_X86_64_MODE_STACK_IND | at << 16 | adjust << 13;
	return FORMATS_SAID;
}

enum formats_reason formats_x86_64_encode(
    const struct formats_func *func, const struct formats_body *body, uint32_t *encoding)
{
	const struct formats_answer *answer = &body->answer;

	if (answer->outermost)
		return FORMATS_OUTERMOST;
	if (answer->ra.kind != CFI_AT_CFA || answer->ra.off != -8)
		return FORMATS_RA_PLACE;
	if (answer->cfa.kind != CFI_REG_PLUS)
		return FORMATS_CFA_EXPRESSION;
	if (answer->cfa.reg == X86_64_RSP)
		return x86_64_frameless(func, body, encoding);
	if (answer->cfa.reg != X86_64_RBP)
		return FORMATS_CFA_REGISTER;
	if (answer->cfa.off != 16)
		return FORMATS_CFA_OFFSET;
	if (answer->fp.kind != CFI_AT_CFA || answer->fp.off != -16)
		return FORMATS_FP_PLACE;
	return x86_64_frame(body, encoding);
}

static bool x86_64_decode_frame(
    uint32_t encoding, struct formats_answer *answer, struct formats_saved *saved)
{
	int32_t at = -16 - 8 * (int32_t)(encoding >> 16 & 0xff);

	answer->cfa =
	    (struct cfi_rule){.kind = CFI_REG_PLUS, .reg = X86_64_RBP, .off = 16};
	answer->fp = (struct cfi_rule){.kind = CFI_AT_CFA, .off = -16};
	for (int i = 0; i < X86_64_FRAME_REGS; i++, at += 8) {
		uint32_t reg = encoding >> 3 * i & 7;

		if (reg > X86_64_N_SAVED)
			return false;
		if (reg)
			saved->at[reg - 1] = at;
	}
	return true;
}

/* The register that is number place among those that are not in used. */
static uint32_t x86_64_unused(uint32_t used, uint32_t place)
{
	for (uint32_t reg = 1; reg <= X86_64_MAX_REGS; reg++) {
		if (used >> reg & 1)
			continue;
		if (place-- == 0)
			return reg;
	}
	return 0;
}

static bool x86_64_decode_pushed(
    uint32_t encoding, struct formats_answer *answer, struct formats_saved *saved)
{
	uint32_t n = encoding >> 10 & 7, rest = encoding & 0x3ff, used = 0;

	if (n > X86_64_MAX_REGS)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t weight = x86_64_weights[n][i];
		uint32_t reg = x86_64_unused(used, weight ? rest / weight : 0);
		int32_t at = -8 - 8 * (int32_t)(n - i);

		if (reg == 0)
			return false;
		rest = weight ? rest % weight : rest;
		used |= UINT32_C(1) << reg;
		if (reg == X86_64_RBP)
			answer->fp = (struct cfi_rule){.kind = CFI_AT_CFA, .off = at};
		else
			saved->at[reg - 1] = at;
	}
	return true;
}

bool formats_x86_64_decode(const struct formats_input *input, uint64_t start,
    uint32_t encoding, struct formats_answer *answer, struct formats_saved *saved)
{
	uint32_t mode = encoding & UNWIND_MODE_MASK, size = encoding >> 16 & 0xff,
		 number = 0;

	*answer = (struct formats_answer){0};
	*saved = (struct formats_saved){0};
	answer->ra = (struct cfi_rule){.kind = CFI_AT_CFA, .off = -8};
	answer->fp = (struct cfi_rule){.kind = CFI_SAME};
	if (mode == UNWIND_X86_64_MODE_RBP_FRAME)
		return x86_64_decode_frame(encoding, answer, saved);
	answer->cfa = (struct cfi_rule){.kind = CFI_REG_PLUS, .reg = X86_64_RSP};
	answer->cfa.off = 8 * (int64_t)size;
	if (mode == UNWIND_X86_64_MODE_STACK_IND) {
		if (!x86_64_number(input, start + size, &number))
			return false;
		answer->cfa.off = (int64_t)number + 8 * (encoding >> 13 & 7);
	} else if (mode != UNWIND_X86_64_MODE_STACK_IMMD) {
		return false;
	}
	return x86_64_decode_pushed(encoding, answer, saved);
}
