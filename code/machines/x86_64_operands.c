/* SPDX-License-Identifier: MIT */
/* x86-64: operands as registers, addresses and accesses to memory. */
#include "code/machines/x86_64.h"

/* A register's number plus 1; 0: none that is described. */
#define PARTS(number, low, word, half, whole)                                            \
	[ZYDIS_REGISTER_##low] = (number) + 1, [ZYDIS_REGISTER_##word] = (number) + 1,   \
	[ZYDIS_REGISTER_##half] = (number) + 1, [ZYDIS_REGISTER_##whole] = (number) + 1

static const uint8_t numbers[] = {
    PARTS(0, AL, AX, EAX, RAX),
    PARTS(1, DL, DX, EDX, RDX),
    PARTS(2, CL, CX, ECX, RCX),
    PARTS(3, BL, BX, EBX, RBX),
    PARTS(4, SIL, SI, ESI, RSI),
    PARTS(5, DIL, DI, EDI, RDI),
    PARTS(6, BPL, BP, EBP, RBP),
    PARTS(7, SPL, SP, ESP, RSP),
    PARTS(8, R8B, R8W, R8D, R8),
    PARTS(9, R9B, R9W, R9D, R9),
    PARTS(10, R10B, R10W, R10D, R10),
    PARTS(11, R11B, R11W, R11D, R11),
    PARTS(12, R12B, R12W, R12D, R12),
    PARTS(13, R13B, R13W, R13D, R13),
    PARTS(14, R14B, R14W, R14D, R14),
    PARTS(15, R15B, R15W, R15D, R15),
    [ZYDIS_REGISTER_AH] = 1,
    [ZYDIS_REGISTER_DH] = 2,
    [ZYDIS_REGISTER_CH] = 3,
    [ZYDIS_REGISTER_BH] = 4,
};

uint8_t code_x86_reg(ZydisRegister reg)
{
	if ((size_t)reg >= sizeof(numbers) || numbers[reg] == 0)
		return CODE_NO_REG;
	return (uint8_t)(numbers[reg] - 1);
}

bool code_x86_is_reg(const ZydisDecodedOperand *operand, uint16_t bits)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size == bits &&
	       code_x86_reg(operand->reg.value) != CODE_NO_REG;
}

bool code_x86_is_low(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       code_x86_reg(operand->reg.value) != CODE_NO_REG &&
	       (operand->reg.value < ZYDIS_REGISTER_AH ||
		   operand->reg.value > ZYDIS_REGISTER_BH);
}

bool code_x86_address(const struct x86_insn *x, const ZydisDecodedOperand *operand,
    struct code_effect *effect)
{
	const ZydisDecodedOperandMem *mem = &operand->mem;

	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    x->decoded.address_width != 64 || mem->segment == ZYDIS_REGISTER_FS ||
	    mem->segment == ZYDIS_REGISTER_GS)
		return false;
	effect->off = mem->disp.value;
	if (mem->base == ZYDIS_REGISTER_RIP)
		effect->off =
		    (int64_t)(x->pc + x->decoded.length + (uint64_t)effect->off);
	else if (mem->base != ZYDIS_REGISTER_NONE)
		effect->base = code_x86_reg(mem->base);
	if (mem->index == ZYDIS_REGISTER_NONE)
		return true;
	effect->index = code_x86_reg(mem->index);
	while (effect->shift < 3 && 1 << effect->shift < mem->scale)
		effect->shift++;
	return effect->index != CODE_NO_REG;
}

bool code_x86_access(const struct x86_insn *x, const ZydisDecodedOperand *operand,
    enum code_effect_kind kind, uint8_t dst)
{
	struct code_effect *effect = code_effect_add(x->insn, kind, dst);

	effect->width = (uint8_t)(operand->size / 8 > 255 ? 255 : operand->size / 8);
	if (code_x86_address(x, operand, effect))
		return true;
	x->insn->n_effects--;
	return false;
}

struct code_effect *code_x86_set(
    const struct x86_insn *x, uint8_t dst, uint8_t base, int64_t off)
{
	struct code_effect *effect = code_effect_add(x->insn, CODE_SET, dst);

	effect->base = base;
	effect->off = off;
	return effect;
}

void code_x86_push(const struct x86_insn *x, uint8_t value, uint8_t width)
{
	struct code_effect *effect = code_effect_add(x->insn, CODE_STORE, value);

	effect->base = X86_RSP;
	effect->off = -width;
	effect->width = width;
	code_x86_set(x, X86_RSP, X86_RSP, -width);
}
