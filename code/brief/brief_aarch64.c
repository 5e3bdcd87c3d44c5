/* SPDX-License-Identifier: MIT */
/* AArch64: common instructions, by the classes of C4.1 in the Arm Architecture Reference Manual. */
#include "code/brief/brief_machines.h"
#include "code/machines/insn_aarch64.h"

static bool brief_a64_other(const struct a64 *a, struct code_brief *brief)
{
	brief->dst = code_a64_reg(a, 0);
	return true;
}

/* x and y can be one register. */
static bool brief_a64_asks(
    const struct a64 *a, struct code_brief *brief, uint8_t x, uint8_t y)
{
	brief->dst = code_a64_reg(a, 0);
	/* The upper half of the register becomes 0. */
	brief->gives = code_a64_bit(a, 31) ? BRIEF_ASK : BRIEF_OTHER;
	brief->from[0] = x;
	brief->from[1] = y;
	return true;
}

static bool brief_a64_sums(
    const struct a64 *a, struct code_brief *brief, uint8_t from, int64_t value)
{
	brief->dst = code_a64_reg(a, 0);
	brief->gives = code_a64_bit(a, 31) ? BRIEF_SUM : BRIEF_OTHER;
	brief->from[0] = from;
	brief->value = value;
	return true;
}

/* adr, adrp. */
static bool brief_a64_address(const struct a64 *a, struct code_brief *brief)
{
	const int64_t distance = code_a64_signed(a, 5, 19) * 4 + code_a64_bits(a, 29, 2);
	uint64_t target = a->pc + (uint64_t)distance;

	if (code_a64_bit(a, 31))
		target = (a->pc & ~UINT64_C(0xfff)) + (uint64_t)distance * 4096;
	brief->dst = code_a64_reg(a, 0);
	brief->gives = BRIEF_SUM;
	brief->value = (int64_t)target;
	return true;
}

static bool brief_a64_add_immediate(const struct a64 *a, struct code_brief *brief)
{
	const int64_t off = (int64_t)code_a64_bits(a, 10, 12)
			    << (code_a64_bit(a, 22) ? 12 : 0);

	brief_a64_sums(a, brief, code_a64_reg_sp(a, 5), code_a64_bit(a, 30) ? -off : off);
	if (!code_a64_bit(a, 29))
		brief->dst = code_a64_reg_sp(a, 0);
	return true;
}

/* Logical (immediate) of a register, where the mask is one. */
static bool brief_a64_logical_immediate(const struct a64 *a, struct code_brief *brief)
{
	const uint32_t kind = code_a64_bits(a, 29, 2), n = code_a64_bits(a, 22, 1);
	const uint32_t length = n << 6 | (~a->word >> 10 & 63);
	const uint8_t base = code_a64_reg(a, 5);
	uint32_t last = 64;

	if (base == CODE_NO_REG || length < 2 || (n && !code_a64_bit(a, 31)))
		return false;
	while (!(length & last))
		last >>= 1;
	last--;
	if ((code_a64_bits(a, 10, 6) & last) == last)
		return false;
	brief_a64_asks(a, brief, base, base);
	brief->gives = BRIEF_ASK;
	if (kind != 3)
		brief->dst = code_a64_reg_sp(a, 0);
	return true;
}

static bool brief_a64_move_wide(const struct a64 *a, struct code_brief *brief)
{
	const uint32_t shift = code_a64_bits(a, 21, 2) * 16,
		       kind = code_a64_bits(a, 29, 2);
	const uint8_t dst = code_a64_reg(a, 0);
	const uint64_t value = (uint64_t)code_a64_bits(a, 5, 16) << shift;

	if (kind == 1 || shift >= code_a64_width(a) * 8u)
		return false;
	if (kind == 3)
		return brief_a64_asks(a, brief, dst, dst);
	return brief_a64_sums(a, brief, CODE_NO_REG, (int64_t)(kind ? value : ~value));
}

static bool brief_a64_bitfield(const struct a64 *a, struct code_brief *brief)
{
	const uint32_t size = code_a64_width(a) * 8u;
	const uint8_t src = code_a64_reg(a, 5);

	if (src == CODE_NO_REG || code_a64_bits(a, 29, 2) == 3 ||
	    code_a64_bit(a, 22) != code_a64_bit(a, 31) ||
	    code_a64_bits(a, 16, 6) >= size || code_a64_bits(a, 10, 6) >= size)
		return false;
	return brief_a64_asks(a, brief, src, src);
}

