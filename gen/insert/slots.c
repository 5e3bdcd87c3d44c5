/* SPDX-License-Identifier: MIT */
/*
 * Finds what an insertion can use of a file: spare entries of its tables, room after the
 * program headers, and free bytes and addresses.
 */
#include "gen/insert/internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "gen/arch/arch.h"

/* The most entries that a method adds: PT_PHDR, PT_LOAD, PT_GNU_SFRAME; and sections:
 * .phdrs, .sframe, .eh2sframe. */
#define MAX_ADDED 3

/*
 * True if the file can never be started as a program, so that nothing takes AT_PHDR from it. A file
 * with an interpreter can be started (libc.so.6), and so can one with an entry point that needs no
 * library: the dynamic loader and a static PIE. An entry point alone proves nothing, because old
 * linkers give one to any library. A library that looks like a program merely gets a longer hole.
 */
static bool is_library(const struct image *image)
{
	uint64_t value = 0;

	if (image->ehdr.e_type != ET_DYN)
		return false;
	if (image_segment_find(image, PT_INTERP))
		return false;
	if (image_dynamic(image, DT_FLAGS_1, &value) && value & DF_1_PIE)
		return false;
	return !image->ehdr.e_entry || image_dynamic(image, DT_NEEDED, &value);
}

/*
 * True for PT_NULL, or a PT_NOTE of exactly the bytes of PT_GNU_PROPERTY, which loaders
 * read instead where they know it. The note with the build-id, alone or with the
 * property, is never spare: it is how core dumps name the file.
 */
static bool slot_is_spare(const struct image *image, size_t i)
{
	const GElf_Phdr *phdr = &image->phdrs[i];

	if (phdr->p_type == PT_NULL)
		return true;
	if (phdr->p_type != PT_NOTE || !phdr->p_filesz)
		return false;
	for (size_t k = 0; k < image->n_phdrs; k++)
		if (image->phdrs[k].p_type == PT_GNU_PROPERTY &&
		    image->phdrs[k].p_offset == phdr->p_offset &&
		    image->phdrs[k].p_vaddr == phdr->p_vaddr &&
		    image->phdrs[k].p_filesz == phdr->p_filesz)
			return true;
	return false;
}

/* True for one note, of the name, size and type of NT_GNU_ABI_TAG, and nothing else. */
static bool is_abi_tag(const struct image *image, const struct image_section *section)
{
	struct rd rd;

	if (strcmp(section->name, ".note.ABI-tag") != 0 || !section->data ||
	    section->hdr.sh_size != 3 * 4 + sizeof(ELF_NOTE_GNU) + 4 * 4)
		return false;
	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	return rd_u32(&rd) == sizeof(ELF_NOTE_GNU) && rd_u32(&rd) == 4 * 4 &&
	       rd_u32(&rd) == NT_GNU_ABI_TAG &&
	       memcmp(rd_skip(&rd, sizeof(ELF_NOTE_GNU)), ELF_NOTE_GNU,
		   sizeof(ELF_NOTE_GNU)) == 0;
}

/*
 * A PT_NOTE of .note.ABI-tag alone, in a static program. A dynamic loader reads it to refuse
 * a library that needs a newer kernel; of a static program nothing reads it.
 */
static bool slot_is_abi_tag(const struct image *image, size_t i)
{
	const GElf_Phdr *phdr = &image->phdrs[i];

	if (phdr->p_type != PT_NOTE || phdr->p_align != 4 ||
	    image->ehdr.e_type != ET_EXEC || image_segment_find(image, PT_INTERP) ||
	    image_segment_find(image, PT_DYNAMIC))
		return false;
	for (size_t k = 1; k < image->n_sections; k++) {
		const struct image_section *section = &image->sections[k];

		if (section->hdr.sh_type == SHT_NOTE &&
		    section->hdr.sh_offset == phdr->p_offset &&
		    section->hdr.sh_size == phdr->p_filesz)
			return is_abi_tag(image, section);
	}
	return false;
}

bool insert_overlaps(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a_size && b_size && a < b + b_size && b < a + a_size;
}

static bool meets_shdrs(const struct image *image, uint64_t off, uint64_t size)
{
	return insert_overlaps(
	    off, size, image->ehdr.e_shoff, image->n_sections * INSERT_SHDR_SIZE);
}

