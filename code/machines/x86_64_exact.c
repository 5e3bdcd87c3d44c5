/* SPDX-License-Identifier: MIT */
/* x86-64: the instructions that move frames and saved registers around, with exact effects. */
#include "code/machines/x86_64.h"

void code_x86_pop(const struct x86_insn *x, uint8_t dst, uint8_t width)
{
	struct code_effect *effect = code_effect_add(x->insn, CODE_LOAD, dst);

	effect->base = X86_RSP;
	effect->width = width;
	if (dst != X86_RSP)
		code_x86_set(x, X86_RSP, X86_RSP, width);
}

static void x86_insn_push(const struct x86_insn *x)
{
	const ZydisDecodedOperand *operand = &x->operands[0];

	if (x->decoded.operand_width != 64)
		code_x86_push(x, CODE_NO_REG, (uint8_t)(x->decoded.operand_width / 8));
	else if (code_x86_is_reg(operand, 64))
		code_x86_push(x, code_x86_reg(operand->reg.value), 8);
	else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		 code_x86_access(x, operand, CODE_LOAD, CODE_SCRATCH))
		code_x86_push(x, CODE_SCRATCH, 8);
	else
		code_x86_push(x, CODE_NO_REG, 8);
}

static void x86_insn_pop(const struct x86_insn *x)
{
	const ZydisDecodedOperand *operand = &x->operands[0];

	if (code_x86_is_reg(operand, 64)) {
		code_x86_pop(x, code_x86_reg(operand->reg.value), 8);
		return;
	}
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    code_x86_reg(operand->reg.value) == X86_RSP) {
		x->insn->writes |= UINT32_C(1) << X86_RSP;
		return;
	}
	code_x86_pop(x, CODE_SCRATCH, (uint8_t)(x->decoded.operand_width / 8));
	/* The operand's address is computed after the stack pointer moved. */
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		(void)code_x86_access(x, operand, CODE_STORE, CODE_SCRATCH);
}

/* With a prefix 66, only 16 bits of rbp are popped. */
static void x86_insn_leave(const struct x86_insn *x)
{
	code_x86_set(x, X86_RSP, X86_RBP, 0);
	if (x->decoded.operand_width == 64) {
		code_x86_pop(x, X86_RBP, 8);
		return;
	}
	code_x86_set(x, X86_RSP, X86_RSP, 2);
	x->insn->writes |= UINT32_C(1) << X86_RBP;
}

static void x86_insn_cdqe(const struct x86_insn *x)
{
	struct code_effect *effect = code_x86_set(x, X86_RAX, CODE_NO_REG, 0);

	effect->index = X86_RAX;
	effect->index_bits = 32;
	effect->index_signed = true;
}

static void x86_insn_mov(const struct x86_insn *x)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];
	uint8_t dst = to->type == ZYDIS_OPERAND_TYPE_REGISTER
			  ? code_x86_reg(to->reg.value)
			  : CODE_NO_REG;

	if (to->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		uint8_t src = CODE_NO_REG;

		if (code_x86_is_reg(from, 64))
			src = code_x86_reg(from->reg.value);
		(void)code_x86_access(x, to, CODE_STORE, src);
	} else if (dst == CODE_NO_REG || (to->size != 64 && to->size != 32)) {
		return;
	} else if (x86_is_imm(from)) {
		code_x86_set(x, dst, CODE_NO_REG,
		    to->size == 64 ? from->imm.value.s
				   : (int64_t)(uint32_t)from->imm.value.u);
	} else if (code_x86_is_reg(from, to->size)) {
		code_x86_set(x, dst, code_x86_reg(from->reg.value), 0)->width =
		    (uint8_t)(to->size / 8);
	} else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		(void)code_x86_access(x, from, CODE_LOAD, dst);
	}
}

/* movzx, movsx, movsxd; cdqe has only hidden operands. */
static void x86_insn_extend(const struct x86_insn *x, bool is_signed)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];
	struct code_effect *effect;

	if (!code_x86_is_reg(to, 64) && !(code_x86_is_reg(to, 32) && !is_signed))
		return;
	if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if (code_x86_access(x, from, CODE_LOAD, code_x86_reg(to->reg.value)))
			x->insn->effects[x->insn->n_effects - 1].load_signed = is_signed;
	} else if (code_x86_is_low(from)) {
		effect = code_x86_set(x, code_x86_reg(to->reg.value), CODE_NO_REG, 0);
		effect->index = code_x86_reg(from->reg.value);
		effect->index_bits = (uint8_t)from->size;
		effect->index_signed = is_signed;
	}
}

static void x86_insn_lea(const struct x86_insn *x)
{
	const ZydisDecodedOperand *to = &x->operands[0];
	struct code_effect *effect;

	if (!code_x86_is_reg(to, 64) && !code_x86_is_reg(to, 32))
		return;
	effect = code_effect_add(x->insn, CODE_SET, code_x86_reg(to->reg.value));
	effect->width = (uint8_t)(to->size / 8);
	if (!code_x86_address(x, &x->operands[1], effect))
		x->insn->n_effects--;
}

/* dst plus or minus an immediate, a register or memory; sign is 1 or -1. */
static void x86_insn_add(const struct x86_insn *x, int sign)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];
	struct code_effect *effect;
	uint8_t dst, index;

	if (!code_x86_is_reg(to, 64) && !code_x86_is_reg(to, 32))
		return;
	dst = code_x86_reg(to->reg.value);
	if (x86_is_imm(from)) {
		code_x86_set(x, dst, dst, sign * from->imm.value.s)->width =
		    (uint8_t)(to->size / 8);
		return;
	}
	if (code_x86_is_reg(from, to->size)) {
		index = code_x86_reg(from->reg.value);
	} else {
		index = CODE_SCRATCH;
		if (!code_x86_access(x, from, CODE_LOAD, CODE_SCRATCH))
			return;
	}
	effect = code_effect_add(x->insn, sign > 0 ? CODE_SET : CODE_SUBTRACT, dst);
	effect->base = dst;
	effect->index = index;
	effect->width = (uint8_t)(to->size / 8);
}