static bool brief_a64_immediate(const struct a64 *a, struct code_brief *brief)
{
	switch (code_a64_bits(a, 23, 3)) {
	case 0:
	case 1:
		return brief_a64_address(a, brief);
	case 2:
		return brief_a64_add_immediate(a, brief);
	case 4:
		return brief_a64_logical_immediate(a, brief);
	case 5:
		return brief_a64_move_wide(a, brief);
	case 6:
		return brief_a64_bitfield(a, brief);
	default:
		return false;
	}
}

/* Logical and add/subtract, (shifted register). */
static bool brief_a64_shifted(const struct a64 *a, struct code_brief *brief)
{
	const bool add = code_a64_bit(a, 24);
	const uint32_t kind = code_a64_bits(a, 22, 2), amount = code_a64_bits(a, 10, 6);
	const uint8_t n = code_a64_reg(a, 5), m = code_a64_reg(a, 16);

	if (amount >= code_a64_width(a) * 8u ||
	    (add && (kind == 3 || code_a64_bit(a, 21))))
		return false;
	/* mov */
	if (!add && code_a64_bits(a, 29, 2) == 1 && n == CODE_NO_REG && !amount &&
	    !code_a64_bit(a, 21))
		return brief_a64_sums(a, brief, m, 0);
	if (n == CODE_NO_REG || m == CODE_NO_REG)
		return false;
	return brief_a64_asks(a, brief, n, m);
}

static bool brief_a64_registers(const struct a64 *a, struct code_brief *brief)
{
	const uint32_t low = code_a64_bits(a, 10, 6);
	const bool flags = code_a64_bit(a, 29);

	if (!code_a64_bit(a, 28))
		return brief_a64_shifted(a, brief);
	if ((a->word & 0x7f000000) == 0x1b000000) /* 3 source */
		return brief_a64_other(a, brief);
	switch (a->word >> 21 & 0xff) {
	case 0xd0: /* with carry */
		return !low && brief_a64_other(a, brief);
	case 0xd2: /* conditional compare */
		return flags && !code_a64_bit(a, 10) && !code_a64_bit(a, 4);
	case 0xd4: /* conditional select */
		return !flags && !code_a64_bit(a, 11) && brief_a64_other(a, brief);
	case 0xd6: /* 2 source, without those of memory tags; 1 source */
		if (flags || low == 4 || (code_a64_bit(a, 30) && a->word >> 16 & 0x1f))
			return false;
		return brief_a64_other(a, brief);
	default:
		return false;
	}
}

/* One register of the classes that have size, V and opc. */
static bool brief_a64_single(const struct a64 *a, struct code_brief *brief)
{
	const uint32_t size = code_a64_bits(a, 30, 2), opc = code_a64_bits(a, 22, 2);

	brief->width = (uint8_t)(1u << size);
	if (code_a64_bit(a, 26)) {
		if (opc > 1 && size)
			return false;
		brief->stores = !(opc & 1);
		if (opc > 1)
			brief->width = 16;
		return true;
	}
	if (size >= 2 && opc > 1 && (size == 3 || opc == 3))
		return false;
	if (opc) {
		/* The zero register drops what it loads, so the function does not use it as a constant. */
		brief->loads = code_a64_reg(a, 0) != CODE_NO_REG;
		brief->gives = size == 3 ? BRIEF_LOADED : BRIEF_OTHER;
		return brief_a64_other(a, brief);
	}
	brief->stores = true;
	if (size == 3)
		brief->src[0] = code_a64_reg(a, 0);
	return true;
}

static bool brief_a64_pair(const struct a64 *a, struct code_brief *brief)
{
	const uint32_t opc = code_a64_bits(a, 30, 2);
	const bool vector = code_a64_bit(a, 26);
	const uint32_t scale = vector || !opc ? 2 + opc : 3;

	/* Of the loads those of vector registers, and no tags of memory. */
	if (code_a64_bits(a, 23, 2) != 2 || opc == 3 || (!vector && opc == 1) ||
	    (code_a64_bit(a, 22) && !vector))
		return false;
	brief->off = code_a64_signed(a, 15, 7) * ((int64_t)1 << scale);
	brief->stores = !code_a64_bit(a, 22);
	brief->width = (uint8_t)(2u << scale);
	if (!vector && opc) {
		brief->src[0] = code_a64_reg(a, 0);
		brief->src[1] = code_a64_reg(a, 10);
	}
	return true;
}

