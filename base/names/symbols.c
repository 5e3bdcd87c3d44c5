/* SPDX-License-Identifier: MIT */
/* Function names in a sorted list, of one address the best name last. */
#include "base/names/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "base/names/demangle.h"

/* How far back a symbol that encloses others is looked for; nesting is never deeper. */
#define FIND_STEPS 32

uint8_t symbol_rank(unsigned int type, unsigned int bind, uint64_t size)
{
	uint8_t rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;

	if (!size)
		rank |= 4;
	if (type == STT_NOTYPE)
		rank |= SYMBOL_UNTYPED;
	return rank;
}

bool symbols_add(struct symbols *symbols, const struct symbol *symbol)
{
	if (!vec_reserve(&symbols->list, &symbols->cap, symbols->n + 1))
		return false;
	symbols->list[symbols->n++] = *symbol;
	return true;
}

/*
 * All names of an address are kept, because --exclude-symbol may give any of them. The
 * best is last, where symbols_find looks first; by name at last, so that the choice does
 * not depend on the order in the file.
 */
static int symbols_compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return strcmp(b->name, a->name);
}

void symbols_sort(struct symbols *symbols)
{
	if (symbols->n)
		qsort(symbols->list, symbols->n, sizeof(*symbols->list), symbols_compare);
}

void symbols_deinit(struct symbols *symbols)
{
	free(symbols->list);
	*symbols = (struct symbols){0};
}

/*
 * The nearest start below need not be the one that covers: a sized function may enclose
 * labels, and one that ended earlier may be nearer than one that goes on.
 */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t pc)
{
	size_t end = search_list_above(symbols->list, symbols->n, addr, pc);
	const struct symbol *sizeless = NULL;

	for (size_t i = end, steps = 0; i > 0 && steps < FIND_STEPS; i--, steps++) {
		const struct symbol *symbol = &symbols->list[i - 1];

		if (symbol->size && pc - symbol->addr < symbol->size)
			return symbol;
		/* A label without a size may be inside a function that has one. */
		if (!symbol->size && !sizeless)
			sizeless = symbol;
	}
	return sizeless;
}

char *symbols_readable(const struct symbols *symbols, uint64_t pc)
{
	const struct symbol *symbol = symbols_find(symbols, pc);

	return symbol ? symbol_demangle(symbol->name) : NULL;
}
