/* SPDX-License-Identifier: MIT */
/*
 * AArch64: data processing. Arm Architecture Reference Manual, C4.1, has the encodings, by the
 * classes that the comments here name. Number 31 is SP only in the fields that C4.1 calls "SP".
 */
#include "code/machines/insn_aarch64.h"

bool code_a64_by_rows(const struct a64 *a, const struct a64_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((a->word & rows[i].mask) == rows[i].word)
			return rows[i].read(a);
	return false;
}

void code_a64_set(
    const struct a64 *a, uint8_t dst, uint8_t base, int64_t off, uint8_t width)
{
	struct code_effect *effect;

	if (dst == CODE_NO_REG)
		return;
	effect = code_effect_add(a->insn, CODE_SET, dst);
	effect->base = base;
	effect->off = off;
	effect->width = width;
}

/* Bounds dst: from 0 to most. */
static bool a64_bound(const struct a64 *a, uint8_t dst, uint64_t most)
{
	if (dst == CODE_NO_REG)
		return true;
	if (most > INT64_MAX)
		return code_a64_write(a, dst);
	code_effect_add(a->insn, CODE_BOUND, dst)->off = (int64_t)most;
	return true;
}

/* An operand that is not a plain register: (reg << shift), of which bits count. */
struct a64_operand {
	uint8_t reg, shift, bits;
	bool is_signed;
};

/* dst = base + operand, or minus it. */
static void a64_sum(const struct a64 *a, uint8_t dst, uint8_t base,
    const struct a64_operand *operand, bool subtract)
{
	struct code_effect *effect;

	if (dst == CODE_NO_REG)
		return;
	if (operand->reg == CODE_NO_REG) {
		code_a64_set(a, dst, base, 0, code_a64_width(a));
		return;
	}
	effect = code_effect_add(a->insn, subtract ? CODE_SUBTRACT : CODE_SET, dst);
	effect->base = base;
	effect->index = operand->reg;
	effect->shift = operand->shift;
	effect->index_bits = operand->bits;
	effect->index_signed = operand->is_signed;
	effect->width = code_a64_width(a);
}

/*
 * The flags of base - index, or of base - off. A later branch looks at the registers as
 * they are then. So a comparison of a register that the instruction itself changes is left out.
 */
static void a64_flags(
    const struct a64 *a, uint8_t dst, uint8_t base, uint8_t index, int64_t off)
{
	struct code_effect *effect;

	if (base == CODE_NO_REG || dst == base || (dst != CODE_NO_REG && dst == index)) {
		a->insn->ends_compare = true;
		return;
	}
	effect = code_effect_add(a->insn, CODE_COMPARE, base);
	effect->index = index;
	effect->off = off;
	effect->width = code_a64_width(a);
}

/* PC-rel. addressing: adr, adrp. */
static bool a64_address(const struct a64 *a)
{
	const int64_t distance = code_a64_signed(a, 5, 19) * 4 + code_a64_bits(a, 29, 2);
	uint64_t target = a->pc + (uint64_t)distance;

	if (code_a64_bit(a, 31))
		target = (a->pc & ~UINT64_C(0xfff)) + (uint64_t)distance * 4096;
	code_a64_set(a, code_a64_reg(a, 0), CODE_NO_REG, (int64_t)target, 8);
	return true;
}

/* Add/subtract (immediate). */
static bool a64_add_immediate(const struct a64 *a)
{
	const int64_t off = (int64_t)code_a64_bits(a, 10, 12)
			    << (code_a64_bit(a, 22) ? 12 : 0);
	const bool subtract = code_a64_bit(a, 30), flags = code_a64_bit(a, 29);
	const uint8_t dst = flags ? code_a64_reg(a, 0) : code_a64_reg_sp(a, 0);
	const uint8_t base = code_a64_reg_sp(a, 5);

	if (flags && subtract)
		a64_flags(a, dst, base, CODE_NO_REG, off);
	else
		a->insn->ends_compare = flags;
	code_a64_set(a, dst, base, subtract ? -off : off, code_a64_width(a));
	return true;
}

