/* SPDX-License-Identifier: MIT */
#include "gen/memory/memory_weight.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

/* Bytes of a file, which a segment has. */
struct weight_part {
	uint64_t device, inode, offset, end;
};

struct weight_parts {
	struct weight_part *list;
	size_t n, cap;
};

void memory_weigh(struct memory *memory)
{
	memory->weight = 0;
	memory->images_weight = 0;
	for (size_t i = 0; i < memory->n_ranges; i++) {
		memory->ranges[i].before = memory->weight;
		memory->weight += memory->ranges[i].have + 1;
	}
}

static uint64_t weight_below(const struct memory *memory, uint64_t addr)
{
	size_t i = search_list_above(memory->ranges, memory->n_ranges, end, addr);
	const struct memory_range *range = &memory->ranges[i];

	if (i == memory->n_ranges)
		return memory->weight;
	if (addr <= range->start)
		return range->before;
	return range->before +
	       (addr - range->start < range->have ? addr - range->start : range->have);
}

bool memory_weigh_image(
    struct memory *memory, const struct memory_headers *headers, struct err *err)
{
	const struct image *head = &headers->head;

	for (size_t i = 0; i < head->n_phdrs; i++) {
		const GElf_Phdr *phdr = &head->phdrs[i];
		uint64_t start = headers->bias + phdr->p_vaddr;
		uint64_t end = phdr->p_filesz > UINT64_MAX - start
				   ? UINT64_MAX
				   : start + phdr->p_filesz;

		if (phdr->p_type != PT_LOAD)
			continue;
		memory->images_weight +=
		    weight_below(memory, end) - weight_below(memory, start);
		if (memory->images_weight / 2 > memory->weight)
			return err_set(err, ERR_MALFORMED,
			    "the ELF images up to 0x%" PRIx64
			    " have more than twice the bytes that are mapped: their "
			    "segments lie over each other",
			    headers->bias);
	}
	return true;
}

/* Adds those of a segment; false without memory. */
static bool weight_collect(const struct memory *memory, uint64_t start, uint64_t size,
    struct weight_parts *parts)
{
	size_t i = search_list_above(memory->ranges, memory->n_ranges, end, start);

	for (; i < memory->n_ranges; i++) {
		const struct memory_range *range = &memory->ranges[i];
		uint64_t from = range->start > start ? range->start : start,
			 end = range->end;

		if (from - start >= size)
			break;
		if (end - start > size)
			end = start + size;
		if (!range->device && !range->inode)
			continue;
		if (!vec_reserve(&parts->list, &parts->cap, parts->n + 1))
			return false;
		parts->list[parts->n++] = (struct weight_part){range->device,
		    range->inode, range->at + (from - range->start),
		    range->at + (end - range->start)};
	}
	return true;
}

static int weight_order(const void *a, const void *b)
{
	const struct weight_part *x = a, *y = b;
	int order = search_order(&x->device, &y->device);

	if (!order)
		order = search_order(&x->inode, &y->inode);
	return order ? order : search_order(&x->offset, &y->offset);
}

/* Whether all bytes are no more than four times those that are counted once. */
static bool weight_is_fair(struct weight_parts *parts)
{
	uint64_t all = 0, once = 0, end = 0;

	if (parts->n)
		qsort(parts->list, parts->n, sizeof(*parts->list), weight_order);
	for (size_t i = 0; i < parts->n; i++) {
		const struct weight_part *part = &parts->list[i];

		if (i == 0 || part->device != part[-1].device ||
		    part->inode != part[-1].inode)
			end = 0;
		all += part->end - part->offset;
		if (part->end > end) {
			once += part->end - (part->offset > end ? part->offset : end);
			end = part->end;
		}
	}
	return all / 4 <= once;
}

bool memory_check_shared(
    const struct memory *memory, const struct memory_headers *headers, struct err *err)
{
	const struct image *head = &headers->head;
	struct weight_parts parts = {0};
	bool ok = true;

	for (size_t i = 0; memory->fd >= 0 && ok && i < head->n_phdrs; i++)
		if (head->phdrs[i].p_type == PT_LOAD &&
		    !weight_collect(memory, headers->bias + head->phdrs[i].p_vaddr,
			head->phdrs[i].p_filesz, &parts))
			ok = err_set_nomem(err);
	if (ok && !weight_is_fair(&parts))
		ok = err_set(err, ERR_MALFORMED,
		    "its segments have the same bytes of a file again and again, more "
		    "than "
		    "four times what there is");
	free(parts.list);
	return ok;
}
