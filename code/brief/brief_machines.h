/* SPDX-License-Identifier: MIT */
/* One reader for each machine; the contract is code_brief_read's. */
#ifndef CODE_BRIEF_BRIEF_MACHINES_H
#define CODE_BRIEF_BRIEF_MACHINES_H

#include "code/brief/brief.h"

/* *brief has no registers, and all else is 0. */
bool code_brief_x86_64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_brief *brief);
bool code_brief_aarch64(
    const uint8_t *code, uint64_t size, uint64_t pc, struct code_brief *brief);

#endif