/* Add/subtract (immediate, with tags): it changes bits of the address. Min/max (immediate). */
static bool a64_tag_immediate(const struct a64 *a)
{
	return code_a64_write(
	    a, code_a64_bit(a, 22) ? code_a64_reg(a, 0) : code_a64_reg_sp(a, 0));
}

/* DecodeBitMasks (J1.3): a run of ones, rotated, in elements of 2 to 64 bits. */
static bool a64_bitmask(const struct a64 *a, uint64_t *mask)
{
	const uint32_t length = code_a64_bits(a, 22, 1) << 6 | (~a->word >> 10 & 63);
	uint32_t size = 64, ones, turn;
	uint64_t element;

	if (length < 2 || (code_a64_bit(a, 22) && !code_a64_bit(a, 31)))
		return false;
	while (!(length & size))
		size >>= 1;
	ones = (code_a64_bits(a, 10, 6) & (size - 1)) + 1;
	turn = code_a64_bits(a, 16, 6) & (size - 1);
	if (ones == size)
		return false;
	element = (UINT64_C(1) << ones) - 1;
	if (turn) {
		element = element >> turn | element << (size - turn);
		if (size < 64)
			element &= (UINT64_C(1) << size) - 1;
	}
	for (; size < 64; size *= 2)
		element |= element << size;
	*mask = code_a64_bit(a, 31) ? element : element & UINT32_MAX;
	return true;
}

/* Logical (immediate): and, orr, eor, ands. Only ands does not write SP. */
static bool a64_logical_immediate(const struct a64 *a)
{
	const uint32_t kind = code_a64_bits(a, 29, 2);
	const uint8_t dst = kind == 3 ? code_a64_reg(a, 0) : code_a64_reg_sp(a, 0);
	const uint8_t base = code_a64_reg(a, 5), width = code_a64_width(a);
	struct code_effect *effect;
	uint64_t mask, cleared;

	if (!a64_bitmask(a, &mask))
		return false;
	a->insn->ends_compare = kind == 3;
	if (base == CODE_NO_REG) {
		code_a64_set(a, dst, base, kind % 3 ? (int64_t)mask : 0, width);
		return true;
	}
	if (kind % 3)
		return code_a64_write(a, dst);
	cleared = ~mask & (width == 8 ? UINT64_MAX : UINT32_MAX);
	if (cleared & (cleared + 1))
		return a64_bound(a, dst, mask);
	if (dst != CODE_NO_REG) {
		effect = code_effect_add(a->insn, CODE_ALIGN, dst);
		effect->base = base;
		effect->off = (int64_t)~cleared;
		effect->width = width;
	}
	return true;
}

/* movk: what is above the field and what is below it, put together again. */
static void a64_move_keep(const struct a64 *a, uint32_t shift, int64_t off)
{
	const uint8_t dst = code_a64_reg(a, 0), width = code_a64_width(a);
	struct code_effect *effect;

	if (dst == CODE_NO_REG)
		return;
	if (shift + 16 < width * 8u) {
		effect = code_effect_add(a->insn, CODE_ALIGN, shift ? CODE_SCRATCH : dst);
		effect->base = dst;
		effect->off = -((int64_t)1 << (shift + 16));
		effect->width = width;
	}
	effect = code_effect_add(a->insn, CODE_SET, dst);
	effect->off = off;
	effect->width = width;
	if (!shift) {
		effect->base = dst;
		return;
	}
	if (shift + 16 < width * 8u)
		effect->base = CODE_SCRATCH;
	effect->index = dst;
	effect->index_bits = (uint8_t)shift;
}

