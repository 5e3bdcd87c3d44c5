/* SPDX-License-Identifier: MIT */
/* AArch64: "Branches, Exception Generating and System instructions" of C4.1. */
#include "code/machines/insn_aarch64.h"

static bool a64_go(const struct a64 *a, enum code_control control, int64_t distance)
{
	a->insn->control = (uint8_t)control;
	a->insn->target = a->pc + (uint64_t)(distance * 4);
	return true;
}

static bool a64_go_to(const struct a64 *a, enum code_control control, uint8_t via)
{
	a->insn->control = (uint8_t)control;
	a->insn->via = via;
	/* No address is in the zero register. */
	return via != CODE_NO_REG;
}

static bool a64_stop(const struct a64 *a)
{
	a->insn->control = CODE_STOPS;
	return true;
}

static bool a64_jump(const struct a64 *a)
{
	return a64_go(a, CODE_JUMPS, code_a64_signed(a, 0, 26));
}

static bool a64_call(const struct a64 *a)
{
	code_a64_set(a, A64_LINK, CODE_NO_REG, (int64_t)(a->pc + 4), 8);
	return a64_go(a, CODE_CALLS, code_a64_signed(a, 0, 26));
}

/* b.cond, bc.cond. Conditions (C1.2.4) that are no unsigned comparison are not told. */
static bool a64_jump_if(const struct a64 *a)
{
	static const uint8_t conditions[16] = {[0] = CODE_IF_EQUAL,
	    [1] = CODE_IF_NOT_EQUAL,
	    [2] = CODE_IF_ABOVE_EQUAL,
	    [3] = CODE_IF_BELOW,
	    [8] = CODE_IF_ABOVE,
	    [9] = CODE_IF_BELOW_EQUAL};
	const uint32_t condition = code_a64_bits(a, 0, 4);

	a->insn->condition = conditions[condition];
	return a64_go(
	    a, condition < 14 ? CODE_BRANCHES : CODE_JUMPS, code_a64_signed(a, 5, 19));
}

static bool a64_compare_zero(const struct a64 *a)
{
	return a64_go(a, CODE_BRANCHES, code_a64_signed(a, 5, 19));
}

static bool a64_test_bit(const struct a64 *a)
{
	return a64_go(a, CODE_BRANCHES, code_a64_signed(a, 5, 14));
}

/* Compare and branch of FEAT_CMPBR: cbgt, cbhi, ... */
static bool a64_compare_both(const struct a64 *a)
{
	return a64_go(a, CODE_BRANCHES, code_a64_signed(a, 5, 9));
}

/* retaa and the like authenticate x30 by SP. Those that also take the PC are of FEAT_PAuth_LR. */
static bool a64_return_signed(const struct a64 *a)
{
	code_effect_add(a->insn, CODE_AUTHENTICATE, A64_LINK)->base = A64_SP;
	a->insn->control = CODE_RETURNS;
	return true;
}

static bool a64_return(const struct a64 *a)
{
	const uint8_t via = code_a64_reg(a, 5);

	if (via != A64_LINK)
		return a64_go_to(a, CODE_JUMPS_TO, via);
	a->insn->control = CODE_RETURNS;
	return true;
}

/* br, braa, braaz. The register keeps its signature. */
static bool a64_jump_to(const struct a64 *a)
{
	return a64_go_to(a, CODE_JUMPS_TO, code_a64_reg(a, 5));
}

static bool a64_call_to(const struct a64 *a)
{
	const uint8_t via = code_a64_reg(a, 5);

	/* Effects come first, and would take the target away. */
	if (via == A64_LINK)
		code_a64_write(a, A64_LINK);
	else
		code_a64_set(a, A64_LINK, CODE_NO_REG, (int64_t)(a->pc + 4), 8);
	return a64_go_to(a, CODE_CALLS_TO, via);
}

/* Linux returns a value and keeps all other registers. */
static bool a64_system_call(const struct a64 *a)
{
	a->insn->system = true;
	a->insn->via = 8;
	return code_a64_write(a, 0);
}

/* hvc, smc: the SMC Calling Convention lets them change x0 to x17. */
static bool a64_monitor_call(const struct a64 *a)
{
	a->insn->writes = 0x3ffff;
	return true;
}

