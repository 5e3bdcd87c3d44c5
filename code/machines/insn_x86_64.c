/* SPDX-License-Identifier: MIT */
/*
 * x86-64: Zydis names operands, hidden ones too, and says which of them are written. So a
 * register that is written is known for each instruction. The few that move frames and saved
 * registers around get exact effects (Intel SDM, volume 2).
 */
#include <Zydis/Zydis.h>

#include "code/machines/machines.h"

enum { X86_RAX = 0, X86_RBP = 6, X86_RSP = 7 };

struct x86_insn {
	ZydisDecodedInstruction decoded;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t pc;
	struct code_insn *insn;
};

/* The number of the 64-bit register that reg is, or is a part of. */
static uint8_t x86_reg(ZydisRegister reg)
{
	static const uint8_t numbers[16] = {
	    0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
	ZydisRegister whole =
	    ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return CODE_NO_REG;
	return numbers[whole - ZYDIS_REGISTER_RAX];
}

static bool x86_is_reg(const ZydisDecodedOperand *operand, uint16_t bits)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->size == bits &&
	       x86_reg(operand->reg.value) != CODE_NO_REG;
}

/* Its low bits; ah, bh, ch and dh have no such place. */
static bool x86_is_low(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       x86_reg(operand->reg.value) != CODE_NO_REG &&
	       (operand->reg.value < ZYDIS_REGISTER_AH ||
		   operand->reg.value > ZYDIS_REGISTER_BH);
}

static bool x86_is_imm(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

/* Fills in the address of a memory operand. False where it is not one of whole registers in the
 * usual segments. */
static bool x86_address(const struct x86_insn *x, const ZydisDecodedOperand *operand,
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
		effect->base = x86_reg(mem->base);
	if (mem->index == ZYDIS_REGISTER_NONE)
		return true;
	effect->index = x86_reg(mem->index);
	while (effect->shift < 3 && 1 << effect->shift < mem->scale)
		effect->shift++;
	return effect->index != CODE_NO_REG;
}

/* Loads or stores dst (CODE_NO_REG: another value). False where the address is not known, and
 * then there is no effect. */
static bool x86_access(const struct x86_insn *x, const ZydisDecodedOperand *operand,
    enum code_effect_kind kind, uint8_t dst)
{
	struct code_effect *effect = code_effect_add(x->insn, kind, dst);

	effect->width = (uint8_t)(operand->size / 8 > 255 ? 255 : operand->size / 8);
	if (x86_address(x, operand, effect))
		return true;
	x->insn->n_effects--;
	return false;
}

static struct code_effect *x86_set(
    const struct x86_insn *x, uint8_t dst, uint8_t base, int64_t off)
{
	struct code_effect *effect = code_effect_add(x->insn, CODE_SET, dst);

	effect->base = base;
	effect->off = off;
	return effect;
}

/* Writes value (a register, or CODE_NO_REG) below the stack pointer and moves it there. */
static void x86_push(const struct x86_insn *x, uint8_t value, uint8_t width)
{
	struct code_effect *effect = code_effect_add(x->insn, CODE_STORE, value);

	effect->base = X86_RSP;
	effect->off = -width;
	effect->width = width;
	x86_set(x, X86_RSP, X86_RSP, -width);
}

static void x86_pop(const struct x86_insn *x, uint8_t dst)
{
	struct code_effect *effect = code_effect_add(x->insn, CODE_LOAD, dst);

	effect->base = X86_RSP;
	if (dst != X86_RSP)
		x86_set(x, X86_RSP, X86_RSP, 8);
}

static void x86_insn_push(const struct x86_insn *x)
{
	const ZydisDecodedOperand *operand = &x->operands[0];

	if (x->decoded.operand_width != 64)
		x86_push(x, CODE_NO_REG, (uint8_t)(x->decoded.operand_width / 8));
	else if (x86_is_reg(operand, 64))
		x86_push(x, x86_reg(operand->reg.value), 8);
	else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		 x86_access(x, operand, CODE_LOAD, CODE_SCRATCH))
		x86_push(x, CODE_SCRATCH, 8);
	else
		x86_push(x, CODE_NO_REG, 8);
}

