/* SPDX-License-Identifier: MIT */
/* Bytes of memory, of which some are known; and sets of numbers. */
#ifndef TESTS_CODE_EFFECTS_MEMORY_H
#define TESTS_CODE_EFFECTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of 8 bytes by their number; zeroed: empty. */
struct effects_memory {
	struct effects_word {
		uint64_t key; /* the number plus 1; 0: free */
		uint8_t bytes[8];
		uint8_t known; /* a bit for each byte */
	} * words;	       /* owned */
	size_t n, cap;
};

void effects_memory_deinit(struct effects_memory *memory);
/* Nothing is known any more. */
void effects_memory_clear(struct effects_memory *memory);
/* bytes NULL: forgets them. */
void effects_memory_put(
    struct effects_memory *memory, uint64_t addr, const uint8_t *bytes, size_t n);
/* False when one of them is not known. */
bool effects_memory_get(
    const struct effects_memory *memory, uint64_t addr, uint8_t *bytes, size_t n);
/* The count of words that something was put into is the count of a set. */
void effects_memory_mark(struct effects_memory *set, uint64_t number);

#endif