static bool brief_a64_memory(const struct a64 *a, struct code_brief *brief)
{
	const uint32_t size = code_a64_bits(a, 30, 2);
	const bool wide = code_a64_bit(a, 26) && code_a64_bit(a, 23);

	brief->base = code_a64_reg_sp(a, 5);
	if ((a->word & 0x3b000000) == 0x39000000) { /* unsigned immediate */
		brief->off = (int64_t)code_a64_bits(a, 10, 12) << (wide ? 4 : size);
		return brief_a64_single(a, brief);
	}
	if ((a->word & 0x3b200c00) == 0x38000000) { /* unscaled immediate */
		brief->off = code_a64_signed(a, 12, 9);
		return brief_a64_single(a, brief);
	}
	if ((a->word & 0x3b200c00) == 0x38200800) { /* register offset */
		brief->index = code_a64_reg(a, 16);
		return code_a64_bit(a, 14) && brief->index != CODE_NO_REG &&
		       brief_a64_single(a, brief);
	}
	return (a->word & 0x3a000000) == 0x28000000 && brief_a64_pair(a, brief);
}

static bool brief_a64_go(const struct a64 *a, struct code_brief *brief,
    enum code_control control, unsigned int n)
{
	const unsigned int low = control == CODE_BRANCHES ? 5 : 0;

	brief->control = (uint8_t)control;
	brief->target = a->pc + (uint64_t)(code_a64_signed(a, low, n) * 4);
	return true;
}

static bool brief_a64_branch(const struct a64 *a, struct code_brief *brief)
{
	if ((a->word & 0xfc000000) == 0x94000000)
		return brief_a64_go(a, brief, CODE_CALLS, 26);
	if ((a->word & 0xfc000000) == 0x14000000)
		return brief_a64_go(a, brief, CODE_JUMPS, 26);
	if (a->word == 0xd65f03c0) {
		brief->control = CODE_RETURNS;
		return true;
	}
	if ((a->word & 0xff000000) == 0x54000000)
		return code_a64_bits(a, 0, 4) < 14 &&
		       brief_a64_go(a, brief, CODE_BRANCHES, 19);
	if ((a->word & 0x7e000000) == 0x34000000)
		return brief_a64_go(a, brief, CODE_BRANCHES, 19);
	if ((a->word & 0x7e000000) == 0x36000000)
		return brief_a64_go(a, brief, CODE_BRANCHES, 14);
	brief->filler = a->word == 0xd503201f;
	if ((a->word & 0xfffffc1f) == 0xd63f0000) {
		brief->control = CODE_CALLS_TO;
		return code_a64_reg(a, 5) != CODE_NO_REG;
	}
	return brief->filler;
}

/* Floating point and vectors: few write a general register. */
static bool brief_a64_simd(const struct a64 *a, struct code_brief *brief)
{
	const uint32_t opcode = code_a64_bits(a, 16, 3);

	if ((a->word & 0x7f20fc00) == 0x1e200000 ||
	    (a->word & 0x7f200000) == 0x1e000000) /* conversions */
		return opcode == 2 || opcode == 3 || opcode == 7 ||
		       brief_a64_other(a, brief);
	if ((a->word & 0xbfe0fc00) == 0x0e002c00 || (a->word & 0xbfe0fc00) == 0x0e003c00)
		return brief_a64_other(a, brief);
	return true;
}

bool code_brief_aarch64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_brief *brief)
{
	struct a64 a = {.pc = pc};

	if (size < 4)
		return false;
	a.word = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
		 (uint32_t)code[3] << 24;
	brief->length = 4;
	switch (a.word >> 25 & 15) {
	case 8:
	case 9:
		return brief_a64_immediate(&a, brief);
	case 10:
	case 11:
		return brief_a64_branch(&a, brief);
	case 4:
	case 6:
	case 12:
	case 14:
		return brief_a64_memory(&a, brief);
	case 5:
	case 13:
		return brief_a64_registers(&a, brief);
	case 7:
	case 15:
		return brief_a64_simd(&a, brief);
	default:
		return false;
	}
}
