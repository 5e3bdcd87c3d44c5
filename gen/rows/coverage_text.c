/* SPDX-License-Identifier: MIT */
/* Counts the executable code of a file, whether CFI describes it or not. */
#include "gen/rows/coverage.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "gen/rows/last_calls.h"
#include "gen/rows/padding.h"

/* Executable bytes that are in the file. */
struct text_region {
	uint64_t start, end; /* addresses; end is exclusive */
	const uint8_t *bytes;
};

struct text {
	const struct arch *arch;
	struct image_window code;
	struct text_region *regions;
	size_t n, cap;
	/* Ranges that are code for sure: two lists, in the order of addresses. */
	const struct cfi_ranges *ranges;
	const struct sf_section *model;
	size_t range, func;	      /* the next one of each */
	uint64_t start, end;	      /* the one that is looked at */
	const struct cfi_range *of;   /* it, if it is a range */
	const struct cfi_range *last; /* the range that was counted last */
	struct coverage *coverage;
	bool nomem;
};

static bool text_add(
    struct text *text, uint64_t addr, uint64_t size, const uint8_t *bytes)
{
	/* A region up to the end of the address space is a header that lies. */
	if (!bytes || !size || size > UINT64_MAX - addr)
		return true;
	if (!vec_reserve(&text->regions, &text->cap, text->n + 1))
		return false;
	text->regions[text->n++] = (struct text_region){addr, addr + size, bytes};
	return true;
}

/* Lists the regions in the order of addresses. */
static bool text_find(const struct image *image, struct text *text)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
	bool ok = true;

	for (size_t i = 0; ok && i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if ((section->hdr.sh_flags & flags) == flags)
			ok = text_add(text, section->hdr.sh_addr, section->hdr.sh_size,
			    section->data);
	}
	for (size_t i = image->first_code; ok && !text->n && i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags & PF_X)
			ok = text_add(text, phdr->p_vaddr, phdr->p_filesz,
			    image_segment_bytes(image, phdr));
	}
	if (text->n)
		qsort(text->regions, text->n, sizeof(*text->regions), search_order);
	return ok;
}

/* Goes on to the next range or function, whichever starts first; an empty one at the end
 * of the address space when there is none. */
static void text_next(struct text *text)
{
	const struct cfi_range *range =
	    text->range < text->ranges->n ? &text->ranges->list[text->range] : NULL;
	const struct sf_func *func =
	    text->func < text->model->n_funcs ? &text->model->funcs[text->func] : NULL;

	text->start = text->end = UINT64_MAX;
	text->of = NULL;
	if (range && (!func || range->start <= func->start)) {
		text->of = range;
		text->start = range->start;
		text->end = range->end;
		text->range++;
	} else if (func) {
		text->start = func->start;
		text->end = func->start + func->size;
		text->func++;
	}
}

/* Ends of functions are far apart, so they are fetched some functions before their turn. */
enum { TEXT_AHEAD = 8 };

static void text_ahead(const struct text *text, const struct text_region *region)
{
	const struct cfi_ranges *ranges = text->ranges;
	const size_t i = text->range + TEXT_AHEAD;

	if (i < ranges->n && ranges->list[i].end > region->start &&
	    ranges->list[i].end < region->end)
		image_window_soon(
		    &text->code, region->bytes + (ranges->list[i].end - region->start));
}

/* Returns size bytes of a region for one look. */
static const uint8_t *text_bytes(
    struct text *text, const struct text_region *region, uint64_t addr, uint64_t size)
{
	return image_window_at(
	    &text->code, region->bytes + (addr - region->start), (size_t)size);
}

/* Returns where the next code behind addr begins. What a linker puts behind a section of an object is not known. */
static uint64_t text_limit(
    const struct text *text, const struct text_region *region, uint64_t addr)
{
	uint64_t limit = UINT64_MAX;

	if (text->code.image->object)
		limit = region->end;
	else if (region + 1 < text->regions + text->n)
		limit = region[1].start > addr ? region[1].start : addr;
	return limit < text->start ? limit : text->start;
}

