/* SPDX-License-Identifier: MIT */
/*
 * Walks its own stack by SFrame alone and compares each frame's PC and CFA with those of
 * _Unwind_Backtrace, which goes by .eh_frame.
 *
 *     walk deep|qsort|leaf|samples|lie|key
 *
 * deep: recursion through frames of several kinds. qsort: out of a callback that libc
 * calls. leaf: from the context of a signal in functions that save no return address,
 * ours and libc's. samples: from wherever a timer interrupts work in libc. lie: deep,
 * with a wrong row; must fail. Prints one line. Status 1 when the two differ or when a
 * walk does not end in _start.
 */
#include <alloca.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unwind.h>

#include "walk_sframe.h"

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif
#define NOINLINE __attribute__((noinline, noclone))

enum { MAX_MODULES = 16, MAX_FRAMES = 4096, START_SIZE = 128 };

struct walk {
	size_t n;
	struct {
		uintptr_t pc, cfa;
	} at[MAX_FRAMES];
};

extern char _start[];
static struct sframe_module modules[MAX_MODULES];
static size_t n_modules;
static struct walk ours, theirs;
/* Interrupted where only SFrame has something (PLTs), where neither has, outside modules.
 */
static unsigned walks, frames, frames_elsewhere, only_ours, neither, unmapped, n_problems;
/* What is printed after a signal handler is done. */
static char problem_text[256];

static void problem(const char *format, ...)
{
	va_list args;

	if (n_problems++)
		return;
	va_start(args, format);
	vsnprintf(problem_text, sizeof(problem_text), format, args);
	va_end(args);
}

/* Those without a section, as the vDSO, are not ours to walk through. */
static int add_module(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct sframe_module module = {.low = UINTPTR_MAX};

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *phdr = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + phdr->p_vaddr;

		if (phdr->p_type == PT_LOAD) {
			if (start < module.low)
				module.low = start;
			module.high = start + phdr->p_memsz;
		} else if (phdr->p_type == PT_GNU_SFRAME) {
			module.section = (const uint8_t *)start;
			module.size = phdr->p_memsz;
		}
	}
	if (module.section && n_modules < MAX_MODULES)
		modules[n_modules++] = module;
	return 0;
}

static void push(struct walk *walk, uintptr_t pc, uintptr_t cfa)
{
	if (walk->n == MAX_FRAMES)
		return;
	walk->at[walk->n].pc = pc;
	walk->at[walk->n++].cfa = cfa;
}

/* The frame itself and its callers. A frame has the CFA of the one that it called. */
static enum step walk_from(struct frame frame)
{
	enum step step;

	ours.n = 0;
	do {
		push(&ours, frame.pc, frame.regs[REG_SP] - (uintptr_t)SP_FROM_CFA);
		step = walk_step(modules, n_modules, &frame);
	} while (step == STEP_CALLER && ours.n < MAX_FRAMES);
	if (step == STEP_BAD)
		problem("%s, at %#lx", walk_problem, (unsigned long)frame.pc);
	return step;
}

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *unused)
{
	uintptr_t pc = _Unwind_GetIP(context);

	(void)unused;
	if (pc) /* 0: beyond the outermost frame */
		push(&theirs, pc, _Unwind_GetCFA(context));
	return _URC_NO_REASON;
}

/* Where a walk of the main thread must end: both may stop too early at the same place. */
static bool in_start(uintptr_t pc)
{
	return pc - (uintptr_t)_start < START_SIZE;
}

/* Whether there is something to compare. Only of an interrupted frame nothing may be
 * known. */
static bool both_go_on(size_t mine, size_t other, enum step end, bool interrupted)
{
	bool no_caller = interrupted && ours.n == mine + 1;
	bool they_end = theirs.n == other + 1;

	walks++;
	if (no_caller && end == STEP_NO_MODULE)
		return unmapped++, false; /* the vDSO */
	if (no_caller && end == STEP_NO_FUNCTION && they_end)
		return neither++, false;
	if (!in_start(ours.at[ours.n - 1].pc))
		problem("the walk ends with %d at %#lx after %zu frames, not in _start",
		    end, (unsigned long)ours.at[ours.n - 1].pc, ours.n);
	if (interrupted && they_end && !no_caller)
		return only_ours++, false;
	return true;
}

/*
 * Both lists from these frames on. The unwinder's notion of the CFA of a signal frame is
 * its own: that of an interrupted frame counts from its caller on.
 */
