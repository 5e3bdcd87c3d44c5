/* SPDX-License-Identifier: MIT */
/*
 * Where things go. The new segment, above everything, is
 *
 *     [gap, as large as the table: undo record][program header table][.sframe]
 *
 * and each part of that is there for a reason that was found by experiment:
 * - its file offset has the distance to its address that the first PT_LOAD has, because
 * kernels before 5.18 compute AT_PHDR as that distance plus e_phoff, and patchelf a
 * library's PT_PHDR likewise; where the .bss makes that hole too large only the former
 * forbids to go without;
 * - two pages between it and everything below, because BFD's strip moves the start of a
 * rewritten segment down by up to a page, which must not reach the .bss;
 * - the gap, because BFD puts its new table at the segment's start and the first section
 * behind it, and because llvm-objcopy takes a PT_LOAD that starts with the table for a
 * part of PT_PHDR;
 * - a section ".phdrs" over the table, because libelf zeroes what no section covers.
 */
#include "gen/write_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"

#define MIN_PAGE 4096
#define GUARD_PAGES 2
/* A sparse hole costs nothing on most file systems, but it is copied as zeros by some
 * tools. */
#define MAX_HOLE (UINT64_C(64) << 20)
/* No loader takes an address or offset above this; sums of two of them do not wrap. */
#define MAX_PLACE ((uint64_t)INT64_MAX)
/* The kernel reads at most this much of a program header table. */
#define MAX_PHDR_BYTES 65536

/*
 * Whether the file can never be started as a program, so that nobody takes AT_PHDR from
 * it. What has an interpreter can (libc.so.6), and so can what has an entry point and
 * needs no library: the dynamic loader and a static PIE. An entry point alone says
 * nothing, old linkers give one to any library. What only looks like a program is merely
 * given a longer hole.
 */
static bool is_library(const struct image *image)
{
	uint64_t value = 0;

	if (image->ehdr.e_type != ET_DYN)
		return false;
	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_INTERP)
			return false;
	if (image_dynamic(image, DT_FLAGS_1, &value) && value & DF_1_PIE)
		return false;
	return !image->ehdr.e_entry || image_dynamic(image, DT_NEEDED, &value);
}

bool write_slots_find(
	const struct image *image, struct write_slots *slots, struct err *err)
{
	size_t names = image->ehdr.e_shstrndx;

	*slots = (struct write_slots){.last_load = WRITE_NONE,
		.sframe_segment = WRITE_NONE,
		.sframe_section = WRITE_NONE,
		.names = WRITE_NONE};
	slots->library = slots->add_phdr = is_library(image);
	for (size_t i = 0; i < image->n_phdrs; i++) {
		if (image->phdrs[i].p_type == PT_PHDR)
			slots->add_phdr = false;
		if (image->phdrs[i].p_type == PT_LOAD)
			slots->last_load = i;
		if (image->phdrs[i].p_type == IMAGE_PT_GNU_SFRAME)
			slots->sframe_segment = i;
	}
	for (size_t i = 1; i < image->n_sections; i++)
		if (image_is_sframe(&image->sections[i]))
			slots->sframe_section = i;
	slots->n_phdrs = image->n_phdrs + 1 + slots->add_phdr +
			 (slots->sframe_segment == WRITE_NONE);
	if (slots->n_phdrs > MAX_PHDR_BYTES / WRITE_PHDR_SIZE)
		return err_set(err, ERR_LIMIT,
			"%zu program headers; loaders take no more than %d with the new "
			"ones",
			image->n_phdrs, MAX_PHDR_BYTES / WRITE_PHDR_SIZE);
	if (!image->n_sections)
		return true;
	slots->n_sections = image->n_sections + 1 + (slots->sframe_section == WRITE_NONE);
	if (slots->n_sections >= SHN_LORESERVE)
		return err_set(err, ERR_LIMIT,
			"%zu sections; the ELF header can count no more than %d with the "
			"new ones",
			image->n_sections, SHN_LORESERVE - 1);
	if (!names)
		return true;
	if (names >= image->n_sections ||
		image->sections[names].hdr.sh_type != SHT_STRTAB ||
		!image->sections[names].data)
		return err_set(err, ERR_MALFORMED,
			"e_shstrndx is %zu, which is not a string table inside the file",
			names);
	if (image->sections[names].hdr.sh_flags & SHF_ALLOC)
		return err_set(err, ERR_UNSUPPORTED,
			"the section name table (section %zu) is loaded with the "
			"program, so it cannot "
			"grow",
			names);
	slots->names = names;
	return true;
}

struct write_names write_names_place(
	const struct image *image, const struct write_slots *slots)
{
	struct write_names place = {0};
	const GElf_Shdr *old;

	if (slots->names == WRITE_NONE)
		return place;
	old = &image->sections[slots->names].hdr;
	/* One NUL first: a damaged table need not end with one. */
	place.phdrs = old->sh_size + 1;
	place.sframe = place.phdrs + sizeof(".phdrs");
	place.size = place.sframe + sizeof(".sframe");
	return place;
}

