/* SPDX-License-Identifier: MIT */
/*
 * Blocks that others begin with. Sorted as texts are, a block stands right before those
 * that begin with it, so one look at the neighbour finds them all.
 */
#include "sframe/blocks.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/task.h"

/* Blocks that are worth a thread, and threads. */
enum { RUN_BLOCKS = 4096, MAX_RUNS = 64 };

struct entry {
	/* The first bytes, so that most comparisons need no others. */
	uint64_t key[2];
	const uint8_t *data;
	uint32_t len;
	uint32_t number;
};

/* Eight bytes from off on; of a block that ends before, zeros. */
static uint64_t key_of(const struct entry *entry, size_t off)
{
	uint64_t key = 0;

	if (entry->len >= off + sizeof(key)) {
		memcpy(&key, entry->data + off, sizeof(key));
		return be64toh(key);
	}
	for (size_t i = off; i < off + sizeof(key); i++)
		key = key << 8 | (i < entry->len ? entry->data[i] : 0);
	return key;
}

static int fold_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order;

	for (int i = 0; i < 2; i++) {
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	}
	order = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);
	if (order != 0)
		return order;
	return x->len < y->len ? -1 : x->len > y->len;
}

static bool begins_with(const struct entry *block, const struct entry *prefix)
{
	return prefix->len <= block->len &&
	       memcmp(block->data, prefix->data, prefix->len) == 0;
}

/* By number, whose bytes stand for a block; of those that stay, itself. */
static void find_homes(const struct entry *entries, size_t n, uint32_t *homes)
{
	for (size_t i = n; i-- > 0;) {
		const struct entry *next = &entries[i + 1];

		homes[entries[i].number] = i + 1 < n && begins_with(next, &entries[i])
					       ? homes[next->number]
					       : entries[i].number;
	}
}

static void close_up(struct sf_blocks *blocks, struct wr *wr, const uint32_t *homes)
{
	size_t to = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		struct sf_block *block = &blocks->list[i];

		if (homes[i] != i)
			continue;
		memmove(wr->data + to, wr->data + block->off, block->len);
		block->off = to;
		to += block->len;
	}
	wr->size = to;
	for (size_t i = 0; i < blocks->n; i++)
		blocks->list[i].off = blocks->list[homes[i]].off;
}

/* Some of the blocks, to be sorted by one thread. */
struct run {
	const struct sf_blocks *blocks;
	const struct wr *wr;
	struct entry *entries; /* of all blocks */
	size_t first, last;
};

static void sort_run(void *context)
{
	const struct run *run = context;

	for (size_t i = run->first; i < run->last; i++) {
		struct entry *entry = &run->entries[i];

		entry->data = run->wr->data + run->blocks->list[i].off;
		entry->len = run->blocks->list[i].len;
		entry->number = (uint32_t)i; /* sf_blocks_keep counts in 32 bits */
		entry->key[0] = key_of(entry, 0);
		entry->key[1] = key_of(entry, sizeof(entry->key[0]));
	}
	qsort(run->entries + run->first, run->last - run->first, sizeof(*run->entries),
	    fold_compare);
}

/* Two sorted runs, of which the second follows the first, to one at to. */
static void merge(const struct entry *entries, size_t first, size_t middle, size_t last,
    struct entry *to)
{
	size_t a = first, b = middle;

	for (size_t i = first; i < last; i++) {
		bool from_a = a < middle &&
			      (b == last || fold_compare(&entries[a], &entries[b]) < 0);

		to[i] = entries[from_a ? a++ : b++];
	}
}

/* n runs of the same length but for the last one, a power of two of them, to one; returns
 * which of the two arrays has it. */
static struct entry *merge_runs(
    struct entry *entries, struct entry *spare, size_t n_entries, size_t n)
{
	for (size_t length = n_entries / n; n > 1; n /= 2, length *= 2) {
		struct entry *from = entries;

		for (size_t i = 0; i < n; i += 2)
			merge(from, i * length, (i + 1) * length,
			    i + 2 < n ? (i + 2) * length : n_entries, spare);
		entries = spare;
		spare = from;
	}
	return entries;
}

/* All blocks, sorted, in memory of *list, which the caller frees; NULL without memory. */
static const struct entry *sorted_blocks(const struct sf_blocks *blocks,
    const struct wr *wr, unsigned int jobs, struct entry **list)
{
	struct run runs[MAX_RUNS];
	size_t n = 1;

	while (n * 2 <= jobs && n * 2 <= MAX_RUNS && blocks->n / (n * 2) >= RUN_BLOCKS)
		n *= 2;
	*list = malloc((n > 1 ? blocks->n * 2 : blocks->n + 1) * sizeof(**list));
	if (!*list)
		return NULL;
	for (size_t i = 0; i < n; i++)
		runs[i] = (struct run){blocks, wr, *list, blocks->n / n * i,
		    i + 1 < n ? blocks->n / n * (i + 1) : blocks->n};
	task_run_all(sort_run, runs, sizeof(runs[0]), n);
	return merge_runs(*list, *list + blocks->n, blocks->n, n);
}

bool sf_blocks_fold(struct sf_blocks *blocks, struct wr *wr, unsigned int jobs)
{
	uint32_t *homes = malloc((blocks->n + 1) * sizeof(*homes));
	struct entry *list = NULL;
	const struct entry *entries =
	    homes ? sorted_blocks(blocks, wr, jobs, &list) : NULL;

	if (entries) {
		find_homes(entries, blocks->n, homes);
		close_up(blocks, wr, homes);
	}
	free(list);
	free(homes);
	return entries;
}
