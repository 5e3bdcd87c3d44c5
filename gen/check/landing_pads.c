/* SPDX-License-Identifier: MIT */
/* Reads call-site tables. */
#include "gen/check/landing_pads.h"

#include "base/rd.h"
#include "base/vec.h"
#include "cfi/augment.h"
#include "cfi/pointer.h"
#include "gen/check/validate.h"

/* Returns the mapped bytes of the file from addr to the end of its segment; 0: there are none. */
static size_t landing_bytes(const struct image *image, uint64_t addr)
{
	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];

		if (phdr->p_type == PT_LOAD && addr - phdr->p_vaddr < phdr->p_filesz)
			return (size_t)(phdr->p_filesz - (addr - phdr->p_vaddr));
	}
	return 0;
}

/* An offset in the table; its encoding is the table's. */
static uint64_t landing_offset(
    struct rd *rd, const struct cfi_section *section, uint8_t encoding)
{
	struct cfi_section plain = *section;

	plain.addr = 0;
	return cfi_pointer_read(rd, &plain, encoding & DW_EH_PE_format_mask, 0).value;
}

static bool landing_call_sites(struct rd *rd, const struct cfi_section *section,
    uint64_t function, uint64_t pads, uint64_t most, struct validate_landings *landings)
{
	uint8_t encoding = rd_u8(rd);
	uint64_t size = rd_uleb(rd);
	size_t end;

	if (rd->failed || size > rd->size - rd->pos)
		return true;
	end = rd->pos + (size_t)size;
	for (; most && !rd->failed && rd->pos < end; most--) {
		uint64_t start = landing_offset(rd, section, encoding);
		uint64_t length = landing_offset(rd, section, encoding);
		uint64_t pad = landing_offset(rd, section, encoding);

		rd_uleb(rd);
		if (rd->failed)
			break;
		if (pad == 0)
			continue;
		if (!vec_reserve(&landings->list, &landings->cap, landings->n + 1))
			return false;
		landings->list[landings->n++] = (struct code_landing){
		    function + start, function + start + length, pads + pad};
	}
	return true;
}

/* Returns how many bytes of the ranges are in the file. A call site has one at least. */
static uint64_t landing_most(
    const struct image *image, const struct cfi_ranges *ranges, size_t first, size_t last)
{
	uint64_t most = 0;

	for (size_t i = first; i < last; i++) {
		const struct cfi_range *range = &ranges->list[i];

		if (image_at_addr(image, range->start, range->end - range->start))
			most += range->end - range->start;
	}
	return most;
}

size_t validate_landings_last(const struct cfi_ranges *ranges, size_t i)
{
	const uint32_t fde = ranges->list[i].fde;

	do
		i++;
	while (i < ranges->n && ranges->list[i].fde == fde);
	return i;
}

bool validate_landings_add(const struct image *image, const struct cfi_input *input,
    size_t first, size_t last, struct validate_landings *landings)
{
	const struct cfi_frames *frames = &input->frames;
	const uint32_t index = input->ranges.list[first].fde;
	struct cfi_section section = frames->section;
	const struct cfi_fde *fde;
	struct cfi_augment augment;
	uint64_t addr, pads;
	uint8_t encoding;
	struct rd rd;

	if (index == VALIDATE_NO_FDE)
		return true;
	fde = &frames->fdes[index];
	augment = cfi_augment_read(frames, &frames->cies[fde->cie]);
	addr = cfi_augment_lsda(frames, fde, &augment);
	pads = fde->pc;

	/* Without a personality routine the data have no form that is known. That of an object can be
	 * defined elsewhere, and is 0 then. */
	if (!addr || (!augment.personality && !input->policy.image->object))
		return true;
	section.size = landing_bytes(image, addr);
	section.data = image_at_addr(image, addr, section.size);
	section.addr = addr;
	if (!section.size || !section.data)
		return true;
	rd_init(&rd, section.data, section.size, section.big_endian);
	encoding = rd_u8(&rd);
	if (encoding != DW_EH_PE_omit)
		pads = cfi_pointer_read(&rd, &section, encoding, fde->pc).value;
	encoding = rd_u8(&rd);
	if (encoding != DW_EH_PE_omit)
		rd_uleb(&rd);
	return landing_call_sites(&rd, &section, fde->pc, pads,
	    landing_most(image, &input->ranges, first, last), landings);
}
