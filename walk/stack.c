/* SPDX-License-Identifier: MIT */
/* Asks the kernel which memory is readable. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "include/eh2sframe-walk.h"
#include "walk/stack.h"

/* The smallest page of the three machines. Larger ones are asked for in parts. */
#define WALK_PAGE ((uint64_t)4096)

/* Readable in a handler: a library that is loaded late gets such a place at once, by glibc; musl does not load it then. */
static __thread __attribute__((tls_model("initial-exec"))) uint64_t stack_low, stack_high;

/* A system call that leaves errno alone. */
static long system_call(
    long number, long a, uint64_t b, uint64_t c, uint64_t d, long e, long f)
{
#if defined(__x86_64__)
	register uint64_t r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register uint64_t x1 __asm__("x1") = b;
	register uint64_t x2 __asm__("x2") = c;
	register uint64_t x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#elif defined(__s390x__)
	register long r1 __asm__("r1") = number;
	register long r2 __asm__("r2") = a;
	register uint64_t r3 __asm__("r3") = b;
	register uint64_t r4 __asm__("r4") = c;
	register uint64_t r5 __asm__("r5") = d;
	register long r6 __asm__("r6") = e;
	register long r7 __asm__("r7") = f;

	__asm__ volatile("svc 0"
			 : "+d"(r2)
			 : "d"(r1), "d"(r3), "d"(r4), "d"(r5), "d"(r6), "d"(r7)
			 : "memory");
	return r2;
#else
#error "eh2sframe-walk walks its own process on x86-64, AArch64 and s390x"
#endif
}

/*
 * The kernel reads the set of signals before it looks at what to do with it. So a call that
 * cannot change anything says by its error whether 8 bytes can be read.
 */
bool walk_stack_readable(uint64_t address)
{
	return address != 0 &&
	       system_call(SYS_rt_sigprocmask, -1, address, 0, 8, 0, 0) == -EINVAL;
}

/*
 * Another thread may unmap code at any time, so the kernel reads it. Where the kernel must not
 * (seccomp) or cannot (qemu-user), it is read after a question.
 */
bool walk_stack_fetch(uint64_t address, uint64_t *value)
{
	struct iovec here = {value, sizeof(*value)},
		     there = {(void *)(uintptr_t)address, sizeof(*value)};
	long pid = system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long n = system_call(
	    SYS_process_vm_readv, pid, (uintptr_t)&here, 1, (uintptr_t)&there, 1, 0);

	if (n != -ENOSYS && n != -EPERM)
		return n == (long)sizeof(*value);
	if (!walk_stack_readable(address))
		return false;
	*value = walk_stack_load(address);
	return true;
}

bool walk_stack_readable_range(uint64_t address, uint64_t size)
{
	uint64_t end, page;

	if (size < 8 || __builtin_add_overflow(address, size, &end) ||
	    !walk_stack_readable(address) || !walk_stack_readable(end - 8))
		return false;
	for (page = (address | (WALK_PAGE - 1)) + 1; page < end - 8; page += WALK_PAGE)
		if (!walk_stack_readable(page))
			return false;
	return true;
}

void walk_stack_begin(struct walk_stack *stack, uint64_t sp)
{
	stack->low = sp;
	stack->places = sp >= stack_low && sp < stack_high && stack_high - sp >= 8
			    ? stack_high - sp - 7
			    : 0;
}

bool walk_stack_more(struct walk_stack *stack, uint64_t address)
{
	uint64_t low = address & ~(WALK_PAGE - 1);
	uint64_t end = ((address + 7) | (WALK_PAGE - 1)) + 1;
	uint64_t known = stack->low + stack->places + 7;

	if (!walk_stack_readable(address))
		return false;
	/* Joins the page to the known stack: frames follow one another, so it mostly adjoins. */
	if (stack->places != 0 && low <= known && low >= stack->low)
		low = stack->low;
	stack->low = low;
	stack->places = end - low - 7;
	return true;
}

void eh2sframe_walk_thread(void)
{
	pthread_attr_t attributes;
	void *low;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
		/* A handler between the two stores sees no bounds or the right ones. */
		stack_high = 0;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		stack_low = (uintptr_t)low;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		stack_high = (uintptr_t)low + size;
	}
	pthread_attr_destroy(&attributes);
}

#ifdef WALK_STACK_SANITIZED
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread")))
#endif
uint64_t
walk_stack_load_apart(uint64_t address)
{
	typedef uint64_t __attribute__((may_alias, aligned(1))) word;

	return *(const volatile word *)(uintptr_t)address;
}
