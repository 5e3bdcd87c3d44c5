/* SPDX-License-Identifier: MIT */
/*
 * bare [lie|key]: walks its own stack on AArch64 without a C library, because nobody packages one for big-endian
 * AArch64. So there is no unwinder either, and the frame records that the compiler links from x29 are the truth. From deep
 * recursion, then from a fault in a leaf function. The library strips signatures; here each one is authenticated, which
 * takes the key and the CFA that the row gives. lie: one SP is wrong; key: each key is the other one; both must fail.
 * Status 0, or 1 with a line.
 */
#include <elf.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "include/eh2sframe-walk.h"

#define PT_GNU_SFRAME 0x6474e554
#define NOINLINE __attribute__((noinline, noclone))

enum { DEPTH = 300, MAX_FRAMES = 1000, SP = 31, AT_VERSION = 2 };

static struct eh2sframe_walk_section section;
static const uint8_t *section_bytes;
static bool lies, other_key;
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
	call(SYS_write, 1, (long)"\n", 1, 0);
}

static _Noreturn void fail(const char *why)
{
	say(why);
	call(SYS_exit, 1, 0, 0, 0);
	__builtin_unreachable();
}

static uint64_t without_signature(uint64_t address)
{
	register uint64_t x30 __asm__("x30") = address;

	__asm__("hint #7 /* xpaclri */" : "+r"(x30));
	return x30;
}

static uint64_t authenticated(uint64_t ra, uint64_t cfa, bool key_b)
{
	register uint64_t x17 __asm__("x17") = ra;
	register uint64_t x16 __asm__("x16") = cfa;

	if (key_b)
		__asm__("hint #14 /* autib1716 */" : "+r"(x17) : "r"(x16));
	else
		__asm__("hint #12 /* autia1716 */" : "+r"(x17) : "r"(x16));
	return x17;
}

static bool read_word(void *context, uint64_t address, uint64_t *value)
{
	(void)context;
	*value = *(const uint64_t *)address;
	return true;
}

static enum eh2sframe_walk_why find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **found)
{
	(void)context;
	(void)pc;
	*found = &section;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* Strips nothing, so that a row must say of each address if it is signed, and with which key. */
static void check_signature(const struct eh2sframe_walk_frame *frame, uint64_t caller)
{
	uint64_t pc = frame->pc - !(frame->flags & EH2SFRAME_WALK_FRAME_EXACT), cfa,
		 ra = frame->ra;
	struct eh2sframe_rule rule;

	if (eh2sframe_walk_look_up(&section, pc, &rule) != EH2SFRAME_WALK_WHY_GOES_ON ||
	    rule.flags & EH2SFRAME_FLAG_OUTERMOST)
		return;
	cfa = (rule.cfa.reg == SP ? frame->sp : frame->fp) + (uint64_t)rule.cfa.offset;
	if (rule.ra.place == EH2SFRAME_PLACE_AT_CFA)
		read_word(NULL, cfa + (uint64_t)rule.ra.offset, &ra);
	if (rule.flags & EH2SFRAME_FLAG_SIGNED)
		ra = authenticated(
		    ra, cfa, !(rule.flags & EH2SFRAME_FLAG_KEY_B) == other_key);
	if (ra != caller)
		fail("a signature is of another key or CFA, or a row does not say that "
		     "there is one");
}

/* record: the first frame record that is not the frame's own. */
static void walk(
    struct eh2sframe_walk_frame frame, uint64_t caller, const uint64_t *record)
{
	struct eh2sframe_walk_space space = {.machine = EH2SFRAME_WALK_AARCH64,
	    .signature_mask = UINT64_C(0x007f000000000000),
	    .read = read_word,
	    .find = find};
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_LIMIT;

	for (int i = 0; i < MAX_FRAMES; i++) {
		check_signature(&frame, caller);
		why = eh2sframe_walk_step(&space, &frame);
		if (why != EH2SFRAME_WALK_WHY_GOES_ON)
			break;
		if (frame.pc != caller)
			fail("another return address than in the frame record");
		if (frame.fp != (uintptr_t)record)
			fail("another frame pointer than in the frame record");
		frames++;
		frame.sp += lies && i == 3 ? 8 : 0;
		caller = record ? without_signature(record[1]) : 0;
		record = record ? (const uint64_t *)record[0] : NULL;
	}
	/* Only version 3 has a row for _start, which has neither a frame record nor a caller. */
	if (caller ||
	    why != (section_bytes[AT_VERSION] < 3 ? EH2SFRAME_WALK_WHY_NO_ROW
						  : EH2SFRAME_WALK_WHY_OUTERMOST))
		fail(eh2sframe_walk_why_text(why));
}

static NOINLINE void check_here(void)
{
	const uint64_t *record = __builtin_frame_address(0);
	struct eh2sframe_walk_frame frame = {.flags = EH2SFRAME_WALK_FRAME_EXACT};

	__asm__ volatile("adr %0, .\nmov %1, sp\nmov %2, x29"
			 : "=&r"(frame.pc), "=&r"(frame.sp), "=&r"(frame.fp));
	walk(frame, without_signature(record[1]), (const uint64_t *)record[0]);
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
	const mcontext_t *machine = &((const ucontext_t *)data)->uc_mcontext;
	struct eh2sframe_walk_frame frame = {.pc = machine->pc,
	    .sp = machine->sp,
	    .fp = machine->regs[29],
	    .ra = machine->regs[30],
	    .flags = EH2SFRAME_WALK_FRAME_EXACT | EH2SFRAME_WALK_FRAME_RA};

	(void)number;
	(void)info;
	walk(frame, without_signature(frame.ra), (const uint64_t *)frame.fp);
	if (frames < DEPTH)
		fail("few frames");
	say("agrees");
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

/* The program is static, so it is where its headers say. */
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
	for (uint64_t i = 0; i < n; i++) {
		section_bytes = (const uint8_t *)phdr[i].p_vaddr;
		if (phdr[i].p_type == PT_GNU_SFRAME &&
		    eh2sframe_walk_open(&section, section_bytes, phdr[i].p_memsz,
			phdr[i].p_vaddr, 0, UINT64_MAX))
			return;
	}
	fail("the program has no PT_GNU_SFRAME");
}

__attribute__((used)) void start(const uint64_t *stack)
{
	/* The kernel's struct: handler, flags, then zeros. */
	const uint64_t action[4] = {(uint64_t)on_fault, SA_SIGINFO};
	const char *argument = stack[0] > 1 ? (const char *)stack[2] : "";
	const uint64_t *at = stack + stack[0] + 2;

	while (*at)
		at++;
	find_section(at + 1);
	lies = *argument == 'l';
	other_key = *argument == 'k';
	sink = deep(DEPTH);
	call(SYS_rt_sigaction, SIGSEGV, (long)action, 0, 8);
	sink = calls_leaf(1);
	fail("no fault");
}

__asm__(".text\n.globl _start\n.type _start, %function\n_start:\n.cfi_startproc\n"
	".cfi_undefined x30\nmov x29, 0\nmov x30, 0\nmov x0, sp\nbl start\nbrk 1\n"
	".cfi_endproc\n.size _start, . - _start\n");
