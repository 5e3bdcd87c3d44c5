/* SPDX-License-Identifier: MIT */
/*
 * As walk.c, for machines whose C library nobody packages: big-endian AArch64. Without a
 * library, and so without an unwinder: the truth are the frame records that the compiler
 * links from x29. Walks from deep recursion, then from the context of a signal in a leaf
 * function. Status 0 when all is as it must be; 1, with a line, when not.
 *
 *     walk_bare [lie|key]
 */
#include <elf.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "walk_sframe.h"

#define PT_GNU_SFRAME 0x6474e554
#define NOINLINE __attribute__((noinline, noclone))

enum { DEPTH = 300, MAX_FRAMES = 1000 };

static struct sframe_module module;
static volatile int sink;
static int frames;

/* The compiler calls these. */
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

void *memset(void *to, int value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = (char)value;
	return to;
}

static long call(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
			 : "memory");
	return x0;
}

static void say(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	call(SYS_write, 1, (long)text, (long)n, 0);
}

static _Noreturn void fail(const char *why)
{
	say(why);
	say("\n");
	call(SYS_exit, 1, 0, 0, 0);
	__builtin_unreachable();
}

static uintptr_t without_signature(uintptr_t address)
{
	register uintptr_t x30 __asm__("x30") = address;

	__asm__("hint #7 /* xpaclri */" : "+r"(x30));
	return x30;
}

/* The callers of frame; record is the first frame record that is not the frame's own. */
static void walk(struct frame frame, uintptr_t caller, const uintptr_t *record)
{
	enum step step = STEP_CALLER;

	for (int i = 0; i < MAX_FRAMES; i++) {
		step = walk_step(&module, 1, &frame);
		if (step != STEP_CALLER)
			break;
		if (frame.pc != caller)
			fail("another return address than in the frame record");
		if (frame.regs[REG_FP] != (uintptr_t)record)
			fail("another frame pointer than in the frame record");
		frames++;
		caller = record ? without_signature(record[1]) : 0;
		record = record ? (const uintptr_t *)record[0] : NULL;
	}
	/* _start has neither a frame record nor a caller. */
	if (step == STEP_BAD)
		fail(walk_problem);
	if (caller || (step != STEP_OUTERMOST && step != STEP_NO_FUNCTION))
		fail("the walk does not end in _start");
}

static NOINLINE void check_here(void)
{
	const uintptr_t *record = __builtin_frame_address(0);
	struct frame frame = {.topmost = true};

	__asm__ volatile(
	    "adr %0, .\nmov %1, sp\nmov %2, x29"
	    : "=&r"(frame.pc), "=&r"(frame.regs[REG_SP]), "=&r"(frame.regs[REG_FP]));
	frame.known[REG_SP] = frame.known[REG_FP] = true;
	walk(frame, without_signature(record[1]), (const uintptr_t *)record[0]);
}

static NOINLINE int deep(int n)
{
	static int (*volatile next)(int) = deep;
	volatile char room[200];

	room[n % 200] = 1;
	if (n == 0)
		check_here();
	else
		sink = next(n - 1);
	return room[n % 200];
}

/* Ends the program: where the leaf would go on, the fault would be again. */
static void on_fault(int number, siginfo_t *info, void *data)
{
	const ucontext_t *context = data;
	struct frame frame = {.topmost = true, .pc = context->uc_mcontext.pc};

	(void)number;
	(void)info;
	for (int i = 0; i < 31; i++)
		frame.regs[i] = context->uc_mcontext.regs[i];
	frame.regs[REG_SP] = context->uc_mcontext.sp;
	memset(frame.known, 1, sizeof(frame.known));
	walk(frame, without_signature(frame.regs[REG_RA]),
	    (const uintptr_t *)frame.regs[REG_FP]);
	if (frames < DEPTH)
		fail("few frames");
	say("agrees\n");
	call(SYS_exit, 0, 0, 0, 0);
}

static NOINLINE int leaf(const int *at)
{
	return *at + 1;
}

static NOINLINE int calls_leaf(int n)
{
	const int *volatile nowhere = NULL;

	return leaf(nowhere) + n;
}

/* Static: where the program headers say is where it is. */
static void find_section(const uint64_t *auxiliary)
{
	const Elf64_Phdr *phdr = NULL;
	uint64_t n = 0;

	for (; auxiliary[0] != AT_NULL; auxiliary += 2) {
		if (auxiliary[0] == AT_PHDR)
			phdr = (const Elf64_Phdr *)auxiliary[1];
		else if (auxiliary[0] == AT_PHNUM)
			n = auxiliary[1];
	}
	module.high = UINTPTR_MAX;
	for (uint64_t i = 0; i < n; i++) {
		if (phdr[i].p_type == PT_GNU_SFRAME) {
			module.section = (const uint8_t *)phdr[i].p_vaddr;
			module.size = phdr[i].p_memsz;
		}
	}
	if (!module.section)
		fail("the program has no PT_GNU_SFRAME");
}

__attribute__((used)) void start(const uint64_t *stack)
{
	/* What the kernel takes: handler, flags, then zeros. */
	const uint64_t action[4] = {(uint64_t)on_fault, SA_SIGINFO};
	const char *argument = stack[0] > 1 ? (const char *)stack[2] : "";
	const uint64_t *at = stack + stack[0] + 2;

	while (*at)
		at++;
	find_section(at + 1);
	if (*argument == 'l')
		walk_lie_at = (uintptr_t)deep, walk_lie = 8;
	walk_other_key = *argument == 'k';
	sink = deep(DEPTH);
	call(SYS_rt_sigaction, SIGSEGV, (long)action, 0, 8);
	sink = calls_leaf(1);
	fail("no fault");
}

__asm__(".text\n.globl _start\n.type _start, %function\n_start:\n.cfi_startproc\n"
	".cfi_undefined x30\nmov x29, 0\nmov x30, 0\nmov x0, sp\nbl start\nbrk 1\n"
	".cfi_endproc\n.size _start, . - _start\n");
