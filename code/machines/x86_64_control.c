/* SPDX-License-Identifier: MIT */
/* x86-64: where control goes. */
#include "code/machines/x86_64.h"

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

static uint64_t x86_relative(const struct x86_insn *x)
{
	return x->pc + x->decoded.length + x->decoded.raw.imm[0].value.u;
}

/* Sets target, or via, for a jump or a call. */
static void x86_target(const struct x86_insn *x, uint8_t direct, uint8_t indirect)
{
	const ZydisDecodedOperand *operand = &x->operands[0];
	struct code_insn *insn = x->insn;

	insn->control = indirect;
	if (x->decoded.raw.imm[0].is_relative) {
		insn->control = direct;
		insn->target = x86_relative(x);
	} else if (code_x86_is_reg(operand, 64)) {
		insn->via = code_x86_reg(operand->reg.value);
	} else {
		insn->via = CODE_SCRATCH;
		if (!code_x86_access(x, operand, CODE_LOAD, CODE_SCRATCH))
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
		code_x86_set(x, CODE_SCRATCH, CODE_NO_REG, (int64_t)insn->target);
		code_x86_push(x, CODE_SCRATCH, 8);
	}
}

static void x86_return(const struct x86_insn *x)
{
	if (x->decoded.mnemonic != ZYDIS_MNEMONIC_RET) {
		x->insn->control = CODE_STOPS;
		return;
	}
	x->insn->control = CODE_RETURNS;
	/* Without an immediate operand, its value is 0. */
	code_x86_set(
	    x, X86_RSP, X86_RSP, 8 + (int64_t)(x->decoded.raw.imm[0].value.u & 0xffff));
}

/* Returns false if the category is not one of branches. */
static bool x86_branch(const struct x86_insn *x)
{
	switch ((int)x->decoded.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		/* xend is of this category, too. */
		if (!x->decoded.raw.imm[0].is_relative)
			return true;
		x->insn->control = CODE_BRANCHES;
		x->insn->condition = x86_condition(x->decoded.mnemonic);
		x->insn->target = x86_relative(x);
		return true;
	case ZYDIS_CATEGORY_UNCOND_BR:
		/* Where it aborts a transaction, xbegin is what branches. */
		if (x->decoded.mnemonic != ZYDIS_MNEMONIC_XABORT)
			x86_target(x, CODE_JUMPS, CODE_JUMPS_TO);
		return true;
	case ZYDIS_CATEGORY_CALL:
		x86_call(x);
		return true;
	case ZYDIS_CATEGORY_RET:
		x86_return(x);
		return true;
	default:
		return false;
	}
}

bool code_x86_control(const struct x86_insn *x)
{
	struct code_insn *insn = x->insn;

	if (x86_branch(x))
		return true;
	switch ((int)x->decoded.mnemonic) {
	/* A handler of its signal, or a debugger, goes on behind it. */
	case ZYDIS_MNEMONIC_INT3:
		insn->filler = true;
		break;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	/* Instructions that go on elsewhere, and never at the next one. */
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_UIRET:
	case ZYDIS_MNEMONIC_RSM:
	case ZYDIS_MNEMONIC_SKINIT:
		insn->control = CODE_STOPS;
		break;
	case ZYDIS_MNEMONIC_NOP:
		insn->filler = true;
		break;
	default:
		break;
	}
	return false;
}
