/* SPDX-License-Identifier: MIT */
/*
 * __unwind_info: entries become pages of 4096 bytes. A compressed page has 4 bytes for each
 * entry: 24 bits of distance from the page's first, and 8 bits that choose an encoding. The
 * first 127 choices are common to all pages, the others the page's own. A regular page has
 * 8 bytes for each entry. It is taken where a compressed page is full of encodings sooner
 * than it would be of entries.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_slots.h"
#include "base/vec.h"
#include "tests/bench/compare/unwind_info.h"

/* An encoding, how often it occurs, and its place among those of the page. */
struct pages_encoding {
	uint32_t encoding;
	uint32_t count;
	uint32_t page;	/* the last page whose own it is, from 1; 0: none */
	uint8_t choice; /* among the page's, or the common ones */
	bool common;
};

struct pages {
	struct formats_unwind *unwind;
	struct formats_unwind_entry
	    *list; /* entries after folding; in the unwind's memory */
	size_t n;
	struct slots slots;
	struct pages_encoding *encodings; /* owned */
	size_t n_encodings, cap_encodings, n_common;
	uint32_t common[UNWIND_MAX_COMMON];
	struct pages_page {
		size_t first, n;   /* entries */
		size_t own, n_own; /* encodings: in own_encodings */
		bool regular;
	} * list_pages; /* owned */
	size_t n_pages, cap_pages;
	uint32_t *own_encodings; /* owned; of all pages */
	size_t n_own, cap_own;
	size_t n_lsdas;
};

/* Neighbours with one encoding are one entry, unless the reader needs the start of each:
 * for language-specific data, and to find an instruction. */
static void pages_fold(struct pages *pages)
{
	const struct formats_unwind *unwind = pages->unwind;
	bool x86 = unwind->input->machine.isa == FORMATS_X86_64;
	size_t n = 0;

	for (size_t i = 0; i < unwind->n; i++) {
		const struct formats_unwind_entry *entry = &unwind->entries[i];
		bool indirect = x86 && (entry->encoding & UNWIND_MODE_MASK) ==
					   UNWIND_X86_64_MODE_STACK_IND;

		if (n && !indirect && !entry->lsda && !pages->list[n - 1].lsda &&
		    pages->list[n - 1].encoding == entry->encoding)
			continue;
		pages->n_lsdas += entry->lsda != 0;
		pages->list[n++] = *entry;
	}
	pages->n = n;
}

/* Where the record of an encoding is, or belongs. */
static struct slot *pages_slot(const struct pages *pages, uint32_t encoding)
{
	struct slot *slot = slots_first(&pages->slots, hash_fold(encoding));

	while (slot->number && pages->encodings[slot->number - 1].encoding != encoding)
		slot = slots_next(&pages->slots, slot);
	return slot;
}

/* The record of an encoding that an entry has. */
static struct pages_encoding *pages_find(const struct pages *pages, uint32_t encoding)
{
	return &pages->encodings[pages_slot(pages, encoding)->number - 1];
}

/* Counts how often each encoding occurs. */
static bool pages_count(struct pages *pages)
{
	for (size_t i = 0; i < pages->n; i++) {
		uint32_t encoding = pages->list[i].encoding;
		struct slot *slot;

		if (!slots_reserve(&pages->slots, pages->n_encodings + 1) ||
		    !vec_reserve(
			&pages->encodings, &pages->cap_encodings, pages->n_encodings + 1))
			return false;
		slot = pages_slot(pages, encoding);
		if (!slot->number) {
			pages->encodings[pages->n_encodings++] =
			    (struct pages_encoding){.encoding = encoding};
			*slot = (struct slot){
			    hash_fold(encoding), (uint32_t)pages->n_encodings};
		}
		pages->encodings[slot->number - 1].count++;
	}
	return true;
}

static int pages_more_common(const void *a, const void *b)
{
	const struct pages_encoding *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->encoding > y->encoding ? -1 : x->encoding < y->encoding;
}

