/* SPDX-License-Identifier: MIT */
/*
 * The rung "front", on request only: the program header table grows where it is, so that
 * a core dump, which has the first page of a file at most, still has table and build-id.
 *
 *     before  table | .interp, notes           | .gnu.hash, .dynsym | ...
 *     after   table, grown | .interp, notes    | (unused)           | ... | segment
 *
 * What is small slides up; the hash tables and dynamic symbols behind it, as few as make
 * the room, are copied into the new segment, which is placed as that of "note". Only
 * sections whose contents nobody but the loader and debuggers look at, and these by
 * tables that are corrected too: everything else, and every sign of somebody else's
 * interest, is an obstacle.
 */
#include "gen/insert/internal.h"

#include <string.h>

#include "base/num.h"
#include "base/rd.h"

enum { MAX_ALIGN = 8, RELA_SIZE = 24 };

/* The contents of no other note are known not to be looked at by the program itself. */
static bool slides(const struct image_section *section)
{
	static const char *const notes[] = {
		".note.gnu.property", ".note.gnu.build-id", ".note.ABI-tag"};

	if (section->hdr.sh_type == SHT_PROGBITS)
		return strcmp(section->name, ".interp") == 0;
	for (size_t i = 0; section->hdr.sh_type == SHT_NOTE && i < 3; i++)
		if (strcmp(section->name, notes[i]) == 0)
			return true;
	return false;
}

int64_t write_front_tag(uint32_t type)
{
	switch (type) {
	case SHT_GNU_HASH:
		return DT_GNU_HASH;
	case SHT_HASH:
		return DT_HASH;
	case SHT_DYNSYM:
		return DT_SYMTAB;
	default:
		return DT_NULL;
	}
}

/* The sections behind the table in their order, until there is room. */
static bool find_block(const struct image *image, uint64_t by, struct write_front *front)
{
	uint64_t table_end = image->ehdr.e_phoff + image->n_phdrs * WRITE_PHDR_SIZE,
		 end = table_end;

	front->slide_off = table_end;
	front->slide_by = by;
	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		const GElf_Shdr *hdr = &section->hdr;
		bool lifted = write_front_tag(hdr->sh_type) != DT_NULL;

		if (!section->data || hdr->sh_offset < end || !hdr->sh_size ||
			hdr->sh_flags != SHF_ALLOC || hdr->sh_addralign > MAX_ALIGN)
			return false;
		end = hdr->sh_offset + hdr->sh_size;
		if (lifted && !front->lift_off)
			front->lift_off = hdr->sh_offset;
		if (!lifted && (front->lift_off || !slides(section)))
			return false;
		if (!lifted)
			front->slide_size = end - table_end;
		else
			front->lift_size = end - front->lift_off;
		front->n_sections = i;
		if (lifted && end >= table_end + front->slide_size + by)
			return front->lift_off % MAX_ALIGN == 0;
	}
	return false;
}

bool write_front_moves(const struct write_plan *plan, uint64_t off, uint64_t *new_off,
	uint64_t *new_addr)
{
	const struct write_front *front = &plan->front;

	if (off - front->slide_off < front->slide_size) {
		*new_off = off + front->slide_by;
		*new_addr = *new_off + front->bias;
		return true;
	}
	if (off - front->lift_off < front->lift_size) {
		*new_off = plan->segment_off + (off - front->lift_off);
		*new_addr = plan->segment_addr + (off - front->lift_off);
		return true;
	}
	return false;
}

static bool meets(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	return a < b_end && b < a_end;
}

/*
 * Table and block are in the first PT_LOAD, at the file's start; every other segment is
 * apart from the block, or inside what slides, with which it goes.
 */
