/* SPDX-License-Identifier: MIT */
/* A program that prints its stack when it crashes. The walker allocates nothing and takes no lock, so a handler may
 * use it. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eh2sframe-walk.h"

static _Alignas(64) char memory[EH2SFRAME_WALK_MEMORY];
/* A handler with a stack of its own works after a stack overflow, too. */
static char handler_stack[1 << 16];

static void put(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(2);
}

static void put_address(uintptr_t address)
{
	char text[2 * sizeof(address) + 1];
	size_t i = sizeof(text);

	for (text[--i] = '\0'; i > 0; address >>= 4)
		text[--i] = "0123456789abcdef"[address & 15];
	put(text);
}

/* A call of a wrong pointer has left a return address, although no file has the code. A call has just written to this SP, so it can be read. */
static void to_caller(struct eh2sframe_walk_frame *frame)
{
	const bool pushed = !(frame->flags & EH2SFRAME_WALK_FRAME_RA);
	const uint64_t *top = (const uint64_t *)(uintptr_t)frame->sp;

	frame->pc = pushed ? *top : frame->ra;
	frame->sp += pushed ? sizeof(*top) : 0;
	frame->flags = 0;
}

/* eh2sframe_walk_backtrace would end where no file has the code. */
static size_t walk(
    const void *context, uintptr_t *pcs, size_t max, enum eh2sframe_walk_why *why)
{
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
	struct eh2sframe_walk_frame frame;
	size_t n = 0;

	eh2sframe_walk_begin(&frame, context, registers);
	do {
		pcs[n++] = (uintptr_t)frame.pc;
		*why = eh2sframe_walk_next(&frame);
		if (n == 1 && *why == EH2SFRAME_WALK_WHY_NO_MODULE) {
			to_caller(&frame);
			*why = EH2SFRAME_WALK_WHY_GOES_ON;
		}
	} while (*why == EH2SFRAME_WALK_WHY_GOES_ON && n < max);
	return n;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	enum eh2sframe_walk_why why;
	uintptr_t pcs[64];
	size_t n = walk(context, pcs, 64, &why);

	(void)number;
	put("crash: access to ");
	put_address((uintptr_t)info->si_addr);
	for (size_t i = 0; i < n; i++) {
		put("\n  ");
		put_address(pcs[i]);
	}
	put("\nthe walk ended: ");
	put(eh2sframe_walk_why_text(why));
	put("\n");
	_exit(1);
}

/* Says whether to call the null pointer or to read there. */
static bool calls;

static int compare(const void *a, const void *b)
{
	int (*volatile nothing)(void) = NULL;
	const volatile int *nowhere = NULL;

	return *(const int *)a - *(const int *)b + (calls ? nothing() : *nowhere);
}

int main(int argc, char **argv)
{
	const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
	struct sigaction action = {
	    .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	int numbers[] = {3, 1, 2};

	calls = argc > 1 && strcmp(argv[1], "call") == 0;
	if (!eh2sframe_walk_init(memory, sizeof(memory), NULL) ||
	    sigaltstack(&stack, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0)
		return 2;
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	return 0;
}
