/* SPDX-License-Identifier: MIT */
/* From a machine to its decoder. */
#include "code/machines.h"
#include "config.h"

bool code_can_decode(enum code_machine machine)
{
	return machine != CODE_X86_64 || EH2SFRAME_ZYDIS;
}

enum code_flow code_decode(
    enum code_machine machine, const uint8_t *code, uint64_t size, uint8_t *length)
{
	*length = 0;
	switch (machine) {
	case CODE_X86_64:
#if EH2SFRAME_ZYDIS
		return code_decode_x86_64(code, size, length);
#else
		break;
#endif
	case CODE_AARCH64:
		return code_decode_aarch64(code, size, length);
	case CODE_S390X:
		return code_decode_s390x(code, size, length);
	}
	return CODE_INVALID;
}
