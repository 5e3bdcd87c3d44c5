/* SPDX-License-Identifier: MIT */
/*
 * Files that are left alone, each with its reason: those whose loader view is not one
 * this program can extend, and those that other readers would no longer understand.
 */
#include "gen/insert/internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"

/*
 * Refuses a PT_LOAD on which the layout cannot rely. The first checks find damage; the last two refuse files
 * that do run (linked with -n, or by hand), but in which "above everything" has no sure meaning.
 */
static bool refuse_segment(
    const struct image *image, size_t i, uint64_t *end, struct err *err)
{
	const GElf_Phdr *phdr = &image->phdrs[i];
	uint64_t align =
		     phdr->p_align > INSERT_MIN_PAGE ? phdr->p_align : INSERT_MIN_PAGE,
		 phdr_end;

	/* Linkers give a segment of .bss alone the offset that it would have. */
	if (phdr->p_filesz &&
	    !num_range_inside(phdr->p_offset, phdr->p_filesz, image->size))
		return err_set(err, ERR_MALFORMED,
		    "program header %zu: PT_LOAD (0x%" PRIx64
		    " bytes at offset 0x%" PRIx64
		    ") reaches past the end of the file (0x%zx): truncated or "
		    "damaged; rebuild the file or copy it again",
		    i, phdr->p_filesz, phdr->p_offset, image->size);
	if (phdr->p_filesz > phdr->p_memsz ||
	    __builtin_add_overflow(phdr->p_vaddr, phdr->p_memsz, &phdr_end))
		return err_set(err, ERR_MALFORMED,
		    "program header %zu: PT_LOAD at 0x%" PRIx64
		    " has impossible sizes (file 0x%" PRIx64 ", memory 0x%" PRIx64 ")",
		    i, phdr->p_vaddr, phdr->p_filesz, phdr->p_memsz);
	if (phdr->p_align & (phdr->p_align - 1))
		return err_set(err, ERR_MALFORMED,
		    "program header %zu: PT_LOAD alignment 0x%" PRIx64
		    " is not a power of two",
		    i, phdr->p_align);
	if (!phdr->p_memsz && (phdr->p_vaddr - phdr->p_offset) & (align - 1))
		return err_set(err, ERR_UNSUPPORTED,
		    "program header %zu: an empty PT_LOAD at 0x%" PRIx64
		    ", as objcopy leaves it; convert the file that still has its section "
		    "(--refresh)",
		    i, phdr->p_vaddr);
	if ((phdr->p_vaddr - phdr->p_offset) & (align - 1))
		return err_set(err, ERR_UNSUPPORTED,
		    "program header %zu: PT_LOAD address 0x%" PRIx64
		    " and offset 0x%" PRIx64 " are not congruent modulo 0x%" PRIx64
		    ", so it is not mapped by pages",
		    i, phdr->p_vaddr, phdr->p_offset, align);
	if (phdr->p_vaddr < *end)
		return err_set(err, ERR_UNSUPPORTED,
		    "program header %zu: PT_LOAD at 0x%" PRIx64
		    " starts below the end of the one before (0x%" PRIx64
		    "), but they must ascend and not overlap",
		    i, phdr->p_vaddr, *end);
	*end = phdr_end;
	return true;
}

/* More than one PT_GNU_SFRAME would leave one that describes old bytes. */
static bool refuse_segments(const struct image *image, struct err *err)
{
	uint64_t end = 0;
	size_t n_loads = 0, n_sframe = 0;

	for (size_t i = 0; i < image->n_phdrs; i++) {
		if (image->phdrs[i].p_type == IMAGE_PT_GNU_SFRAME)
			n_sframe++;
		if (image->phdrs[i].p_type != PT_LOAD)
			continue;
		n_loads++;
		if (!refuse_segment(image, i, &end, err))
			return false;
	}
	if (!n_loads)
		return err_set(err, ERR_UNSUPPORTED,
		    "no PT_LOAD program header, so nothing of the file is loaded");
	if (n_sframe > 1)
		return err_set(err, ERR_UNSUPPORTED,
		    "%zu PT_GNU_SFRAME program headers, but a file may have only one",
		    n_sframe);
	return true;
}

struct extent {
	uint64_t start, end; /* file offsets */
	size_t index;
};

