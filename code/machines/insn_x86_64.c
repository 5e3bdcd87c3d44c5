/* SPDX-License-Identifier: MIT */
/*
 * x86-64: Zydis names operands, hidden ones too, and says which of them are written. So a
 * register that is written is known for each instruction. The few that move frames and saved
 * registers around get exact effects (Intel SDM, volume 2).
 */
#include "code/machines/x86_64.h"

enum {
	X86_RSI_RDI = 1 << X86_RSI | 1 << X86_RDI,
	X86_RAX_R8 = 1 << X86_RAX | 1 << 8,
	/* Registers that a system call by int 0x80 may change in some releases of Linux. */
	X86_INT_80 = 0xf00,
	/* All but rbp and rsp. */
	X86_ELSEWHERE = 0xff3f,
	X86_VIA = 0x37, /* rax, rcx, rdx, rsi, rdi */
	/* The most that xsave can write without the tiles of AMX, which programs must ask for. */
	X86_XSAVE_BYTES = 2816,
};

/* or $0 and add $0 to memory leave it as it is: a barrier, or a probe of the stack. */
static bool x86_keeps_memory(const struct x86_insn *x)
{
	return (x->decoded.mnemonic == ZYDIS_MNEMONIC_OR ||
		   x->decoded.mnemonic == ZYDIS_MNEMONIC_ADD) &&
	       x86_is_imm(&x->operands[1]) && x->operands[1].imm.value.u == 0;
}

/* An effect for each 255 bytes, which is all that one can tell of. */
static void x86_fill(
    const struct x86_insn *x, const ZydisDecodedOperand *operand, uint32_t bytes)
{
	struct code_effect *effect;

	for (uint32_t at = 0; at < bytes; at += 255) {
		if (!code_x86_access(x, operand, CODE_STORE, CODE_NO_REG))
			return;
		effect = &x->insn->effects[x->insn->n_effects - 1];
		effect->off += at;
		effect->width = (uint8_t)(bytes - at < 255 ? bytes - at : 255);
	}
}

static void x86_writes_memory(
    const struct x86_insn *x, const ZydisDecodedOperand *operand)
{
	switch ((int)x->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
	case ZYDIS_MNEMONIC_XSAVES:
	case ZYDIS_MNEMONIC_XSAVES64:
		x86_fill(x, operand, X86_XSAVE_BYTES);
		break;
	/* tilestored's rows are as far apart as the index register says. */
	case ZYDIS_MNEMONIC_TILESTORED:
		break;
	/* A bit's number in a register selects another word of memory. */
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTS:
		if (x86_is_imm(&x->operands[1]))
			x86_fill(x, operand, operand->size / 8);
		break;
	default:
		if (!x86_keeps_memory(x))
			x86_fill(x, operand, operand->size / 8);
		break;
	}
}

/* Notes the registers that operands write and, unless exact effects do that, the memory. */
static void x86_writes(const struct x86_insn *x, bool with_memory)
{
	for (size_t i = 0; i < x->n_operands; i++) {
		const ZydisDecodedOperand *operand = &x->operands[i];
		uint8_t reg;

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && with_memory)
			x86_writes_memory(x, operand);
		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;
		reg = code_x86_reg(operand->reg.value);
		if (reg == CODE_NO_REG)
			continue;
		if (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
			x->insn->unsure |= UINT32_C(1) << reg;
		else
			x->insn->writes |= UINT32_C(1) << reg;
	}
}

/* Registers that no operand of Zydis names, and those that may keep their value. None of these
 * instructions has exact effects. */
