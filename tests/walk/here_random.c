/* SPDX-License-Identifier: MIT */
/* Stacks that were overwritten: no walk may do more than end. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/walk/here.h"
#include "walk/process.h"

enum { N_WORDS = 8192, PAGE_WORDS = 512, MOST_STEPS = 300 };

/* A word as a damaged stack has it: of any kind, or one that leads further. */
static uint64_t word(uint64_t *state, const uint64_t *stack)
{
	/* Code of this program, and of libc. */
	const uintptr_t code[] = {(uintptr_t)word, (uintptr_t)here_end, (uintptr_t)qsort,
	    (uintptr_t)printf, (uintptr_t)free};
	uint64_t r = here_random(state);

	switch (r >> 61) {
	case 0:
		return here_random(state);
	case 1:
		return r & 0xffff;
	case 2:
	case 3:
		return (uintptr_t)stack + (r & 7) + r % N_WORDS * 8 % 65600;
	case 4:
		return (uintptr_t)stack + r % N_WORDS * 8;
	default:
		return code[(r >> 40) % 5] + (r & 0xffff) - 0x4000;
	}
}

static enum eh2sframe_walk_why walk(uint64_t *state, const uint64_t *stack)
{
	struct eh2sframe_walk_frame frame = {.pc = word(state, stack),
	    .sp = (uintptr_t)stack + here_random(state) % N_WORDS * 8,
	    .fp = word(state, stack),
	    .ra = word(state, stack),
	    .flags = here_random(state) & 31};
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_GOES_ON;
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];

	if (here_random(state) & 1) {
		for (int i = 0; i < EH2SFRAME_WALK_N_REGISTERS; i++)
			registers[i] = word(state, stack);
		frame.registers = registers;
	}
	for (int i = 0; i < MOST_STEPS && why == EH2SFRAME_WALK_WHY_GOES_ON; i++)
		why = eh2sframe_walk_next(&frame);
	return why;
}

#ifdef __x86_64__
/* Code without CFI that keeps a frame pointer. */
void here_bare(void (*callee)(void));
__asm__(".text\n"
	"here_bare:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"call *%rdi\n"
	"pop %rbp\n"
	"ret\n");

static enum eh2sframe_walk_why why_walked;

static __attribute__((noinline)) void walk_now(void)
{
	uintptr_t pcs[64];

	eh2sframe_walk_backtrace(NULL, pcs, 64, &why_walked);
}

/* A walk with a guess can lack frames, so it never says that it is complete. */
static void test_guess(void)
{
	enum eh2sframe_walk_why direct, bare;

	walk_settings.options.guess = true;
	walk_now();
	direct = why_walked;
	here_bare(walk_now);
	bare = why_walked;
	walk_settings.options.guess = false;
	here_ok(bare == EH2SFRAME_WALK_WHY_NO_ROW &&
		    (direct == EH2SFRAME_WALK_WHY_OUTERMOST || direct == bare),
	    "a guess is not complete");
}
#endif

void test_random(unsigned long n)
{
	uint64_t state = 1;
	unsigned long whys[16] = {0};
	uint64_t *stack = mmap(NULL, N_WORDS * 8, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t missing[] = {5 * PAGE_WORDS, 11 * PAGE_WORDS, N_WORDS - PAGE_WORDS};

	for (size_t i = 0; i < N_WORDS; i++)
		stack[i] = word(&state, stack);
	for (int i = 0; i < 3; i++)
		munmap(stack + missing[i], PAGE_WORDS * 8);
	for (unsigned long i = 0; i < n * 100; i++) {
		size_t at = here_random(&state) % (5 * PAGE_WORDS);

		stack[at] = word(&state, stack);
		walk_settings.options.guess = here_random(&state) % 4 == 0;
		whys[walk(&state, stack) & 15]++;
	}
	walk_settings.options.guess = false;
	printf("# damaged stacks ended:");
	for (int i = 0; i < 16; i++)
		if (whys[i] > 0)
			printf(" %lu %s,", whys[i], eh2sframe_walk_why_text(i));
	printf("\n");
	/* Rare ends need many walks. */
	here_ok(whys[EH2SFRAME_WALK_WHY_NO_MODULE] > 0 &&
		    whys[EH2SFRAME_WALK_WHY_CUT_OFF] > 0 &&
		    (n < 100 || (whys[EH2SFRAME_WALK_WHY_CONTRADICTION] > 0 &&
				    whys[EH2SFRAME_WALK_WHY_NO_ROW] > 0)),
	    "walks of damaged stacks end");
	munmap(stack, N_WORDS * 8);
#ifdef __x86_64__
	test_guess();
#endif
}
