/* SPDX-License-Identifier: MIT */
/*
 * s390x: instructions whose result is told, and comparisons. z/Architecture Principles of
 * Operation, chapter 7 "General Instructions", and chapter 9 for moves of floating-point registers.
 */
#include "code/machines/machines.h"
#include "code/machines/s390x.h"

/* How the result of an instruction of rule 'e' is computed. */
enum s390x_form {
	FORM_MOVE,	     /* r1 = the low bits of r2 */
	FORM_ADD,	     /* r1 = r1 + the low bits of r2 */
	FORM_ADD3,	     /* r1 = r2 + r3 */
	FORM_SUBTRACT,	     /* r1 = r1 - r2 */
	FORM_SUBTRACT3,	     /* r1 = r2 - r3 */
	FORM_CLEAR,	     /* r1 = r1 ^ r2 */
	FORM_ADDRESS,	     /* r1 = the operand's address */
	FORM_SET,	     /* r1 = immediate << arg */
	FORM_ADD_IMMEDIATE,  /* r1 = r1 + immediate */
	FORM_SUB_IMMEDIATE,  /* r1 = r1 - immediate */
	FORM_ADD3_IMMEDIATE, /* r1 = r3 + immediate */
	FORM_AND,	     /* r1 = r1 & (immediate and ones above it) */
	FORM_LEFT,	     /* r1 = r3 << off */
	FORM_RIGHT,	     /* r1 = r3 >> off, unsigned */
	FORM_ROTATE,
	FORM_COMPARE, /* bits of r1 and r2, unsigned */
	FORM_COMPARE_IMMEDIATE,
	FORM_FPR_FPR,
	FORM_FPR_GPR,
	FORM_GPR_FPR,
	FORM_FPR_ZERO,
};

enum { CC = 1, SIGNED = 2 };

static const struct s390x_exact {
	uint16_t key;
	uint8_t form;
	uint8_t bits; /* of the register, or of the immediate */
	uint8_t arg, flags;
} s390x_exacts[] = {
    {0xb904, FORM_MOVE, 64, 0, 0},		       /* lgr */
    {0x4100, FORM_ADDRESS, 0, 0, 0},		       /* la */
    {0xa709, FORM_SET, 16, 0, SIGNED},		       /* lghi */
    {0xc000, FORM_ADDRESS, 0, 0, 0},		       /* larl */
    {0xec55, FORM_ROTATE, 0, 0, CC},		       /* risbg */
    {0xeb0d, FORM_LEFT, 0, 0, 0},		       /* sllg */
    {0xb916, FORM_MOVE, 32, 0, 0},		       /* llgfr */
    {0xa70b, FORM_ADD_IMMEDIATE, 16, 0, CC | SIGNED},  /* aghi */
    {0xe371, FORM_ADDRESS, 0, 0, 0},		       /* lay */
    {0xb908, FORM_ADD, 64, 0, CC},		       /* agr */
    {0xb902, FORM_MOVE, 64, 0, CC},		       /* ltgr */
    {0xeb0c, FORM_RIGHT, 0, 0, 0},		       /* srlg */
    {0xb909, FORM_SUBTRACT, 0, 0, CC},		       /* sgr */
    {0xb914, FORM_MOVE, 32, 0, SIGNED},		       /* lgfr */
    {0xc00b, FORM_AND, 32, 0, CC},		       /* nilf */
    {0xa507, FORM_AND, 16, 0, CC},		       /* nill */
    {0xc00e, FORM_SET, 32, 32, 0},		       /* llihf */
    {0xb3cd, FORM_GPR_FPR, 0, 0, 0},		       /* lgdr */
    {0xb3c1, FORM_FPR_GPR, 0, 0, 0},		       /* ldgr */
    {0xb921, FORM_COMPARE, 64, 0, 0},		       /* clgr */
    {0xc20f, FORM_COMPARE_IMMEDIATE, 32, 0, 0},	       /* clfi */
    {0xc20e, FORM_COMPARE_IMMEDIATE, 64, 0, 0},	       /* clgfi */
    {0x1500, FORM_COMPARE, 32, 0, 0},		       /* clr */
    {0xa50d, FORM_SET, 16, 32, 0},		       /* llihl */
    {0xb90a, FORM_ADD, 64, 0, CC},		       /* algr */
    {0xa50e, FORM_SET, 16, 16, 0},		       /* llilh */
    {0xecd9, FORM_ADD3_IMMEDIATE, 16, 0, CC | SIGNED}, /* aghik */
    {0xa50c, FORM_SET, 16, 48, 0},		       /* llihh */
    {0xc001, FORM_SET, 32, 0, SIGNED},		       /* lgfi */
    {0xb982, FORM_CLEAR, 0, 0, CC},		       /* xgr */
    {0xa50f, FORM_SET, 16, 0, 0},		       /* llill */
    {0xb9e9, FORM_SUBTRACT3, 0, 0, CC},		       /* sgrk */
    {0xb985, FORM_MOVE, 16, 0, 0},		       /* llghr */
    {0xb9e8, FORM_ADD3, 0, 0, CC},		       /* agrk */
    {0xc20a, FORM_ADD_IMMEDIATE, 32, 0, CC},	       /* algfi */
    {0xc00f, FORM_SET, 32, 0, 0},		       /* llilf */
    {0xb984, FORM_MOVE, 8, 0, 0},		       /* llgcr */
    {0xb91a, FORM_ADD, 32, 0, CC},		       /* algfr */
    {0xb375, FORM_FPR_ZERO, 0, 0, 0},		       /* lzdr */
    {0x2800, FORM_FPR_FPR, 0, 0, 0},		       /* ldr */
    {0xc208, FORM_ADD_IMMEDIATE, 32, 0, CC | SIGNED},  /* agfi */
    {0xb918, FORM_ADD, 32, 0, CC | SIGNED},	       /* agfr */
    {0xb90b, FORM_SUBTRACT, 0, 0, CC},		       /* slgr */
    {0xc204, FORM_SUB_IMMEDIATE, 32, 0, CC},	       /* slgfi */
    {0xb9ea, FORM_ADD3, 0, 0, CC},		       /* algrk */
    {0xb907, FORM_MOVE, 16, 0, SIGNED},		       /* lghr */
    {0xb906, FORM_MOVE, 8, 0, SIGNED},		       /* lgbr */
    {0xb9eb, FORM_SUBTRACT3, 0, 0, CC},		       /* slgrk */
    {0xb912, FORM_MOVE, 32, 0, CC | SIGNED},	       /* ltgfr */
    {0xec59, FORM_ROTATE, 0, 0, 0},		       /* risbgn */
    {0xecdb, FORM_ADD3_IMMEDIATE, 16, 0, CC | SIGNED}, /* alghsik */
};

