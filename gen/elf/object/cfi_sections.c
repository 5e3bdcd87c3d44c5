/* SPDX-License-Identifier: MIT */
/* Reads the .eh_frame sections of an object as one, and finds where its FDEs lead. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/search.h"
#include "base/vec.h"
#include "gen/elf/object/internal.h"

/* Records are aligned to 4 bytes; zeros between sections read as a terminator. */
enum { CFI_ALIGN = 8 };

/* Offset of the start in an FDE: behind the length and the CIE pointer (LSB core, "The
 * Frame Description Entry Format"); both are larger with a 64-bit length. */
enum { CFI_START = 8, CFI_WIDE_START = 20 };

/* Sums the bytes of all sections, each at a multiple of CFI_ALIGN. */
static bool cfi_size(const struct image *image, uint64_t *size, struct err *err)
{
	*size = 0;
	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (!image_is_eh_frame(section))
			continue;
		if (!image_eh_frame_readable(image, i, err))
			return false;
		if (!num_align_up(*size, CFI_ALIGN, size) ||
		    __builtin_add_overflow(*size, section->hdr.sh_size, size) ||
		    *size > INT64_MAX)
			return err_set(err, ERR_MALFORMED,
			    "the .eh_frame sections are larger than the address "
			    "space");
	}
	return true;
}

/* Takes all relocations, because the records have not been read yet that tell which ones are for starts. */
static bool link_add(struct object_links *links, const struct object_reloc *reloc,
    uint64_t base, struct err *err)
{
	if (!vec_reserve(&links->list, &links->cap, links->n + 1))
		return err_set_nomem(err);
	links->list[links->n++] = (struct object_link){.off = base + reloc->off,
	    .section = reloc->symbol.section,
	    .symbol = reloc->symbol_index,
	    .rela = reloc->rela,
	    .index = reloc->index,
	    .width = reloc->kind->width};
	return true;
}

bool object_relocate(const struct object_relocs *relocs, uint8_t *data, uint64_t addr,
    uint64_t base, struct object_links *links, struct err *err)
{
	struct object_reloc reloc;

	for (uint64_t i = 0; i < relocs->n; i++) {
		if (!object_relocs_read(relocs, i, &reloc, err))
			return false;
		/* No link either: the code that the relocation led to is gone. */
		if (reloc.kind->width == 0)
			continue;
		if (!object_reloc_apply(
			relocs, &reloc, data + base, addr + base + reloc.off, err) ||
		    !link_add(links, &reloc, base, err))
			return false;
	}
	return true;
}

