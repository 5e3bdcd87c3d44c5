/* SPDX-License-Identifier: MIT */
/* From a machine to its brief reader. */
#include "code/brief/brief.h"

#include "code/brief/brief_machines.h"
#include "config.h"

bool code_brief_read(enum code_machine machine, const uint8_t *code, uint64_t size,
    uint64_t pc, struct code_brief *brief)
{
	*brief = (struct code_brief){.dst = CODE_NO_REG,
	    .from = {CODE_NO_REG, CODE_NO_REG},
	    .base = CODE_NO_REG,
	    .index = CODE_NO_REG,
	    .src = {CODE_NO_REG, CODE_NO_REG}};
	switch (machine) {
	case CODE_X86_64:
#if EH2SFRAME_ZYDIS
		return code_brief_x86_64(code, size, pc, brief);
#else
		break;
#endif
	case CODE_AARCH64:
		return code_brief_aarch64(code, size, pc, brief);
	case CODE_S390X:
		break;
	}
	return false;
}