static void x86_insn_pop(const struct x86_insn *x)
{
	const ZydisDecodedOperand *operand = &x->operands[0];

	if (x86_is_reg(operand, 64)) {
		x86_pop(x, x86_reg(operand->reg.value));
		return;
	}
	x86_pop(x, CODE_SCRATCH);
	if (x->decoded.operand_width != 64)
		x->insn->effects[x->insn->n_effects - 1].off =
		    x->decoded.operand_width / 8;
	/* Its address is computed after the stack pointer moved. */
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		(void)x86_access(x, operand, CODE_STORE, CODE_SCRATCH);
}

static void x86_insn_mov(const struct x86_insn *x)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];
	uint8_t dst = to->type == ZYDIS_OPERAND_TYPE_REGISTER ? x86_reg(to->reg.value)
							      : CODE_NO_REG;

	if (to->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		uint8_t src = CODE_NO_REG;

		if (x86_is_reg(from, 64))
			src = x86_reg(from->reg.value);
		(void)x86_access(x, to, CODE_STORE, src);
	} else if (dst == CODE_NO_REG || (to->size != 64 && to->size != 32)) {
		return;
	} else if (x86_is_imm(from)) {
		x86_set(x, dst, CODE_NO_REG,
		    to->size == 64 ? from->imm.value.s
				   : (int64_t)(uint32_t)from->imm.value.u);
	} else if (x86_is_reg(from, to->size)) {
		x86_set(x, dst, x86_reg(from->reg.value), 0)->width =
		    (uint8_t)(to->size / 8);
	} else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		(void)x86_access(x, from, CODE_LOAD, dst);
	}
}

/* movzx, movsx, movsxd; cdqe has only hidden operands. */
static void x86_insn_extend(const struct x86_insn *x, bool is_signed)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];
	struct code_effect *effect;

	if (!x86_is_reg(to, 64) && !(x86_is_reg(to, 32) && !is_signed))
		return;
	if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		if (x86_access(x, from, CODE_LOAD, x86_reg(to->reg.value)))
			x->insn->effects[x->insn->n_effects - 1].load_signed = is_signed;
	} else if (x86_is_low(from)) {
		effect = x86_set(x, x86_reg(to->reg.value), CODE_NO_REG, 0);
		effect->index = x86_reg(from->reg.value);
		effect->index_bits = (uint8_t)from->size;
		effect->index_signed = is_signed;
	}
}

static void x86_insn_lea(const struct x86_insn *x)
{
	const ZydisDecodedOperand *to = &x->operands[0];
	struct code_effect *effect;

	if (!x86_is_reg(to, 64) && !x86_is_reg(to, 32))
		return;
	effect = code_effect_add(x->insn, CODE_SET, x86_reg(to->reg.value));
	effect->width = (uint8_t)(to->size / 8);
	if (!x86_address(x, &x->operands[1], effect))
		x->insn->n_effects--;
}

/* dst plus or minus an immediate, a register or memory; sign is 1 or -1. */
static void x86_insn_add(const struct x86_insn *x, int sign)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];
	struct code_effect *effect;
	uint8_t dst, index;

	if (!x86_is_reg(to, 64) && !x86_is_reg(to, 32))
		return;
	dst = x86_reg(to->reg.value);
	if (x86_is_imm(from)) {
		x86_set(x, dst, dst, sign * from->imm.value.s)->width =
		    (uint8_t)(to->size / 8);
		return;
	}
	if (x86_is_reg(from, to->size)) {
		index = x86_reg(from->reg.value);
	} else {
		index = CODE_SCRATCH;
		if (!x86_access(x, from, CODE_LOAD, CODE_SCRATCH))
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

	if ((!x86_is_reg(to, 64) && !x86_is_reg(to, 32)) || !x86_is_imm(from))
		return;
	mask = from->imm.value.s;
	if (mask >= 0) {
		effect = code_effect_add(x->insn, CODE_BOUND, x86_reg(to->reg.value));
		effect->off = mask;
	} else if (to->size == 64 && !((uint64_t)-mask & ((uint64_t)-mask - 1))) {
		effect = code_effect_add(x->insn, CODE_ALIGN, x86_reg(to->reg.value));
		effect->base = effect->dst;
		effect->off = mask;
	}
}