/* The most frequent encodings, up to 127. */
static bool pages_choose_common(struct pages *pages)
{
	struct pages_encoding *sorted;

	sorted = calloc(pages->n_encodings + 1, sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, pages->encodings, pages->n_encodings * sizeof(*sorted));
	qsort(sorted, pages->n_encodings, sizeof(*sorted), pages_more_common);
	for (size_t i = 0; i < pages->n_encodings && i < UNWIND_MAX_COMMON; i++) {
		struct pages_encoding *common = pages_find(pages, sorted[i].encoding);

		pages->common[i] = sorted[i].encoding;
		pages->n_common++;
		common->common = true;
		common->choice = (uint8_t)i;
	}
	free(sorted);
	return true;
}

/* Fills a compressed page from entry first on. False when memory runs out. */
static bool pages_fill(struct pages *pages, struct pages_page *page)
{
	size_t words = (UNWIND_PAGE_BYTES - UNWIND_COMPRESSED_HEADER) / 4,
	       i = page->first;
	uint64_t limit = pages->list[i].pc + UNWIND_COMPRESSED_REACH;

	for (; words && i < pages->n && pages->list[i].pc < limit; i++, words--) {
		struct pages_encoding *found = pages_find(pages, pages->list[i].encoding);
		size_t choice = pages->n_common + page->n_own;

		if (!found->common && found->page != pages->n_pages) {
			if (words < 2 || choice >= UNWIND_MAX_CHOICES)
				break;
			if (!vec_reserve(
				&pages->own_encodings, &pages->cap_own, pages->n_own + 1))
				return false;
			pages->own_encodings[pages->n_own++] = found->encoding;
			found->page = (uint32_t)pages->n_pages;
			found->choice = (uint8_t)choice;
			page->n_own++;
			words--;
		}
	}
	page->n = i - page->first;
	return true;
}

/* A regular page takes the place of one that is full of encodings. */
static void pages_judge(struct pages *pages, struct pages_page *page)
{
	size_t most = (UNWIND_PAGE_BYTES - UNWIND_REGULAR_HEADER) / 8;

	if (page->first + page->n == pages->n || page->n >= most)
		return;
	page->regular = true;
	page->n = pages->n - page->first < most ? pages->n - page->first : most;
	pages->n_own -= page->n_own;
	page->n_own = 0;
}

/* Calls are in the order of the pages, so that choices are those of the last page made. */
static void pages_write_page(struct pages *pages, const struct pages_page *page)
{
	struct wr *wr = &pages->unwind->bytes;
	const struct formats_unwind_entry *list = pages->list + page->first;
	size_t end = wr->size + UNWIND_PAGE_BYTES;

	wr_u32(wr, page->regular ? UNWIND_PAGE_REGULAR : UNWIND_PAGE_COMPRESSED);
	wr_u16(wr, page->regular ? UNWIND_REGULAR_HEADER : UNWIND_COMPRESSED_HEADER);
	wr_u16(wr, (uint16_t)page->n);
	if (!page->regular) {
		wr_u16(wr, (uint16_t)(UNWIND_COMPRESSED_HEADER + 4 * page->n));
		wr_u16(wr, (uint16_t)page->n_own);
	}
	for (size_t i = 0; i < page->n; i++) {
		const struct pages_encoding *found = pages_find(pages, list[i].encoding);
		uint32_t choice = found->choice;

		if (page->regular) {
			wr_u32(wr, (uint32_t)(list[i].pc - pages->unwind->input->base));
			wr_u32(wr, list[i].encoding);
			continue;
		}
		for (size_t k = 0; !found->common && k < page->n_own; k++)
			if (pages->own_encodings[page->own + k] == list[i].encoding)
				choice = (uint32_t)(pages->n_common + k);
		wr_u32(wr, choice << 24 | (uint32_t)(list[i].pc - list[0].pc));
	}
	for (size_t k = 0; k < page->n_own; k++)
		wr_u32(wr, pages->own_encodings[page->own + k]);
	if (!wr->failed)
		wr_zeros(wr, end - wr->size);
}