bool insert_meets_tables(const struct image *image, uint64_t off, uint64_t size)
{
	return insert_overlaps(off, size, 0, INSERT_EHDR_SIZE) ||
	       insert_overlaps(
		   off, size, image->ehdr.e_phoff, image->n_phdrs * INSERT_PHDR_SIZE) ||
	       meets_shdrs(image, off, size);
}

/* True if a segment or a section has some of the bytes. */
static bool is_owned(const struct image *image, uint64_t off, uint64_t size, bool in_load)
{
	uint64_t table = image->ehdr.e_phoff;

	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (!insert_overlaps(off, size, phdr->p_offset, phdr->p_filesz))
			continue;
		if (!in_load || phdr->p_type != PT_LOAD || phdr->p_offset > table ||
		    off + size - phdr->p_offset > phdr->p_filesz)
			return true;
	}
	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (hdr->sh_type != SHT_NOBITS && hdr->sh_type != SHT_NULL &&
		    insert_overlaps(off, size, hdr->sh_offset, hdr->sh_size))
			return true;
	}
	return false;
}

bool insert_is_free(const struct image *image, uint64_t off, uint64_t size)
{
	return num_range_inside(off, size, image->size) &&
	       !is_owned(image, off, size, false) &&
	       !insert_meets_tables(image, off, size) &&
	       image_is_zero(image, off, off + size);
}

/* Zeros, and the one letter that patchelf writes over each section that it moves away. */
static bool is_filler(const struct image *image, uint64_t off, uint64_t size)
{
	uint8_t letter = 0;

	for (uint64_t i = off; i < off + size; i++) {
		if (!letter)
			letter = image->bytes[i];
		if (image->bytes[i] && image->bytes[i] != letter)
			return false;
	}
	return !letter || letter == 'X' || letter == 'Z';
}

static bool room_is_unused(const struct image *image, uint64_t off, uint64_t size)
{
	return num_range_inside(off, size, image->size) &&
	       !is_owned(image, off, size, true) &&
	       !insert_meets_tables(image, off, size) && is_filler(image, off, size);
}

/*
 * Room behind the program headers that they can grow into, in the PT_LOAD that maps them. Go's linker
 * puts the section headers there. The output has its own behind everything else, so that their old
 * place is free.
 */
static bool room_is_free(const struct image *image, uint64_t off, uint64_t size)
{
	const uint64_t shdrs = image->ehdr.e_shoff,
		       end = shdrs + image->n_sections * INSERT_SHDR_SIZE;
	uint64_t taken = 0;

	if (off >= shdrs && off < end)
		taken = end - off < size ? end - off : size;
	return num_range_inside(off, size, image->size) &&
	       !is_owned(image, off, taken, true) &&
	       (taken == size || room_is_unused(image, off + taken, size - taken));
}

/* glibc computes where a program is from PT_PHDR, which must grow with the table. */
static bool phdr_is_right(const struct image *image, const GElf_Phdr *load)
{
	uint64_t size = image->n_phdrs * INSERT_PHDR_SIZE;

	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_PHDR &&
		    (phdr->p_offset != image->ehdr.e_phoff || phdr->p_filesz != size ||
			phdr->p_memsz != size || phdr->p_paddr != phdr->p_vaddr ||
			phdr->p_vaddr - load->p_vaddr != phdr->p_offset - load->p_offset))
			return false;
	}
	return true;
}

/* No segment maps the table of a kernel, or of a program that is linked by hand. */
static void find_room_unmapped(
    const struct image *image, uint64_t end, struct insert_slots *slots)
{
	if (image_segment_find(image, PT_PHDR))
		return;
	while (slots->room < 2 &&
	       insert_is_free(image, end, (slots->room + 1) * INSERT_PHDR_SIZE))
		slots->room++;
	slots->room_inside = slots->room;
}

/* How many PT_LOADs map the table or a part of it, and the last of them. */
static size_t find_table_load(const struct image *image, uint64_t end, size_t *load)
{
	size_t n = 0;

	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type != PT_LOAD ||
		    !insert_overlaps(image->ehdr.e_phoff, end - image->ehdr.e_phoff,
			phdr->p_offset, phdr->p_filesz))
			continue;
		*load = i;
		n++;
	}
	return n;
}