static void x86_insn_xor(const struct x86_insn *x)
{
	const ZydisDecodedOperand *to = &x->operands[0], *from = &x->operands[1];

	if ((x86_is_reg(to, 64) || x86_is_reg(to, 32)) && x86_is_reg(from, to->size) &&
	    to->reg.value == from->reg.value)
		x86_set(x, x86_reg(to->reg.value), CODE_NO_REG, 0);
}

static void x86_insn_xchg(const struct x86_insn *x)
{
	uint8_t a, b;

	if (!x86_is_reg(&x->operands[0], 64) || !x86_is_reg(&x->operands[1], 64))
		return;
	a = x86_reg(x->operands[0].reg.value);
	b = x86_reg(x->operands[1].reg.value);
	x86_set(x, CODE_SCRATCH, a, 0);
	x86_set(x, a, b, 0);
	x86_set(x, b, CODE_SCRATCH, 0);
}

static void x86_insn_cmp(const struct x86_insn *x)
{
	const ZydisDecodedOperand *a = &x->operands[0], *b = &x->operands[1];
	struct code_effect *effect;

	if (!x86_is_low(a) || (!x86_is_imm(b) && !x86_is_low(b)))
		return;
	effect = code_effect_add(x->insn, CODE_COMPARE, x86_reg(a->reg.value));
	effect->width = (uint8_t)(a->size / 8);
	if (x86_is_imm(b))
		effect->off = b->imm.value.s;
	else
		effect->index = x86_reg(b->reg.value);
	x->insn->ends_compare = false;
}

/* or $0 and add $0 to memory leave it as it is: a barrier, or a probe of the stack. */
static bool x86_keeps_memory(const struct x86_insn *x)
{
	return (x->decoded.mnemonic == ZYDIS_MNEMONIC_OR ||
		   x->decoded.mnemonic == ZYDIS_MNEMONIC_ADD) &&
	       x86_is_imm(&x->operands[1]) && x->operands[1].imm.value.u == 0;
}

/* What every instruction writes, by its operands. */
static void x86_writes(const struct x86_insn *x)
{
	for (size_t i = 0; i < x->decoded.operand_count; i++) {
		const ZydisDecodedOperand *operand = &x->operands[i];
		uint8_t reg;

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && !x86_keeps_memory(x)) {
			(void)x86_access(x, operand, CODE_STORE, CODE_NO_REG);
			continue;
		}
		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		reg = x86_reg(operand->reg.value);
		if (reg == CODE_NO_REG)
			continue;
		if (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
			x->insn->unsure |= UINT32_C(1) << reg;
		else
			x->insn->writes |= UINT32_C(1) << reg;
	}
}

/* Instructions that have effects of their own. */
static void x86_effects(const struct x86_insn *x)
{
	struct code_insn *insn = x->insn;
	const uint8_t written = insn->n_effects;

	insn->n_effects = 0;
	switch ((int)x->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		x86_insn_push(x);
		break;
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		x86_push(x, CODE_NO_REG, (uint8_t)(x->decoded.operand_width / 8));
		break;
	case ZYDIS_MNEMONIC_POP:
		x86_insn_pop(x);
		break;
	case ZYDIS_MNEMONIC_POPFQ:
		x86_set(x, X86_RSP, X86_RSP, 8);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		x86_set(x, X86_RSP, X86_RBP, 0);
		x86_pop(x, X86_RBP);
		break;
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
	case ZYDIS_MNEMONIC_CDQE: {
		struct code_effect *effect = x86_set(x, X86_RAX, CODE_NO_REG, 0);

		effect->index = X86_RAX;
		effect->index_bits = 32;
		effect->index_signed = true;
		break;
	}
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
	case ZYDIS_MNEMONIC_DEC:
		if (x86_is_reg(&x->operands[0], 64))
			x86_set(x, x86_reg(x->operands[0].reg.value),
			    x86_reg(x->operands[0].reg.value),
			    x->decoded.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1);
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
	default:
		break;
	}
	if (insn->n_effects == 0)
		insn->n_effects = written;
	for (size_t i = 0; i < insn->n_effects; i++) {
		const struct code_effect *effect = &insn->effects[i];

		if (effect->kind != CODE_STORE && effect->kind != CODE_COMPARE &&
		    effect->dst != CODE_SCRATCH)
			insn->writes &= ~(UINT32_C(1) << effect->dst);
	}
}

