/* SPDX-License-Identifier: MIT */
/* A hash table with open addressing. */
#include "effects_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void effects_memory_deinit(struct effects_memory *memory)
{
	free(memory->words);
	*memory = (struct effects_memory){0};
}

void effects_memory_clear(struct effects_memory *memory)
{
	if (memory->n)
		memset(memory->words, 0, memory->cap * sizeof(*memory->words));
	memory->n = 0;
}

/* Where the word is, or the free place for it. */
static struct effects_word *place(const struct effects_memory *memory, uint64_t number)
{
	size_t at = (size_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 20);

	for (;; at++) {
		struct effects_word *word = &memory->words[at & (memory->cap - 1)];

		if (!word->key || word->key == number + 1)
			return word;
	}
}

static void grow(struct effects_memory *memory)
{
	struct effects_memory more = {.cap = memory->cap ? 2 * memory->cap : 4096};

	more.words = calloc(more.cap, sizeof(*more.words));
	if (!more.words) {
		fputs("out of memory\n", stderr);
		exit(99);
	}
	for (size_t i = 0; i < memory->cap; i++)
		if (memory->words[i].key)
			*place(&more, memory->words[i].key - 1) = memory->words[i];
	more.n = memory->n;
	free(memory->words);
	*memory = more;
}

static struct effects_word *made(struct effects_memory *memory, uint64_t number)
{
	struct effects_word *word;

	if (2 * memory->n >= memory->cap)
		grow(memory);
	word = place(memory, number);
	if (!word->key) {
		word->key = number + 1;
		memory->n++;
	}
	return word;
}

void effects_memory_put(
    struct effects_memory *memory, uint64_t addr, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++, addr++) {
		struct effects_word *word = made(memory, addr / 8);
		const uint8_t bit = (uint8_t)(1u << addr % 8);

		if (bytes)
			word->bytes[addr % 8] = bytes[i];
		word->known = (uint8_t)(bytes ? word->known | bit : word->known & ~bit);
	}
}

bool effects_memory_get(
    const struct effects_memory *memory, uint64_t addr, uint8_t *bytes, size_t n)
{
	if (!memory->cap)
		return false;
	for (size_t i = 0; i < n; i++, addr++) {
		const struct effects_word *word = place(memory, addr / 8);

		if (!word->key || !(word->known >> addr % 8 & 1))
			return false;
		bytes[i] = word->bytes[addr % 8];
	}
	return true;
}

void effects_memory_mark(struct effects_memory *set, uint64_t number)
{
	made(set, number);
}
