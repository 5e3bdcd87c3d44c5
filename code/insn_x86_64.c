/* SPDX-License-Identifier: MIT */
#include "code/machines.h"

bool code_insn_x86_64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_insn *insn)
{
	(void)code, (void)size, (void)pc, (void)insn;
	return false;
}
