/* SPDX-License-Identifier: MIT */
/*
 * Several .eh_frame sections of a linked file (ld --unique, linker scripts) as one, at their
 * addresses: most records hold distances, which stay right.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "gen/elf/image.h"

/* Records are of whole words, and so must be what is between sections. */
enum { WORD = 4 };

struct part {
	uint64_t addr, size;
	size_t index;  /* of the section */
	uint64_t last; /* offset of the last record that has contents */
	bool extends;  /* that has a 32-bit length, which can be larger */
};

/*
 * Finds the last record of a section. Records must end with the section, or the next one
 * would be read as a part of the last. *found is false when there are none.
 */
static bool find_last(
    const struct image *image, struct part *part, bool *found, struct err *err)
{
	const struct image_section *section = &image->sections[part->index];
	struct rd rd;
	uint64_t at = 0;

	*found = false;
	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	while (!rd_at_end(&rd)) {
		uint64_t len;

		at = rd.pos;
		len = rd_u32(&rd);
		if (len) {
			*found = true;
			part->last = at;
			part->extends = len != UINT32_MAX;
		}
		if (len == UINT32_MAX)
			len = rd_u64(&rd);
		rd_skip(&rd, len);
	}
	return !rd.failed ||
	       err_set(err, ERR_MALFORMED,
		   ".eh_frame (section %zu): the record at 0x%" PRIx64
		   " reaches past the end of the section, and there is another .eh_frame",
		   part->index, at);
}

static int part_compare(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* A section after the one that ends at end; 0 before the first. */
static bool part_fits(const struct part *part, uint64_t end, struct err *err)
{
	uint64_t part_end;

	if (__builtin_add_overflow(part->addr, part->size, &part_end) || part->addr < end)
		return err_set(err, ERR_MALFORMED,
		    ".eh_frame (section %zu, 0x%" PRIx64 " bytes at address 0x%" PRIx64
		    ") overlaps another .eh_frame or wraps around",
		    part->index, part->size, part->addr);
	return (part->addr % WORD == 0 && part->size % WORD == 0) ||
	       err_set(err, ERR_UNSUPPORTED,
		   ".eh_frame (section %zu, 0x%" PRIx64 " bytes at address 0x%" PRIx64
		   ") does not consist of whole words, and there is another .eh_frame",
		   part->index, part->size, part->addr);
}

static bool parts_fit(
    const struct image *image, const struct part *parts, size_t n, struct err *err)
{
	uint64_t end = 0;

	for (size_t i = 0; i < n; i++) {
		if (!part_fits(&parts[i], end, err))
			return false;
		end = parts[i].addr + parts[i].size;
	}
	/* The bytes between sections become zeros in memory, so they must not outgrow the file. */
	if (end - parts[0].addr > image->size)
		return err_set(err, ERR_UNSUPPORTED,
		    "the %zu .eh_frame sections are 0x%" PRIx64
		    " bytes apart, which is more than the file has",
		    n, end - parts[0].addr);
	for (size_t i = 0; i < n; i++)
		if (!image_eh_frame_mapped(image, parts[i].index, err))
			return false;
	return true;
}

/*
 * The last record of a section ends where the next section starts: what is between them
 * becomes instructions that do nothing. A zero length would end the list for some readers.
 */
static void close_gap(
    const struct image *image, const struct part *part, const struct part *next)
{
	uint8_t *at = image->cfi.data + (part->addr - image->cfi.addr) + part->last;
	uint64_t len = next->addr - (part->addr + part->last) - WORD;
	uint32_t word;

	if (!part->extends || len >= UINT32_MAX)
		return;
	word = image->big_endian ? htobe32((uint32_t)len) : htole32((uint32_t)len);
	memcpy(at, &word, sizeof(word));
}

static bool join(struct image *image, const struct part *parts, size_t n, struct err *err)
{
	struct image_cfi *cfi = &image->cfi;

	cfi->addr = parts[0].addr;
	/* Fits, because it is not more than the file has. */
	cfi->size = (size_t)(parts[n - 1].addr + parts[n - 1].size - cfi->addr);
	cfi->data = calloc(1, cfi->size);
	if (!cfi->data)
		return err_set_nomem(err);
	cfi->gaps = cfi->size;
	for (size_t i = 0; i < n; i++) {
		memcpy(cfi->data + (parts[i].addr - cfi->addr),
		    image->sections[parts[i].index].data, (size_t)parts[i].size);
		cfi->gaps -= (size_t)parts[i].size;
	}
	for (size_t i = 1; i < n; i++)
		close_gap(image, &parts[i - 1], &parts[i]);
	return true;
}

/* Lists the sections that have records. */
static bool list_parts(
    const struct image *image, struct part *parts, size_t *n, struct err *err)
{
	bool found;

	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (!image_is_loaded_eh_frame(&image->sections[i]))
			continue;
		parts[*n] = (struct part){hdr->sh_addr, hdr->sh_size, .index = i};
		if (!image_eh_frame_readable(image, i, err) ||
		    !find_last(image, &parts[*n], &found, err))
			return false;
		*n += found;
	}
	if (*n)
		qsort(parts, *n, sizeof(*parts), part_compare);
	return true;
}

bool image_join_eh_frames(struct image *image, struct err *err)
{
	struct part *parts;
	size_t n = 0;
	bool ok;

	for (size_t i = 0; i < image->n_sections; i++)
		n += image_is_loaded_eh_frame(&image->sections[i]);
	if (n < 2)
		return true;
	parts = calloc(n, sizeof(*parts));
	if (!parts)
		return err_set_nomem(err);
	n = 0;
	ok = list_parts(image, parts, &n, err) &&
	     (!n || (parts_fit(image, parts, n, err) && join(image, parts, n, err)));
	free(parts);
	return ok;
}