static void x86_insn_and(const struct x86_insn *x)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];
	struct code_effect *effect;
	int64_t mask;

	if ((!code_x86_is_reg(to, 64) && !code_x86_is_reg(to, 32)) || !x86_is_imm(from))
		return;
	mask = from->imm.value.s;
	if (mask >= 0) {
		effect =
		    code_effect_add(x->insn, CODE_BOUND, code_x86_reg(to->reg.value));
		effect->off = mask;
	} else if (to->size == 64 && !((uint64_t)-mask & ((uint64_t)-mask - 1))) {
		effect =
		    code_effect_add(x->insn, CODE_ALIGN, code_x86_reg(to->reg.value));
		effect->base = effect->dst;
		effect->off = mask;
	}
}

static void x86_insn_xor(const struct x86_insn *x)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];

	if ((code_x86_is_reg(to, 64) || code_x86_is_reg(to, 32)) &&
	    code_x86_is_reg(from, to->size) && to->reg.value == from->reg.value)
		code_x86_set(x, code_x86_reg(to->reg.value), CODE_NO_REG, 0);
}

static void x86_insn_xchg(const struct x86_insn *x)
{
	const ZydisDecodedOperand *to = &x->operands[0];
	const uint8_t a = code_x86_reg(to->reg.value),
		      b = code_x86_reg(x->operands[1].reg.value);

	if (!code_x86_is_reg(&x->operands[1], 64))
		return;
	if (to->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    code_x86_access(x, to, CODE_LOAD, CODE_SCRATCH) &&
	    code_x86_access(x, to, CODE_STORE, b))
		code_x86_set(x, b, CODE_SCRATCH, 0);
	if (!code_x86_is_reg(to, 64))
		return;
	code_x86_set(x, CODE_SCRATCH, a, 0);
	code_x86_set(x, a, b, 0);
	code_x86_set(x, b, CODE_SCRATCH, 0);
}

static void x86_insn_cmp(const struct x86_insn *x)
{
	const ZydisDecodedOperand *a = &x->operands[0], *b = &x->operands[1];
	struct code_effect *effect;

	if (!code_x86_is_low(a) || (!x86_is_imm(b) && !code_x86_is_low(b)))
		return;
	effect = code_effect_add(x->insn, CODE_COMPARE, code_x86_reg(a->reg.value));
	effect->width = (uint8_t)(a->size / 8);
	if (x86_is_imm(b))
		effect->off = b->imm.value.s;
	else
		effect->index = code_x86_reg(b->reg.value);
	x->insn->ends_compare = false;
}

/* inc and dec; off is 1 or -1. */
static void x86_insn_count(const struct x86_insn *x, int64_t off)
{
	const ZydisDecodedOperand *operand = &x->operands[0];
	uint8_t reg;

	if (!code_x86_is_reg(operand, 64) && !code_x86_is_reg(operand, 32))
		return;
	reg = code_x86_reg(operand->reg.value);
	code_x86_set(x, reg, reg, off)->width = (uint8_t)(operand->size / 8);
}

/* clzero fills the line of the cache that rax points into. */
static void x86_insn_clzero(const struct x86_insn *x)
{
	struct code_effect *effect = code_effect_add(x->insn, CODE_ALIGN, CODE_SCRATCH);

	effect->base = X86_RAX;
	effect->off = -64;
	effect = code_effect_add(x->insn, CODE_STORE, CODE_NO_REG);
	effect->base = CODE_SCRATCH;
	effect->width = 64;
}

static void x86_exact_stack(const struct x86_insn *x)
{
	const uint8_t width = (uint8_t)(x->decoded.operand_width / 8);

	switch ((int)x->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		x86_insn_push(x);
		break;
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		code_x86_push(x, CODE_NO_REG, width);
		break;
	case ZYDIS_MNEMONIC_POP:
		x86_insn_pop(x);
		break;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		code_x86_set(x, X86_RSP, X86_RSP, width);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		x86_insn_leave(x);
		break;
	default:
		break;
	}
}

void code_x86_exact(const struct x86_insn *x)
{
	switch ((int)x->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		x86_insn_mov(x);
		break;
	case ZYDIS_MNEMONIC_MOVZX:
		x86_insn_extend(x, false);
		break;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		x86_insn_extend(x, true);
		break;
	case ZYDIS_MNEMONIC_CDQE:
		x86_insn_cdqe(x);
		break;
	case ZYDIS_MNEMONIC_LEA:
		x86_insn_lea(x);
		break;
	case ZYDIS_MNEMONIC_ADD:
		x86_insn_add(x, 1);
		break;
	case ZYDIS_MNEMONIC_SUB:
		x86_insn_add(x, -1);
		break;
	case ZYDIS_MNEMONIC_INC:
		x86_insn_count(x, 1);
		break;
	case ZYDIS_MNEMONIC_DEC:
		x86_insn_count(x, -1);
		break;
	case ZYDIS_MNEMONIC_AND:
		x86_insn_and(x);
		break;
	case ZYDIS_MNEMONIC_XOR:
		x86_insn_xor(x);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		x86_insn_xchg(x);
		break;
	case ZYDIS_MNEMONIC_CMP:
		x86_insn_cmp(x);
		break;
	case ZYDIS_MNEMONIC_CLZERO:
		x86_insn_clzero(x);
		break;
	default:
		x86_exact_stack(x);
		break;
	}
}
