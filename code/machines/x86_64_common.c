/* SPDX-License-Identifier: MIT */
/*
 * x86-64: reads the instructions that most code consists of, as far as the other files look at
 * them. Zydis takes several times as long. The test common_x86_64 compares both.
 */
#include "code/machines/x86_64_common.h"

#include <string.h>

static const ZydisMnemonic x86_arithmetic[8] = {
    [X86_ADD] = ZYDIS_MNEMONIC_ADD,
    [1] = ZYDIS_MNEMONIC_OR,
    [4] = ZYDIS_MNEMONIC_AND,
    [X86_SUB] = ZYDIS_MNEMONIC_SUB,
    [6] = ZYDIS_MNEMONIC_XOR,
    [X86_CMP] = ZYDIS_MNEMONIC_CMP,
};

/* Takes one prefix at most, REX, the operation code, and modrm. False: the maps do not
 * have the instruction. */
static bool x86_take_code(struct x86_bytes *b)
{
	const uint8_t first = b->code[0];
	bool second;

	if (first == 0x66 || first == 0xf2 || first == 0xf3 || first == 0x64)
		b->prefix = b->code[b->at++];
	if (b->code[b->at] >> 4 == 4)
		b->rex = b->code[b->at++];
	second = b->code[b->at] == 0x0f;
	b->at = (uint8_t)(b->at + second);
	b->opcode = b->code[b->at++];
	b->letter = (uint8_t)(second ? code_x86_second : code_x86_first)[b->opcode];
	b->form = code_x86_forms[b->letter];
	b->width = b->rex & 8 ? 8 : 4;
	if (b->form & FORM_MODRM)
		b->modrm = b->code[b->at++];
	return b->form != 0;
}

/* True if an instruction of this form can have the prefix. */
static bool x86_prefix_fits(struct x86_bytes *b)
{
	if (b->form & FORM_VECTOR)
		return code_x86_vector_prefix(b->opcode, b->prefix);
	if (b->form & FORM_BYTES && !(b->opcode & 1))
		b->width = 1;
	if (b->prefix == 0x66) {
		if (b->width == 4)
			b->width = 2;
		return b->form & FORM_PREFIX_66 && b->width != 8;
	}
	return !b->prefix || (b->prefix == 0x64 && b->form & FORM_SEGMENT);
}

static bool x86_adapt_arithmetic(struct x86_bytes *b, uint8_t kind)
{
	b->x->decoded.mnemonic = x86_arithmetic[kind];
	return true;
}

/* The groups F6, F7, FE and FF: what the middle field of modrm makes of them. */
static bool x86_adapt_group(struct x86_bytes *b, uint8_t group)
{
	static const ZydisMnemonic five[8] = {ZYDIS_MNEMONIC_INC, ZYDIS_MNEMONIC_DEC,
	    ZYDIS_MNEMONIC_CALL, 0, ZYDIS_MNEMONIC_JMP, 0, ZYDIS_MNEMONIC_PUSH, 0};
	ZydisDecodedInstruction *decoded = &b->x->decoded;

	if (b->letter == 'u') {
		if (group == 0) /* test */
			b->form ^= FORM_RM | FORM_IMM;
		else if (group == 2) /* not */
			b->form ^= FORM_FLAGS;
		return group != 1 && group < 4; /* mul and div are rare */
	}
	decoded->mnemonic = five[group];
	if (group < 2) {
		b->form |= FORM_FLAGS;
		return true;
	}
	b->form |= FORM_READS;
	if (group < 6)
		decoded->meta.category =
		    group == 2 ? ZYDIS_CATEGORY_CALL : ZYDIS_CATEGORY_UNCOND_BR;
	if (b->width == 1)
		return false;
	b->width = 8;
	return five[group] != 0;
}

/* Vector instructions: how many bytes of memory or of a general register they write. */
static bool x86_adapt_vector(struct x86_bytes *b)
{
	const bool memory = x86_in_memory(b);

	switch (b->letter) {
	case 'h':
		return memory || b->prefix != 0x66;
	case 'W':
		return !memory;
	case '7':
		if (b->prefix == 0xf3)
			b->form &= ~FORM_RM;
		return true;
	case 'k':
	case 'K':
		b->width = 16;
		if (b->opcode == 0x13 || b->opcode == 0x17 || b->opcode == 0xd6 ||
		    (!b->prefix && (b->opcode == 0x7f || b->opcode == 0xe7)) ||
		    (b->prefix == 0xf2 && b->opcode == 0x11))
			b->width = 8;
		else if (b->prefix == 0xf3 && b->opcode == 0x11)
			b->width = 4;
		if (!memory)
			b->form &= ~FORM_RM;
		return memory || b->letter == 'k';
	default:
		return true;
	}
}

