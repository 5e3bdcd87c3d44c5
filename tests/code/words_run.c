/* SPDX-License-Identifier: MIT */
/*
 * Runs single instructions, natively or under qemu: a state and the bytes come in, the state behind them goes out
 * (words.h). Each is followed by a trap. The handler of its signal notes all registers, puts those of the next word
 * into the context, and returns there. So there is no code of this program between two words, and they may change
 * any register.
 *
 * Built as a position-independent static program: no number of 32 bits is an address in it. The handler uses nothing
 * that is local to a thread, because words can change the register that leads there.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "words.h"

static struct words_before before[WORDS_BATCH];
static struct words_after after[WORDS_BATCH];
static size_t n,
    next; /* words of this batch; the one that comes after the one that runs */
static mcontext_t own; /* main()'s, while words run */
static uint64_t stack; /* SP of the word that runs */

#if defined(__x86_64__)
enum { SP = 7 };
static const uint8_t trap[] = {0xcc};

static greg_t *reg_of(mcontext_t *context, int reg)
{
	static const uint8_t numbers[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
	    REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
	    REG_R14, REG_R15};

	return reg < 16 ? &context->gregs[numbers[reg]] : NULL;
}

static void set_pc(mcontext_t *context, uint64_t pc, uint64_t flags)
{
	context->gregs[REG_RIP] = (greg_t)pc;
	/* Carry, zero, sign, overflow; and that interrupts are on. */
	context->gregs[REG_EFL] = (greg_t)(0x202 | (flags & 1) | (flags & 2) << 5 |
					   (flags & 4) << 5 | (flags & 8) << 8);
}

static uint64_t pc_of(const mcontext_t *context, const siginfo_t *info)
{
	return (uint64_t)context->gregs[REG_RIP] - (info->si_signo == SIGTRAP);
}
#elif defined(__aarch64__)
enum { SP = 31 };
static const uint8_t trap[] = {0, 0, 0x20, 0xd4};

static unsigned long long *reg_of(mcontext_t *context, int reg)
{
	return reg == SP ? &context->sp : &context->regs[reg];
}

static void set_pc(mcontext_t *context, uint64_t pc, uint64_t flags)
{
	context->pc = pc;
	context->pstate = flags << 28;
}

static uint64_t pc_of(const mcontext_t *context, const siginfo_t *info)
{
	(void)info;
	return context->pc;
}
#elif defined(__s390x__)
enum { SP = 15 };
static const uint8_t trap[] = {0, 1};

static uint64_t *reg_of(mcontext_t *context, int reg)
{
	static const uint8_t fprs[] = {
	    0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

	return reg < 16 ? (uint64_t *)&context->gregs[reg]
			: (uint64_t *)&context->fpregs.fprs[fprs[reg - 16]];
}

static void set_pc(mcontext_t *context, uint64_t pc, uint64_t flags)
{
	context->psw.addr = pc;
	context->psw.mask = (own.psw.mask & ~(UINT64_C(3) << 44)) | (flags & 3) << 44;
}

/* qemu's PSW has the address of the trap, the kernel's the one behind it. */
static uint64_t pc_of(const mcontext_t *context, const siginfo_t *info)
{
	(void)context;
	return (uint64_t)(uintptr_t)info->si_addr;
}
#endif

static uint64_t *slots(void)
{
	return (uint64_t *)(uintptr_t)(stack - WORDS_SLOTS / 2 * 8);
}

static void ended(mcontext_t *context, const siginfo_t *info)
{
	struct words_after *to = &after[next - 1];

	/* s390x has its trap from qemu as an illegal instruction. */
	to->pc = pc_of(context, info);
	to->signal = (uint64_t)info->si_signo;
	if (info->si_signo == SIGTRAP ||
	    (info->si_signo == SIGILL && to->pc != WORDS_CODE + (next - 1) * WORDS_BLOCK))
		to->signal = 0;
	for (int i = 0; i < WORDS_REGS; i++)
		if (reg_of(context, i))
			to->state.regs[i] = (uint64_t)*reg_of(context, i);
	memcpy(to->state.slots, slots(), sizeof(to->state.slots));
}

static void begins(mcontext_t *context)
{
	const struct words_before *from = &before[next];

	set_pc(context, WORDS_CODE + next * WORDS_BLOCK, from->flags);
	for (int i = 0; i < WORDS_REGS; i++)
		if (reg_of(context, i))
			memcpy(reg_of(context, i), &from->state.regs[i], 8);
	stack = from->state.regs[SP];
	memcpy(slots(), from->state.slots, sizeof(from->state.slots));
	next++;
}

static void handler(int signal, siginfo_t *info, void *context_)
{
	ucontext_t *context = context_;

	(void)signal;
	if (next == 0)
		own = context->uc_mcontext;
	else
		ended(&context->uc_mcontext, info);
	if (next < n)
		begins(&context->uc_mcontext);
	else
		context->uc_mcontext = own;
}

static void *area(uint64_t at, size_t size)
{
	void *memory = mmap((void *)(uintptr_t)at, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(99);
	}
	return memory;
}

int main(void)
{
	static const int signals[] = {SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE};
	static uint8_t other_stack[1 << 18];
	const size_t size = WORDS_BATCH * WORDS_BLOCK;
	const stack_t on = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)};
	struct sigaction action = {
	    .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	uint8_t *code = area(WORDS_CODE, size);

	area(WORDS_DATA, WORDS_AREA);
	area(WORDS_STACK, WORDS_AREA);
	sigaltstack(&on, NULL);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	while ((n = fread(before, sizeof(before[0]), WORDS_BATCH, stdin)) > 0) {
		mprotect(code, size, PROT_READ | PROT_WRITE);
		for (size_t i = 0; i < size; i++)
			code[i] = trap[i % sizeof(trap)];
		for (size_t i = 0; i < n; i++)
			memcpy(code + i * WORDS_BLOCK, before[i].code, WORDS_BYTES);
		mprotect(code, size, PROT_READ | PROT_EXEC);
		__builtin___clear_cache((char *)code, (char *)code + size);
		next = 0;
		raise(SIGTRAP);
		if (fwrite(after, sizeof(after[0]), n, stdout) != n)
			return 99;
	}
	return 0;
}
