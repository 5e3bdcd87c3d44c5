/* SPDX-License-Identifier: MIT */
/* x86-64: common instructions by the maps of code/machines/x86_64_maps.c, whose letters are the cases here. */
#include "code/brief/brief_machines.h"
#include "code/machines/x86_64_common.h"

#include <string.h>

/* An instruction while it is read. */
struct brief_x86 {
	const uint8_t *at; /* behind the bytes read so far */
	struct code_brief *brief;
	uint8_t prefix, rex, opcode; /* 0: no such prefix */
	uint8_t letter;		     /* of the maps; '.' where they have none */
	uint8_t modrm, width;	     /* width: bytes of operands */
	bool has_memory;	     /* ModR/M leads to memory */
	bool elsewhere;		     /* in a segment that does not begin at 0 */
	bool by_pc; /* memory is at a distance from the next instruction */
};

/* Takes a signed number. */
static inline int64_t brief_take_1(struct brief_x86 *x)
{
	return (int8_t)*x->at++;
}

static inline int64_t brief_take_4(struct brief_x86 *x)
{
	const uint8_t *at = x->at;

	x->at += 4;
	return (int32_t)(at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			 (uint32_t)at[3] << 24);
}

/* An immediate of the width of operands, 4 bytes at most; of the value 2 bytes do not matter. */
static inline int64_t brief_take_imm(struct brief_x86 *x)
{
	if (x->width == 1)
		return brief_take_1(x);
	if (x->width != 2)
		return brief_take_4(x);
	x->at += 2;
	return 0;
}

