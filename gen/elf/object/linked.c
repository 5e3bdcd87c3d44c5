/* SPDX-License-Identifier: MIT */
/*
 * An object as its code sees it once it is linked: control goes where relocations lead, and tables
 * of jumps have their entries. Symbols that other files define are at addresses without bytes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "gen/elf/object/internal.h"

/* Distance between addresses of symbols that other files define. */
enum { LINK_APART = 16 };
/* Offsets in a symbol of its section and its value (gABI, "Symbol Table"). */
enum { LINK_SYM_SECTION = 6, LINK_SYM_VALUE = 8 };

struct link_run {
	const struct image *image;
	const struct object_symtab symtab;
	/* Bytes of the addresses from OBJECT_BASE on; owned by the linked image. */
	uint8_t *bytes;
	uint64_t got; /* address of a table with the address of each symbol */
	uint64_t got_end;
	uint64_t *addrs; /* of each symbol; owned */
};

static uint64_t link_load(const uint8_t *from, unsigned int bytes, bool big_endian)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)from[big_endian ? bytes - 1 - i : i] << (8 * i);
	return value;
}

/* ---- symbols ---- */

static bool link_symbols(struct link_run *run, uint8_t *table, struct err *err)
{
	const struct image *image = run->image;

	for (uint64_t i = 0; i < run->symtab.n; i++) {
		uint8_t *entry = table + i * OBJECT_SYM_SIZE;
		uint64_t addr = run->got_end + LINK_APART * (i + 1);
		struct object_symbol symbol;

		if (!object_symbol(&run->symtab, i, &symbol, err))
			return false;
		if (symbol.absolute)
			addr = symbol.value;
		else if (symbol.section && image->sections[symbol.section].hdr.sh_addr)
			addr = image->sections[symbol.section].hdr.sh_addr + symbol.value;
		else
			num_store(entry + LINK_SYM_SECTION, sizeof(uint16_t),
			    image->big_endian, SHN_ABS);
		run->addrs[i] = addr;
		num_store(entry + LINK_SYM_VALUE, sizeof(addr), image->big_endian, addr);
		num_store(run->bytes + (run->got - OBJECT_BASE) + i * sizeof(addr),
		    sizeof(addr), image->big_endian, addr);
	}
	return true;
}

/* ---- relocations ---- */

/* Returns the value of a relocation whose place is at address from, before it loses bits. */
static uint64_t link_value(const struct link_run *run, const struct object_reloc *reloc,
    const struct arch_code_reloc *kind, uint64_t from)
{
	uint64_t value = kind->flags & ARCH_RELOC_GOT
			     ? run->got + reloc->symbol_index * sizeof(value)
			     : run->addrs[reloc->symbol_index];

	value += (uint64_t)reloc->addend;
	if (kind->flags & ARCH_RELOC_LOW)
		value &= 0xfff;
	if (kind->flags & ARCH_RELOC_PAGES)
		value = (uint64_t)((int64_t)value >> 12) - (from >> 12);
	if (kind->flags & ARCH_RELOC_PCREL)
		value -= from;
	return value;
}

/* Writes a value. One that has no room is left out, as if control went to the instruction
 * itself: that adds nothing to what is known. No linker would link it so. */
static void link_write(const struct link_run *run, const struct object_reloc *reloc,
    const struct arch_code_reloc *kind, uint64_t value, uint8_t *to)
{
	const bool big_endian =
	    run->image->big_endian && !(kind->flags & ARCH_RELOC_LITTLE);
	const uint64_t low = kind->flags & ARCH_RELOC_ADR ? value & 3 : 0;
	const unsigned int lost = kind->shift + (kind->flags & ARCH_RELOC_ADR ? 2u : 0u);
	const int64_t kept = (int64_t)value >> lost;
	const unsigned int is_signed =
	    kind->flags & (ARCH_RELOC_PCREL | ARCH_RELOC_PAGES) ? 1u : 0u;
	const uint64_t mask = UINT64_MAX >> (64 - kind->bits);
	uint64_t word;

	if (kind->bits < 64 && kept >> (kind->bits - is_signed) &&
	    kept >> (kind->bits - 1) != -1)
		return;
	word = link_load(to + reloc->off, kind->bytes, big_endian);
	word &= ~(mask << kind->lsb);
	word |= ((uint64_t)kept & mask) << kind->lsb;
	if (kind->flags & ARCH_RELOC_ADR)
		word = (word & ~(UINT64_C(3) << 29)) | low << 29;
	num_store(to + reloc->off, kind->bytes, big_endian, word);
}

/* Skips writable data, in which nothing is looked up, and CFI, which has a copy of its own. */
static bool link_is_wanted(const struct image_section *section)
{
	return (section->hdr.sh_flags & (SHF_WRITE | SHF_EXECINSTR)) != SHF_WRITE &&
	       !image_is_eh_frame(section) && !image_is_sframe(section);
}

static bool link_section(
    const struct link_run *run, const struct object_place *place, struct err *err)
{
	const struct arch_code_reloc *kind;
	struct object_relocs relocs;
	struct object_reloc reloc;

	if (!object_relocs_open(run->image, place->section, &relocs, err))
		return false;
	for (uint64_t i = 0; i < relocs.n; i++) {
		if (!object_relocs_read_code(&relocs, i, &reloc, &kind, err))
			return false;
		if (kind)
			link_write(run, &reloc, kind,
			    link_value(run, &reloc, kind, place->addr + reloc.off),
			    run->bytes + (place->addr - OBJECT_BASE));
	}
	return true;
}

