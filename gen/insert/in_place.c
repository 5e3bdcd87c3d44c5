/* SPDX-License-Identifier: MIT */
/*
 * The method "in-place": the new section where another tool's was. Nothing moves and no
 * header is needed, so it comes first; the old bytes go into the undo record.
 */
#include "gen/insert/internal.h"

#include "base/num.h"

/* Read-only file bytes, at the place that section header and program header agree on. */
static bool is_safe(const struct image *image, const GElf_Phdr *old)
{
	if (old->p_vaddr % INSERT_SFRAME_ALIGN ||
	    insert_meets_tables(image, old->p_offset, old->p_filesz))
		return false;
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && phdr->p_flags == PF_R &&
		    old->p_vaddr >= phdr->p_vaddr &&
		    num_range_inside(
			old->p_vaddr - phdr->p_vaddr, old->p_filesz, phdr->p_filesz) &&
		    old->p_offset - phdr->p_offset == old->p_vaddr - phdr->p_vaddr)
			return true;
	}
	return false;
}

enum obstacle insert_plan_in_place(const struct image *image,
    const struct insert_slots *slots, struct insert_plan *plan, struct err *err)
{
	const GElf_Phdr *old;
	const GElf_Shdr *hdr;

	(void)err;
	if (!slots->editable)
		return OBSTACLE_TABLE;
	/* Without both, where the old one ends is one tool's word only. */
	if (slots->sframe_segment == INSERT_NONE || slots->sframe_section == INSERT_NONE)
		return OBSTACLE_NO_OLD;
	old = &image->phdrs[slots->sframe_segment];
	hdr = &image->sections[slots->sframe_section].hdr;
	if (plan->sframe_size > old->p_filesz)
		return OBSTACLE_OLD_SMALL;
	if (hdr->sh_offset != old->p_offset || hdr->sh_addr != old->p_vaddr ||
	    hdr->sh_size != old->p_filesz || !is_safe(image, old))
		return OBSTACLE_OLD_PLACE;
	plan->sframe_off = old->p_offset;
	plan->sframe_addr = old->p_vaddr;
	plan->sframe_entry = slots->sframe_segment;
	return OBSTACLE_NONE;
}