/* Divides the entries into pages. */
static bool pages_divide(struct pages *pages)
{
	for (size_t i = 0; i < pages->n;) {
		struct pages_page page = {.first = i, .own = pages->n_own};

		pages->n_pages++;
		if (!vec_reserve(&pages->list_pages, &pages->cap_pages, pages->n_pages) ||
		    !pages_fill(pages, &page))
			return false;
		pages_judge(pages, &page);
		pages->list_pages[pages->n_pages - 1] = page;
		i += page.n;
	}
	return true;
}

/* The address of the first entry counts as 0 in the file's place of the section. */
static void pages_write_index(struct pages *pages, size_t lsdas_at)
{
	const struct formats_unwind *unwind = pages->unwind;
	struct wr *wr = &pages->unwind->bytes;
	size_t lsda = 0, at = 0;
	size_t page_at = lsdas_at + UNWIND_LSDA_BYTES * pages->n_lsdas;

	for (size_t i = 0; i < pages->n_pages; i++, page_at += UNWIND_PAGE_BYTES) {
		for (; at < pages->list_pages[i].first; at++)
			lsda += pages->list[at].lsda != 0;
		wr_u32(wr, (uint32_t)(pages->list[at].pc - unwind->input->base));
		wr_u32(wr, (uint32_t)page_at);
		wr_u32(wr, (uint32_t)(lsdas_at + UNWIND_LSDA_BYTES * lsda));
	}
	wr_u32(wr, (uint32_t)(unwind->end - unwind->input->base));
	wr_u32(wr, 0);
	wr_u32(wr, (uint32_t)(lsdas_at + UNWIND_LSDA_BYTES * pages->n_lsdas));
	for (size_t i = 0; i < pages->n; i++) {
		if (!pages->list[i].lsda)
			continue;
		wr_u32(wr, (uint32_t)(pages->list[i].pc - unwind->input->base));
		wr_u32(wr, (uint32_t)(pages->list[i].lsda - unwind->input->base));
	}
}

static void pages_write(struct pages *pages)
{
	const struct formats_unwind *unwind = pages->unwind;
	struct wr *wr = &pages->unwind->bytes;
	uint32_t n_common = (uint32_t)pages->n_common,
		 n_personalities = (uint32_t)unwind->n_personalities,
		 personalities_at = UNWIND_HEADER_BYTES + 4 * n_common,
		 index_at = personalities_at + 4 * n_personalities;
	size_t n_index = pages->n_pages + 1;

	wr_u32(wr, UNWIND_VERSION);
	wr_u32(wr, UNWIND_HEADER_BYTES);
	wr_u32(wr, n_common);
	wr_u32(wr, personalities_at);
	wr_u32(wr, n_personalities);
	wr_u32(wr, index_at);
	wr_u32(wr, (uint32_t)n_index);
	for (size_t i = 0; i < pages->n_common; i++)
		wr_u32(wr, pages->common[i]);
	for (size_t i = 0; i < unwind->n_personalities; i++)
		wr_u32(wr, (uint32_t)(unwind->personalities[i] - unwind->input->base));
	pages_write_index(pages, index_at + UNWIND_INDEX_BYTES * n_index);
	for (size_t i = 0; i < pages->n_pages; i++)
		pages_write_page(pages, &pages->list_pages[i]);
}

bool formats_unwind_write(struct formats_unwind *unwind)
{
	struct pages pages = {.unwind = unwind};
	bool ok;

	if (unwind->n == 0)
		return true;
	pages.list = calloc(unwind->n, sizeof(*pages.list));
	ok = pages.list;
	if (ok) {
		pages_fold(&pages);
		ok = pages_count(&pages) && pages_choose_common(&pages) &&
		     pages_divide(&pages);
	}
	if (ok)
		pages_write(&pages);
	free(pages.list);
	free(pages.slots.list);
	free(pages.encodings);
	free(pages.list_pages);
	free(pages.own_encodings);
	return ok && !unwind->bytes.failed;
}
