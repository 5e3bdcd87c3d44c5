/* SPDX-License-Identifier: MIT */
/* The .orc_unwind_ip of a kernel module, with its relocations applied. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "gen/elf/object/internal.h"

/* Bytes of an entry, each of which has a relocation. */
enum { ORC_IP_WIDTH = 4 };

/* Where it leads is in the section of its symbol, or at the end of that. The next section's code may be
 * behind it by accident of the layout. */
static bool orc_place_is_good(
    const struct image *image, const struct object_reloc *reloc, uint64_t place)
{
	const GElf_Shdr *hdr = &image->sections[reloc->symbol.section].hdr;
	int32_t distance;
	uint64_t to;

	memcpy(&distance, image->object->orc.data + reloc->off, sizeof(distance));
	to = place + (uint64_t)(int64_t)(int32_t)le32toh((uint32_t)distance);
	return reloc->symbol.section && to >= hdr->sh_addr &&
	       to - hdr->sh_addr <= hdr->sh_size;
}

static bool orc_relocate(struct image *image, size_t section, struct err *err)
{
	struct object_orc *orc = &image->object->orc;
	const uint64_t addr = image->sections[section].hdr.sh_addr;
	struct object_relocs relocs;
	struct object_reloc reloc;

	if (!object_relocs_open(image, section, &relocs, err))
		return false;
	orc->rela = relocs.rela;
	for (uint64_t i = 0; i < relocs.n; i++) {
		if (!object_relocs_read(&relocs, i, &reloc, err) ||
		    !object_reloc_apply(
			&relocs, &reloc, orc->data, addr + reloc.off, err) ||
		    !object_link_add(&orc->links, &reloc, 0, err))
			return false;
		if (reloc.kind->width != ORC_IP_WIDTH || reloc.off % ORC_IP_WIDTH)
			return err_set(err, ERR_MALFORMED,
			    "%s, relocation %" PRIu64
			    ": it is not for an entry, .orc_unwind_ip+0x%" PRIx64,
			    image->sections[relocs.rela].name, i, reloc.off);
		if (!orc_place_is_good(image, &reloc, addr + reloc.off))
			return err_set(err, ERR_MALFORMED,
			    "%s, relocation %" PRIu64
			    ": it leads out of the section of its symbol, "
			    ".orc_unwind_ip+0x%" PRIx64,
			    image->sections[relocs.rela].name, i, reloc.off);
	}
	return object_links_sort(&orc->links, err);
}

/* Two relocations for one place are refused before. */
static bool orc_is_whole(const struct object_orc *orc, uint64_t size, struct err *err)
{
	const struct object_links *links = &orc->links;
	uint64_t missing = 0;

	while (missing < links->n && links->list[missing].off == missing * ORC_IP_WIDTH)
		missing++;
	return missing == size / ORC_IP_WIDTH ||
	       err_set(err, ERR_MALFORMED,
		   "an entry has no relocation, .orc_unwind_ip+0x%" PRIx64
		   "; rebuild the file",
		   missing * ORC_IP_WIDTH);
}

static bool orc_read_section(struct image *image, size_t i, struct err *err)
{
	const struct image_section *section = &image->sections[i];
	struct object_orc *orc = &image->object->orc;

	if (orc->data)
		return err_set(err, ERR_MALFORMED,
		    "section %zu is a second .orc_unwind_ip; link the object", i);
	orc->data = malloc((size_t)section->hdr.sh_size);
	if (!orc->data)
		return err_set_nomem(err);
	memcpy(orc->data, section->data, (size_t)section->hdr.sh_size);
	return orc_relocate(image, i, err) &&
	       orc_is_whole(orc, section->hdr.sh_size, err);
}

void object_orc_read(struct image *image)
{
	struct object_orc *orc = &image->object->orc;
	bool ok = true;

	if (image->ehdr.e_machine != EM_X86_64)
		return;
	for (size_t i = 1; ok && i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (section->data && section->hdr.sh_type == SHT_PROGBITS &&
		    section->hdr.sh_size && !strcmp(section->name, ".orc_unwind_ip"))
			ok = orc_read_section(image, i, &orc->err);
	}
	if (ok)
		orc->err.kind = ERR_NONE;
}
