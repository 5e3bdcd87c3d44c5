/* SPDX-License-Identifier: MIT */
/* One decoder for each machine; the contract is code_insn_read's. */
#ifndef CODE_MACHINES_MACHINES_H
#define CODE_MACHINES_MACHINES_H

#include <string.h>

#include "code/code.h"
#include "code/insn.h"

/* Clears the instruction but for the array of effects, because most instructions have one or two. */
static inline void code_insn_clear(struct code_insn *insn)
{
	memset(insn, 0, offsetof(struct code_insn, effects));
	insn->via = CODE_NO_REG;
}

/* The decoders. insn was cleared before. */
bool code_insn_x86_64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn);
bool code_insn_aarch64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn);
bool code_insn_s390x(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn);

/* Appends a new effect to insn, of 8 bytes and without base and index. */
static inline struct code_effect *code_effect_add(
    struct code_insn *insn, enum code_effect_kind kind, uint8_t dst)
{
	struct code_effect *effect = &insn->effects[insn->n_effects++];

	*effect = (struct code_effect){.kind = (uint8_t)kind,
	    .dst = dst,
	    .base = CODE_NO_REG,
	    .index = CODE_NO_REG,
	    .index_bits = 64,
	    .width = 8};
	return effect;
}

#endif