static uint8_t x86_condition(ZydisMnemonic mnemonic)
{
	switch ((int)mnemonic) {
	case ZYDIS_MNEMONIC_JZ:
		return CODE_IF_EQUAL;
	case ZYDIS_MNEMONIC_JNZ:
		return CODE_IF_NOT_EQUAL;
	case ZYDIS_MNEMONIC_JNBE:
		return CODE_IF_ABOVE;
	case ZYDIS_MNEMONIC_JNB:
		return CODE_IF_ABOVE_EQUAL;
	case ZYDIS_MNEMONIC_JB:
		return CODE_IF_BELOW;
	case ZYDIS_MNEMONIC_JBE:
		return CODE_IF_BELOW_EQUAL;
	default:
		return CODE_IF_OTHER;
	}
}

/* Sets target, or via, for a jump or a call. */
static void x86_target(const struct x86_insn *x, uint8_t direct, uint8_t indirect)
{
	const ZydisDecodedOperand *operand = &x->operands[0];
	struct code_insn *insn = x->insn;

	insn->n_effects = 0;
	insn->writes = 0;
	insn->control = indirect;
	if (x86_is_imm(operand)) {
		insn->control = direct;
		insn->target = x->pc + insn->length + operand->imm.value.u;
	} else if (x86_is_reg(operand, 64)) {
		insn->via = x86_reg(operand->reg.value);
	} else {
		insn->via = CODE_SCRATCH;
		if (!x86_access(x, operand, CODE_LOAD, CODE_SCRATCH))
			code_effect_add(insn, CODE_BOUND, CODE_SCRATCH)->off = INT64_MAX;
	}
}

static void x86_call(const struct x86_insn *x)
{
	struct code_insn *insn = x->insn;

	x86_target(x, CODE_CALLS, CODE_CALLS_TO);
	/* A call of the next instruction pushes its own address, and nothing returns. */
	if (insn->control == CODE_CALLS && insn->target == x->pc + insn->length) {
		insn->control = CODE_CONTINUES;
		x86_set(x, CODE_SCRATCH, CODE_NO_REG, (int64_t)insn->target);
		x86_push(x, CODE_SCRATCH, 8);
	}
}

static void x86_control(const struct x86_insn *x)
{
	struct code_insn *insn = x->insn;

	if (x->decoded.mnemonic == ZYDIS_MNEMONIC_XABORT)
		return;
	switch ((int)x->decoded.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		insn->control = CODE_BRANCHES;
		insn->condition = x86_condition(x->decoded.mnemonic);
		insn->target = x->pc + insn->length + x->operands[0].imm.value.u;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		x86_target(x, CODE_JUMPS, CODE_JUMPS_TO);
		break;
	case ZYDIS_CATEGORY_CALL:
		x86_call(x);
		break;
	case ZYDIS_CATEGORY_RET:
		insn->control =
		    x->decoded.mnemonic == ZYDIS_MNEMONIC_RET ? CODE_RETURNS : CODE_STOPS;
		break;
	default:
		break;
	}
	switch ((int)x->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_INT3:
		insn->filler = true;
		insn->control = CODE_STOPS;
		break;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		insn->control = CODE_STOPS;
		break;
	case ZYDIS_MNEMONIC_SYSCALL:
		insn->writes |= UINT32_C(1) << X86_RAX;
		break;
	case ZYDIS_MNEMONIC_NOP:
		insn->filler = true;
		break;
	default:
		break;
	}
}

bool code_insn_x86_64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn)
{
	struct x86_insn x; /* large, and filled in by Zydis */
	const ZydisAccessedFlags *flags;
	ZydisDecoder decoder;

	x.pc = pc;
	x.insn = insn;
	if (!ZYAN_SUCCESS(ZydisDecoderInit(
		&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&decoder, code, size, &x.decoded, x.operands)) ||
	    x.decoded.mnemonic == ZYDIS_MNEMONIC_ENTER ||
	    x.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return false;
	insn->length = x.decoded.length;
	flags = x.decoded.cpu_flags;
	insn->ends_compare =
	    flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) &
			 (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF);
	x86_writes(&x);
	x86_effects(&x);
	x86_control(&x);
	return true;
}
