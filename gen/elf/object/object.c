/* SPDX-License-Identifier: MIT */
/* Opens a relocatable object: one step after the other. */
#include "gen/elf/object/object.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/rd.h"
#include "gen/elf/object/internal.h"

/* Notes the group of a member. CFI does not need groups, but a damaged one is refused:
 * groups that get an .sframe are rewritten, and a linker acts on what they say. */
static bool group_member(
    struct image *image, uint32_t group, uint32_t member, struct err *err)
{
	struct object_user *users = image->object->users;

	if (member == 0 || member >= image->n_sections)
		return err_set(err, ERR_MALFORMED,
		    "the group in section %" PRIu32 " has section %" PRIu32
		    " for a member, but the file has %zu sections",
		    group, member, image->n_sections);
	/* A section may not be twice in one group, either, so that members are no more than sections. */
	if (users[member].group)
		return err_set(err, ERR_MALFORMED,
		    "section %" PRIu32 " (%s) is in two groups, sections %" PRIu32
		    " and %" PRIu32,
		    member, image->sections[member].name, users[member].group, group);
	users[member].group = group;
	return true;
}

/* gABI, "Section Groups": a word of flags, then members; sh_info is the signature. */
static bool group_read(struct image *image, uint32_t i, struct err *err)
{
	const struct image_section *section = &image->sections[i];
	const GElf_Shdr *hdr = &section->hdr;
	struct object_symtab symtab;
	struct rd rd;

	if (!section->data || hdr->sh_size < sizeof(uint32_t) ||
	    hdr->sh_size % sizeof(uint32_t))
		return err_set(err, ERR_MALFORMED,
		    "the group in section %" PRIu32 " (0x%" PRIx64
		    " bytes at offset 0x%" PRIx64 ") is not a list of sections",
		    i, hdr->sh_size, hdr->sh_offset);
	if (!object_symtab_open(image, i, &symtab, err))
		return false;
	if (hdr->sh_info == 0 || hdr->sh_info >= symtab.n)
		return err_set(err, ERR_MALFORMED,
		    "the group in section %" PRIu32 " has no signature: symbol %" PRIu32
		    " of %" PRIu64,
		    i, hdr->sh_info, symtab.n);
	rd_init(&rd, section->data, (size_t)hdr->sh_size, image->big_endian);
	rd_u32(&rd);
	while (!rd_at_end(&rd))
		if (!group_member(image, i, rd_u32(&rd), err))
			return false;
	return true;
}

static bool object_groups_read(struct image *image, struct err *err)
{
	/* In range: object_tables_find has counted them. */
	for (size_t i = 1; i < image->n_sections; i++)
		if (image->sections[i].hdr.sh_type == SHT_GROUP &&
		    !group_read(image, (uint32_t)i, err))
			return false;
	return true;
}

/*
 * Tables come first, because every later step looks things up in them. An object with a
 * broken .sframe and sound CFI can be opened. Only a caller that asks for the .sframe gets
 * the error.
 */
bool object_open(struct image *image, struct err *err)
{
	image->object = calloc(1, sizeof(*image->object));
	if (!image->object)
		return err_set_nomem(err);
	if (!(object_tables_find(image, err) && object_groups_read(image, err) &&
		object_cfi_open(image, err) && object_layout(image, err) &&
		object_cfi_read(image, err)))
		return false;
	object_debug_read(image);
	object_sframe_read(image);
	return true;
}

void object_free(struct object *object)
{
	if (!object)
		return;
	free(object->places);
	free(object->cfi);
	free(object->links.list);
	free(object->debug.data);
	free(object->debug.links.list);
	free(object->sframe);
	free(object->users);
	free(object);
}
