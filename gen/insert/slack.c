/* SPDX-License-Identifier: MIT */
/*
 * The method "slack": the section in the padding behind a read-only segment, which the
 * loader maps anyway as the rest of its last page, and PT_GNU_SFRAME in a spare program
 * header. No address, no offset and no mapping changes; the segment only ends later.
 * Where another tool's section is large enough, the new one takes its place, so that a file
 * that is stripped and refreshed again and again does not grow.
 */
#include "gen/insert/internal.h"

#include "base/num.h"

struct place {
	uint64_t off, addr; /* of the segment's end: the padding starts here */
	uint64_t size;	    /* of what the segment grows by, alignment included */
	uint64_t page;	    /* the largest the file may be mapped with */
};

static bool slack_meets(uint64_t from, uint64_t size, uint64_t start, uint64_t end)
{
	return from < end && start < from + size;
}

/*
 * True if the pages of a segment, in the file or in memory, would hold any of the new
 * bytes: then they would turn up in a mapping that is not theirs, writable or executable.
 * A file range that ends in the middle of a page maps the rest of it, too.
 */
static bool shares_page(const struct place *place, const GElf_Phdr *phdr)
{
	uint64_t mask = place->page - 1;
	uint64_t off_end = (phdr->p_offset + phdr->p_filesz + mask) & ~mask;
	uint64_t addr_end = (phdr->p_vaddr + phdr->p_memsz + mask) & ~mask;

	return slack_meets(place->addr, place->size, phdr->p_vaddr & ~mask, addr_end) ||
	       (phdr->p_filesz &&
		   slack_meets(place->off, place->size, phdr->p_offset & ~mask, off_end));
}

/*
 * RELRO is made read-only by pages after relocation, and may not grow by bytes that come to lie inside.
 * Sections without a segment (.tbss) have addresses, too.
 */
bool insert_is_padding(const struct image *image, size_t load, uint64_t size)
{
	const GElf_Phdr *self = &image->phdrs[load];
	struct place place = {.off = self->p_offset + self->p_filesz,
	    .addr = self->p_vaddr + self->p_filesz,
	    .size = size,
	    .page = insert_segment_align(image, 0)};

	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (i != load && phdr->p_memsz &&
		    (phdr->p_type == PT_LOAD || phdr->p_type == PT_GNU_RELRO) &&
		    shares_page(&place, phdr))
			return false;
	}
	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (hdr->sh_flags & SHF_ALLOC &&
		    slack_meets(
			place.addr, size, hdr->sh_addr, hdr->sh_addr + hdr->sh_size))
			return false;
	}
	return insert_is_free(image, place.off, size);
}

/* The last segment may not grow beyond its page: what follows in memory is the heap. */
static bool slack_fits(const struct image *image, const struct insert_slots *slots,
    size_t i, struct insert_plan *plan)
{
	const GElf_Phdr *phdr = &image->phdrs[i];
	uint64_t from, start, end;

	/* The PT_LOAD with the growing table has no room for the section. */
	if (phdr->p_type != PT_LOAD || phdr->p_flags != PF_R || !phdr->p_filesz ||
	    phdr->p_filesz != phdr->p_memsz || i == plan->table_load)
		return false;
	from = phdr->p_vaddr + phdr->p_filesz;
	/* Sums of file values: the end of a PT_LOAD was checked, its alignment was not.
	 */
	if (!num_align_up(from, INSERT_SFRAME_ALIGN, &start) ||
	    __builtin_add_overflow(start, plan->sframe_size, &end) ||
	    end > insert_max_addr(slots))
		return false;
	if (i == slots->last_load &&
	    (end - 1) / INSERT_MIN_PAGE != (from - 1) / INSERT_MIN_PAGE)
		return false;
	if (!insert_is_padding(image, i, end - from))
		return false;
	plan->grown = i;
	plan->sframe_addr = start;
	plan->sframe_off = phdr->p_offset + (start - phdr->p_vaddr);
	return true;
}

/* True if another program header names some of the bytes, as the name of a loader. */
static bool slack_has_other(const struct image *image, const GElf_Phdr *old)
{
	const GElf_Phdr *phdr = image->phdrs;
	bool has = false;

	for (size_t i = 0; i < image->n_phdrs; i++, phdr++)
		has |= phdr != old && phdr->p_type != PT_LOAD &&
		       insert_overlaps(
			   phdr->p_offset, phdr->p_filesz, old->p_offset, old->p_filesz);
	return has;
}

/* True if the bytes are read-only file bytes, at the place on which section header and
 * program header agree. */
static bool slack_is_old(const struct image *image, const GElf_Phdr *old, uint64_t addr)
{
	if (addr % INSERT_SFRAME_ALIGN ||
	    insert_meets_tables(image, old->p_offset, old->p_filesz) ||
	    slack_has_other(image, old))
		return false;
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags == PF_R &&
		    addr >= phdr->p_vaddr &&
		    num_range_inside(
			addr - phdr->p_vaddr, old->p_filesz, phdr->p_filesz) &&
		    old->p_offset - phdr->p_offset == addr - phdr->p_vaddr)
			return true;
	}
	return false;
}

/* Places the section over the old one. Without both headers, the end of the old one is
 * known from one tool's word only. */
static bool slack_over_old(
    const struct image *image, const struct insert_slots *slots, struct insert_plan *plan)
{
	const GElf_Phdr *old;
	const GElf_Shdr *hdr;

	if (slots->sframe_segment == INSERT_NONE || slots->sframe_section == INSERT_NONE)
		return false;
	old = &image->phdrs[slots->sframe_segment];
	hdr = &image->sections[slots->sframe_section].hdr;
	if (plan->sframe_size > old->p_filesz || hdr->sh_offset != old->p_offset ||
	    hdr->sh_addr != old->p_vaddr || hdr->sh_size != old->p_filesz ||
	    !slack_is_old(image, old, old->p_vaddr))
		return false;
	plan->sframe_off = old->p_offset;
	plan->sframe_addr = old->p_vaddr;
	plan->sframe_entry = slots->sframe_segment;
	return true;
}

/* The first one, so that the choice is the same on every run. */
enum obstacle insert_plan_slack(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	(void)err;
	if (!slots->editable)
		return OBSTACLE_TABLE;
	if (slack_over_old(image, slots, plan))
		return OBSTACLE_NONE;
	if (slots->sframe_segment != INSERT_NONE)
		plan->sframe_entry = slots->sframe_segment;
	else if (slots->n_spare)
		plan->sframe_entry = slots->spare[0];
	else if (!insert_take_room(slots, 1, plan))
		return OBSTACLE_NO_SLOT;
	plan->n_phdrs += plan->sframe_entry == INSERT_NONE;
	for (size_t i = 0; i < image->n_phdrs; i++)
		if (slack_fits(image, slots, i, plan))
			return OBSTACLE_NONE;
	return OBSTACLE_NO_SLACK;
}
