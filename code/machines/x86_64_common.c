/* SPDX-License-Identifier: MIT */
/*
 * x86-64: the commonest instructions, told as effects without operands in between: from three quarters to nine in ten.
 * Zydis and the other files would say the same of them, and take several times as long. The test common_x86_64 compares both.
 */
#include <string.h>

#include "code/machines/x86_64.h"

/* Limit of bytes that are read of an instruction, whether it is told or not. */
#define X86_READ_SIZE 20

/* The kinds of arithmetic that are told, by the number in the operation code. */
enum { X86_ADD = 0, X86_SUB = 5, X86_XOR = 6, X86_CMP = 7 };

/* Bits of what a letter stands for; 0: Zydis reads it. */
enum {
	X86_KNOWN = 1 << 0,
	X86_MODRM = 1 << 1,
	X86_BYTES = 1 << 2,   /* an even operation code has operands of 1 byte */
	X86_WORDS = 1 << 3,   /* the prefix 66 makes operands of 2 bytes */
	X86_SEGMENT = 1 << 4, /* memory can be in another segment */
	X86_IMM = 1 << 5,     /* an immediate like the operands, 4 bytes at most */
	X86_IMM8 = 1 << 6,
	X86_USUAL = X86_KNOWN | X86_MODRM | X86_BYTES | X86_WORDS | X86_SEGMENT,
};

/* A letter for each operation code of the first map (Intel SDM, volume 2, appendix A). */
static const char x86_letters[] = "aaaaAA..aaaaAA.." /* 00 */
				  "aaaaAA..aaaaAA.."
				  "aaaaAA..aaaaAA.." /* 20 */
				  "aaaaAA..aaaaAA.."
				  "................" /* 40 */
				  "ppppppppoooooooo"
				  "................" /* 60 */
				  "jjjjjjjjjjjjjjjj"
				  "gg.Gtt..mmmm.l.." /* 80 */
				  "n..............."
				  "................" /* a0 */
				  "........MMMMMMMM"
				  "...r..NN.L......" /* c0 */
				  "................"
				  "........CJ.O...." /* e0 */
				  "................";

static const uint8_t x86_forms[128] = {
    ['a'] = X86_USUAL,
    ['A'] = X86_KNOWN | X86_BYTES | X86_WORDS | X86_IMM,
    ['g'] = X86_USUAL | X86_IMM,
    ['G'] = X86_KNOWN | X86_MODRM | X86_WORDS | X86_SEGMENT | X86_IMM8,
    ['t'] = X86_USUAL,
    ['m'] = X86_USUAL,
    ['l'] = X86_KNOWN | X86_MODRM | X86_WORDS,
    ['N'] = X86_USUAL | X86_IMM,
    ['M'] = X86_KNOWN | X86_IMM,
    ['p'] = X86_KNOWN,
    ['o'] = X86_KNOWN,
    ['L'] = X86_KNOWN,
    ['n'] = X86_KNOWN | X86_WORDS,
    ['0'] = X86_KNOWN | X86_MODRM | X86_WORDS,
    ['r'] = X86_KNOWN,
    ['j'] = X86_KNOWN | X86_IMM8,
    ['y'] = X86_KNOWN | X86_IMM,
    ['C'] = X86_KNOWN | X86_IMM,
    ['J'] = X86_KNOWN | X86_IMM,
    ['O'] = X86_KNOWN | X86_IMM8,
};