static enum obstacle check_segments(const struct image *image,
	const struct write_slots *slots, struct write_front *front)
{
	const GElf_Phdr *load = &image->phdrs[slots->first_load];
	uint64_t start = front->slide_off, slide_end = start + front->slide_size,
		 end = front->lift_off + front->lift_size;

	if (load->p_offset || load->p_filesz < end ||
		(load->p_flags | PF_X) != (PF_R | PF_X) ||
		slide_end + front->slide_by > WRITE_MIN_PAGE)
		return OBSTACLE_FRONT_TABLE;
	front->bias = load->p_vaddr;
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];
		uint64_t phdr_end;
		bool inside = num_range_inside(phdr->p_offset - start, phdr->p_filesz,
				      front->slide_size) &&
			      phdr->p_vaddr == phdr->p_offset + front->bias &&
			      phdr->p_filesz == phdr->p_memsz;

		/* Only a PT_LOAD is known to be inside of the file. */
		if (__builtin_add_overflow(phdr->p_offset, phdr->p_filesz, &phdr_end))
			phdr_end = UINT64_MAX;
		if (i != slots->first_load && phdr->p_filesz && !inside &&
			meets(phdr->p_offset, phdr_end, start, end))
			return OBSTACLE_FRONT_SEGMENT;
		if (phdr->p_type == PT_LOAD && inside)
			return OBSTACLE_FRONT_SEGMENT;
		if (phdr->p_type == PT_INTERP && !inside)
			return OBSTACLE_FRONT_SEGMENT;
	}
	/* The block is not in sections alone: none may come back into it, and addresses
	 * must be those that the segment gives. */
	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		bool apart = hdr->sh_offset >= end;

		if (i <= front->n_sections ? hdr->sh_addr != hdr->sh_offset + front->bias
					   : !apart && hdr->sh_type != SHT_NULL)
			return OBSTACLE_FRONT_BLOCK;
	}
	return OBSTACLE_NONE;
}

/* Each section that is copied has exactly one tag that leads to it. */
static bool check_tag(const struct image *image, const struct image_section *dynamic,
	const GElf_Shdr *lifted)
{
	struct rd rd;
	size_t n = 0;

	rd_init(&rd, dynamic->data, (size_t)dynamic->hdr.sh_size, image->big_endian);
	for (;;) {
		uint64_t tag = rd_u64(&rd), value = rd_u64(&rd);

		if (rd.failed || tag == DT_NULL)
			return !rd.failed && n == 1;
		if (tag != (uint64_t)write_front_tag(lifted->sh_type))
			continue;
		if (value != lifted->sh_addr)
			return false;
		n++;
	}
}

/* Nor does one of these tags lead into the block where no section of its kind starts. */
static bool no_other_tag(const struct image *image, const struct image_section *dynamic,
	const struct write_front *front)
{
	uint64_t start = front->slide_off + front->bias,
		 size = front->lift_off + front->lift_size - front->slide_off;
	struct rd rd;

	rd_init(&rd, dynamic->data, (size_t)dynamic->hdr.sh_size, image->big_endian);
	for (;;) {
		uint64_t tag = rd_u64(&rd), value = rd_u64(&rd);
		bool ours = false;

		if (rd.failed || tag == DT_NULL)
			return true;
		if (tag != DT_SYMTAB && tag != DT_HASH && tag != DT_GNU_HASH)
			continue;
		for (size_t i = 1; i <= front->n_sections; i++)
			ours |= image->sections[i].hdr.sh_addr == value &&
				(uint64_t)write_front_tag(
					image->sections[i].hdr.sh_type) == tag;
		if (!ours && value - start < size)
			return false;
	}
}

/* PT_DYNAMIC and .dynamic are the same bytes, which other segments' bytes do not follow
 * into the block. */
