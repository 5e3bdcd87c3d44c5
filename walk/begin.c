/* SPDX-License-Identifier: MIT */
/* Fills in frames that have all registers: the first one, and those above signal frames without rows. */
#include <stddef.h>
#include <ucontext.h>

#include "walk/process.h"
#include "walk/stack.h"

/* A frame of the kernel is no object that a sanitizer knows. */
#define UNCHECKED __attribute__((no_sanitize("address")))

/*
 * Instructions that a handler returns to: they call rt_sigreturn. Not every libc and
 * kernel has CFI for them. The kernel's ucontext_t is then this far above SP. Then DWARF's
 * numbers of PC, SP, FP and, where a call leaves it in a register, RA; else 0.
 */
#if defined(__x86_64__)
static const uint8_t return_code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
enum { CONTEXT_AT = 0, PC = 16, SP = 7, FP = 6, RA = 0 };
/* "Figure 3.36: DWARF Register Number Mapping" of the psABI. */
static const int of_dwarf[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
    REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
    REG_R15, REG_RIP};
#elif defined(__aarch64__)
static const uint8_t return_code[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
enum { CONTEXT_AT = 128, PC = 32, SP = 31, FP = 29, RA = 30 }; /* siginfo_t */
#elif defined(__s390x__)
static const uint8_t return_code[] = {0x0a, 0xad};
/* Save area, instruction, siginfo_t. */
enum { CONTEXT_AT = 160 + 8 + 128, PC = 32, SP = 15, FP = 11, RA = 14 };
/* "DWARF Register Number Mapping" of the psABI: floating-point registers from 16 on. */
static const int of_dwarf[16] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
#endif

bool walk_begin_interrupted(struct eh2sframe_walk_frame *frame, uint64_t *registers)
{
	const size_t n = sizeof(return_code) < 8 ? sizeof(return_code) : 8;
	uint64_t context = frame->sp + CONTEXT_AT, wanted = 0, value = 0, read;

	if (!walk_stack_fetch(frame->pc, &read))
		return false;
	/* Compares n bytes only, because the last of the 8 may be of other code. */
	__builtin_memcpy(&value, &read, n);
	__builtin_memcpy(&wanted, return_code, n);
	if (value != wanted ||
	    !walk_stack_readable_range(
		context, offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t)))
		return false;
	eh2sframe_walk_begin(frame, (const void *)(uintptr_t)context, registers);
	frame->flags |= EH2SFRAME_WALK_FRAME_SIGNAL;
	return true;
}

UNCHECKED void eh2sframe_walk_begin(
    struct eh2sframe_walk_frame *frame, const void *ucontext, uint64_t *registers)
{
	const mcontext_t *machine = &((const ucontext_t *)ucontext)->uc_mcontext;

#if defined(__x86_64__)
	for (unsigned int i = 0; i < EH2SFRAME_WALK_N_REGISTERS; i++)
		registers[i] = i < sizeof(of_dwarf) / sizeof(of_dwarf[0])
				   ? (uint64_t)machine->gregs[of_dwarf[i]]
				   : 0;
#elif defined(__aarch64__)
	for (int i = 0; i < 31; i++)
		registers[i] = machine->regs[i];
	registers[SP] = machine->sp;
	registers[PC] = machine->pc;
#elif defined(__s390x__)
	for (int i = 0; i < 16; i++) {
		registers[i] = machine->gregs[i];
		__builtin_memcpy(
		    &registers[16 + i], &machine->fpregs.fprs[of_dwarf[i]], 8);
	}
	registers[PC] = machine->psw.addr;
#endif
	*frame = (struct eh2sframe_walk_frame){.pc = registers[PC],
	    .sp = registers[SP],
	    .fp = registers[FP],
	    .ra = RA ? registers[RA] : 0,
	    .registers = registers,
	    .flags = EH2SFRAME_WALK_FRAME_EXACT | (RA ? EH2SFRAME_WALK_FRAME_RA : 0)};
}
