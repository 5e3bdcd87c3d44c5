/* SPDX-License-Identifier: MIT */
/* s390x. */
#include "code/machines.h"

bool code_insn_s390x(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn)
{
	(void)code, (void)size, (void)pc, (void)insn;
	return false;
}