/* The DWARF number of a register by the processor's. Of one byte it may be ah, ch, dh or bh. */
static inline uint8_t brief_reg(const struct brief_x86 *x, unsigned int number)
{
	static const uint8_t numbers[16] = {
	    0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

	return numbers[x->width == 1 && !x->rex ? number & 3 : number];
}

/* The register of ModR/M, and its other operand, which is one. */
static inline uint8_t brief_modrm_reg(const struct brief_x86 *x)
{
	return brief_reg(x, (x->modrm >> 3 & 7u) | (x->rex & 4u) << 1);
}

static inline uint8_t brief_modrm_rm(const struct brief_x86 *x)
{
	return brief_reg(x, (x->modrm & 7u) | (x->rex & 1u) << 3);
}

static inline uint8_t brief_group(const struct brief_x86 *x)
{
	return x->modrm >> 3 & 7;
}

/* One prefix at most, REX and the operation code. Most have REX or none. */
static inline void brief_take_code(struct brief_x86 *x)
{
	uint8_t code = *x->at++;

	if (code == 0x66 || code == 0xf2 || code == 0xf3 || code == 0x64) {
		x->prefix = code;
		code = *x->at++;
	}
	if (code >> 4 == 4) {
		x->rex = code;
		code = *x->at++;
	}
	x->letter = (uint8_t)code_x86_first[code];
	if (code == 0x0f) {
		code = *x->at++;
		x->letter = (uint8_t)code_x86_second[code];
	}
	x->opcode = code;
}

/* The width of operands, and whether the prefix is one of such an instruction. */
static inline bool brief_prefix_fits(struct brief_x86 *x)
{
	const uint32_t form = code_x86_forms[x->letter];

	x->width = form & FORM_BYTES && !(x->opcode & 1) ? 1 : x->rex & 8 ? 8 : 4;
	if (form & FORM_VECTOR)
		return code_x86_vector_prefix(
		    code_x86_row(true, x->opcode).prefixes, x->prefix);
	if (!x->prefix)
		return true;
	x->elsewhere = x->prefix == 0x64;
	if (x->prefix != 0x66)
		return x->elsewhere && form & FORM_SEGMENT;
	if (x->width == 4)
		x->width = 2;
	return form & FORM_PREFIX_66 && x->width != 8;
}

/* ModR/M, and the bytes behind it, as an address. */
static inline void brief_take_modrm(struct brief_x86 *x)
{
	struct code_brief *brief = x->brief;
	const uint8_t modrm = *x->at++, mod = modrm >> 6;
	unsigned int base = modrm & 7, width = x->width;

	x->modrm = modrm;
	if (mod == 3)
		return;
	x->has_memory = true;
	x->by_pc = base == 5 && !mod;
	x->width = 8;
	if (base == 4) {
		const uint8_t sib = *x->at++;
		const unsigned int index = (sib >> 3 & 7u) | (x->rex & 2u) << 2;

		base = sib & 7;
		if (index != 4)
			brief->index = brief_reg(x, index);
	}
	if (base != 5 || mod)
		brief->base = brief_reg(x, base | (x->rex & 1u) << 3);
	if (mod == 1)
		brief->off = brief_take_1(x);
	else if (mod == 2 || base == 5)
		brief->off = brief_take_4(x);
	x->width = (uint8_t)width;
}

/* What is computed of both registers; a and b can be one. */
static inline bool brief_asks(struct brief_x86 *x, uint8_t dst, uint8_t a, uint8_t b)
{
	x->brief->dst = dst;
	x->brief->gives = BRIEF_ASK;
	x->brief->from[0] = a;
	x->brief->from[1] = b;
	return true;
}

static inline bool brief_sums(
    struct brief_x86 *x, uint8_t dst, uint8_t from, int64_t value)
{
	x->brief->dst = dst;
	x->brief->gives = BRIEF_SUM;
	x->brief->from[0] = from;
	x->brief->value = value;
	return true;
}

static inline bool brief_other(struct brief_x86 *x, uint8_t dst)
{
	x->brief->dst = dst;
	return true;
}

static inline bool brief_loads(struct brief_x86 *x)
{
	x->brief->loads = x->has_memory && !x->elsewhere;
	return true;
}

static inline bool brief_stores(struct brief_x86 *x, uint8_t width)
{
	x->brief->stores = !x->elsewhere;
	x->brief->width = width;
	return true;
}

/* The operand of ModR/M gets another value, computed of itself and of src. */
static inline bool brief_changes_rm(struct brief_x86 *x, uint8_t src)
{
	const uint8_t rm = brief_modrm_rm(x);

	return x->has_memory ? brief_stores(x, x->width) : brief_asks(x, rm, rm, src);
}

/* add, or, and, sub, xor, cmp with two operands. */
static bool brief_arithmetic(struct brief_x86 *x)
{
	const uint8_t reg = brief_modrm_reg(x), rm = brief_modrm_rm(x);
	const uint8_t kind = x->opcode >> 3;

	if (kind == 7)
		return brief_loads(x);
	if (kind == 6 && !x->has_memory && reg == rm)
		return x->width >= 4 ? brief_sums(x, reg, CODE_NO_REG, 0)
				     : brief_other(x, reg);
	if (!(x->opcode & 2))
		return brief_changes_rm(x, reg);
	if (!x->has_memory)
		return brief_asks(x, reg, reg, rm);
	return brief_loads(x) && brief_other(x, reg);
}

/* The same with an immediate. */
static bool brief_arithmetic_imm(struct brief_x86 *x, int64_t imm)
{
	const uint8_t group = brief_group(x), rm = brief_modrm_rm(x);

	if (group == 7)
		return brief_loads(x);
	if (!x->has_memory && x->width == 8 && (group == 0 || group == 5))
		return brief_sums(x, rm, rm, group ? -imm : imm);
	/* A barrier, or a probe of the stack, changes nothing. */
	return (imm || !x->has_memory) && brief_changes_rm(x, rm);
}

static bool brief_mov(struct brief_x86 *x)
{
	const uint8_t reg = brief_modrm_reg(x), rm = brief_modrm_rm(x);
	const bool to_reg = x->opcode & 2;

	if (!x->has_memory)
		return x->width == 8
			   ? brief_sums(x, to_reg ? reg : rm, to_reg ? rm : reg, 0)
			   : brief_other(x, to_reg ? reg : rm);
	if (!to_reg) {
		if (x->width == 8)
			x->brief->src[0] = reg;
		return brief_stores(x, x->width);
	}
	if (x->width == 8 && !x->elsewhere)
		x->brief->gives = BRIEF_LOADED;
	return brief_loads(x) && brief_other(x, reg);
}

static inline bool brief_mov_imm(struct brief_x86 *x, uint8_t reg, int64_t imm)
{
	if (x->width < 4)
		return brief_other(x, reg);
	return brief_sums(
	    x, reg, CODE_NO_REG, x->width == 8 ? imm : (int64_t)(uint32_t)imm);
}

static bool brief_lea(struct brief_x86 *x)
{
	const struct code_brief *brief = x->brief;
	const uint8_t reg = brief_modrm_reg(x);

	if (!x->has_memory)
		return false;
	if (x->width != 8)
		return brief_other(x, reg);
	if (brief->index != CODE_NO_REG)
		return brief_asks(x, reg, brief->base, brief->index);
	return brief_sums(x, reg, brief->base, brief->off);
}

/* movzx and movsx: of 1 byte, or of 2. */
static bool brief_extends(struct brief_x86 *x)
{
	const uint8_t reg = brief_modrm_reg(x), width = x->width;
	uint8_t rm;

	x->width = x->opcode & 1 ? 2 : 1;
	rm = brief_modrm_rm(x);
	x->width = width;
	if (!x->has_memory)
		return brief_asks(x, reg, rm, rm);
	return brief_loads(x) && brief_other(x, reg);
}

/* The groups F6 and F7, and FE and FF. */
static bool brief_group_3(struct brief_x86 *x)
{
	const uint8_t group = brief_group(x);

	if (group)
		return (group == 2 || group == 3) &&
		       brief_changes_rm(x, brief_modrm_rm(x));
	brief_take_imm(x);
	return brief_loads(x);
}

static bool brief_group_5(struct brief_x86 *x)
{
	const uint8_t group = brief_group(x);

	if (group < 2)
		return brief_changes_rm(x, brief_modrm_rm(x));
	x->brief->control = CODE_CALLS_TO;
	return group == 2 && x->width != 1;
}

/* A call of the next instruction only pushes its address. */
static inline bool brief_branch(
    struct brief_x86 *x, enum code_control control, int64_t distance)
{
	x->brief->control = (uint8_t)control;
	x->brief->target = (uint64_t)distance; /* from the next instruction */
	return control != CODE_CALLS || distance;
}

/* How much of memory a vector instruction writes. */
static uint8_t brief_vector_width(const struct brief_x86 *x)
{
	if (x->letter == '7')
		return x->width;
	if (x->opcode == 0x11 && x->prefix == 0xf3)
		return 4;
	if (x->opcode == 0x13 || x->opcode == 0x17 || x->opcode == 0xd6 ||
	    (!x->prefix && (x->opcode == 0x7f || x->opcode == 0xe7)) ||
	    (x->opcode == 0x11 && x->prefix == 0xf2))
		return 8;
	return 16;
}

static bool brief_vector(struct brief_x86 *x)
{
	if (x->letter == 'V')
		x->at++;
	switch (x->letter) {
	case 'v':
	case 'V':
	case 'F':
		return true;
	case 'h':
		return x->has_memory || x->prefix != 0x66;
	case 'w':
		return brief_other(x, brief_modrm_reg(x));
	case 'W':
		return !x->has_memory && brief_other(x, brief_modrm_reg(x));
	case '7':
		if (x->prefix == 0xf3)
			return true;
		return x->has_memory ? brief_stores(x, brief_vector_width(x))
				     : brief_other(x, brief_modrm_rm(x));
	case 'k':
	case 'K':
		return x->has_memory ? brief_stores(x, brief_vector_width(x))
				     : x->letter == 'k';
	default:
		return false;
	}
}

/* Less common instructions with ModR/M. */
static bool brief_by_modrm(struct brief_x86 *x)
{
	switch (x->letter) {
	case 'N':
		if (brief_group(x))
			return false;
		if (!x->has_memory)
			return brief_mov_imm(x, brief_modrm_rm(x), brief_take_imm(x));
		brief_take_imm(x);
		return brief_stores(x, x->width);
	case 'e':
		return x->width == 8 && brief_loads(x) &&
		       brief_other(x, brief_modrm_reg(x));
	case 'i':
		brief_take_imm(x);
		return brief_loads(x) && brief_other(x, brief_modrm_reg(x));
	case 'H':
		brief_take_1(x);
		return brief_loads(x) && brief_other(x, brief_modrm_reg(x));
	case 'I':
	case 'q':
		return brief_loads(x) && brief_other(x, brief_modrm_reg(x));
	case 's':
		return brief_group(x) != 6 && brief_changes_rm(x, brief_modrm_rm(x));
	case 'S':
		brief_take_1(x);
		return brief_group(x) != 6 && brief_changes_rm(x, brief_modrm_rm(x));
	case 'u':
		return brief_group_3(x);
	case 'f':
		return brief_group_5(x);
	case 'b':
		x->width = 1;
		return brief_changes_rm(x, brief_modrm_rm(x));
	case '0':
		x->brief->filler = true;
		return true;
	default:
		return brief_vector(x);
	}
}

/* Instructions whose operation code has a register, or none. */
static bool brief_by_code(struct brief_x86 *x)
{
	const unsigned int number = (x->opcode & 7u) | (x->rex & 1u) << 3;
	uint64_t low;

	switch (x->letter) {
	case 'A':
		brief_take_imm(x);
		return x->opcode >> 3 == 7 || brief_asks(x, 0, 0, 0);
	case 'T':
		brief_take_imm(x);
		return true;
	case 'D':
		x->width = 1;
		brief_take_1(x);
		return brief_other(x, brief_reg(x, number));
	case 'M':
		low = (uint32_t)brief_take_4(x);
		if (x->width == 8)
			low |= (uint64_t)brief_take_4(x) << 32;
		return brief_mov_imm(x, brief_reg(x, number), (int64_t)low);
	case 'c':
		return brief_other(x, 0);
	case 'n': /* with REX, it can be xchg */
		x->brief->filler = true;
		return !x->rex;
	case 'j':
		return brief_branch(x, CODE_BRANCHES, brief_take_1(x));
	case 'y':
		return brief_branch(x, CODE_BRANCHES, brief_take_4(x));
	case 'O':
		return brief_branch(x, CODE_JUMPS, brief_take_1(x));
	case 'J':
		return brief_branch(x, CODE_JUMPS, brief_take_4(x));
	case 'C':
		return brief_branch(x, CODE_CALLS, brief_take_4(x));
	case 'r':
		x->brief->control = CODE_RETURNS;
		return brief_sums(x, X86_RSP, X86_RSP, 8);
	default:
		return false;
	}
}

/* The most common ones first. */
static inline bool brief_by_letter(struct brief_x86 *x)
{
	if (!(code_x86_forms[x->letter] & FORM_MODRM))
		return brief_by_code(x);
	brief_take_modrm(x);
	switch (x->letter) {
	case 'm':
		return brief_mov(x);
	case 'l':
		return brief_lea(x);
	case 'a':
		return brief_arithmetic(x);
	case 'g':
		return brief_arithmetic_imm(x, brief_take_imm(x));
	case 'G':
		return brief_arithmetic_imm(x, brief_take_1(x));
	case 't':
		return brief_loads(x);
	case 'z':
		return brief_extends(x);
	default:
		return brief_by_modrm(x);
	}
}

/* code has as many bytes as an instruction can have. */
static bool brief_read(const uint8_t *code, uint64_t pc, struct code_brief *brief)
{
	struct brief_x86 x = {.at = code, .brief = brief};
	uint64_t next;

	brief_take_code(&x);
	if (!brief_prefix_fits(&x) || !brief_by_letter(&x))
		return false;
	brief->length = (uint8_t)(x.at - code);
	next = pc + brief->length;
	brief->target += next;
	if (x.by_pc) {
		brief->off = (int64_t)((uint64_t)brief->off + next);
		/* lea */
		if (brief->gives == BRIEF_SUM)
			brief->value = brief->off;
	}
	return true;
}

/* The bytes end soon. */
static ATTR_NOINLINE bool brief_read_last(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_brief *brief)
{
	uint8_t last[X86_READ_SIZE] = {0};

	memcpy(last, code, size);
	return brief_read(last, pc, brief) && brief->length <= size;
}

bool code_brief_x86_64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_brief *brief)
{
	return size >= X86_READ_SIZE ? brief_read(code, pc, brief)
				     : brief_read_last(code, size, pc, brief);
}
