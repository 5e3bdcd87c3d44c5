/* SPDX-License-Identifier: MIT */
/* The public interface: kinds of files, for callers that look through many. */
#include <elf.h>
#include <string.h>

#include "base/rd.h"
#include "gen/lib/api.h"
#include "gen/arch/arch.h"
#include "gen/sources/cfi_sources.h"

enum eh2sframe_kind eh2sframe_kind(const void *bytes, size_t size)
{
	const uint8_t *ident = bytes;
	uint16_t type, machine;
	bool big_endian;
	struct rd rd;

	if (!bytes || size < sizeof(Elf64_Ehdr) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return EH2SFRAME_KIND_NOT_ELF;
	if (ident[EI_CLASS] == ELFCLASS32)
		return EH2SFRAME_KIND_OTHER_MACHINE;
	/* Ignore a damaged header here; opening the file reports it. */
	if (ident[EI_CLASS] != ELFCLASS64 ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return EH2SFRAME_KIND_LINKED;
	big_endian = ident[EI_DATA] == ELFDATA2MSB;
	rd_init(&rd, bytes, size, big_endian);
	rd_seek(&rd, EI_NIDENT);
	type = rd_u16(&rd);
	machine = rd_u16(&rd);
	if (!arch_find(machine, big_endian))
		return EH2SFRAME_KIND_OTHER_MACHINE;
	if (type == ET_REL)
		return EH2SFRAME_KIND_RELOCATABLE;
	return type == ET_CORE ? EH2SFRAME_KIND_CORE : EH2SFRAME_KIND_LINKED;
}

enum eh2sframe_skip eh2sframe_file_skip(const struct eh2sframe_file *file)
{
	const struct image *image;
	const uint8_t *data = NULL;
	struct err ignored = {0};
	uint64_t addr;
	size_t size;
	bool has_sframe;

	if (!file)
		return EH2SFRAME_SKIP_NOT;
	image = &file->image;
	/* Ignore damage here; converting the file reports it. */
	has_sframe = image_sframe(image, &data, &size, &addr, &ignored) && data;
	if (has_sframe && !file->options.refresh)
		return EH2SFRAME_SKIP_HAS_SFRAME;
	/* Code can have rows without CFI, too. */
	if (!cfi_sources_any(image, &file->options) &&
	    (!options_derives(&file->options) || image_is_debug_only(image)))
		return image_is_debug_only(image) ? EH2SFRAME_SKIP_DEBUG_ONLY
						  : EH2SFRAME_SKIP_NO_CFI;
	if (!image_is_loader(image))
		return EH2SFRAME_SKIP_NOT;
	/* A section of ours, which auto puts into no loader, stays. That of a linker may be written over. */
	return !has_sframe || convert_leads_back(image) ? EH2SFRAME_SKIP_LOADER
							: EH2SFRAME_SKIP_NOT;
}

const char *eh2sframe_file_machine(const struct eh2sframe_file *file)
{
	/* Files of other machines are not opened. */
	return file ? arch_find(file->image.ehdr.e_machine, file->image.big_endian)->name
		    : NULL;
}