/* Completes what the letter of the table says. False: the code is invalid, or Zydis reads it. */
static bool x86_adapt(struct x86_bytes *b)
{
	const uint8_t group = b->modrm >> 3 & 7;
	ZydisDecodedInstruction *decoded = &b->x->decoded;

	switch (b->letter) {
	case 'a':
	case 'A':
		return x86_adapt_arithmetic(b, b->opcode >> 3);
	case 'g':
	case 'G':
		return x86_adapt_arithmetic(b, group);
	case 'N':
		return group == 0;
	case 's':
	case 'S':
		return group != 6;
	case 'u':
	case 'f':
		return x86_adapt_group(b, group);
	case 'e':
		return b->width == 8;
	case 'n': /* with REX, it can be xchg */
		return !b->rex;
	case 'z':
		decoded->mnemonic =
		    b->opcode & 8 ? ZYDIS_MNEMONIC_MOVSX : ZYDIS_MNEMONIC_MOVZX;
		return true;
	case 'c':
		if (b->width == 8) {
			decoded->mnemonic = ZYDIS_MNEMONIC_CDQE;
			b->form = FORM_PLAIN;
		}
		return true;
	case 'D':
	case 'b':
		b->width = 1;
		return true;
	/* lea without an address, and a call of the next instruction. */
	case 'l':
	case 'C':
		return false;
	case 'p':
	case 'P':
	case 'Q':
	case 'o':
	case 'L':
		b->width = 8;
		return true;
	default:
		return x86_adapt_vector(b);
	}
}

static ZydisDecodedOperand *x86_operand(
    struct x86_bytes *b, ZydisOperandType type, uint16_t bits)
{
	const uint8_t n = b->x->n_operands++;
	ZydisDecodedOperand *operand = &b->x->operands[n];

	operand->type = type;
	operand->size = bits;
	operand->actions = n || b->form & FORM_READS ? ZYDIS_OPERAND_ACTION_READ
			   : b->form & FORM_MAYBE    ? ZYDIS_OPERAND_ACTION_CONDWRITE
						     : ZYDIS_OPERAND_ACTION_WRITE;
	return operand;
}

/* Adds an operand: a register, as the processor counts them. */
static void x86_operand_reg(struct x86_bytes *b, uint8_t number, uint8_t width)
{
	ZydisDecodedOperand *operand =
	    x86_operand(b, ZYDIS_OPERAND_TYPE_REGISTER, (uint16_t)(width * 8));

	operand->reg.value =
	    (ZydisRegister)(number + (width == 8      ? ZYDIS_REGISTER_RAX
					 : width == 4 ? ZYDIS_REGISTER_EAX
					 : width == 2 ? ZYDIS_REGISTER_AX
						      : ZYDIS_REGISTER_AL));
	/* ah, ch, dh and bh are in between. */
	if (width == 1 && number > 3 && b->rex)
		operand->reg.value = (ZydisRegister)(operand->reg.value + 4);
}

/* Adds the operand in memory, from the bytes behind modrm. */
static void x86_operand_memory(struct x86_bytes *b, uint8_t width)
{
	ZydisDecodedOperandMem *mem =
	    &x86_operand(b, ZYDIS_OPERAND_TYPE_MEMORY, (uint16_t)(width * 8))->mem;
	const uint8_t mod = b->modrm >> 6;
	uint8_t base = b->modrm & 7;

	mem->segment = b->prefix == 0x64 ? ZYDIS_REGISTER_FS : ZYDIS_REGISTER_DS;
	mem->base = base == 5 && !mod ? ZYDIS_REGISTER_RIP : ZYDIS_REGISTER_NONE;
	mem->index = ZYDIS_REGISTER_NONE;
	mem->disp.value = 0;
	if (base == 4) {
		const uint8_t sib = b->code[b->at++];
		const uint8_t index = (uint8_t)((sib >> 3 & 7) | (b->rex & 2) << 2);

		base = sib & 7;
		if (index != 4)
			mem->index = (ZydisRegister)(ZYDIS_REGISTER_RAX + index);
		mem->scale = (uint8_t)(1 << (sib >> 6));
	}
	if (base != 5 || mod)
		mem->base =
		    (ZydisRegister)(ZYDIS_REGISTER_RAX + (base | (b->rex & 1) << 3));
	if (mod == 1)
		mem->disp.value = x86_take(b, 1);
	else if (mod == 2 || base == 5)
		mem->disp.value = x86_take(b, 4);
}