/* Move wide (immediate): movn, movz, movk. */
static bool a64_move_wide(const struct a64 *a)
{
	const uint32_t shift = code_a64_bits(a, 21, 2) * 16,
		       kind = code_a64_bits(a, 29, 2);
	const uint8_t dst = code_a64_reg(a, 0), width = code_a64_width(a);
	uint64_t value = (uint64_t)code_a64_bits(a, 5, 16) << shift;

	if (kind == 1 || shift >= width * 8u)
		return false;
	if (kind == 3) {
		a64_move_keep(a, shift, (int64_t)value);
		return true;
	}
	if (kind == 0)
		value = width == 8 ? ~value : ~value & UINT32_MAX;
	code_a64_set(a, dst, CODE_NO_REG, (int64_t)value, width);
	return true;
}

/* Bitfield: sbfm, bfm, ubfm, by which shifts and extensions are written, too. */
static bool a64_bitfield(const struct a64 *a)
{
	const uint32_t kind = code_a64_bits(a, 29, 2), size = code_a64_width(a) * 8u;
	const uint32_t right = code_a64_bits(a, 16, 6), last = code_a64_bits(a, 10, 6);
	const uint8_t dst = code_a64_reg(a, 0), src = code_a64_reg(a, 5);
	struct a64_operand operand = {.reg = src, .is_signed = kind == 0};

	if (kind == 3 || code_a64_bit(a, 22) != code_a64_bit(a, 31) || right >= size ||
	    last >= size)
		return false;
	if (kind == 1)
		return code_a64_write(a, dst);
	/* All bits above those of a right shift that keeps the lowest bit come from it. */
	if (right && last >= right)
		return kind ? a64_bound(a, dst, (UINT64_C(1) << (last - right + 1)) - 1)
			    : code_a64_write(a, dst);
	if (!right && kind && last < 31)
		return a64_bound(a, dst, (UINT64_C(1) << (last + 1)) - 1);
	operand.shift = (uint8_t)((size - right) % size);
	operand.bits = (uint8_t)(last + 1);
	if (operand.bits + operand.shift == size)
		operand.bits = 64;
	a64_sum(a, dst, CODE_NO_REG, &operand, false);
	return true;
}

/* Extract: extr, ror. autiasppc and autibsppc are among them. */
static bool a64_extract(const struct a64 *a)
{
	if ((a->word & 0xffc0001f) == 0xf380001f) {
		code_effect_add(a->insn, CODE_AUTHENTICATE, A64_LINK)->base = A64_SP;
		return true;
	}
	if (code_a64_bits(a, 29, 2) || code_a64_bit(a, 21) ||
	    code_a64_bit(a, 22) != code_a64_bit(a, 31) ||
	    code_a64_bits(a, 10, 6) >= code_a64_width(a) * 8u)
		return false;
	return code_a64_write(a, code_a64_reg(a, 0));
}

/* Logical (shifted register). Only orr moves registers. */
static bool a64_logical(const struct a64 *a)
{
	const uint8_t dst = code_a64_reg(a, 0), n = code_a64_reg(a, 5);
	const uint8_t m = code_a64_reg(a, 16);
	const uint32_t amount = code_a64_bits(a, 10, 6);
	struct a64_operand operand = {.reg = m, .shift = (uint8_t)amount, .bits = 64};

	if (amount >= code_a64_width(a) * 8u)
		return false;
	a->insn->ends_compare = code_a64_bits(a, 29, 2) == 3;
	if (code_a64_bits(a, 29, 2) != 1 || code_a64_bit(a, 21))
		return code_a64_write(a, dst);
	if (m == CODE_NO_REG || (n == CODE_NO_REG && !amount))
		code_a64_set(a, dst, m == CODE_NO_REG ? n : m, 0, code_a64_width(a));
	else if (n == CODE_NO_REG && !code_a64_bits(a, 22, 2))
		a64_sum(a, dst, CODE_NO_REG, &operand, false);
	else
		code_a64_write(a, dst);
	return true;
}