/* Without section headers, the zeros after the table may be in use. The segment that maps
 * the table has to map new entries, too. */
static void find_room(const struct image *image, struct insert_slots *slots)
{
	uint64_t end = image->ehdr.e_phoff + image->n_phdrs * INSERT_PHDR_SIZE;
	size_t load = 0, n = find_table_load(image, end, &load);
	const GElf_Phdr *phdr = n ? &image->phdrs[load] : NULL;
	bool inside;

	if (!image->n_sections)
		return;
	if (n == 0)
		find_room_unmapped(image, end, slots);
	if (n != 1 || phdr->p_offset > image->ehdr.e_phoff || !(phdr->p_flags & PF_R) ||
	    !phdr_is_right(image, phdr))
		return;
	inside = num_range_inside(end - phdr->p_offset, INSERT_PHDR_SIZE, phdr->p_filesz);
	if (!inside && (end - phdr->p_offset != phdr->p_filesz || phdr->p_flags & PF_W ||
			   phdr->p_filesz != phdr->p_memsz))
		return;
	slots->table_load = load;
	while (slots->room < 2) {
		uint64_t size = (slots->room + 1) * INSERT_PHDR_SIZE;

		if (inside ? !room_is_free(image, end, size)
			   : !insert_is_padding(image, load, size))
			break;
		slots->room++;
	}
	slots->room_inside = inside ? slots->room : 0;
}

/* True for our own section over a table that was moved: libelf zeroes what no section covers. */
static bool is_over_table(const struct image *image, const struct image_section *section)
{
	return strcmp(section->name, ".phdrs") == 0 &&
	       section->hdr.sh_offset == image->ehdr.e_phoff &&
	       !(section->hdr.sh_flags & SHF_EXECINSTR);
}

/* False in damaged files whose table overlaps something else, where a change to one would
 * change the other. */
static bool is_editable(const struct image *image)
{
	uint64_t table = image->ehdr.e_phoff, size = image->n_phdrs * INSERT_PHDR_SIZE;

	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (hdr->sh_type != SHT_NOBITS && hdr->sh_type != SHT_NULL &&
		    !is_over_table(image, &image->sections[i]) &&
		    insert_overlaps(table, size, hdr->sh_offset, hdr->sh_size))
			return false;
	}
	return !insert_overlaps(table, size, 0, INSERT_EHDR_SIZE) &&
	       !meets_shdrs(image, table, size);
}

static void find_phdrs(const struct image *image, struct insert_slots *slots)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		uint32_t type = image->phdrs[i].p_type;

		if (type == PT_PHDR)
			slots->has_phdr = true;
		if (type == IMAGE_PT_GNU_SFRAME)
			slots->sframe_segment = i;
		if (type == PT_LOAD && slots->first_load == INSERT_NONE)
			slots->first_load = i;
		if (type == PT_LOAD)
			slots->last_load = i;
		if (slots->n_spare < 2 && slot_is_spare(image, i))
			slots->spare[slots->n_spare++] = i;
	}
	for (size_t i = 0; slots->n_spare < 2 && i < image->n_phdrs; i++)
		if (slot_is_abi_tag(image, i))
			slots->spare[slots->n_spare++] = i;
	slots->kernel = slots->first_load != INSERT_NONE &&
			image->phdrs[slots->first_load].p_vaddr > INSERT_MAX_PLACE;
	find_room(image, slots);
	slots->editable = is_editable(image);
	slots->phdr_right = slots->first_load != INSERT_NONE &&
			    phdr_is_right(image, &image->phdrs[slots->first_load]);
}

/* The name table is the one section that grows, so it must be one that can move. */
static bool find_names(
    const struct image *image, struct insert_slots *slots, struct err *err)
{
	size_t names = image->names;

	if (!image->n_sections || !names)
		return true;
	if (names >= image->n_sections ||
	    image->sections[names].hdr.sh_type != SHT_STRTAB ||
	    !image->sections[names].data)
		return err_set(err, ERR_MALFORMED,
		    "the section name table is section %zu, which is not a string table "
		    "inside the file",
		    names);
	if (image->sections[names].hdr.sh_flags & SHF_ALLOC)
		return err_set(err, ERR_UNSUPPORTED,
		    "the section name table (section %zu) is loaded with the "
		    "program, so it cannot grow",
		    names);
	for (size_t i = 0; i < image->n_sections; i++)
		if (image->sections[i].hdr.sh_name >= image->sections[names].hdr.sh_size)
			return err_set(err, ERR_MALFORMED,
			    "the name of section %zu is at 0x%" PRIx32
			    ", but the section name table has 0x%" PRIx64 " bytes",
			    i, image->sections[i].hdr.sh_name,
			    image->sections[names].hdr.sh_size);
	slots->names = names;
	return true;
}

