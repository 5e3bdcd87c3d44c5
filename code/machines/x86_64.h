/* SPDX-License-Identifier: MIT */
/* Shared by the files of the x86-64 decoder. */
#ifndef CODE_MACHINES_X86_64_H
#define CODE_MACHINES_X86_64_H

#include <Zydis/Zydis.h>

#include "code/machines/machines.h"

enum { X86_RAX = 0, X86_RSI = 4, X86_RDI = 5, X86_RBP = 6, X86_RSP = 7 };

struct x86_insn {
	ZydisDecodedInstruction decoded;
	/* The first n_operands of those that the instruction has. */
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t n_operands;
	uint64_t pc;
	struct code_insn *insn;
};

/*
 * The two readers, which fill in x->insn: of the instructions that most code consists of, and by Zydis of
 * all. False: the bytes are none of them, or they are not described. The first needs x->pc alone.
 */
bool code_x86_read_common(const uint8_t *code, uint64_t size, const struct x86_insn *x);
bool code_x86_read_any(const uint8_t *code, uint64_t size, struct x86_insn *x);

/* The number of the 64-bit register that reg is, or is a part of. */
uint8_t code_x86_reg(ZydisRegister reg);

/* True if the operand is a whole register of 64 or 32 bits, or the lowest 16 or 8 bits of one. */
bool code_x86_is_reg(const ZydisDecodedOperand *operand, uint16_t bits);

/* True if the operand is the low bits of a register; ah, bh, ch and dh are not. */
bool code_x86_is_low(const ZydisDecodedOperand *operand);

/* Fills in the address of a memory operand. False where it is not one of whole registers in the
 * usual segments. */
bool code_x86_address(const struct x86_insn *x, const ZydisDecodedOperand *operand,
    struct code_effect *effect);

/* Loads or stores dst (CODE_NO_REG: another value). False where the address is not known;
 * no effect is added then. */
bool code_x86_access(const struct x86_insn *x, const ZydisDecodedOperand *operand,
    enum code_effect_kind kind, uint8_t dst);

/* dst = base + off. */
struct code_effect *code_x86_set(
    const struct x86_insn *x, uint8_t dst, uint8_t base, int64_t off);

/* Writes value (a register, or CODE_NO_REG) below the stack pointer and moves it there. */
void code_x86_push(const struct x86_insn *x, uint8_t value, uint8_t width);

/* Reads dst from the top of the stack, and moves the stack pointer, unless dst is that. */
void code_x86_pop(const struct x86_insn *x, uint8_t dst, uint8_t width);

/* The effects of an instruction that has effects of its own. */
void code_x86_exact(const struct x86_insn *x);

/* Length of an instruction that Zydis may not know and that writes vector registers alone; 0: it is
 * none of these. */
uint8_t code_x86_vex_length(const uint8_t *code, uint64_t size);

/* Finds where control goes. False: the instruction is no branch, and may have effects of its own. */
bool code_x86_control(const struct x86_insn *x);

static inline bool x86_is_imm(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

#endif
