/* SPDX-License-Identifier: MIT */
/*
 * Executable bytes as instructions. The folder knows machines and nothing of ELF, CFI or
 * SFrame. x86-64 is decoded by Zydis, where the build has it; the other machines have
 * instructions of fixed sizes, which tables of our own tell.
 */
#ifndef CODE_CODE_H
#define CODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

enum code_machine {
	CODE_X86_64,
	CODE_AARCH64, /* A64, instructions are little-endian in data of either order */
	CODE_S390X,
};

/* What an instruction says about the bytes around it. */
enum code_flow {
	CODE_NEXT,    /* it can go on to the next instruction, or call */
	CODE_END,     /* it never goes on: a jump, a return, a trap */
	CODE_FILLER,  /* it does nothing, or it traps */
	CODE_INVALID, /* it is none, or none that a compiler or an author writes */
};

/* Which of the machines this build can decode. */
bool code_can_decode(enum code_machine machine);

/* The version of Zydis that runs, 16 bits each for major, minor, patch and build. 0 without it. */
uint64_t code_zydis_version(void);

/*
 * The instruction that begins code, of which size bytes (at least 1) are there. Sets
 * *length to its bytes; 0 with CODE_INVALID.
 */
enum code_flow code_decode(
    enum code_machine machine, const uint8_t *code, uint64_t size, uint8_t *length);

/* What a stretch of executable bytes is. */
enum code_kind {
	CODE_KIND_CODE,
	CODE_KIND_DATA,
	CODE_KIND_PADDING,
};

struct code_part {
	uint64_t start, size; /* bytes from the start of the stretch; bytes */
	enum code_kind kind;
};

/* Parts of one stretch, from its start to its end without a gap. */
struct code_parts {
	struct code_part *list; /* owned; free with code_parts_deinit */
	size_t n, cap;
};

/*
 * Divides size bytes that have no CFI. addr is their address, for alignment. Code is
 * instructions up to one that never goes on, or up to the end. Whatever holds an invalid
 * instruction before that is data. So is a short piece of code between data: random bytes
 * often decode. Needs code_can_decode. False when memory runs out.
 */
ATTR_MUST_CHECK bool code_split(enum code_machine machine, const uint8_t *code,
    uint64_t size, uint64_t addr, struct code_parts *parts);
void code_parts_deinit(struct code_parts *parts);

#endif