static void compare(size_t mine, size_t other, enum step end, bool interrupted)
{
	size_t first = mine;

	if (!both_go_on(mine, other, end, interrupted))
		return;
	if (ours.n - mine != theirs.n - other)
		problem("%zu frames by SFrame, %zu by CFI, from %#lx", ours.n - mine,
		    theirs.n - other, (unsigned long)ours.at[mine].pc);
	for (; mine < ours.n && other < theirs.n; mine++, other++) {
		bool same_cfa = ours.at[mine].cfa == theirs.at[other].cfa;

		if (ours.at[mine].pc != theirs.at[other].pc ||
		    (!same_cfa && !(interrupted && mine == first)))
			problem("frame %zu: pc %#lx, CFA %#lx; by CFI %#lx, %#lx",
			    mine - first, (unsigned long)ours.at[mine].pc,
			    (unsigned long)ours.at[mine].cfa,
			    (unsigned long)theirs.at[other].pc,
			    (unsigned long)theirs.at[other].cfa);
		frames++;
		if (ours.at[mine].pc < modules[0].low ||
		    ours.at[mine].pc >= modules[0].high)
			frames_elsewhere++;
	}
}

/* From here, by registers read in one place. */
static NOINLINE void check_here(void)
{
	struct frame frame = {.topmost = true};
	uintptr_t *regs = frame.regs;
	enum step end;

#if defined(__x86_64__)
	__asm__ volatile("lea 0f(%%rip), %0\n0: mov %%rsp, %1\nmov %%rbp, %2"
			 : "=&r"(frame.pc), "=&r"(regs[REG_SP]), "=&r"(regs[REG_FP]));
#elif defined(__aarch64__)
	__asm__ volatile("adr %0, .\nmov %1, sp\nmov %2, x29\nmov %3, x30"
			 : "=&r"(frame.pc), "=&r"(regs[REG_SP]), "=&r"(regs[REG_FP]),
			 "=&r"(regs[REG_RA]));
	frame.known[REG_RA] = true;
#else
	__asm__ volatile("larl %0, 0f\n0: lgr %1, %%r15\nlgr %2, %%r11\nlgr %3, %%r14"
			 : "=&r"(frame.pc), "=&r"(regs[REG_SP]), "=&r"(regs[REG_FP]),
			 "=&r"(regs[REG_RA]));
	frame.known[REG_RA] = true;
#endif
	frame.known[REG_SP] = frame.known[REG_FP] = true;
	end = walk_from(frame);
	theirs.n = 0;
	_Unwind_Backtrace(add_frame, NULL);
	compare(1, 1, end, false);
}

/* The interrupted frame is the one where every register is known. */
static struct frame frame_of(const ucontext_t *context)
{
	struct frame frame = {.topmost = true};

	memset(frame.known, true, sizeof(frame.known));
#if defined(__x86_64__)
	static const uint8_t gregs[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
	    REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
	    REG_R14, REG_R15};

	for (size_t i = 0; i < sizeof(gregs); i++)
		frame.regs[i] = (uintptr_t)context->uc_mcontext.gregs[gregs[i]];
	frame.pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	frame.known[REG_RA] = false;
#elif defined(__aarch64__)
	memcpy(frame.regs, context->uc_mcontext.regs, sizeof(context->uc_mcontext.regs));
	frame.regs[REG_SP] = context->uc_mcontext.sp;
	frame.pc = context->uc_mcontext.pc;
#else
	/* "DWARF register number mapping": 16 and on are these floating-point registers.
	 */
	static const uint8_t fprs[] = {
	    0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};

	memcpy(frame.regs, context->uc_mcontext.gregs, 16 * sizeof(frame.regs[0]));
	for (size_t i = 0; i < sizeof(fprs); i++)
		memcpy(
		    &frame.regs[16 + i], &context->uc_mcontext.fpregs.fprs[fprs[i]], 8);
	frame.pc = context->uc_mcontext.psw.addr;
#endif
	return frame;
}

/* From the interrupted place; the unwinder comes to it through handler and signal frame.
 */
static void check_context(const ucontext_t *context)
{
	enum step end = walk_from(frame_of(context));
	size_t i = 0;

	theirs.n = 0;
	_Unwind_Backtrace(add_frame, NULL);
	while (i < theirs.n && theirs.at[i].pc != ours.at[0].pc)
		i++;
	if (i == theirs.n)
		problem("the unwinder does not find the interrupted frame at %#lx",
		    (unsigned long)ours.at[0].pc);
	else
		compare(0, i, end, true);
}

/* Rows with wide offsets (large), and with CFA = FP + offset (alloca). */
static NOINLINE int deep(int n)
{
	volatile char *room, large[70000];
	int below;

	large[n] = 1;
	if (n == 0) {
		check_here();
		return large[0];
	}
	/* Every third frame needs a frame pointer. */
	if (n % 3 == 0) {
		room = alloca((size_t)n * 16 + 16);
		room[0] = 1;
		below = deep(n - 1) + room[0];
	} else {
		below = deep(n - 1);
	}
	return below + large[n];
}

/* Through a pointer, so that it stays a recursion. */
static NOINLINE int many(int n)
{
	static int (*volatile next)(int) = many;
	volatile int below = n ? next(n - 1) : deep(20);

	return below + 1;
}

