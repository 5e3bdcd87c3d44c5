/* SPDX-License-Identifier: MIT */
/* Maps of the operation codes of common x86-64 instructions, which spare them Zydis. */
#ifndef CODE_MACHINES_X86_64_COMMON_H
#define CODE_MACHINES_X86_64_COMMON_H

#include "code/machines/x86_64.h"

/* Limit of bytes that are read of an instruction, whether the maps have it or not. */
#define X86_READ_SIZE 20

/* The kinds of arithmetic that are told apart, by the number in the operation code. */
enum { X86_ADD = 0, X86_SUB = 5, X86_CMP = 7 };

enum x86_form {
	FORM_PLAIN = 1 << 0, /* the maps have it */
	FORM_MODRM = 1 << 1,
	FORM_BYTES = 1 << 2,	 /* an even operation code has operands of 1 byte */
	FORM_PREFIX_66 = 1 << 3, /* the prefix makes operands of 2 bytes */
	FORM_SEGMENT = 1 << 4,	 /* memory can be in another segment */
	FORM_VECTOR = 1 << 5,	 /* prefixes are a part of the operation code */
	FORM_IMM = 1 << 6,	 /* an immediate like the operands, 4 bytes at most */
	FORM_IMM8 = 1 << 7,
	FORM_FLAGS = 1 << 9, /* it changes CF or ZF */
	/* The operands that matter, in this order: */
	FORM_RAX = 1 << 10,
	FORM_CODE_REG = 1 << 11, /* the register in the operation code */
	FORM_REG = 1 << 12,	 /* the register of ModR/M */
	FORM_RM = 1 << 13,	 /* its other operand */
	FORM_TURNS = 1 << 14,	 /* both; REG first if the operation code has bit 1 */
	FORM_VALUE = 1 << 15,	 /* the immediate */
	/* The first of them is not written, or may be. */
	FORM_READS = 1 << 16,
	FORM_MAYBE = 1 << 17,

	FORM_WORDS = FORM_MODRM | FORM_PREFIX_66,
	FORM_USUAL = FORM_WORDS | FORM_BYTES | FORM_SEGMENT,
	FORM_VECTORS = FORM_MODRM | FORM_VECTOR,
};

/* The maps: a letter for each operation code, the prefixes of vector instructions in the second map, and what a
 * letter stands for. */
extern const char code_x86_first[], code_x86_second[], code_x86_prefixes[];
extern const uint32_t code_x86_forms[128];
/* 0: it has no effects of its own, or there is more to look at. */
extern const uint16_t code_x86_mnemonics[128];
extern const uint8_t code_x86_categories[128];

/* Tells if a vector instruction has this prefix; 0: without one. */
static inline bool code_x86_vector_prefix(uint8_t opcode, uint8_t prefix)
{
	const char digit = code_x86_prefixes[opcode];
	const int prefixes = digit <= '9' ? digit - '0' : digit - 'a' + 10;

	return prefixes & (!prefix	       ? 1
			      : prefix == 0x66 ? 2
			      : prefix == 0xf3 ? 4
			      : prefix == 0xf2 ? 8
					       : 0);
}

/* An instruction while it is read. */
struct x86_bytes {
	const uint8_t *code;
	struct x86_insn *x;
	uint8_t at;	     /* bytes read so far */
	uint8_t prefix, rex; /* 0 where there is none */
	uint8_t opcode, modrm;
	uint8_t width;	/* of operands, bytes */
	uint8_t letter; /* of the maps */
	uint32_t form;	/* bits of enum x86_form; 0: Zydis reads it */
};

static inline bool x86_in_memory(const struct x86_bytes *b)
{
	return b->form & FORM_MODRM && b->modrm >> 6 != 3;
}

static inline uint32_t x86_32_bits(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* Takes a signed number of 1, 2, 4 or 8 bytes. */
static inline int64_t x86_take(struct x86_bytes *b, uint8_t bytes)
{
	const uint8_t *at = b->code + b->at;

	b->at = (uint8_t)(b->at + bytes);
	switch (bytes) {
	case 1:
		return (int8_t)at[0];
	case 2:
		return (int16_t)(uint16_t)(at[0] | at[1] << 8);
	case 4:
		return (int32_t)x86_32_bits(at);
	default:
		return (int64_t)(x86_32_bits(at) | (uint64_t)x86_32_bits(at + 4) << 32);
	}
}

/* How many bytes the immediate has. */
static inline uint8_t code_x86_imm_bytes(const struct x86_bytes *b)
{
	if (b->letter == 'M' && b->width == 8)
		return 8;
	if (b->form & FORM_IMM8)
		return 1;
	if (b->form & FORM_IMM)
		return b->width < 4 ? b->width : 4;
	return 0;
}

/*
 * Fills in what the commonest instructions do, without operands: mov, lea, add, sub, cmp, test, relative
 * jumps and calls. False: it is another, and no byte behind modrm is taken.
 */
bool code_x86_tell(struct x86_bytes *b);

#endif