/* Hints, by CRm and op2: signing, and what does nothing that is told here. */
static bool a64_hint(const struct a64 *a)
{
	static const struct {
		uint8_t number, kind, dst, base;
	} hints[] = {
	    {7, CODE_AUTHENTICATE, A64_LINK, CODE_NO_REG},  /* xpaclri */
	    {8, CODE_SIGN, 17, 16},			    /* pacia1716 */
	    {10, CODE_SIGN, 17, 16},			    /* pacib1716 */
	    {12, CODE_AUTHENTICATE, 17, 16},		    /* autia1716 */
	    {14, CODE_AUTHENTICATE, 17, 16},		    /* autib1716 */
	    {24, CODE_SIGN, A64_LINK, CODE_NO_REG},	    /* paciaz */
	    {25, CODE_SIGN, A64_LINK, A64_SP},		    /* paciasp */
	    {26, CODE_SIGN, A64_LINK, CODE_NO_REG},	    /* pacibz */
	    {27, CODE_SIGN, A64_LINK, A64_SP},		    /* pacibsp */
	    {28, CODE_AUTHENTICATE, A64_LINK, CODE_NO_REG}, /* autiaz */
	    {29, CODE_AUTHENTICATE, A64_LINK, A64_SP},	    /* autiasp */
	    {30, CODE_AUTHENTICATE, A64_LINK, CODE_NO_REG}, /* autibz */
	    {31, CODE_AUTHENTICATE, A64_LINK, A64_SP},	    /* autibsp */
	};
	const uint32_t number = code_a64_bits(a, 5, 7);

	a->insn->filler = number == 0;
	if (number == 40) /* chkfeat; older processors do nothing */
		a->insn->unsure = 1u << 16;
	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i].number == number)
			code_effect_add(a->insn, hints[i].kind, hints[i].dst)->base =
			    hints[i].base;
	return true;
}

static bool a64_barrier(const struct a64 *a)
{
	const uint32_t kind = code_a64_bits(a, 5, 3);

	/* dsb, isb and sb */
	a->insn->barrier = kind >= 4 && kind != 5;
	return true;
}

/* dc zva and dc gzva write zeros: aligned, and as far as every Linux machine does. */
static bool a64_clear(const struct a64 *a)
{
	struct code_effect *effect;

	if (code_a64_reg(a, 0) == CODE_NO_REG)
		return true;
	effect = code_effect_add(a->insn, CODE_ALIGN, CODE_SCRATCH);
	effect->base = code_a64_reg(a, 0);
	effect->off = -64;
	effect = code_effect_add(a->insn, CODE_STORE, CODE_NO_REG);
	effect->base = CODE_SCRATCH;
	effect->width = 64;
	return true;
}

/* Instructions that read into a register: mrs, sysl, tstart; mrrs reads into two. */
static bool a64_system_read(const struct a64 *a)
{
	code_a64_write(a, code_a64_reg(a, 0));
	if (code_a64_bit(a, 22) && code_a64_bits(a, 0, 5) < 31)
		a->insn->writes |= 2u << code_a64_bits(a, 0, 5);
	return true;
}

/* All else changes state that has no number here, of which the flags are one. */
static bool a64_system(const struct a64 *a)
{
	a->insn->ends_compare = true;
	return true;
}

bool code_a64_branch(const struct a64 *a)
{
	static const struct a64_row rows[] = {
	    {0xfc000000, 0x14000000, a64_jump}, {0xfc000000, 0x94000000, a64_call},
	    {0xff000000, 0x54000000, a64_jump_if},
	    {0x7e000000, 0x34000000, a64_compare_zero},
	    {0x7e000000, 0x36000000, a64_test_bit},
	    {0x7e000000, 0x74000000, a64_compare_both},
	    {0xffc0001f, 0x5500001f, a64_return_signed}, /* retaasppc */
	    /* Unconditional branch (register). */
	    {0xfffffc1f, 0xd61f0000, a64_jump_to},
	    {0xfffff81f, 0xd61f081f, a64_jump_to}, /* braaz */
	    {0xfffff800, 0xd71f0800, a64_jump_to}, /* braa */
	    {0xfffffc1f, 0xd63f0000, a64_call_to},
	    {0xfffff81f, 0xd63f081f, a64_call_to}, /* blraaz */
	    {0xfffff800, 0xd73f0800, a64_call_to}, /* blraa */
	    {0xfffffc1f, 0xd65f0000, a64_return},
	    {0xfffffbe0, 0xd65f0be0, a64_return_signed}, /* retaa, retaasppcr */
	    {0xfffff000, 0xd69f0000, a64_stop},		 /* eret: into another program */
	    {0xffffffff, 0xd6bf03e0, a64_stop},		 /* drps */
	    /* Exception generation. */
	    {0xffe0001f, 0xd4000001, a64_system_call},
	    {0xffe0001f, 0xd4000002, a64_monitor_call}, /* hvc */
	    {0xffe0001f, 0xd4000003, a64_monitor_call}, /* smc */
	    {0xffe0001f, 0xd4200000, a64_stop},		/* brk */
	    {0xffe0001f, 0xd4400000, a64_stop},		/* hlt */
	    {0xffe0001f, 0xd4600000, a64_stop},		/* tcancel */
	    {0xffe0001c, 0xd4a00000, a64_stop},		/* dcps1 */
	    /* System. */
	    {0xfffff01f, 0xd503201f, a64_hint}, {0xfffff000, 0xd5033000, a64_barrier},
	    {0xffffffe0, 0xd50b7420, a64_clear}, /* dc zva */
	    {0xffffffe0, 0xd50b7480, a64_clear}, /* dc gzva */
	    {0xffe00000, 0xd5200000, a64_system_read},
	    {0xffe00000, 0xd5600000, a64_system_read}, /* mrrs */
	    {0xffa00000, 0xd5000000, a64_system},      /* and msrr, sysp */
	};

	return code_a64_by_rows(a, rows, sizeof(rows) / sizeof(rows[0]));
}