/* Add/subtract (shifted register). */
static bool a64_add_shifted(const struct a64 *a)
{
	const uint8_t dst = code_a64_reg(a, 0), base = code_a64_reg(a, 5);
	const uint32_t kind = code_a64_bits(a, 22, 2), amount = code_a64_bits(a, 10, 6);
	const bool subtract = code_a64_bit(a, 30), flags = code_a64_bit(a, 29);
	struct a64_operand operand = {
	    .reg = code_a64_reg(a, 16), .shift = (uint8_t)amount, .bits = 64};

	if (kind == 3 || amount >= code_a64_width(a) * 8u)
		return false;
	if (flags && subtract && (!amount || operand.reg == CODE_NO_REG))
		a64_flags(a, dst, base, operand.reg, 0);
	else
		a->insn->ends_compare = flags;
	if (kind && amount && operand.reg != CODE_NO_REG)
		return code_a64_write(a, dst);
	a64_sum(a, dst, base, &operand, subtract);
	return true;
}

/* Add/subtract (extended register). */
static bool a64_add_extended(const struct a64 *a)
{
	const bool subtract = code_a64_bit(a, 30), flags = code_a64_bit(a, 29);
	const uint8_t dst = flags ? code_a64_reg(a, 0) : code_a64_reg_sp(a, 0);
	const uint8_t base = code_a64_reg_sp(a, 5);
	const uint32_t extension = code_a64_bits(a, 13, 3),
		       amount = code_a64_bits(a, 10, 3);
	const struct a64_operand operand = {.reg = code_a64_reg(a, 16),
	    .shift = (uint8_t)amount,
	    .bits = (uint8_t)(8 << (extension & 3)),
	    .is_signed = extension >= 4};

	if (code_a64_bits(a, 22, 2) || amount > 4)
		return false;
	if (flags && subtract &&
	    (operand.reg == CODE_NO_REG ||
		(!amount && operand.bits >= code_a64_width(a) * 8)))
		a64_flags(a, dst, base, operand.reg, 0);
	else
		a->insn->ends_compare = flags;
	a64_sum(a, dst, base, &operand, subtract);
	return true;
}

/* Add/subtract (with carry), and those that change flags or checked pointers. */
static bool a64_carry(const struct a64 *a)
{
	const uint32_t low = code_a64_bits(a, 10, 6);

	if (!low) {
		a->insn->ends_compare = code_a64_bit(a, 29);
		return code_a64_write(a, code_a64_reg(a, 0));
	}
	if (low >> 3 == 1 && !code_a64_bit(a, 29) &&
	    code_a64_bit(a, 31)) /* addpt, subpt */
		return code_a64_write(a, code_a64_reg_sp(a, 0));
	a->insn->ends_compare = true; /* rmif, setf8, setf16 */
	return code_a64_bit(a, 29) && ((low & 31) == 1 || (low & 15) == 2);
}

/* Conditional compare (register), and (immediate). */
static bool a64_compare_if(const struct a64 *a)
{
	a->insn->ends_compare = true;
	return code_a64_bit(a, 29) && !code_a64_bit(a, 10) && !code_a64_bit(a, 4);
}

/* Conditional select. cset is made by it. */
static bool a64_select(const struct a64 *a)
{
	if (code_a64_bit(a, 29) || code_a64_bit(a, 11))
		return false;
	if ((a->word & 0x401f0fe0) == 0x001f07e0)
		return a64_bound(a, code_a64_reg(a, 0), 1);
	return code_a64_write(a, code_a64_reg(a, 0));
}

/* Data-processing (2 source). */
static bool a64_two_sources(const struct a64 *a)
{
	const bool irg = code_a64_bits(a, 10, 6) == 4;

	a->insn->ends_compare = code_a64_bit(a, 29); /* subps */
	return code_a64_write(a, irg ? code_a64_reg_sp(a, 0) : code_a64_reg(a, 0));
}

