/* SPDX-License-Identifier: MIT */
/* x86-64 by Zydis, in 64-bit mode. */
#include "code/machines/x86_64.h"

/* Instructions that neither compilers nor authors of user code write. Tables decode to
 * them often: zero bytes are "add %al,(%rax)", and the letters l to o are ins and outs. */
static bool x86_64_strange(const ZydisDecodedInstruction *insn, const uint8_t *code)
{
	switch ((int)insn->meta.category) {
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_SEGOP:
		return true;
	default:
		break;
	}
	switch ((int)insn->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		return code[0] == 0 && code[1] == 0;
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_XLAT:
	case ZYDIS_MNEMONIC_LOOP:
	case ZYDIS_MNEMONIC_LOOPE:
	case ZYDIS_MNEMONIC_LOOPNE:
		return true;
	default:
		return insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
	}
}

static bool x86_64_ends(const ZydisDecodedInstruction *insn)
{
	switch ((int)insn->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
		return true;
	default:
		return insn->meta.category == ZYDIS_CATEGORY_RET ||
		       insn->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
	}
}

enum code_flow code_decode_x86_64(const uint8_t *code, uint64_t size, uint8_t *length)
{
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;

	if (!ZYAN_SUCCESS(ZydisDecoderInit(
		&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return CODE_INVALID;
	if (!ZYAN_SUCCESS(
		ZydisDecoderDecodeInstruction(&decoder, NULL, code, size, &insn))) {
		*length = code_x86_vex_length(code, size);
		return *length ? CODE_NEXT : CODE_INVALID;
	}
	if (x86_64_strange(&insn, code))
		return CODE_INVALID;
	*length = insn.length;
	if (insn.mnemonic == ZYDIS_MNEMONIC_NOP || insn.mnemonic == ZYDIS_MNEMONIC_INT3)
		return CODE_FILLER;
	return x86_64_ends(&insn) ? CODE_END : CODE_NEXT;
}

uint64_t code_x86_64_version(void)
{
	return ZydisGetVersion();
}
