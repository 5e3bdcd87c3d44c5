/* SPDX-License-Identifier: MIT */
/* What the maps of common x86-64 instructions say of an operation code. */
#ifndef CODE_MACHINES_X86_64_COMMON_H
#define CODE_MACHINES_X86_64_COMMON_H

#include "code/machines/x86_64.h"

/* So many bytes are read at most, of an instruction that the maps have or do not have. */
#define X86_READ_SIZE 20

enum x86_form {
	FORM_PLAIN = 1 << 0, /* the maps have it */
	FORM_MODRM = 1 << 1,
	FORM_BYTES = 1 << 2,	 /* an even operation code has operands of 1 byte */
	FORM_PREFIX_66 = 1 << 3, /* the prefix makes operands of 2 bytes */
	FORM_SEGMENT = 1 << 4,	 /* memory can be in another segment */
	FORM_VECTOR = 1 << 5,	 /* prefixes are a part of the operation code */
	FORM_IMM = 1 << 6,	 /* an immediate like the operands, 4 bytes at most */
	FORM_IMM8 = 1 << 7,
	FORM_RELATIVE = 1 << 8, /* the immediate counts from the next instruction */
	FORM_FLAGS = 1 << 9,	/* it changes CF or ZF */
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

struct x86_row {
	uint32_t form; /* bits of enum x86_form; 0: Zydis reads it */
	/* 0: it has no effects of its own, or there is more to look at. */
	uint16_t mnemonic;
	uint8_t letter, category;
	uint8_t prefixes; /* of a vector instruction: 1 none, 2 66, 4 F3, 8 F2 */
};

/* The maps: a letter for each operation code, the prefixes of vector instructions in the second map, and what a
 * letter stands for. */
extern const char code_x86_first[], code_x86_second[], code_x86_prefixes[];
extern const uint32_t code_x86_forms[128];
extern const uint16_t code_x86_mnemonics[128];
extern const uint8_t code_x86_categories[128];

/* The row of an operation code in the first map, or in the second, which begins with 0F. */
static inline struct x86_row code_x86_row(bool of_second, uint8_t opcode)
{
	const uint8_t letter =
	    (uint8_t)(of_second ? code_x86_second : code_x86_first)[opcode];
	const char digit = of_second ? code_x86_prefixes[opcode] : '0';

	return (struct x86_row){.form = code_x86_forms[letter],
	    .letter = letter,
	    .prefixes = (uint8_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10),
	    .mnemonic = code_x86_mnemonics[letter],
	    .category = code_x86_categories[letter]};
}

/* Whether a vector instruction has this prefix; 0: without one. */
static inline bool code_x86_vector_prefix(uint8_t prefixes, uint8_t prefix)
{
	return prefixes & (!prefix	       ? 1
			      : prefix == 0x66 ? 2
			      : prefix == 0xf3 ? 4
			      : prefix == 0xf2 ? 8
					       : 0);
}

#endif