static void x86_operand_rm(struct x86_bytes *b)
{
	uint8_t width = b->width;

	if (b->letter == 'z' && b->x->n_operands)
		width = b->opcode & 1 ? 2 : 1;
	else if (b->letter == 'e')
		width = 4;
	if (x86_in_memory(b))
		x86_operand_memory(b, width);
	else
		x86_operand_reg(b, (uint8_t)((b->modrm & 7) | (b->rex & 1) << 3), width);
}

/* Takes the operands of modrm. */
static void x86_take_modrm(struct x86_bytes *b)
{
	const bool rm_last =
	    b->form & FORM_TURNS ? b->opcode & 2 : (b->form & FORM_REG) != 0;
	const uint8_t reg = (uint8_t)((b->modrm >> 3 & 7) | (b->rex & 4) << 1);

	if (b->form & (FORM_RM | FORM_TURNS) && !rm_last)
		x86_operand_rm(b);
	if (b->form & (FORM_REG | FORM_TURNS))
		x86_operand_reg(b, reg, b->width);
	if (b->form & (FORM_RM | FORM_TURNS) && rm_last)
		x86_operand_rm(b);
	if (!(b->form & (FORM_RM | FORM_TURNS)) && x86_in_memory(b)) {
		x86_operand_memory(b, b->width);
		b->x->n_operands--;
	}
}

/* Takes the operands that matter, and the bytes of all. */
static void x86_take_operands(struct x86_bytes *b)
{
	struct x86_insn *x = b->x;
	uint8_t bytes;
	int64_t imm;

	if (b->form & FORM_MODRM)
		x86_take_modrm(b);
	if (b->form & FORM_RAX)
		x86_operand_reg(b, 0, b->width);
	if (b->form & FORM_CODE_REG)
		x86_operand_reg(
		    b, (uint8_t)((b->opcode & 7) | (b->rex & 1) << 3), b->width);
	bytes = code_x86_imm_bytes(b);
	imm = bytes ? x86_take(b, bytes) : 0;
	x->decoded.raw.imm[0].is_relative = false;
	x->decoded.raw.imm[0].value.s = imm;
	if (b->form & FORM_VALUE)
		x86_operand(b, ZYDIS_OPERAND_TYPE_IMMEDIATE, 0)->imm.value.s = imm;
}

/* code has X86_READ_SIZE bytes. */
static bool x86_read_whole(const uint8_t *code, struct x86_insn *x)
{
	static const ZydisAccessedFlags flags = {
	    .modified = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF};
	struct x86_bytes b = {.code = code, .x = x};
	ZydisDecodedInstruction *decoded = &x->decoded;

	if (!x86_take_code(&b) || !x86_prefix_fits(&b))
		return false;
	x->told = code_x86_tell(&b);
	decoded->length = b.at;
	if (x->told)
		return true;
	x->n_operands = 0;
	decoded->mnemonic = code_x86_mnemonics[b.letter];
	decoded->meta.category = code_x86_categories[b.letter];
	decoded->address_width = 64;
	if (!x86_adapt(&b))
		return false;
	x86_take_operands(&b);
	decoded->operand_width = (uint8_t)(b.width * 8);
	decoded->cpu_flags = b.form & FORM_FLAGS ? &flags : NULL;
	decoded->length = b.at;
	return true;
}

bool code_x86_read_common(const uint8_t *code, uint64_t size, struct x86_insn *x)
{
	uint8_t last[X86_READ_SIZE] = {0};

	/* Copies the end of the code into a larger buffer, so that no byte need be counted. */
	if (size >= sizeof(last))
		return x86_read_whole(code, x);
	memcpy(last, code, size);
	return x86_read_whole(last, x) && x->decoded.length <= size;
}