static int link_compare(const void *a, const void *b)
{
	const struct object_link *x = a, *y = b;

	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Assemblers write them in order, linkers nearly so. Two for one place would make what is
 * read depend on their order. */
bool object_links_sort(struct object_links *links, struct err *err)
{
	const struct object_link *list = links->list;
	bool sorted = true;

	for (size_t i = 1; i < links->n; i++)
		sorted &= list[i - 1].off < list[i].off;
	if (sorted)
		return true;
	qsort(links->list, links->n, sizeof(*links->list), link_compare);
	for (size_t i = 1; i < links->n; i++)
		if (list[i - 1].off == list[i].off)
			return err_set(err, ERR_MALFORMED,
			    "section %zu: relocations %" PRIu64 " and %" PRIu64
			    " are for the same place",
			    list[i].rela, list[i - 1].index, list[i].index);
	return true;
}

bool object_cfi_open(struct image *image, struct err *err)
{
	struct object *object = image->object;
	uint64_t size;

	if (!cfi_size(image, &size, err))
		return false;
	/* In range: image_load has added them up. */
	object->cfi_size = (size_t)size;
	object->cfi = size ? calloc(1, (size_t)size) : NULL;
	return !size || object->cfi || err_set_nomem(err);
}

bool object_cfi_read(struct image *image, struct err *err)
{
	struct object *object = image->object;
	struct object_relocs relocs;
	uint64_t base = 0;

	for (size_t i = 1; object->cfi_size && i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (!image_is_eh_frame(section))
			continue;
		base = (base + CFI_ALIGN - 1) & ~(uint64_t)(CFI_ALIGN - 1);
		memcpy(object->cfi + base, section->data, (size_t)section->hdr.sh_size);
		if (!object_relocs_open(image, i, &relocs, err) ||
		    !object_relocate(&relocs, object->cfi, object->cfi_addr, base,
			&object->links, err))
			return false;
		base += section->hdr.sh_size;
	}
	return object_links_sort(&object->links, err);
}

/* FDEs of one of the two sections, and the relocations that they are held against. */
struct settling {
	const struct image *image;
	const struct cfi_section *section;
	const struct object_links *links;
	bool debug;
	/* Offset of the section's bytes in those of the FDEs. */
	uint64_t base;
};

/* The relocation of the start of the FDE at off, or NULL. */
static const struct object_link *settle_link(
    const struct settling *settling, uint64_t off, uint8_t segment_size)
{
	const struct object_links *links = settling->links;
	const uint8_t *length = settling->section->data + off;
	const bool wide = !memcmp(length, "\xff\xff\xff\xff", 4);
	uint64_t start =
	    off - settling->base + segment_size + (wide ? CFI_WIDE_START : CFI_START);
	size_t at = search_list_from(links->list, links->n, off, start);

	return at < links->n && links->list[at].off == start ? &links->list[at] : NULL;
}

static const char *settle_name(const struct settling *settling)
{
	return settling->debug ? ".debug_frame" : ".eh_frame";
}

/*
 * Finds where an FDE leads, by the relocation of its start. That its address is inside
 * some section is not enough: the next one's code may be there by accident of the layout.
 */
static bool settle_one(const struct settling *settling, const struct object_link *link,
    const struct cfi_fde *fde, struct err *err)
{
	const struct image *image = settling->image;
	const char *rela = image->sections[link->rela].name;
	const struct object_place *place = object_place_at(image->object, fde->pc);
	struct object_symtab symtab;
	struct object_symbol symbol;

	if (place && place->section == link->section &&
	    num_range_inside(fde->pc - place->addr, fde->range, place->size))
		return true;
	if (!object_symtab_open(image, link->rela, &symtab, err) ||
	    !object_symbol(&symtab, link->symbol, &symbol, err))
		return false;
	if (!symbol.section)
		return err_set(err, ERR_MALFORMED,
		    "%s, relocation %" PRIu64 ": the FDE at %s+0x%" PRIx64
		    " is for code at %s symbol %" PRIu32 " (%.60s), not in a section",
		    rela, link->index, settle_name(settling), fde->off - settling->base,
		    symbol.absolute ? "the absolute" : "the undefined", link->symbol,
		    symbol.name);
	return err_set(err, ERR_MALFORMED,
	    "%s, relocation %" PRIu64 ": the FDE at %s+0x%" PRIx64
	    " is for code that is not inside section %zu (%s), to which it points",
	    rela, link->index, settle_name(settling), fde->off - settling->base,
	    link->section, image->sections[link->section].name);
}

/* Rows must not depend on the addresses that a linker gives: a relocation may not change the
 * instructions, [from, to), of the record at off. */
static bool settle_program(const struct settling *settling, uint64_t off, uint64_t from,
    uint64_t to, struct err *err)
{
	const struct object_links *links = settling->links;
	const uint64_t base = settling->base;

	for (size_t i = search_list_from(links->list, links->n, off, off - base);
	     i < links->n && links->list[i].off < to - base; i++) {
		const struct object_link *link = &links->list[i];

		if (link->off + link->width > from - base)
			return err_set(err, ERR_MALFORMED,
			    "%s, relocation %" PRIu64
			    ": it changes the instructions of the record at "
			    "%s+0x%" PRIx64,
			    settling->image->sections[link->rela].name, link->index,
			    settle_name(settling), off - base);
	}
	return true;
}

static bool settle_cies(
    const struct settling *settling, const struct cfi_frames *frames, struct err *err)
{
	for (size_t i = 0; i < frames->n_cies; i++) {
		const struct cfi_cie *cie = &frames->cies[i];

		if (cie->debug == settling->debug &&
		    !settle_program(settling, cie->off, cie->program_off,
			cie->program_off + cie->program_len, err))
			return false;
	}
	return true;
}

/* Checks FDEs at address 0, which were passed over as discarded, as in a linked file;
 * here a relocation decides. */
static bool settle_zero(
    const struct settling *settling, const struct cfi_frames *frames, struct err *err)
{
	for (size_t i = 0; i < frames->n_diags; i++) {
		const struct cfi_diag *diag = &frames->diags[i];
		const struct cfi_fde fde = {.off = diag->off};
		const struct object_link *link;

		if (diag->kind != CFI_DIAG_DISCARDED ||
		    cfi_section_part(settling->section, diag->off)->debug !=
			settling->debug)
			continue;
		link = settle_link(settling, fde.off, 0);
		if (link && !settle_one(settling, link, &fde, err))
			return false;
	}
	return true;
}

/* Settles the FDEs [first, end) of the section; those that stay follow each other. */
static bool settle_fdes(const struct settling *settling, struct cfi_frames *frames,
    size_t first, size_t *end, struct err *err)
{
	size_t n = first;

	for (size_t i = first; i < *end; i++) {
		const struct cfi_fde *fde = &frames->fdes[i];
		const struct object_link *link =
		    settle_link(settling, fde->off, frames->cies[fde->cie].segment_size);

		if (!link) {
			frames->diag_counts[CFI_DIAG_DISCARDED]++;
			continue;
		}
		if (!settle_one(settling, link, fde, err) ||
		    !settle_program(settling, fde->off, fde->program_off,
			fde->program_off + fde->program_len, err))
			return false;
		frames->fdes[n++] = *fde;
	}
	*end = n;
	return true;
}

bool object_settle(
    const struct image *image, struct cfi_frames *frames, bool debug, struct err *err)
{
	const struct object *object = image->object;
	const struct settling settling = {.image = image,
	    .section = &frames->section,
	    .links = debug ? &object->debug.links : &object->links,
	    .debug = debug,
	    .base = debug ? cfi_section_debug(&frames->section)->off : 0};
	size_t middle = 0, end, last = frames->n_fdes;

	while (middle < last && !cfi_fde_is_debug(frames, &frames->fdes[middle]))
		middle++;
	if (!settle_zero(&settling, frames, err) || !settle_cies(&settling, frames, err))
		return false;
	end = debug ? last : middle;
	if (!settle_fdes(&settling, frames, debug ? middle : 0, &end, err))
		return false;
	for (size_t i = middle; !debug && i < last; i++)
		frames->fdes[end++] = frames->fdes[i];
	frames->n_fdes = end;
	return true;
}