/* Data-processing (1 source): rbit, clz, ..., and with bit 16 the signing of addresses. */
static bool a64_one_source(const struct a64 *a)
{
	const uint32_t kind = code_a64_bits(a, 10, 6);
	const uint8_t dst = code_a64_reg(a, 0), n = code_a64_reg(a, 5);
	struct code_effect *effect;

	if (code_a64_bit(a, 29) || code_a64_bits(a, 17, 4))
		return false;
	if (!code_a64_bit(a, 16) || dst == CODE_NO_REG)
		return code_a64_write(a, dst);
	if (!code_a64_bit(a, 31))
		return false;
	if ((kind & 0x3e) == 0x22 || (kind & 0x3e) == 0x2e) {
		/* pacia171615 and the like have 30 where others have the register. */
		effect = code_effect_add(
		    a->insn, kind < 0x24 ? CODE_SIGN : CODE_AUTHENTICATE, 17);
		effect->base = 16;
		return true;
	}
	/* Groups of four: pac and aut by a register or SP, by 0, strip, by SP and PC. */
	effect =
	    code_effect_add(a->insn, kind & 0x14 ? CODE_AUTHENTICATE : CODE_SIGN, dst);
	if (kind < 8)
		effect->base = code_a64_reg_sp(a, 5);
	else if (kind >= 0x20)
		effect->base = A64_SP;
	if (kind < 0x20)
		return kind < 8 || (kind < 0x12 && n == CODE_NO_REG);
	return dst == A64_LINK && kind < 0x2a && !(kind & 2);
}

static bool a64_three_sources(const struct a64 *a)
{
	return code_a64_write(a, code_a64_reg(a, 0));
}

static bool a64_processing(const struct a64 *a)
{
	static const struct a64_row rows[] = {
	    {0x1f000000, 0x10000000, a64_address},
	    {0x1f800000, 0x11000000, a64_add_immediate},
	    {0x1f800000, 0x11800000, a64_tag_immediate},
	    {0x1f800000, 0x12000000, a64_logical_immediate},
	    {0x1f800000, 0x12800000, a64_move_wide},
	    {0x1f800000, 0x13000000, a64_bitfield},
	    {0x1f800000, 0x13800000, a64_extract},
	    {0x1f000000, 0x0a000000, a64_logical},
	    {0x1f200000, 0x0b000000, a64_add_shifted},
	    {0x1f200000, 0x0b200000, a64_add_extended},
	    {0x1fe00000, 0x1a000000, a64_carry},
	    {0x1fe00000, 0x1a400000, a64_compare_if},
	    {0x1fe00000, 0x1a800000, a64_select},
	    {0x5fe00000, 0x1ac00000, a64_two_sources},
	    {0x5fe00000, 0x5ac00000, a64_one_source},
	    {0x7f000000, 0x1b000000, a64_three_sources},
	};

	return code_a64_by_rows(a, rows, sizeof(rows) / sizeof(rows[0]));
}

/*
 * The main encoding table of C4.1, by bits 28 to 25. udf (group 0) is none here: zeros are
 * padding or data far more often.
 */
bool code_insn_aarch64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn)
{
	static const struct a64_row groups[] = {
	    {0x9e000000, 0x80000000, code_a64_sme},
	    {0x1e000000, 0x04000000, code_a64_sve},
	    {0x1c000000, 0x10000000, a64_processing},
	    {0x1c000000, 0x14000000, code_a64_branch},
	    {0x0a000000, 0x08000000, code_a64_memory},
	    {0x0e000000, 0x0a000000, a64_processing},
	    {0x0e000000, 0x0e000000, code_a64_simd},
	};
	struct a64 a = {.pc = pc, .insn = insn};

	if (size < 4)
		return false;
	a.word = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
		 (uint32_t)code[3] << 24;
	insn->length = 4;
	return code_a64_by_rows(&a, groups, sizeof(groups) / sizeof(groups[0]));
}
