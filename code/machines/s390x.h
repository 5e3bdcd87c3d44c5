/* SPDX-License-Identifier: MIT */
/* Shared by the files of the s390x decoder. */
#ifndef CODE_MACHINES_S390X_H
#define CODE_MACHINES_S390X_H

#include "code/insn.h"

/* An instruction's fields. Which of them it has follows from its operation code. */
struct s390x_fields {
	const uint8_t *code;
	uint64_t size; /* bytes from code on that are there */
	uint64_t pc;
	/* First byte, then the rest of the operation code; 0: no rest. */
	uint16_t key;
	uint8_t length;
	uint8_t rule; /* a letter, insn_s390x.c says what it stands for */
	uint8_t r1, r2, r3;
	/* The operand in memory is at base + index + off. */
	uint8_t base, index; /* CODE_NO_REG: none */
	int64_t off;
};

/* Maps the number of a floating-point register to that in struct code_insn. */
extern const uint8_t code_s390x_fpr[16];

/* Reads the fields. False when the instruction is not all there, or is none. */
bool code_s390x_fields(
    const uint8_t *code, uint64_t size, uint64_t pc, struct s390x_fields *fields);

/* Appends an effect at the operand in memory; with CODE_SET, dst gets the operand's address. */
struct code_effect *code_s390x_address(const struct s390x_fields *fields,
    struct code_insn *insn, enum code_effect_kind kind, uint8_t dst);

/* Notes that length bytes at the operand in memory get values that are not computed. */
void code_s390x_store(
    const struct s390x_fields *fields, struct code_insn *insn, uint32_t length);

/* Fills in an instruction of rule 'e', which a table knows by its operation code. */
void code_s390x_exact(const struct s390x_fields *fields, struct code_insn *insn);

/* Fills in an instruction that goes elsewhere, that makes control fail, or that runs another. */
void code_s390x_control(const struct s390x_fields *fields, struct code_insn *insn);

static inline int64_t s390x_signed16(const uint8_t *at)
{
	return (int16_t)(uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t s390x_unsigned32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
	       at[3];
}

#endif