/* r1 = r2, rotated, with the bits from one to another kept and zeros elsewhere. */
static void s390x_rotate(const struct s390x_fields *fields, struct code_insn *insn)
{
	const uint8_t *code = fields->code;
	const uint8_t first = code[2] & 63, last = code[3] & 63, rotate = code[4] & 63;
	const uint8_t shift = 63 - last, bits = (uint8_t)(last - first + 1);
	struct code_effect *effect;

	if (!(code[3] & 0x80) || first > last) {
		insn->writes |= 1u << fields->r1; /* bits of r1 are kept, too */
	} else if (rotate == shift) {
		effect = code_effect_add(insn, CODE_SET, fields->r1);
		effect->index = fields->r2;
		effect->index_bits = bits;
		effect->shift = shift;
	} else if (first) {
		effect = code_effect_add(insn, CODE_BOUND, fields->r1);
		effect->off = (int64_t)(((UINT64_C(1) << bits) - 1) << shift);
	} else if (!rotate) {
		effect = code_effect_add(insn, CODE_ALIGN, fields->r1);
		effect->base = fields->r2;
		effect->off = (int64_t) - (UINT64_C(1) << shift);
	} else {
		insn->writes |= 1u << fields->r1;
	}
}

/* The shift is the lowest 6 bits of an address, here only where no register has a part in it. */
static void s390x_shift(
    const struct s390x_fields *fields, struct code_insn *insn, bool left)
{
	const uint8_t shift = fields->off & 63;
	struct code_effect *effect;

	if (fields->base != CODE_NO_REG) {
		insn->writes |= 1u << fields->r1;
	} else if (left || !shift) {
		effect = code_effect_add(insn, CODE_SET, fields->r1);
		effect->index = fields->r3;
		effect->shift = shift;
	} else {
		effect = code_effect_add(insn, CODE_BOUND, fields->r1);
		effect->off = (int64_t)(UINT64_MAX >> shift);
	}
}

static int64_t s390x_immediate(
    const struct s390x_exact *exact, const struct s390x_fields *fields)
{
	const uint8_t *at = fields->code + 2;
	const bool is_signed = exact->flags & SIGNED;

	if (exact->bits == 16)
		return is_signed ? s390x_signed16(at) : (uint16_t)s390x_signed16(at);
	return is_signed ? (int32_t)s390x_unsigned32(at) : (int64_t)s390x_unsigned32(at);
}

