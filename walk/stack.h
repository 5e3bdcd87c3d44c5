/* SPDX-License-Identifier: MIT */
/*
 * Memory of this process, read only where it is known to be there. The stack of a thread is
 * known from eh2sframe_walk_thread; all else is asked of the kernel, once for each page and
 * walk. Memory below the stack pointer is never asked for.
 */
#ifndef WALK_STACK_H
#define WALK_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct walk_stack {
	uint64_t low;
	uint64_t places; /* how many addresses from low on begin 8 readable bytes */
};

/* Fills in where this thread's stack above sp is readable, as far as that is known. */
void walk_stack_begin(struct walk_stack *stack, uint64_t sp);

/* Asks the kernel for the 8 bytes at address. Returns true if they can be read, which is then remembered. */
bool walk_stack_more(struct walk_stack *stack, uint64_t address);

/* True if the kernel says that 8 bytes at address can be read. */
bool walk_stack_readable(uint64_t address);

/* Reads 8 bytes of code that can go away meanwhile. false: they cannot be read. */
bool walk_stack_fetch(uint64_t address, uint64_t *value);

/* True if size bytes at address can be read. */
bool walk_stack_readable_range(uint64_t address, uint64_t size);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WALK_STACK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||               \
    __has_feature(memory_sanitizer)
#define WALK_STACK_SANITIZED 1
#endif
#endif

/* A sanitizer does not know that other functions' frames are meant to be read. */
uint64_t walk_stack_load_apart(uint64_t address);

static inline uint64_t walk_stack_load(uint64_t address)
{
#ifdef WALK_STACK_SANITIZED
	return walk_stack_load_apart(address);
#else
	typedef uint64_t __attribute__((may_alias, aligned(1))) word;

	return *(const word *)(uintptr_t)address;
#endif
}

static inline bool walk_stack_read(
    struct walk_stack *stack, uint64_t address, uint64_t *value)
{
	if (__builtin_expect(address - stack->low >= stack->places, 0) &&
	    !walk_stack_more(stack, address))
		return false;
	*value = walk_stack_load(address);
	return true;
}

#endif