/* Lists the end of the last range, at addr, if that is behind a call. */
static void text_call(struct text *text, const struct text_region *region, uint64_t addr)
{
	struct coverage *coverage = text->coverage;
	uint64_t size = addr - region->start;
	struct coverage_call call;

	size = size < LAST_CALL_SIZE ? size : LAST_CALL_SIZE;
	if (!text->last || text->last->end != addr ||
	    !last_call_is(text->code.image, text->arch,
		text_bytes(text, region, addr - size, size), size, addr))
		return;
	call = (struct coverage_call){.end = addr,
	    .start = text->last->start,
	    .limit = text_limit(text, region, addr)};
	/* Looks now, while a processor has the bytes at hand. The call may be the section's, where a segment loads other bytes. */
	call.reaches = last_call_open(&text->code, text->arch, addr, call.limit) &&
		       last_call_reaches(&text->code, text->arch, addr,
			   addr + text->arch->insn_unit, call.limit);
	if (!vec_reserve(&coverage->calls, &coverage->cap_calls, coverage->n_calls + 1))
		text->nomem = true;
	else
		coverage->calls[coverage->n_calls++] = call;
}

/* Code without CFI, or padding, or both. */
static void text_gap(
    struct text *text, const struct text_region *region, uint64_t start, uint64_t end)
{
	struct coverage *coverage = text->coverage;
	uint64_t size = end - start;
	const uint8_t *bytes = text_bytes(text, region, start, size);
	uint64_t front = padding_front(text->arch, bytes, size);
	uint64_t back = padding_back(text->arch, bytes + front, size - front);

	text_call(text, region, start);
	coverage->padding_bytes += front + back;
	if (front + back == size)
		return;
	coverage->text_bytes += size - front - back;
	if (!vec_reserve(&coverage->stretches, &coverage->cap_stretches,
		coverage->n_stretches + 1)) {
		text->nomem = true;
		return;
	}
	coverage->stretches[coverage->n_stretches++] = (struct coverage_stretch){
	    start + front, end - back, region->bytes + (start + front - region->start)};
}

/* Counts from pos on, which is past what other regions have in common with this one. */
static void text_count(struct text *text, const struct text_region *region, uint64_t pos)
{
	while (text->start < region->end) {
		uint64_t end = text->end < region->end ? text->end : region->end;

		if (text->start > pos) {
			text_gap(text, region, pos, text->start);
			pos = text->start;
		} else if (text->start == pos && text->last &&
			   (!text->of || text->of->fde != text->last->fde)) {
			text_call(text, region, pos);
		}
		if (end > pos) {
			text->coverage->text_bytes += end - pos;
			text->last = text->of;
			pos = end;
		}
		/* The next region may have the rest of it. */
		if (text->end > region->end)
			return;
		text_ahead(text, region);
		text_next(text);
	}
	if (pos < region->end)
		text_gap(text, region, pos, region->end);
	else
		text_call(text, region, pos);
}

bool coverage_text(const struct image *image, const struct arch *arch,
    const struct cfi_ranges *ranges, const struct sf_section *model,
    struct coverage *coverage, struct err *err)
{
	struct text text = {.arch = arch,
	    .code = {.image = image},
	    .ranges = ranges,
	    .model = model,
	    .coverage = coverage};
	uint64_t pos = 0, least = coverage->code_bytes + coverage->template_bytes +
				  coverage->derived_bytes;
	bool ok = text_find(image, &text);

	if (ok)
		text_next(&text);
	for (size_t i = 0; ok && !text.nomem && i < text.n; i++) {
		const struct text_region *region = &text.regions[i];

		if (region->end <= pos)
			continue;
		text_count(&text, region, region->start > pos ? region->start : pos);
		pos = region->end;
	}
	free(text.regions);
	image_window_free(&text.code);
	/* Section headers may say less than segments do, and those decide about rows. */
	if (coverage->text_bytes < least)
		coverage->text_bytes = least;
	return (ok && !text.nomem) || err_set_nomem(err);
}