/* By index at last: qsort is not stable and messages should not vary. */
static int compare_extents(const void *left, const void *right)
{
	const struct extent *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Sections that share bytes make every later strip or objcopy a gamble; no linker makes
 * any. */
static bool refuse_overlap(
    const struct image *image, struct extent *list, size_t n, struct err *err)
{
	if (n)
		qsort(list, n, sizeof(*list), compare_extents);
	for (size_t i = 1; i < n; i++) {
		if (list[i].start >= list[i - 1].end)
			continue;
		return err_set(err, ERR_MALFORMED,
		    "sections %zu (%s) and %zu (%s) overlap in the file at offset "
		    "0x%" PRIx64,
		    list[i - 1].index, image->sections[list[i - 1].index].name,
		    list[i].index, image->sections[list[i].index].name, list[i].start);
	}
	return true;
}

/* Fills list with the sections that have bytes in the file. */
static bool list_extents(
    const struct image *image, struct extent *list, size_t *n, struct err *err)
{
	size_t n_sframe = 0;

	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (image_is_sframe(&image->sections[i]) && ++n_sframe > 1)
			return err_set(err, ERR_UNSUPPORTED,
			    "section %zu is a second SFrame section, but a file may have "
			    "only one",
			    i);
		if (hdr->sh_type == SHT_NULL || hdr->sh_type == SHT_NOBITS ||
		    !hdr->sh_size)
			continue;
		if (!image_section_inside(image, i, err))
			return false;
		list[(*n)++] =
		    (struct extent){hdr->sh_offset, hdr->sh_offset + hdr->sh_size, i};
	}
	return true;
}

/* Also gives the end of the last section's bytes, for the payload check. */
static bool refuse_sections(const struct image *image, uint64_t *end, struct err *err)
{
	struct extent *list;
	size_t n = 0;
	bool ok;

	if (!image->n_sections)
		return true;
	list = calloc(image->n_sections, sizeof(*list));
	if (!list)
		return err_set_nomem(err);
	ok = list_extents(image, list, &n, err) && refuse_overlap(image, list, n, err);
	for (size_t i = 0; i < n; i++)
		if (list[i].end > *end)
			*end = list[i].end;
	free(list);
	return ok;
}

/*
 * True if all bytes behind end come from insertions: zeros, and then a record. With --refresh each
 * insertion leaves one behind that of the insertion before.
 */
static bool refuse_has_records(const struct image *image, uint64_t end)
{
	uint64_t size = image->size, zeros = end;
	struct insert_footer footer;

	while (zeros < size && !image->bytes[zeros])
		zeros++;
	while (size > end && size - end >= INSERT_FOOTER_SIZE) {
		if (!insert_footer_decode(image->bytes + size - INSERT_FOOTER_SIZE,
			image->big_endian, &footer) ||
		    footer.new_size != size ||
		    footer.tail_off > size - INSERT_FOOTER_SIZE)
			return false;
		if (footer.tail_off <= zeros)
			return true;
		if (footer.old_size > footer.tail_off ||
		    !image_is_zero(image, footer.old_size, footer.tail_off))
			return false;
		size = footer.old_size;
	}
	return false;
}

/* Refuses files whose readers find data by the end of the file (AppImage, installers, signed modules). */
static bool refuse_payload(const struct image *image, uint64_t end, struct err *err)
{
	/* Both tables were found inside the file. */
	const uint64_t shdrs = image->ehdr.e_shoff + image->n_sections * INSERT_SHDR_SIZE;
	const uint64_t phdrs = image->ehdr.e_phoff + image->n_phdrs * INSERT_PHDR_SIZE;

	end = end > shdrs ? end : shdrs;
	end = end > phdrs ? end : phdrs;
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_filesz &&
		    num_range_inside(phdr->p_offset, phdr->p_filesz, image->size) &&
		    phdr->p_offset + phdr->p_filesz > end)
			end = phdr->p_offset + phdr->p_filesz;
	}
	/* Without section headers no section has the records, and some of them lead back no more. */
	if (!image->n_sections && refuse_has_records(image, end))
		return true;
	/* patchelf leaves a zero byte or a few behind the last table. Zeros stay where they
	 * are, and what is new comes after them. */
	if (!image_is_zero(image, end, image->size))
		return err_set(err, ERR_UNSUPPORTED,
		    "0x%" PRIx64 " bytes from offset 0x%" PRIx64
		    " on are an appended payload: no section and no segment has them; "
		    "convert the program before the payload is appended",
		    image->size - end, end);
	return true;
}

/* Cheapest and most telling first: a user reads one reason only. */
bool insert_refuse(const struct image *image, struct err *err)
{
	uint64_t end = 0;

	if (image->ehdr.e_type == ET_REL)
		return err_set(err, ERR_UNSUPPORTED,
		    "a relocatable object has no segments; link it and convert the "
		    "result");
	if (!image->n_phdrs)
		return err_set(err, ERR_UNSUPPORTED,
		    "no program headers, so nothing of the file is loaded");
	return refuse_segments(image, err) && refuse_sections(image, &end, err) &&
	       refuse_payload(image, end, err);
}