static int by_value(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int by_value_checked(const void *a, const void *b)
{
	check_here();
	return by_value(a, b);
}

static void fill(int *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		numbers[i] = (int)(i * 7919 % 1009);
}

static sigjmp_buf after_fault;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	check_context(context);
	siglongjmp(after_fault, 1);
}

static NOINLINE int leaf(const int *at)
{
	return *at + 1;
}

static NOINLINE int leaf_with_stack(const int *at)
{
	volatile int room[16];

	room[0] = 7;
	room[5] = *at;
	return room[0] + room[5];
}

/* More values than registers that a callee may change; some machines then save those of
 * the caller in floating-point registers. */
static NOINLINE long leaf_with_pressure(const long *v, const int *at)
{
	long a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6],
	     h = v[7];

	for (int i = 0; i < 3; i++) {
		a += b ^ h, b += c ^ a, c += d ^ b, d += e ^ c;
		e += f ^ d, f += g ^ e, g += h ^ f, h += a ^ g;
	}
	a += *at;
	for (int i = 0; i < 3; i++) {
		a += b ^ h, b += c ^ a, c += d ^ b, d += e ^ c;
		e += f ^ d, f += g ^ e, g += h ^ f, h += a ^ g;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

static volatile long sink;

/* Faults with the return address still in its register: in our functions and in libc's.
 */
static void leaves(void)
{
	static const long values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	static char room[64];
	const void *volatile nowhere = NULL;
	void *volatile nowhere_to_write = NULL;

	for (volatile int which = 0; which < 7; which++) {
		if (sigsetjmp(after_fault, 1))
			continue;
		switch (which) {
		case 0:
			sink = leaf(nowhere);
			break;
		case 1:
			sink = leaf_with_stack(nowhere);
			break;
		case 2:
			sink = leaf_with_pressure(values, nowhere);
			break;
		case 3:
			sink = (long)strlen(nowhere);
			break;
		case 4:
			memcpy(room, nowhere, 40);
			break;
		case 5:
			memset(nowhere_to_write, which, 40);
			break;
		default:
			sink = strtol(nowhere, NULL, 10);
			break;
		}
		problem("fault %d did not happen", which);
	}
	if (walks != 7)
		problem("%u walks for 7 faults", walks);
}

static void on_fault_or_time(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	sigaction(number, &action, NULL);
}

static void on_time(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	check_context(context);
}

static void work(void)
{
	static int numbers[500];
	char text[64], *copy;

	fill(numbers, 500);
	qsort(numbers, 500, sizeof(*numbers), by_value);
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "%d %.9g %s", numbers[i], i / 7.0, "text");
		copy = strdup(text);
		sink += (long)(strtod(text, NULL) * 100) + (long)strlen(copy);
		free(copy);
	}
}

/* Prologues, epilogues, PLTs and assembler code, wherever the time is spent. */
static void samples(void)
{
	struct itimerval every = {{0, 700}, {0, 700}}, off = {{0, 0}, {0, 0}};

	/* The unwinder's first walk may allocate memory: never while malloc is interrupted. */
	check_here();
	on_fault_or_time(SIGALRM, on_time);
	setitimer(ITIMER_REAL, &every, NULL);
	while (walks < 500 && !n_problems)
		work();
	setitimer(ITIMER_REAL, &off, NULL);
	if ((neither + unmapped) * 20 > walks)
		problem("%u of %u walks begin in code without data", neither + unmapped,
		    walks);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	int numbers[50];

	dl_iterate_phdr(add_module, NULL);
	if (!n_modules || (uintptr_t)main < modules[0].low ||
	    (uintptr_t)main >= modules[0].high)
		problem("the program has no PT_GNU_SFRAME");
	else if (strcmp(what, "deep") == 0)
		sink = many(800);
	else if (strcmp(what, "lie") == 0)
		walk_lie_at = (uintptr_t)many, walk_lie = 1, sink = many(3);
	else if (strcmp(what, "key") == 0)
		walk_other_key = true, sink = many(3);
	else if (strcmp(what, "qsort") == 0)
		fill(numbers, 50), qsort(numbers, 50, sizeof(*numbers), by_value_checked);
	else if (strcmp(what, "leaf") == 0)
		on_fault_or_time(SIGSEGV, on_fault), leaves();
	else if (strcmp(what, "samples") == 0)
		samples();
	else
		problem("which walk?");
	printf("%s: %u walks, %u frames, %u of them in %zu other files; from where only "
	       "SFrame has "
	       "rows %u, from where neither has %u, from no file %u; %u "
	       "differences%s%s\n",
	    what, walks, frames, frames_elsewhere, n_modules - !!n_modules, only_ours,
	    neither, unmapped, n_problems, n_problems ? ": " : "", problem_text);
	return n_problems || !walks;
}
