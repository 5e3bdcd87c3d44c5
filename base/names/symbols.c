/* SPDX-License-Identifier: MIT */
/* Function names in a sorted list, of one address the best name last. */
#include "base/names/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "base/names/demangle.h"

/* Limit of symbols to go back for one that encloses others; nesting is never deeper. */
#define FIND_STEPS 32

uint8_t symbol_rank(const char *name, unsigned int type, unsigned int bind, uint64_t size)
{
	uint8_t rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 4;
	const char *version = name + symbol_name_size(name);

	if (version[0] == '@' && version[1] != '@')
		rank |= SYMBOL_OLD;
	/* A library's own name, such as __libc_malloc or _IO_puts. Those of C++ and Rust begin with _Z and _R. */
	if (name[0] == '_' && name[1] != 'Z' && name[1] != 'R')
		rank |= 8;
	if (!size)
		rank |= 16;
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

size_t symbol_name_size(const char *name)
{
	return *name ? 1 + strcspn(name + 1, "@") : 0;
}

/* "fopen@@GLIBC_2.2.5" comes before "fopen64@@GLIBC_2.2.5", as the names do. Most names differ early, and may be
 * long: reads no further than that. */
static int name_compare(const char *a, const char *b)
{
	bool a_ends, b_ends;
	size_t i = 0;

	while (a[i] && a[i] == b[i] && (i == 0 || a[i] != '@'))
		i++;
	a_ends = !a[i] || (i > 0 && a[i] == '@');
	b_ends = !b[i] || (i > 0 && b[i] == '@');
	if (a_ends != b_ends)
		return a_ends ? -1 : 1;
	return strcmp(a + i, b + i);
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
	return name_compare(b->name, a->name);
}

/* Returns the first place where the list no longer ascends. */
static size_t run_end(const struct symbol *list, size_t n, size_t at)
{
	while (++at < n && symbols_compare(&list[at - 1], &list[at]) <= 0)
		;
	return at < n ? at : n;
}

/* Merges each run with the next one. Returns how many there are then. */
static size_t runs_merge(const struct symbol *from, size_t n, struct symbol *to)
{
	size_t n_runs = 0;

	for (size_t start = 0, end; start < n; start = end, n_runs++) {
		const size_t middle = run_end(from, n, start);
		size_t i = start, k = middle;

		end = middle < n ? run_end(from, n, middle) : n;
		while (i < middle && k < end)
			*to++ = symbols_compare(&from[i], &from[k]) <= 0 ? from[i++]
									 : from[k++];
		while (i < middle)
			*to++ = from[i++];
		while (k < end)
			*to++ = from[k++];
	}
	return n_runs;
}

/* Merges ascending runs, because linkers write symbols in few runs, which qsort does not see. */
void symbols_sort(struct symbols *symbols)
{
	const size_t n = symbols->n;
	size_t n_runs = run_end(symbols->list, n, 0) == n ? 1 : n;
	struct symbol *other = n_runs > 1 ? malloc(n * sizeof(*other)) : NULL;

	if (n_runs > 1 && !other)
		qsort(symbols->list, n, sizeof(*symbols->list), symbols_compare);
	while (n_runs > 1 && other) {
		struct symbol *list = symbols->list;

		n_runs = runs_merge(list, n, other);
		symbols->list = other;
		symbols->cap = n;
		other = list;
	}
	free(other);
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
	bool passed = false; /* one with a size */

	for (size_t i = end, steps = 0; i > 0 && steps < FIND_STEPS; i--, steps++) {
		const struct symbol *symbol = &symbols->list[i - 1];

		if (symbol->size && pc - symbol->addr < symbol->size)
			return symbol;
		/* A label without a size may be inside a function that has one. It does not
		 * reach behind one that has ended. */
		passed |= symbol->size;
		if (!passed && !sizeless)
			sizeless = symbol;
	}
	return sizeless;
}

char *symbols_readable(const struct symbols *symbols, uint64_t pc)
{
	const struct symbol *symbol = symbols_find(symbols, pc);

	return symbol ? symbol_demangle(symbol->name) : NULL;
}