/* True for the section of an old record, which is void: one that still leads back is
 * followed before anything is inserted. */
static bool is_old_record(const struct image *image, const struct image_section *section)
{
	const GElf_Shdr *hdr = &section->hdr;
	struct insert_footer footer;

	return strcmp(section->name, ".eh2sframe") == 0 && section->data &&
	       hdr->sh_type == SHT_PROGBITS && !hdr->sh_flags &&
	       hdr->sh_size >= INSERT_FOOTER_SIZE &&
	       insert_footer_decode(section->data + hdr->sh_size - INSERT_FOOTER_SIZE,
		   image->big_endian, &footer);
}

bool insert_slots_find(
    const struct image *image, struct insert_slots *slots, struct err *err)
{
	*slots = (struct insert_slots){.first_load = INSERT_NONE,
	    .last_load = INSERT_NONE,
	    .sframe_segment = INSERT_NONE,
	    .sframe_section = INSERT_NONE,
	    .record_section = INSERT_NONE,
	    .names = INSERT_NONE,
	    .table_load = INSERT_NONE,
	    .library = is_library(image),
	    .loader = image_is_loader(image)};
	if (image->n_phdrs + MAX_ADDED > IMAGE_MAX_PHDRS)
		return err_set(err, ERR_LIMIT,
		    "%zu program headers, and with the new ones more than the %d that "
		    "loaders take",
		    image->n_phdrs, IMAGE_MAX_PHDRS);
	if (image->n_sections + MAX_ADDED >= SHN_LORESERVE)
		return err_set(err, ERR_LIMIT,
		    "%zu sections, and with the new ones more than the %d that the ELF "
		    "header can count",
		    image->n_sections, SHN_LORESERVE - 1);
	find_phdrs(image, slots);
	for (size_t i = 1; i < image->n_sections; i++) {
		if (image_is_sframe(&image->sections[i]))
			slots->sframe_section = i;
		if (is_old_record(image, &image->sections[i]))
			slots->record_section = i;
	}
	return find_names(image, slots, err);
}

struct insert_names insert_names_place(
    const struct image *image, const struct insert_slots *slots)
{
	struct insert_names place = {0};
	const GElf_Shdr *old;

	if (slots->names == INSERT_NONE)
		return place;
	old = &image->sections[slots->names].hdr;
	/* One NUL first: a damaged table need not end with one. */
	place.phdrs = old->sh_size + 1;
	place.sframe = place.phdrs + sizeof(".phdrs");
	place.undo = place.sframe + sizeof(".sframe");
	place.size = place.undo + sizeof(".eh2sframe");
	return place;
}

bool insert_end_of_memory(const struct image *image, uint64_t *end, struct err *err)
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
			    "section %zu (%s): 0x%" PRIx64 " bytes at address 0x%" PRIx64
			    " reach past the end of the address space",
			    i, image->sections[i].name, hdr->sh_size, hdr->sh_addr);
		if (section_end > *end)
			*end = section_end;
	}
	return true;
}

uint64_t insert_segment_align(const struct image *image, uint64_t bias)
{
	const uint64_t page = arch_find(image->ehdr.e_machine, image->big_endian)->page;
	uint64_t align = INSERT_MIN_PAGE;

	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_LOAD && image->phdrs[i].p_align > align)
			align = image->phdrs[i].p_align;
	align = align > page ? page : align;
	while (align > INSERT_MIN_PAGE && bias & (align - 1))
		align /= 2;
	return align;
}

bool insert_take_room(
    const struct insert_slots *slots, size_t n, struct insert_plan *plan)
{
	if (n > slots->room)
		return false;
	/* The PT_LOAD has room of its own, or ends with the table and grows. */
	if (n > slots->room_inside)
		plan->table_load = slots->table_load;
	return true;
}
