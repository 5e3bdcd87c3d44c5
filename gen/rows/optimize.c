/* SPDX-License-Identifier: MIT */
/* Tells the optimiser of the format what it must know about the file. */
#include "gen/rows/optimize.h"

#include <stdlib.h>

#include "base/vec.h"
#include "gen/arch/arch.h"
#include "gen/rows/padding.h"

struct ranges {
	struct sf_compact_range *list; /* owned */
	size_t n, cap;
};

static bool range_add(struct ranges *ranges, uint64_t start, uint64_t end)
{
	if (!vec_reserve(&ranges->list, &ranges->cap, ranges->n + 1))
		return false;
	ranges->list[ranges->n++] = (struct sf_compact_range){start, end};
	return true;
}

static int range_compare(const void *a, const void *b)
{
	const struct sf_compact_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Adds a border at addr, which no function may cross. */
static bool range_border(struct ranges *ranges, uint64_t addr)
{
	return range_add(ranges, addr, addr);
}

static bool ranges_of_segments(const struct image *image, struct ranges *ranges)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X))
			continue;
		if (!range_border(ranges, phdr->p_vaddr) ||
		    !range_border(ranges, phdr->p_vaddr + phdr->p_memsz))
			return false;
	}
	return true;
}

/* Protects functions that no FDE made. */
static bool ranges_of_templates(const struct optimize_input *input,
    const struct sf_section *section, struct ranges *ranges)
{
	const struct cfi_ranges *owned = input->ranges;
	size_t at = 0;

	/* Most files have none, and to look for them takes as long as all else. */
	if (!input->coverage->template_bytes && !input->coverage->derived_bytes)
		return true;
	for (size_t i = 0; i < section->n_funcs; i++) {
		const struct sf_func *func = &section->funcs[i];

		while (at < owned->n && owned->list[at].end <= func->start)
			at++;
		if (at < owned->n && owned->list[at].start <= func->start)
			continue;
		if (!range_border(ranges, func->start) ||
		    !range_border(ranges, func->start + func->size))
			return false;
	}
	return true;
}

struct between {
	const struct arch *arch;
	struct image_window *code;
};

/* Code without CFI may be as short as padding. */
static bool range_is_padding(const void *context, uint64_t start, uint64_t end)
{
	const struct between *between = context;

	return padding_only(between->code, between->arch, start, end);
}

static bool ranges_read(const struct optimize_input *input,
    const struct sf_section *section, struct ranges *ranges)
{
	const struct coverage *coverage = input->coverage;

	for (size_t i = 0; i < coverage->n_gaps; i++)
		if (!range_add(ranges, coverage->gaps[i].start, coverage->gaps[i].end))
			return false;
	if (!ranges_of_segments(input->image, ranges) ||
	    !ranges_of_templates(input, section, ranges))
		return false;
	if (ranges->n)
		qsort(ranges->list, ranges->n, sizeof(*ranges->list), range_compare);
	return true;
}

bool optimize_model(const struct optimize_input *input, struct sf_section *section,
    struct sf_compact_stats *stats, struct err *err)
{
	const struct image *image = input->image;
	struct image_window window = {.image = image};
	const struct between between = {
	    arch_find(image->ehdr.e_machine, image->big_endian), &window};
	struct sf_compact_options fusing = {.version = input->options->format,
	    .max_rows = SF_COMPACT_ROWS,
	    .is_padding = range_is_padding,
	    .context = &between};
	struct ranges ranges = {0};
	bool ok;

	ok = ranges_read(input, section, &ranges) || err_set_nomem(err);
	fusing.taken = ranges.list;
	fusing.n_taken = ranges.n;
	ok = ok && (input->options->optimize_size ? sf_compact : sf_compact_equal)(
		       section, &fusing, stats, err);
	free(ranges.list);
	image_window_free(&window);
	return ok;
}
