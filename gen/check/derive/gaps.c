/* SPDX-License-Identifier: MIT */
/* Subtracts the CFI and the PLTs from the executable bytes. */
#include "gen/check/derive/gaps.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

/* Adds the parts of [start, end) that no range has. */
static bool gaps_add(struct derive_gaps *gaps, const struct cfi_ranges *ranges,
    uint64_t start, uint64_t end, const uint8_t *bytes)
{
	uint64_t at = start;
	size_t i = search_list_above(ranges->list, ranges->n, end, start);

	while (at < end) {
		uint64_t next = i < ranges->n ? ranges->list[i].start : end;

		if (next > end)
			next = end;
		if (next > at) {
			if (!vec_reserve(&gaps->list, &gaps->cap, gaps->n + 1))
				return false;
			gaps->list[gaps->n++] =
			    (struct derive_gap){at, next, bytes + (at - start)};
		}
		if (i == ranges->n)
			break;
		at = ranges->list[i++].end;
	}
	return true;
}

static bool gaps_of_sections(const struct image *image, const struct cfi_ranges *ranges,
    struct derive_gaps *gaps, bool *any)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;

	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		const GElf_Shdr *hdr = &section->hdr;

		if ((hdr->sh_flags & flags) != flags || !section->data)
			continue;
		*any = true;
		if (image_is_code(image, hdr->sh_addr, hdr->sh_size) &&
		    !gaps_add(gaps, ranges, hdr->sh_addr, hdr->sh_addr + hdr->sh_size,
			section->data))
			return false;
	}
	return true;
}

static bool gaps_of_segments(
    const struct image *image, const struct cfi_ranges *ranges, struct derive_gaps *gaps)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];
		const uint8_t *bytes;

		if (phdr->p_type != PT_LOAD || !(phdr->p_flags & PF_X))
			continue;
		bytes = image_segment_bytes(image, phdr);
		if (bytes && !gaps_add(gaps, ranges, phdr->p_vaddr,
				 phdr->p_vaddr + phdr->p_filesz, bytes))
			return false;
	}
	return true;
}

/* Headers that lie can make sections overlap: the first one has the bytes. */
static void gaps_order(struct derive_gaps *gaps)
{
	size_t n = 0;

	if (gaps->n)
		qsort(gaps->list, gaps->n, sizeof(*gaps->list), search_order);
	for (size_t i = 0; i < gaps->n; i++) {
		struct derive_gap gap = gaps->list[i];
		uint64_t taken = n ? gaps->list[n - 1].end : 0;

		if (gap.start < taken) {
			if (gap.end <= taken)
				continue;
			gap.bytes += taken - gap.start;
			gap.start = taken;
		}
		gaps->list[n++] = gap;
	}
	gaps->n = n;
}

/* Finds the code of PLT sections; ascending, disjoint. */
static bool gaps_plts(const struct image *image, struct cfi_ranges *plts)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		const GElf_Shdr *hdr = &section->hdr;

		if (!section->data || !image_is_plt_name(section->name) ||
		    !image_is_code(image, hdr->sh_addr, hdr->sh_size))
			continue;
		if (!vec_reserve(&plts->list, &plts->cap, plts->n + 1))
			return false;
		plts->list[plts->n++] = (struct cfi_range){
		    .start = hdr->sh_addr, .end = hdr->sh_addr + hdr->sh_size};
	}
	plts->n = search_join(plts->list, sizeof(*plts->list), plts->n);
	return true;
}

/* Takes out PLTs, which templates describe. Headers that lie can also put one into another section. */
static bool gaps_without_plts(const struct image *image, struct derive_gaps *gaps)
{
	const struct derive_gaps all = *gaps;
	struct cfi_ranges plts = {0};
	bool ok = gaps_plts(image, &plts);

	*gaps = (struct derive_gaps){0};
	for (size_t i = 0; ok && i < all.n; i++)
		ok = gaps_add(
		    gaps, &plts, all.list[i].start, all.list[i].end, all.list[i].bytes);
	free(all.list);
	free(plts.list);
	return ok;
}

bool derive_gaps_read(
    const struct image *image, const struct cfi_input *input, struct derive_gaps *gaps)
{
	bool any = false;

	*gaps = (struct derive_gaps){0};
	if (!gaps_of_sections(image, &input->ranges, gaps, &any) ||
	    (!any && !gaps_of_segments(image, &input->ranges, gaps))) {
		derive_gaps_deinit(gaps);
		return false;
	}
	gaps_order(gaps);
	if (!gaps_without_plts(image, gaps)) {
		derive_gaps_deinit(gaps);
		return false;
	}
	return true;
}

void derive_gaps_deinit(struct derive_gaps *gaps)
{
	free(gaps->list);
	*gaps = (struct derive_gaps){0};
}

const struct derive_gap *derive_gap_at(const struct derive_gaps *gaps, uint64_t addr)
{
	size_t i = search_list_above(gaps->list, gaps->n, end, addr);

	return i < gaps->n && gaps->list[i].start <= addr ? &gaps->list[i] : NULL;
}
