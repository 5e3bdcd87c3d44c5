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

/* Which of the machines this build can decode. */
bool code_can_decode(enum code_machine machine);

/* The version of Zydis that runs, 16 bits each for major, minor, patch and build; for builds with it. */
uint64_t code_x86_64_version(void);

/* Kinds of executable bytes. */
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
 * instructions (code_insn_read) up to one that never goes on, or up to the end. Whatever holds bytes that
 * are none, or a strange one, before that is data. So is a short piece of code between data: random bytes
 * often decode. Needs code_can_decode. False when memory runs out.
 */
ATTR_MUST_CHECK bool code_split(enum code_machine machine, const uint8_t *code,
    uint64_t size, uint64_t addr, struct code_parts *parts);
void code_parts_deinit(struct code_parts *parts);

#endif
