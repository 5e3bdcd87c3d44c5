/* SPDX-License-Identifier: MIT */
/* The .sframe sections of an object, as the linker they are meant for reads them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen/elf/object/internal.h"
#include "sframe/check.h"
#include "sframe/format.h"
#include "sframe/join.h"

/* One section while it is read. */
struct sframe_input {
	struct image *image;
	size_t section;
	uint8_t *data; /* a copy; owned */
	bool *gone;    /* per function; owned */
	bool any_gone;
	struct object_relocs relocs;
};

/*
 * Takes one relocation per function, for its start, in order: linkers match them by order
 * and do not look at their places.
 */
static bool sframe_start(
    struct sframe_input *in, const struct sf_view *view, uint32_t i, struct err *err)
{
	const struct image_section *section = &in->image->sections[in->section];
	uint64_t off = view->func_off + (uint64_t)i * view->func_size;
	uint8_t width = view->version >= SFRAME_VERSION_3 ? 8 : 4;
	bool pcrel = view->flags & SFRAME_F_FDE_FUNC_START_PCREL;
	struct object_reloc reloc;

	if (!object_relocs_read(&in->relocs, i, &reloc, err))
		return false;
	if (reloc.kind->width == 0) {
		in->gone[i] = in->any_gone = true;
		return true;
	}
	if (reloc.off != off || reloc.kind->width != width || !reloc.kind->pcrel)
		return err_set(err, ERR_MALFORMED,
		    "%s, relocation %" PRIu32 ": %s at .sframe+0x%" PRIx64
		    " is not the distance of %u bytes to function %" PRIu32
		    " at .sframe+0x%" PRIx64,
		    in->image->sections[in->relocs.rela].name, i, reloc.kind->name,
		    reloc.off, width, i, off);
	if (!reloc.symbol.section)
		return err_set(err, ERR_MALFORMED,
		    "%s, relocation %" PRIu32 ": function %" PRIu32
		    " of .sframe is at symbol %" PRIu32 " (%.60s), not in a section",
		    in->image->sections[in->relocs.rela].name, i, i, reloc.symbol_index,
		    reloc.symbol.name);
	/* Without the flag a linker turns the distance into one from the section. */
	return object_reloc_apply(
	    &in->relocs, &reloc, in->data, section->hdr.sh_addr + (pcrel ? off : 0), err);
}

/* Starts of the copy are filled in before it is read as a section at its address. */
static bool sframe_relocate(
    struct sframe_input *in, struct sf_join *join, struct err *err)
{
	const struct image_section *section = &in->image->sections[in->section];
	size_t size = (size_t)section->hdr.sh_size;
	struct sf_view view;

	memcpy(in->data, section->data, size);
	if (!sf_view_open(in->data, size, section->hdr.sh_addr, &view, err) ||
	    !object_relocs_open(in->image, in->section, &in->relocs, err))
		return false;
	if (in->relocs.n != view.n_funcs) {
		sf_behind(&view, err);
		return err->kind ? err_prefix(err, "section %zu (.sframe)", in->section)
				 : err_set(err, ERR_MALFORMED,
				       "section %zu (.sframe) has %" PRIu32
				       " functions and %" PRIu64
				       " relocations, but needs one for each function",
				       in->section, view.n_funcs, in->relocs.n);
	}
	in->gone = calloc(view.n_funcs + (size_t)1, sizeof(*in->gone));
	if (!in->gone)
		return err_set_nomem(err);
	for (uint32_t i = 0; i < view.n_funcs; i++)
		if (!sframe_start(in, &view, i, err))
			return false;
	return sf_join_add(join, &view, in->gone, err) ||
	       err_prefix(err, "section %zu", in->section);
}

static bool sframe_add(
    struct image *image, size_t section, struct sf_join *join, struct err *err)
{
	struct sframe_input in = {.image = image, .section = section};
	uint64_t size = image->sections[section].hdr.sh_size;
	bool ok;

	if (!image->sections[section].data)
		return image_section_cut(image, section, err);
	image->object->sframe_size += (size_t)size;
	in.data = malloc((size_t)size);
	ok = in.data ? sframe_relocate(&in, join, err) : err_set_nomem(err);
	/* A single section from which nothing is gone needs no joining, and is seen with all its faults. */
	if (ok && !in.any_gone && !image->object->sframe) {
		image->object->sframe = in.data;
		image->object->sframe_addr = image->sections[section].hdr.sh_addr;
		in.data = NULL;
	}
	free(in.data);
	free(in.gone);
	return ok;
}

/* Joins the sections, without the functions that are gone. */
static bool sframe_join(
    struct object *object, const struct sf_join *join, struct err *err)
{
	struct wr out;

	wr_init(&out, join->kind.big_endian);
	if (!object_reserve(object, SFRAME_HDR_SIZE + join->funcs.size + join->rows.size,
		&object->sframe_addr, err) ||
	    !sf_join_finish(join, object->sframe_addr, &out, err)) {
		wr_deinit(&out);
		return false;
	}
	free(object->sframe);
	object->sframe = out.data;
	object->sframe_size = out.size;
	return true;
}

/*
 * The made-up order is not the linker's, so the flag that the functions are sorted by
 * address, which ld -r sets, says nothing here.
 */
void object_sframe_read(struct image *image)
{
	struct object *object = image->object;
	struct err *err = &object->sframe_err;
	struct sf_join join = {0};
	bool ok = true;

	for (size_t i = 1; ok && i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (!image_is_sframe(section) || !section->hdr.sh_size ||
		    section->hdr.sh_type == SHT_NOBITS)
			continue;
		object->n_sframe++;
		ok = sframe_add(image, i, &join, err);
	}
	if (ok && object->sframe && object->n_sframe == 1)
		object->sframe[SFRAME_HDR_FLAGS] &= (uint8_t)~SFRAME_F_FDE_SORTED;
	else if (ok && object->n_sframe)
		ok = sframe_join(object, &join, err);
	sf_join_deinit(&join);
}