static void s390x_and(const struct s390x_exact *exact, const struct s390x_fields *fields,
    struct code_insn *insn)
{
	const uint64_t mask =
	    UINT64_MAX << exact->bits | (uint64_t)s390x_immediate(exact, fields);
	struct code_effect *effect;

	if (~mask & (~mask + 1)) {
		insn->writes |= 1u << fields->r1;
		return;
	}
	effect = code_effect_add(insn, CODE_ALIGN, fields->r1);
	effect->base = fields->r1;
	effect->off = (int64_t)mask;
}

static void s390x_compare(const struct s390x_exact *exact,
    const struct s390x_fields *fields, struct code_insn *insn)
{
	struct code_effect *effect = code_effect_add(insn, CODE_COMPARE, fields->r1);

	effect->width = exact->bits / 8;
	if (exact->form == FORM_COMPARE)
		effect->index = fields->r2;
	else
		effect->off = s390x_unsigned32(fields->code + 2);
}

/* Moves to and from floating-point registers. */
static void s390x_move_fpr(const struct s390x_exact *exact,
    const struct s390x_fields *fields, struct code_insn *insn)
{
	const uint8_t f1 = code_s390x_fpr[fields->r1], f2 = code_s390x_fpr[fields->r2];
	struct code_effect *effect = code_effect_add(
	    insn, CODE_SET, exact->form == FORM_GPR_FPR ? fields->r1 : f1);

	if (exact->form == FORM_FPR_GPR)
		effect->base = fields->r2;
	else if (exact->form != FORM_FPR_ZERO)
		effect->base = f2;
}

/* Adds the effects of forms that only move and add. */
static void s390x_sum(const struct s390x_exact *exact, const struct s390x_fields *fields,
    struct code_insn *insn)
{
	const bool minus = exact->form == FORM_SUBTRACT || exact->form == FORM_SUBTRACT3;
	struct code_effect *effect =
	    code_effect_add(insn, minus ? CODE_SUBTRACT : CODE_SET, fields->r1);

	switch (exact->form) {
	case FORM_MOVE:
	case FORM_ADD:
		if (exact->form == FORM_ADD)
			effect->base = fields->r1;
		effect->index = fields->r2;
		effect->index_bits = exact->bits;
		effect->index_signed = exact->flags & SIGNED;
		if (exact->form == FORM_MOVE && exact->bits == 64) {
			effect->base = fields->r2;
			effect->index = CODE_NO_REG;
			effect->index_signed = false;
		}
		break;
	case FORM_SUBTRACT:
		effect->base = fields->r1;
		effect->index = fields->r2;
		break;
	case FORM_ADD3:
	case FORM_SUBTRACT3:
		effect->base = fields->r2;
		effect->index = fields->r3;
		break;
	case FORM_ADD_IMMEDIATE:
		effect->base = fields->r1;
		effect->off = s390x_immediate(exact, fields);
		break;
	case FORM_SUB_IMMEDIATE:
		effect->base = fields->r1;
		effect->off = -s390x_immediate(exact, fields);
		break;
	case FORM_ADD3_IMMEDIATE:
		effect->base = fields->r3;
		effect->off = s390x_immediate(exact, fields);
		break;
	case FORM_SET:
		effect->off =
		    (int64_t)((uint64_t)s390x_immediate(exact, fields) << exact->arg);
		break;
	default:; /* FORM_CLEAR: 0 */
	}
}

void code_s390x_exact(const struct s390x_fields *fields, struct code_insn *insn)
{
	const struct s390x_exact *exact = s390x_exacts;

	while (exact->key != fields->key)
		exact++;
	insn->ends_compare = exact->flags & CC;
	switch (exact->form) {
	case FORM_ADDRESS:
		code_s390x_address(fields, insn, CODE_SET, fields->r1);
		break;
	case FORM_AND:
		s390x_and(exact, fields, insn);
		break;
	case FORM_LEFT:
	case FORM_RIGHT:
		s390x_shift(fields, insn, exact->form == FORM_LEFT);
		break;
	case FORM_ROTATE:
		s390x_rotate(fields, insn);
		break;
	case FORM_COMPARE:
	case FORM_COMPARE_IMMEDIATE:
		s390x_compare(exact, fields, insn);
		break;
	case FORM_FPR_FPR:
	case FORM_FPR_GPR:
	case FORM_GPR_FPR:
	case FORM_FPR_ZERO:
		s390x_move_fpr(exact, fields, insn);
		break;
	case FORM_CLEAR:
		if (fields->r1 != fields->r2) {
			insn->writes |= 1u << fields->r1;
			break;
		}
		__attribute__((fallthrough));
	default:
		s390x_sum(exact, fields, insn);
	}
}
