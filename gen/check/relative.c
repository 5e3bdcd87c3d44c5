/* SPDX-License-Identifier: MIT */
/* Reads dynamic relocations. */
#include "gen/check/relative.h"

#include "base/rd.h"

enum { RELATIVE_RELA_SIZE = 24 };

struct relative_reader {
	const struct image *image;
	bool (*note)(void *context, uint64_t addr);
	void *context;
};

/* A relocation whose addend is an address of this file. */
static bool relative_is(uint16_t machine, uint32_t type)
{
	switch (machine) {
	case EM_X86_64:
		return type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE;
	case EM_AARCH64:
		return type == R_AARCH64_RELATIVE || type == R_AARCH64_IRELATIVE;
	case EM_S390:
		return type == R_390_RELATIVE || type == R_390_IRELATIVE;
	default:
		return false;
	}
}

static bool relative_of_rela(
    const struct relative_reader *reader, const struct image_section *section)
{
	struct rd rd;

	rd_init(
	    &rd, section->data, (size_t)section->hdr.sh_size, reader->image->big_endian);
	while (rd.size - rd.pos >= RELATIVE_RELA_SIZE) {
		uint64_t info, addend;

		rd_u64(&rd);
		info = rd_u64(&rd);
		addend = rd_u64(&rd);
		if (relative_is(
			reader->image->ehdr.e_machine, (uint32_t)ELF64_R_TYPE(info)) &&
		    !reader->note(reader->context, addend))
			return false;
	}
	return true;
}

/* The word at addr, which the loader adds the load address to. */
static bool relative_of_word(void *context, uint64_t addr)
{
	const struct relative_reader *reader = context;
	const uint8_t *bytes = image_at_addr(reader->image, addr, 8);
	struct rd rd;

	if (!bytes)
		return true;
	rd_init(&rd, bytes, 8, reader->image->big_endian);
	return reader->note(reader->context, rd_u64(&rd));
}

bool validate_relative_each(
    const struct image *image, bool (*note)(void *context, uint64_t addr), void *context)
{
	struct relative_reader reader = {image, note, context};

	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		bool ok = true;

		if (!section->data)
			continue;
		if (section->hdr.sh_type == SHT_RELA && section->hdr.sh_flags & SHF_ALLOC)
			ok = relative_of_rela(&reader, section);
		else if (section->hdr.sh_type == IMAGE_SHT_RELR)
			ok = image_relr_each(image, section, relative_of_word, &reader);
		if (!ok)
			return false;
	}
	return true;
}