/* The numbers of registers by the processor's. */
static const uint8_t x86_numbers[16] = {
    0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

/* An instruction while it is read. */
struct x86_bytes {
	const uint8_t *code;
	const struct x86_insn *x;
	uint8_t at;	     /* bytes read so far */
	uint8_t prefix, rex; /* 0 where there is none */
	uint8_t opcode, modrm;
	uint8_t width; /* of operands, bytes */
	uint8_t imm;   /* bytes of the immediate */
	char letter;
};

static bool x86_in_memory(const struct x86_bytes *b)
{
	return b->modrm >> 6 != 3;
}

/* The register of modrm; and that of modrm's other operand, or of the operation code. */
static unsigned int x86_reg(const struct x86_bytes *b)
{
	return (unsigned int)((b->modrm >> 3 & 7) | (b->rex & 4) << 1);
}

static unsigned int x86_rm(const struct x86_bytes *b, uint8_t byte)
{
	return (unsigned int)((byte & 7) | (b->rex & 1) << 3);
}

/* Tells if a register of the operands has no place of its own: ah, ch, dh or bh. */
static bool x86_is_high(const struct x86_bytes *b, unsigned int number)
{
	return b->width == 1 && !b->rex && number & 4;
}

static uint8_t x86_number(const struct x86_bytes *b, unsigned int number)
{
	return x86_numbers[x86_is_high(b, number) ? number & 3 : number];
}

/* Takes a signed number of 1, 2, 4 or 8 bytes. */
static int64_t x86_take(struct x86_bytes *b, uint8_t bytes)
{
	uint64_t value = 0;

	for (uint8_t i = 0; i < bytes; i++)
		value |= (uint64_t)b->code[b->at + i] << 8 * i;
	b->at = (uint8_t)(b->at + bytes);
	return (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

/* Takes at most one prefix, REX, the operation code, and modrm. False: Zydis reads the instruction. */
static bool x86_take_code(struct x86_bytes *b)
{
	const uint8_t first = b->code[0];
	uint8_t form;
	bool second;

	if (first == 0x66 || first == 0x64)
		b->prefix = b->code[b->at++];
	if (b->code[b->at] >> 4 == 4)
		b->rex = b->code[b->at++];
	second = b->code[b->at] == 0x0f;
	b->at = (uint8_t)(b->at + second);
	b->opcode = b->code[b->at++];
	b->letter = x86_letters[b->opcode];
	if (second)
		b->letter = b->opcode >> 4 == 8 ? 'y' : b->opcode == 0x1f ? '0' : '.';
	form = x86_forms[(uint8_t)b->letter];
	b->width = b->rex & 8 ? 8 : 4;
	if (form & X86_MODRM)
		b->modrm = b->code[b->at++];
	if (form & X86_BYTES && !(b->opcode & 1))
		b->width = 1;
	if (b->prefix == 0x66) {
		if (!(form & X86_WORDS) || b->width == 8)
			return false;
		if (b->width == 4)
			b->width = 2;
	}
	if (form & X86_IMM)
		b->imm = b->width < 4 || b->letter == 'M' ? b->width : 4;
	else if (form & X86_IMM8)
		b->imm = 1;
	return form && (b->prefix != 0x64 || form & X86_SEGMENT);
}

/* Takes the bytes behind modrm that give an address. False: memory is in another segment. */
static bool x86_take_address(struct x86_bytes *b, struct code_effect *effect)
{
	const uint8_t mod = b->modrm >> 6;
	uint8_t base = b->modrm & 7, sib, index;

	if (base == 4) {
		sib = b->code[b->at++];
		index = (uint8_t)((sib >> 3 & 7) | (b->rex & 2) << 2);
		base = sib & 7;
		if (index != 4) {
			effect->index = x86_numbers[index];
			effect->shift = sib >> 6;
		}
	}
	if (base != 5 || mod)
		effect->base = x86_numbers[x86_rm(b, base)];
	if (mod == 1)
		effect->off = x86_take(b, 1);
	else if (mod == 2 || base == 5)
		effect->off = x86_take(b, 4);
	if (!mod && (b->modrm & 7) == 5)
		effect->off =
		    (int64_t)(b->x->pc + b->at + b->imm + (uint64_t)effect->off);
	return b->prefix != 0x64;
}

/* Passes the bytes of operands that do not matter. */
static void x86_pass(struct x86_bytes *b)
{
	struct code_effect ignored = {0};

	if (x86_in_memory(b))
		(void)x86_take_address(b, &ignored);
	b->at = (uint8_t)(b->at + b->imm);
}

/* mov between registers, or of one and memory, and lea: a third of all instructions. */
static void x86_tell_mov(struct x86_bytes *b)
{
	const uint8_t reg = x86_number(b, x86_reg(b));
	const bool lea = b->letter == 'l', loads = lea || b->opcode & 2;
	struct code_insn *insn = b->x->insn;
	struct code_effect *effect = code_effect_add(insn,
	    lea	    ? CODE_SET
	    : loads ? CODE_LOAD
		    : CODE_STORE,
	    reg);
	bool known = true;

	effect->width = b->width;
	if (x86_in_memory(b)) {
		if (!loads && b->width != 8)
			effect->dst = CODE_NO_REG;
		known = x86_take_address(b, effect);
	} else {
		const uint8_t rm = x86_number(b, x86_rm(b, b->modrm));

		effect->kind = CODE_SET;
		effect->dst = loads ? reg : rm;
		effect->base = loads ? rm : reg;
	}
	if (known && (b->width >= 4 || effect->kind == CODE_STORE))
		return;
	insn->n_effects--;
	if (effect->kind != CODE_STORE)
		insn->writes = UINT32_C(1) << effect->dst;
}

/* mov of an immediate. */
static bool x86_tell_constant(struct x86_bytes *b)
{
	const uint8_t byte = b->letter == 'M' ? b->opcode : b->modrm;
	struct code_effect *effect;
	int64_t value;

	if (b->letter == 'N' && x86_reg(b) & 7)
		return false;
	if (b->letter == 'N' && x86_in_memory(b)) {
		effect = code_effect_add(b->x->insn, CODE_STORE, CODE_NO_REG);
		effect->width = b->width;
		if (!x86_take_address(b, effect))
			b->x->insn->n_effects--;
		b->at = (uint8_t)(b->at + b->imm);
		return true;
	}
	value = x86_take(b, b->imm);
	if (b->width >= 4)
		code_x86_set(b->x, x86_numbers[x86_rm(b, byte)], CODE_NO_REG,
		    b->width == 8 ? value : (int64_t)(uint32_t)value);
	else
		b->x->insn->writes = UINT32_C(1) << x86_number(b, x86_rm(b, byte));
	return true;
}

/* add, sub or cmp of registers, or of one and an immediate. */
static void x86_tell_sum(struct x86_bytes *b, uint8_t kind)
{
	const unsigned int reg = x86_reg(b), rm = x86_rm(b, b->modrm);
	const bool compares = kind == X86_CMP;
	unsigned int dst = b->letter == 'A' ? 0 : rm, src = reg;
	struct code_effect *effect;

	if (!b->imm && b->opcode & 2) {
		dst = reg;
		src = rm;
	}
	if (x86_is_high(b, dst) || (!b->imm && x86_is_high(b, src))) {
		b->at = (uint8_t)(b->at + b->imm);
		return;
	}
	effect = code_effect_add(b->x->insn,
	    compares			 ? CODE_COMPARE
	    : kind == X86_SUB && !b->imm ? CODE_SUBTRACT
					 : CODE_SET,
	    x86_numbers[dst]);
	effect->width = b->width;
	if (!compares)
		effect->base = effect->dst;
	if (b->imm)
		effect->off = x86_take(b, b->imm) * (kind == X86_SUB ? -1 : 1);
	else
		effect->index = x86_numbers[src];
	b->x->insn->ends_compare = !compares;
}

static bool x86_tell_arithmetic(struct x86_bytes *b, uint8_t kind)
{
	const bool memory = b->letter != 'A' && x86_in_memory(b);
	struct code_insn *insn = b->x->insn;

	if (!memory && (kind == X86_CMP ||
			   (b->width >= 4 && (kind == X86_ADD || kind == X86_SUB)))) {
		insn->ends_compare = true;
		x86_tell_sum(b, kind);
		return true;
	}
	if (!memory && kind == X86_XOR && !b->imm && b->width >= 4 &&
	    x86_reg(b) == x86_rm(b, b->modrm))
		code_x86_set(b->x, x86_numbers[x86_reg(b)], CODE_NO_REG, 0);
	else if (kind != X86_CMP)
		return false;
	insn->ends_compare = true;
	x86_pass(b);
	return true;
}

/* A relative jump or call. False: a call of the next instruction, which only pushes its address. */
static bool x86_tell_branch(struct x86_bytes *b)
{
	static const uint8_t conditions[16] = {
	    [2] = CODE_IF_BELOW,
	    [3] = CODE_IF_ABOVE_EQUAL,
	    [4] = CODE_IF_EQUAL,
	    [5] = CODE_IF_NOT_EQUAL,
	    [6] = CODE_IF_BELOW_EQUAL,
	    [7] = CODE_IF_ABOVE,
	};
	struct code_insn *insn = b->x->insn;
	const int64_t off = x86_take(b, b->imm);

	if (b->letter == 'C' && !off)
		return false;
	insn->control = b->letter == 'C'		       ? CODE_CALLS
			: b->letter == 'J' || b->letter == 'O' ? CODE_JUMPS
							       : CODE_BRANCHES;
	if (insn->control == CODE_BRANCHES)
		insn->condition = conditions[b->opcode & 15];
	insn->target = b->x->pc + b->at + (uint64_t)off;
	return true;
}

/* push, pop, leave and ret. */
static void x86_tell_stack(struct x86_bytes *b)
{
	const uint8_t reg =
	    b->letter == 'L' ? X86_RBP : x86_numbers[x86_rm(b, b->opcode)];

	switch (b->letter) {
	case 'p':
		code_x86_push(b->x, reg, 8);
		break;
	case 'r':
		b->x->insn->control = CODE_RETURNS;
		code_x86_set(b->x, X86_RSP, X86_RSP, 8);
		break;
	case 'L':
		code_x86_set(b->x, X86_RSP, X86_RBP, 0);
		code_x86_pop(b->x, reg, 8);
		break;
	default:
		code_x86_pop(b->x, reg, 8);
		break;
	}
}

/* False: Zydis reads it, and effects that were told do not count. */
static bool x86_tell(struct x86_bytes *b)
{
	switch (b->letter) {
	case 'l':
		if (!x86_in_memory(b))
			return false;
		x86_tell_mov(b);
		return true;
	case 'm':
		x86_tell_mov(b);
		return true;
	case 'M':
	case 'N':
		return x86_tell_constant(b);
	case 'a':
	case 'A':
		return x86_tell_arithmetic(b, b->opcode >> 3);
	case 'g':
	case 'G':
		return x86_tell_arithmetic(b, b->modrm >> 3 & 7);
	case 't':
		x86_pass(b);
		b->x->insn->ends_compare = true;
		return true;
	case 'n': /* with REX, it can be xchg */
	case '0':
		x86_pass(b);
		b->x->insn->filler = true;
		return b->letter == '0' || !b->rex;
	case 'p':
	case 'o':
	case 'L':
	case 'r':
		x86_tell_stack(b);
		return true;
	default:
		return x86_tell_branch(b);
	}
}

bool code_x86_read_common(const uint8_t *code, uint64_t size, const struct x86_insn *x)
{
	uint8_t last[X86_READ_SIZE] = {0};
	struct x86_bytes b = {.code = code, .x = x, .modrm = 0xc0};

	/* Copies the end of the code into a larger buffer, so that no byte need be counted. */
	if (size < sizeof(last))
		b.code = memcpy(last, code, size);
	if (!x86_take_code(&b) || !x86_tell(&b) || b.at > size)
		return false;
	x->insn->length = b.at;
	return true;
}