static void x86_writes_more(const struct x86_insn *x)
{
	struct code_insn *insn = x->insn;

	/* The first operand of ins is memory, and that of outs is dx. */
	if (x->decoded.meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
		insn->unsure |=
		    UINT32_C(1)
		    << (x->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ? X86_RDI
									 : X86_RSI);
	switch ((int)x->decoded.mnemonic) {
	case ZYDIS_MNEMONIC_CMPSB:
	case ZYDIS_MNEMONIC_CMPSW:
	case ZYDIS_MNEMONIC_CMPSQ:
		insn->unsure |= X86_RSI_RDI;
		break;
	/* movsd and cmpsd of vectors have the same names. */
	case ZYDIS_MNEMONIC_CMPSD:
		if (x->decoded.meta.category == ZYDIS_CATEGORY_STRINGOP)
			insn->unsure |= X86_RSI_RDI;
		break;
	case ZYDIS_MNEMONIC_SCASB:
	case ZYDIS_MNEMONIC_SCASW:
	case ZYDIS_MNEMONIC_SCASD:
	case ZYDIS_MNEMONIC_SCASQ:
		insn->unsure |= UINT32_C(1) << X86_RDI;
		break;
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_LSL:
	/* These keep the register on a processor without a shadow stack. */
	case ZYDIS_MNEMONIC_RDSSPD:
	case ZYDIS_MNEMONIC_RDSSPQ:
		insn->unsure |= insn->writes;
		insn->writes = 0;
		break;
	/* With REX.B some processors exchange rax and r8 instead. */
	case ZYDIS_MNEMONIC_PAUSE:
		if (x->decoded.raw.rex.B)
			insn->unsure |= X86_RAX_R8;
		break;
	default:
		break;
	}
}

/* Registers that a kernel, a hypervisor, an enclave or an instruction of VIA writes. */
static void x86_writes_elsewhere(const struct x86_insn *x)
{
	struct code_insn *insn = x->insn;

	if (x->decoded.meta.category == ZYDIS_CATEGORY_PADLOCK)
		insn->unsure |= X86_VIA;
	switch ((int)x->decoded.mnemonic) {
	/* Numbers of 32-bit system calls are not known here. */
	case ZYDIS_MNEMONIC_INT:
		insn->system = x->operands[0].imm.value.u == 0x80;
		insn->target = UINT64_MAX;
		insn->unsure |= X86_INT_80;
		insn->writes |= UINT32_C(1) << X86_RAX;
		break;
	case ZYDIS_MNEMONIC_SYSCALL:
		insn->system = true;
		insn->via = X86_RAX;
		insn->writes |= UINT32_C(1) << X86_RAX;
		break;
	case ZYDIS_MNEMONIC_PSMASH:
	case ZYDIS_MNEMONIC_PVALIDATE:
	case ZYDIS_MNEMONIC_RMPADJUST:
	case ZYDIS_MNEMONIC_RMPUPDATE:
		insn->writes |= UINT32_C(1) << X86_RAX;
		break;
	case ZYDIS_MNEMONIC_ENCLS:
	case ZYDIS_MNEMONIC_ENCLU:
	case ZYDIS_MNEMONIC_ENCLV:
	case ZYDIS_MNEMONIC_GETSEC:
	case ZYDIS_MNEMONIC_SEAMCALL:
	case ZYDIS_MNEMONIC_SEAMOPS:
	case ZYDIS_MNEMONIC_SEAMRET:
	case ZYDIS_MNEMONIC_TDCALL:
	case ZYDIS_MNEMONIC_VMCALL:
	case ZYDIS_MNEMONIC_VMMCALL:
	case ZYDIS_MNEMONIC_VMRUN:
		insn->unsure |= X86_ELSEWHERE;
		break;
	default:
		break;
	}
}

/* Registers that an effect describes leave the mask of those that are only written. */
static void x86_tells(struct code_insn *insn)
{
	for (size_t i = 0; i < insn->n_effects; i++) {
		const struct code_effect *effect = &insn->effects[i];

		if (effect->kind != CODE_STORE && effect->kind != CODE_COMPARE &&
		    effect->dst != CODE_SCRATCH)
			insn->writes &= ~(UINT32_C(1) << effect->dst);
	}
}

static bool x86_uses_flags(const ZydisDecodedInstruction *decoded)
{
	const ZydisAccessedFlags *flags = decoded->cpu_flags;

	return flags && (flags->tested | flags->modified | flags->set_0 | flags->set_1 |
			    flags->undefined);
}

/*
 * How many operands to decode: the visible ones, where the hidden ones are the flags alone, or
 * flags, rip and the stack of an instruction whose effects are known without them.
 */
static uint8_t x86_n_operands(const ZydisDecodedInstruction *decoded)
{
	switch ((int)decoded->mnemonic) {
	case ZYDIS_MNEMONIC_CALL:
	case ZYDIS_MNEMONIC_JMP:
		return decoded->raw.imm[0].is_relative ? 0 : 1;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_NOP:
		return 0;
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
		return 1;
	default:
		break;
	}
	if (decoded->meta.category == ZYDIS_CATEGORY_COND_BR && x86_uses_flags(decoded) &&
	    decoded->mnemonic != ZYDIS_MNEMONIC_LOOPE &&
	    decoded->mnemonic != ZYDIS_MNEMONIC_LOOPNE)
		return 0;
	if (decoded->operand_count - decoded->operand_count_visible <=
	    x86_uses_flags(decoded))
		return decoded->operand_count_visible;
	return decoded->operand_count;
}

static bool x86_decode(const uint8_t *code, uint64_t size, struct x86_insn *x)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	if (!ZYAN_SUCCESS(ZydisDecoderInit(
		&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(
		&decoder, &context, code, size, &x->decoded)) ||
	    x->decoded.mnemonic == ZYDIS_MNEMONIC_ENTER ||
	    x->decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return false;
	/* Processors with these have no other instruction of a program. */
	if (x->decoded.mnemonic == ZYDIS_MNEMONIC_JKZD ||
	    x->decoded.mnemonic == ZYDIS_MNEMONIC_JKNZD)
		return false;
	x->n_operands = x86_n_operands(&x->decoded);
	return x->n_operands == 0 ||
	       ZYAN_SUCCESS(ZydisDecoderDecodeOperands(
		   &decoder, &context, &x->decoded, x->operands, x->n_operands));
}

/* The letters l to o are ins and outs. */
static bool x86_is_strange(const ZydisDecodedInstruction *decoded)
{
	switch ((int)decoded->meta.category) {
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_SEGOP:
		return true;
	default:
		break;
	}
	switch ((int)decoded->mnemonic) {
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_XLAT:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		return true;
	default:
		return false;
	}
}

/* Fills in x->insn from what Zydis read. */
static void x86_effects(const struct x86_insn *x)
{
	const ZydisAccessedFlags *flags = x->decoded.cpu_flags;
	struct code_insn *insn = x->insn;
	bool branches, has_exact;

	insn->length = x->decoded.length;
	insn->ends_compare =
	    flags && (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) &
			 (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF);
	branches = code_x86_control(x);
	if (!branches)
		code_x86_exact(x);
	has_exact = insn->n_effects != 0;
	x86_writes(x, !has_exact);
	if (has_exact) {
		x86_tells(insn);
	} else if (!branches) {
		x86_writes_more(x);
		x86_writes_elsewhere(x);
	}
}

bool code_x86_read_any(const uint8_t *code, uint64_t size, struct x86_insn *x)
{
	if (!x86_decode(code, size, x))
		return false;
	/* Zero bytes are "add %al,(%rax)". */
	x->insn->strange = x86_is_strange(&x->decoded) || (!code[0] && !code[1]);
	x86_effects(x);
	return true;
}

uint64_t code_x86_64_version(void)
{
	return ZydisGetVersion();
}

bool code_insn_x86_64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn)
{
	struct x86_insn x; /* large, and filled in by its reader */

	x.pc = pc;
	x.insn = insn;
	if (code_x86_read_common(code, size, &x))
		return true;
	/* The common reader may have noted effects before it met what it does not know. */
	code_insn_clear(insn);
	if (code_x86_read_any(code, size, &x))
		return true;
	insn->length = code_x86_vex_length(code, size);
	return insn->length != 0;
}