static bool check_dynamic(const struct image *image, struct write_front *front)
{
	const struct image_section *dynamic = NULL;
	size_t n = 0;

	for (size_t i = 1; i < image->n_sections; i++)
		if (image->sections[i].hdr.sh_type == SHT_DYNAMIC)
			dynamic = &image->sections[i];
	if (!dynamic || !dynamic->data || dynamic->hdr.sh_size % WRITE_DYN_SIZE ||
		dynamic->hdr.sh_flags & SHF_COMPRESSED)
		return false;
	front->dynamic_off = dynamic->hdr.sh_offset;
	front->dynamic_size = dynamic->hdr.sh_size;
	for (size_t i = 0; i < image->n_phdrs; i++) {
		if (image->phdrs[i].p_type != PT_DYNAMIC)
			continue;
		if (image->phdrs[i].p_offset != front->dynamic_off ||
			image->phdrs[i].p_filesz != front->dynamic_size)
			return false;
		n++;
	}
	for (size_t i = 1; i <= front->n_sections; i++)
		if (image->sections[i].hdr.sh_offset >= front->lift_off &&
			!check_tag(image, dynamic, &image->sections[i].hdr))
			return false;
	return n == 1 && front->dynamic_off >= front->lift_off + front->lift_size &&
	       no_other_tag(image, dynamic, front);
}

/* Relocations of the block's bytes, or with nothing but an address in it. */
static bool check_relocations(const struct image *image, const struct write_front *front)
{
	uint64_t start = front->slide_off + front->bias,
		 size = front->lift_off + front->lift_size - front->slide_off;

	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		struct rd rd;

		if (section->hdr.sh_type != SHT_RELA || !section->data ||
			!(section->hdr.sh_flags & SHF_ALLOC))
			continue;
		rd_init(&rd, section->data, (size_t)section->hdr.sh_size,
			image->big_endian);
		for (uint64_t at = 0; at + RELA_SIZE <= section->hdr.sh_size;
			at += RELA_SIZE) {
			uint64_t place = rd_u64(&rd), info = rd_u64(&rd),
				 addend = rd_u64(&rd);

			if (place - start < size ||
				(!(info >> 32) && addend - start < size))
				return false;
		}
	}
	return true;
}

/* Bytes that others might show, program headers that others might hold: see above. */
static enum obstacle plan_block(const struct image *image,
	const struct write_slots *slots, uint64_t by, struct write_front *front)
{
	enum obstacle obstacle;

	if (!find_block(image, by, front))
		return OBSTACLE_FRONT_BLOCK;
	obstacle = check_segments(image, slots, front);
	if (obstacle != OBSTACLE_NONE)
		return obstacle;
	if (!check_dynamic(image, front))
		return OBSTACLE_FRONT_DYNAMIC;
	if (!check_relocations(image, front) || !write_front_symbols(image, front))
		return OBSTACLE_FRONT_SYMBOL;
	return OBSTACLE_NONE;
}

/* What ld.so loads: only for that is it known who reads the block. The loader itself and
 * static programs have readers of their own. */
static bool is_dynamic(const struct image *image, const struct write_slots *slots)
{
	uint64_t value;

	if (!image_dynamic(image, DT_SYMTAB, &value))
		return false;
	for (size_t i = 0; i < image->n_phdrs; i++)
		if (image->phdrs[i].p_type == PT_INTERP)
			return true;
	return slots->library;
}

enum obstacle write_plan_front(const struct image *image, const struct write_slots *slots,
	struct write_plan *plan, struct err *err)
{
	enum obstacle obstacle;
	size_t added;

	if (!is_dynamic(image, slots))
		return OBSTACLE_FRONT_KIND;
	if (!slots->editable || image->ehdr.e_phoff != WRITE_EHDR_SIZE ||
		!slots->phdr_right)
		return OBSTACLE_FRONT_TABLE;
	added = write_take_spares(slots, plan);
	plan->n_phdrs += added;
	if (added) {
		obstacle =
			plan_block(image, slots, added * WRITE_PHDR_SIZE, &plan->front);
		if (obstacle != OBSTACLE_NONE)
			return obstacle;
	}
	return write_place_above(image, plan->front.lift_size, plan, err);
}
