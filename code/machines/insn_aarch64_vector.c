/* SPDX-License-Identifier: MIT */
/*
 * AArch64: floating point, Advanced SIMD, SVE and SME. Few of these instructions write a general
 * register, and the analysis does not follow what they write. So a table of them is enough.
 */
#include "code/machines/insn_aarch64.h"

static bool a64_vector_to(const struct a64 *a)
{
	return code_a64_write(a, code_a64_reg(a, 0));
}

static bool a64_vector_to_sp(const struct a64 *a)
{
	return code_a64_write(a, code_a64_reg_sp(a, 0));
}

static bool a64_vector_flags(const struct a64 *a)
{
	a->insn->ends_compare = true;
	return true;
}

static bool a64_vector_nothing(const struct a64 *a)
{
	(void)a;
	return true;
}

/* Conversions between floating point and integers, or fixed point: by the opcode. */
static bool a64_convert(const struct a64 *a)
{
	const uint32_t opcode = code_a64_bits(a, 16, 3);

	/* fjcvtzs sets flags. */
	a->insn->ends_compare = code_a64_bits(a, 16, 5) == 0x1e;
	if (opcode != 2 && opcode != 3 && opcode != 7)
		code_a64_write(a, code_a64_reg(a, 0));
	return true;
}

bool code_a64_simd(const struct a64 *a)
{
	static const struct a64_row rows[] = {
	    {0x7f20fc00, 0x1e200000, a64_convert},	/* integer */
	    {0x7f200000, 0x1e000000, a64_convert},	/* fixed point */
	    {0xff20fc00, 0x1e202000, a64_vector_flags}, /* fcmp */
	    {0xff200c00, 0x1e200400, a64_vector_flags}, /* fccmp */
	    {0xbfe0fc00, 0x0e002c00, a64_vector_to},	/* smov */
	    {0xbfe0fc00, 0x0e003c00, a64_vector_to},	/* umov */
	    {0, 0, a64_vector_nothing},
	};

	return code_a64_by_rows(a, rows, sizeof(rows) / sizeof(rows[0]));
}

/*
 * A store whose bytes are as many as the vector length says. Its base is a general register
 * nearly always, and one that is not does no harm here.
 */
static bool a64_vector_store(const struct a64 *a)
{
	struct code_effect *effect = code_effect_add(a->insn, CODE_STORE, CODE_NO_REG);

	effect->base = code_a64_reg_sp(a, 5);
	effect->width = UINT8_MAX;
	return true;
}

/* Many set the flags. */
bool code_a64_sve(const struct a64 *a)
{
	static const struct a64_row rows[] = {
	    {0xffa0f000, 0x04205000, a64_vector_to_sp}, /* addvl, addpl */
	    {0xffe0f000, 0x04a05000, a64_vector_to},	/* rdvl */
	    {0xff20e000, 0x0420e000, a64_vector_to},	/* cntb, incb, sqincb, ... */
	    {0xff38f800, 0x25288800, a64_vector_to},	/* incp, sqincp, ... */
	    {0xff38c000, 0x25208000, a64_vector_to},	/* cntp, firstp */
	    {0xff2ee000, 0x0520a000, a64_vector_to},	/* lasta, clasta */
	    {0xe0000000, 0xe0000000, a64_vector_store},
	    {0, 0, a64_vector_nothing},
	};

	a->insn->ends_compare = true;
	return code_a64_by_rows(a, rows, sizeof(rows) / sizeof(rows[0]));
}

bool code_a64_sme(const struct a64 *a)
{
	static const struct a64_row rows[] = {
	    {0xffff8fe0, 0xc04c03e0, a64_vector_to},	/* movt */
	    {0xa0200000, 0xa0200000, a64_vector_store}, /* and st1b of several */
	    {0, 0, a64_vector_nothing},
	};

	return code_a64_by_rows(a, rows, sizeof(rows) / sizeof(rows[0]));
}
