/* SPDX-License-Identifier: MIT */
/* One decoder for each machine; the contract is code_decode's. */
#ifndef CODE_MACHINES_H
#define CODE_MACHINES_H

#include "code/code.h"

enum code_flow code_decode_x86_64(const uint8_t *code, uint64_t size, uint8_t *length);
enum code_flow code_decode_aarch64(const uint8_t *code, uint64_t size, uint8_t *length);
enum code_flow code_decode_s390x(const uint8_t *code, uint64_t size, uint8_t *length);

#endif