/* ---- the image ---- */

static uint32_t link_flags(const struct image *image, size_t section)
{
	const uint64_t flags = image->sections[section].hdr.sh_flags;

	return PF_R | (flags & SHF_EXECINSTR ? PF_X : 0u) |
	       (flags & SHF_WRITE ? PF_W : 0u);
}

static void link_segment(
    struct image *linked, uint64_t start, uint64_t end, uint32_t flags)
{
	GElf_Phdr *last = linked->n_phdrs ? &linked->phdrs[linked->n_phdrs - 1] : NULL;

	/* Joins neighbours with the same flags, so that few segments have to be searched. */
	if (!last || last->p_flags != flags) {
		last = &linked->phdrs[linked->n_phdrs++];
		*last = (GElf_Phdr){.p_type = PT_LOAD,
		    .p_flags = flags,
		    .p_vaddr = start,
		    .p_offset = start - OBJECT_BASE};
	}
	last->p_filesz = last->p_memsz = end - last->p_vaddr;
}

static void link_segments(const struct link_run *run, struct image *linked)
{
	const struct object *object = run->image->object;

	for (size_t i = 0; i < object->n_places; i++) {
		const struct object_place *place = &object->places[i];

		link_segment(linked, place->addr, place->addr + place->size,
		    link_flags(run->image, place->section));
	}
	link_segment(linked, run->got, run->got_end, PF_R);
	while (linked->first_code < linked->n_phdrs &&
	       !(linked->phdrs[linked->first_code].p_flags & PF_X))
		linked->first_code++;
}

/* Copies all sections that are loaded. */
static void link_copy(const struct link_run *run, struct image *linked)
{
	const struct object *object = run->image->object;

	for (size_t i = 0; i < object->n_places; i++) {
		const struct object_place *place = &object->places[i];
		struct image_section *section = &linked->sections[place->section];
		uint8_t *to = run->bytes + (place->addr - OBJECT_BASE);

		memcpy(to, section->data, (size_t)place->size);
		section->data = to;
	}
}

static bool link_all(struct link_run *run, struct image *linked, struct err *err)
{
	const struct object *object = run->image->object;
	uint8_t *table = run->bytes + (run->got_end - OBJECT_BASE);

	link_copy(run, linked);
	if (run->symtab.n) {
		memcpy(table, linked->sections[object->symtab].data,
		    (size_t)run->symtab.n * OBJECT_SYM_SIZE);
		linked->sections[object->symtab].data = table;
		/* The copy ends with the last whole entry. */
		linked->sections[object->symtab].hdr.sh_size =
		    run->symtab.n * OBJECT_SYM_SIZE;
	}
	if (!link_symbols(run, table, err))
		return false;
	for (size_t i = 0; i < object->n_places; i++)
		if (link_is_wanted(&run->image->sections[object->places[i].section]) &&
		    !link_section(run, &object->places[i], err))
			return false;
	link_segments(run, linked);
	return true;
}

/* The size of what stands in memory: all sections, the table of addresses, the symbol table. */
static bool link_size(struct link_run *run, size_t *size, struct err *err)
{
	const uint64_t n = run->symtab.n;
	const struct object *object = run->image->object;
	uint64_t end = object->end;

	if (num_align_up(end, sizeof(uint64_t), &run->got) &&
	    !__builtin_add_overflow(run->got, n * sizeof(uint64_t), &run->got_end) &&
	    !__builtin_add_overflow(run->got_end, n * OBJECT_SYM_SIZE, &end) &&
	    num_size(end - OBJECT_BASE, size))
		return true;
	return err_set(err, ERR_LIMIT, "the loaded sections are too large");
}

static uint64_t link_n_symbols(const struct image *image)
{
	const struct image_section *table = &image->sections[image->object->symtab];

	return image->object->symtab && table->data &&
		       table->hdr.sh_entsize == OBJECT_SYM_SIZE
		   ? table->hdr.sh_size / OBJECT_SYM_SIZE
		   : 0;
}

bool object_link(const struct image *image, struct image *linked, struct err *err)
{
	struct link_run run = {.image = image, .symtab = {image, link_n_symbols(image)}};
	size_t size = 0;
	bool ok;

	*linked = (struct image){0};
	if (!link_size(&run, &size, err))
		return false;
	*linked = *image;
	linked->object = NULL;
	linked->pages = NULL;
	linked->first_code = linked->n_phdrs = 0;
	linked->bytes = run.bytes = calloc(1, size ? size : 1);
	linked->size = size;
	linked->sections = malloc((image->n_sections + 1) * sizeof(*linked->sections));
	linked->phdrs = calloc(image->object->n_places + 1, sizeof(*linked->phdrs));
	run.addrs = calloc(run.symtab.n + 1, sizeof(*run.addrs));
	ok = run.bytes && linked->sections && linked->phdrs && run.addrs;
	if (ok)
		memcpy(linked->sections, image->sections,
		    image->n_sections * sizeof(*linked->sections));
	ok = ok ? link_all(&run, linked, err) : err_set_nomem(err);
	free(run.addrs);
	if (!ok)
		object_link_free(linked);
	return ok;
}

void object_link_free(struct image *linked)
{
	free((void *)(uintptr_t)linked->bytes);
	free(linked->sections);
	free(linked->phdrs);
	*linked = (struct image){0};
}