/* First address that neither a segment nor a loaded section (.tbss has no segment) uses.
 */
static bool end_of_memory(const struct image *image, uint64_t *end, struct err *err)
{
	*end = 0;
	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_LOAD)
			*end = image->phdrs[i].p_vaddr + image->phdrs[i].p_memsz;
	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		uint64_t section_end;

		if (!(hdr->sh_flags & SHF_ALLOC))
			continue;
		if (__builtin_add_overflow(hdr->sh_addr, hdr->sh_size, &section_end))
			return err_set(err, ERR_MALFORMED,
				"section %zu (%s): 0x%" PRIx64
				" bytes at address 0x%" PRIx64
				" reach past the end of the address space",
				i, image->sections[i].name, hdr->sh_size, hdr->sh_addr);
		if (section_end > *end)
			*end = section_end;
	}
	return true;
}

/* The file's own alignment, as far as the distance between its addresses and offsets has
 * it. */
static uint64_t segment_align(const struct image *image, uint64_t bias)
{
	uint64_t align = MIN_PAGE;

	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_LOAD && image->phdrs[i].p_align > align)
			align = image->phdrs[i].p_align;
	while (align > MIN_PAGE && bias & (align - 1))
		align /= 2;
	return align;
}

static uint64_t first_load_bias(const struct image *image)
{
	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_LOAD)
			return image->phdrs[i].p_vaddr - image->phdrs[i].p_offset;
	return 0;
}

/*
 * At the first PT_LOAD's distance between offset and address, or, for a library whose
 * hole would be too large, right behind the file.
 */
static bool place_segment(const struct image *image, const struct write_slots *slots,
	struct write_plan *plan, struct err *err)
{
	uint64_t bias = first_load_bias(image), align = segment_align(image, bias);
	uint64_t end, addr, off, hole;

	if (!end_of_memory(image, &end, err))
		return false;
	if (!num_align_up(end, align, &addr) ||
		__builtin_add_overflow(addr, align * GUARD_PAGES, &addr) ||
		!num_align_up(image->size, align, &off) || addr > MAX_PLACE)
		return err_set(err, ERR_LIMIT,
			"no room above the highest address in use, 0x%" PRIx64, end);
	/* Below the end of the file the address moves up, else the offset does. */
	hole = addr - bias < off || addr - bias > MAX_PLACE ? 0 : addr - bias - off;
	if (hole > MAX_HOLE && !slots->library)
		return err_set(err, ERR_LIMIT,
			"the program's memory ends 0x%" PRIx64
			" bytes behind its file (a large .bss "
			"or alignment), and that would be a hole in the file; at most "
			"0x%" PRIx64 " are accepted",
			hole, MAX_HOLE);
	if (hole <= MAX_HOLE) {
		off += hole;
		addr = off + bias;
	}
	if (addr < end || addr > MAX_PLACE)
		return err_set(err, ERR_LIMIT,
			"no room above the highest address in use, 0x%" PRIx64, end);
	plan->segment_addr = addr;
	plan->segment_off = off;
	plan->segment_align = align;
	return true;
}

bool write_plan(const struct image *image, uint64_t sframe_size, struct write_plan *plan,
	struct err *err)
{
	struct write_slots slots;
	uint64_t gap, into, names_size;

	*plan = (struct write_plan){.sframe_size = sframe_size};
	if (!write_refuse(image, err) || !write_slots_find(image, &slots, err) ||
		!place_segment(image, &slots, plan, err))
		return false;
	gap = write_gap(&slots);
	into = (2 * gap + WRITE_SFRAME_ALIGN - 1) & ~(uint64_t)(WRITE_SFRAME_ALIGN - 1);
	plan->phdr_off = plan->segment_off + gap;
	plan->sframe_off = plan->segment_off + into;
	plan->sframe_addr = plan->segment_addr + into;
	if (__builtin_add_overflow(into, sframe_size, &plan->segment_size) ||
		plan->segment_size > INT64_MAX - plan->segment_addr ||
		plan->segment_size > INT64_MAX - plan->segment_off)
		return err_set(err, ERR_LIMIT,
			"a section of 0x%" PRIx64 " bytes is too large", sframe_size);
	plan->file_size = plan->segment_off + plan->segment_size;
	if (!slots.n_sections)
		return true;
	names_size = write_names_place(image, &slots).size;
	if (names_size) {
		plan->strtab_off = plan->file_size;
		plan->file_size += names_size;
	}
	plan->shdr_off = (plan->file_size + 7) & ~UINT64_C(7);
	plan->file_size = plan->shdr_off + slots.n_sections * WRITE_SHDR_SIZE;
	return true;
}
