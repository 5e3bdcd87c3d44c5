/* SPDX-License-Identifier: MIT */
/* Extends functions over the return address of a last call. */
#include "gen/rows/last_calls.h"

#include <endian.h>
#include <string.h>

#include "gen/elf/object/object.h"
#include "gen/rows/padding.h"
#include "sframe/cursor.h"

/* True if code, whose end is an address, is a call. Bytes of another instruction can look like one, but seldom lead to code. */
static bool call_matches(const struct image *image, const struct arch *arch, size_t i,
    const uint8_t *code, uint64_t end)
{
	const struct arch_call *call = &arch->calls[i];
	uint32_t distance;

	for (uint8_t k = 0; k < call->size && k < sizeof(call->mask); k++)
		if ((code[k] & call->mask[k]) != call->bits[k])
			return false;
	/* Displacements of an object are not relocated. */
	if (i >= arch->n_direct || image->ehdr.e_type == ET_REL)
		return true;
	memcpy(&distance, code + call->size - sizeof(distance), sizeof(distance));
	return image_code_segment(image, end + (uint64_t)(int32_t)le32toh(distance), 1);
}

bool last_call_is(const struct image *image, const struct arch *arch,
    const uint8_t *bytes, uint64_t size, uint64_t end)
{
	for (size_t i = 0; i < arch->n_calls; i++)
		if (arch->calls[i].size <= size &&
		    call_matches(image, arch, i, bytes + size - arch->calls[i].size, end))
			return true;
	return false;
}

/* Returns size bytes of code; NULL where they are not together in the file. In an object addresses are made up. */
static const uint8_t *code_at(struct image_window *code, uint64_t addr, uint64_t size)
{
	const struct image *image = code->image;
	const struct object_place *place =
	    image->object ? object_place_at(image->object, addr) : NULL;
	const uint8_t *bytes = image->object ? NULL : image_at_addr(image, addr, size);

	if (bytes)
		return image_window_at(code, bytes, (size_t)size);
	if (!place || size > place->size - (addr - place->addr) ||
	    !image->sections[place->section].data)
		return NULL;
	return image->sections[place->section].data + (addr - place->addr);
}

/* True if a filler begins at start. Reads more than one unit, because the first unit of a longer filler is none by itself. */
static bool filler_begins(
    struct image_window *code, const struct arch *arch, uint64_t start, uint64_t limit)
{
	uint64_t size = sizeof(arch->fillers->bytes);
	const uint8_t *bytes = NULL;

	size = size < limit - start ? size : limit - start;
	for (; !bytes && size; size -= !bytes)
		bytes = code_at(code, start, size);
	return bytes && padding_front(arch, bytes, size);
}

bool last_call_reaches(struct image_window *code, const struct arch *arch, uint64_t start,
    uint64_t end, uint64_t limit)
{
	if (end - start != arch->insn_unit || !filler_begins(code, arch, start, limit))
		return false;
	for (size_t i = 0; i < arch->n_calls; i++) {
		const struct arch_call *call = &arch->calls[i];
		const uint8_t *bytes =
		    start < call->size ? NULL
				       : code_at(code, start - call->size, call->size);

		if (bytes && call_matches(code->image, arch, i, bytes, start))
			return true;
	}
	return false;
}

bool last_call_open(
    struct image_window *code, const struct arch *arch, uint64_t end, uint64_t limit)
{
	const struct image *image = code->image;
	const GElf_Phdr *phdr = image_code_segment(image, end - 1, 1);
	const uint8_t *bytes;

	if (phdr && limit > phdr->p_vaddr + phdr->p_filesz)
		limit = phdr->p_vaddr + phdr->p_filesz;
	if ((!phdr && !image->object) || end >= limit || limit - end < arch->insn_unit)
		return false;
	bytes = code_at(code, end, limit - end);
	return bytes && padding_front(arch, bytes, limit - end) == limit - end;
}

void last_calls_reach(
    const struct arch *arch, const struct coverage *coverage, struct sf_section *section)
{
	size_t at = 0;

	for (size_t i = 0; i < section->n_funcs; i++) {
		struct sf_func *func = &section->funcs[i];
		const uint64_t end = func->start + func->size;

		while (at < coverage->n_calls && coverage->calls[at].end < end)
			at++;
		if (at < coverage->n_calls && coverage->calls[at].end == end &&
		    coverage->calls[at].reaches && !func->pcmask && !func->signal_frame &&
		    func->size <= UINT32_MAX - arch->insn_unit)
			func->size += arch->insn_unit;
	}
}

void last_calls_count(const struct sf_section *section, struct coverage *coverage)
{
	size_t at = 0;

	for (size_t i = 0; i < coverage->n_calls; i++) {
		const struct coverage_call call = coverage->calls[i];
		uint64_t end = UINT64_MAX;
		const struct sf_row *row =
		    sf_section_row_next(section, &at, call.end - 1, &end);
		const struct sf_row *there;

		end = UINT64_MAX;
		there = sf_section_row_next(section, &at, call.end, &end);
		if (row && there && sf_row_same(row, there))
			coverage->calls_with_row++;
		else if (row)
			coverage->calls[coverage->calls_misread++] = call;
	}
}
