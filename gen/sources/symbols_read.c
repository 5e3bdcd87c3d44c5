/* SPDX-License-Identifier: MIT */
/* Functions: read once into a sorted list. */
#include "gen/sources/symbols_read.h"

#include <stdlib.h>

#include "base/plain.h"
#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"
#include "cfi/frames.h"
#include "gen/arch/arch.h"
#include "gen/elf/object/object.h"
#include "gen/sources/go_source.h"

#define SYM_SIZE 24
#define RELA_SIZE 24
/* A string table without a NUL must not be read once per symbol. */
#define MAX_NAME 65536

/* Labels of hand-written code have no type, but neither have mapping symbols ("$x",
 * ".L1"). */
static bool is_function(
    const struct image *image, unsigned int type, uint64_t addr, const char *name)
{
	if (!*name)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && *name != '$' && *name != '.' &&
	       image_is_code(image, addr, 1);
}

/* Returns the name at an offset, or NULL; takes what was read off the bytes that may still be read. */
static const char *read_name(const struct rd *names, uint32_t offset, uint64_t *left)
{
	struct rd at = *names;
	const char *name;
	size_t from;

	if (!rd_skip(&at, offset))
		return NULL;
	from = at.pos;
	if (at.size - from > MAX_NAME)
		at.size = from + MAX_NAME;
	if (at.size - from > *left)
		at.size = from + (size_t)*left;
	name = rd_cstr(&at);
	*left -= (name ? at.pos : at.size) - from;
	return name;
}

/*
 * versions has one for each symbol, or none. False only without memory: a symbol that makes no sense is skipped,
 * because a file must not fail for a name in a report. Absolute and common symbols do not lie in code.
 */
static bool read_one(const struct image *image, struct rd *rd, const struct rd *names,
    struct rd *versions, uint64_t *left, struct symbols *symbols)
{
	/* The highest bit says that it is not the default one. */
	const bool old = rd_u16(versions) & 0x8000;
	size_t index = rd->pos / SYM_SIZE, where;
	uint32_t name_off = rd_u32(rd);
	uint8_t info = rd_u8(rd);
	uint8_t other = rd_u8(rd);
	uint16_t section = rd_u16(rd);
	struct symbol symbol = {.addr = rd_u64(rd)};

	(void)other;
	symbol.size = rd_u64(rd);
	if (rd->failed || section == SHN_UNDEF || section == SHN_ABS ||
	    section == SHN_COMMON)
		return true;
	where = section;
	if (image->object && section == SHN_XINDEX)
		where = object_extended(image, index);
	/* In an object a value is relative to its section. */
	if (image->object && where < image->n_sections)
		symbol.addr += image->sections[where].hdr.sh_addr;
	symbol.name = read_name(names, name_off, left);
	if (!symbol.name || !plain_is(symbol.name) ||
	    !is_function(image, GELF_ST_TYPE(info), symbol.addr, symbol.name))
		return true;
	symbol.rank =
	    symbol_rank(symbol.name, GELF_ST_TYPE(info), GELF_ST_BIND(info), symbol.size);
	if (old)
		symbol.rank |= SYMBOL_OLD;
	return symbols_add(symbols, &symbol);
}

/* By type: the names of the tables are a convention, the types are what linkers act on.
 */
static const struct image_section *table_find(const struct image *image, uint32_t type)
{
	for (size_t i = 0; i < image->n_sections; i++)
		if (image->sections[i].hdr.sh_type == type && image->sections[i].data)
			return &image->sections[i];
	return NULL;
}

static bool read_table(const struct image *image, const struct image_section *table,
    struct symbols *symbols, struct err *err)
{
	const struct image_section *strings, *versions;
	struct rd rd, names, of_names;
	uint64_t left;

	if (!table || table->hdr.sh_link >= image->n_sections)
		return true;
	strings = &image->sections[table->hdr.sh_link];
	if (!strings->data)
		return true;
	versions =
	    table->hdr.sh_type == SHT_DYNSYM ? table_find(image, SHT_GNU_versym) : NULL;
	/* The tables of a debug file have not been copied yet. */
	if (!image_own(image, strings->data, strings->hdr.sh_size, err) ||
	    !image_own(image, table->data, table->hdr.sh_size, err) ||
	    (versions && !image_own(image, versions->data, versions->hdr.sh_size, err)))
		return false;
	rd_init(&of_names, versions ? versions->data : NULL,
	    versions ? (size_t)versions->hdr.sh_size : 0, image->big_endian);
	rd_init(&names, strings->data, (size_t)strings->hdr.sh_size, image->big_endian);
	rd_init(&rd, table->data, (size_t)table->hdr.sh_size, image->big_endian);
	left = SYMBOLS_NAMES_SHARE * ((uint64_t)rd.size + names.size);
	while (rd.size - rd.pos >= SYM_SIZE)
		if (!read_one(image, &rd, &names, &of_names, &left, symbols))
			return err_set_nomem(err);
	return true;
}

/* The dynamic symbols are a subset that survives strip; nothing is gained by reading
 * both. The names of Go's functions survive it, too. */
static bool read_names(
    const struct image *image, bool search, struct symbols *symbols, struct err *err)
{
	bool ok;

	*symbols = (struct symbols){0};
	ok = read_table(image, table_find(image, SHT_SYMTAB), symbols, err);
	/* A tool that leaves a name or two for itself has left no function. */
	symbols->dynamic = ok && !symbols->n;
	if (symbols->dynamic)
		ok = read_table(image, table_find(image, SHT_DYNSYM), symbols, err) &&
		     (image_go_names(image, search, symbols) || err_set_nomem(err));
	if (ok)
		symbols_sort(symbols);
	else
		symbols_deinit(symbols);
	return ok;
}

bool symbols_read(const struct image *image, struct symbols *symbols, struct err *err)
{
	return read_names(image, true, symbols, err);
}

bool symbols_read_tables(
    const struct image *image, struct symbols *symbols, struct err *err)
{
	return read_names(image, false, symbols, err);
}

bool symbols_read_starts(
    const struct image *image, struct symbols *starts, struct err *err)
{
	struct cfi_section section;
	struct cfi_frames frames;
	bool found, ok;

	*starts = (struct symbols){0};
	if (!image_eh_frame(image, &section, &found, NULL, err))
		return false;
	if (!found)
		return true;
	if (!cfi_frames_read(&section, &frames, err))
		return false;
	ok = !image->object || object_settle(image, &frames, false, err);
	for (size_t i = 0; ok && i < frames.n_fdes; i++) {
		const struct symbol start = {
		    .addr = frames.fdes[i].pc, .size = frames.fdes[i].range, .name = ""};

		ok = symbols_add(starts, &start) || err_set_nomem(err);
	}
	cfi_frames_deinit(&frames);
	if (ok)
		symbols_sort(starts);
	else
		symbols_deinit(starts);
	return ok;
}

/* ---- PLTs ---- */

struct plt {
	struct plt_entry {
		uint64_t slot; /* the address of the place that it jumps through */
		struct symbol symbol;
	} * list;
	size_t n, cap;
};

/* Returns the place that an instruction of an entry at pc takes an address from; 0: it is another instruction. */
static uint64_t plt_slot(enum code_machine machine, struct rd rd, uint64_t pc)
{
	uint64_t slot = 0;
	uint32_t first, load;

	switch (machine) {
	case CODE_X86_64: /* jmp *slot(%rip) */
		if (rd_u16(&rd) == 0x25ff)
			slot = pc + 6 + (uint64_t)rd_s32(&rd);
		break;
	case CODE_AARCH64: /* adrp x16, page; ldr x17, [x16, #offset] */
		rd.big_endian = false;
		first = rd_u32(&rd);
		load = rd_u32(&rd);
		if ((first & 0x9f00001f) == 0x90000010 &&
		    (load & 0xffc003ff) == 0xf9400211)
			slot = (pc & ~UINT64_C(0xfff)) + (first >> 29 & 3) * 0x1000 +
			       (uint64_t)((int32_t)(first << 8) >> 13) * 0x4000 +
			       (load >> 10 & 0xfff) * 8;
		/* stp x2, x3, [sp, #-16]!: the code of TLS descriptors, behind the entries. */
		if (first == 0xa9bf0fe2)
			slot = UINT64_MAX;
		break;
	case CODE_S390X: /* larl %r1,slot */
		if (rd_u16(&rd) == 0xc010)
			slot = pc + 2 * (uint64_t)rd_s32(&rd);
		break;
	}
	return rd.failed ? 0 : slot;
}

/* Bytes of a file for an entry. */
enum { PLT_SHARE = 32 };

/* Each entry, or header, ends where the next one begins. */
static bool plt_read(
    const struct image *image, const struct image_section *section, struct plt *plt)
{
	const struct arch *arch = arch_find(image->ehdr.e_machine, image->big_endian);
	const uint64_t addr = section->hdr.sh_addr, size = section->hdr.sh_size;
	/* They begin at multiples of it, the first with the section. Those of AArch64 can have 24 bytes. */
	const uint64_t unit =
	    arch->code == CODE_AARCH64 || section->hdr.sh_entsize == 8 ? 8 : 16;
	struct symbol *last = NULL;
	struct rd rd;

	rd_init(&rd, section->data, (size_t)size, image->big_endian);
	for (uint64_t at = 0; at < size; at += arch->insn_unit) {
		const uint64_t start = last ? at - at % unit : 0;
		uint64_t slot;

		rd_seek(&rd, at);
		slot = plt_slot(arch->code, rd, addr + at);
		if (!slot || (last && last->addr == addr + start))
			continue;
		if (last)
			last->size = addr + start - last->addr;
		/* Each real one has a relocation and a symbol besides. */
		if (plt->n > image->size / PLT_SHARE)
			return true;
		if (!vec_reserve(&plt->list, &plt->cap, plt->n + 1))
			return false;
		plt->list[plt->n] =
		    (struct plt_entry){slot, {addr + start, size - start, "", 0}};
		last = &plt->list[plt->n++].symbol;
	}
	return true;
}

/* Names the entries whose slots a section of relocations fills in. */
static void plt_name(const struct image *image, const struct image_section *section,
    const struct image_section *table, const struct plt *plt, uint64_t *left)
{
	const struct image_section *strings;
	struct rd rd, symbols, names;

	if (section->hdr.sh_type != SHT_RELA || !section->data ||
	    section->hdr.sh_link != (size_t)(table - image->sections) ||
	    table->hdr.sh_link >= image->n_sections)
		return;
	strings = &image->sections[table->hdr.sh_link];
	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	rd_init(&symbols, table->data, (size_t)table->hdr.sh_size, image->big_endian);
	rd_init(&names, strings->data, strings->data ? (size_t)strings->hdr.sh_size : 0,
	    image->big_endian);
	while (rd.size - rd.pos >= RELA_SIZE) {
		const uint64_t slot = rd_u64(&rd), symbol = rd_u64(&rd) >> 32;
		const size_t i = search_list_from(plt->list, plt->n, slot, slot);
		struct rd at = symbols;
		const char *name;

		/* None has an addend. */
		if (rd_u64(&rd) || !symbol || i == plt->n || plt->list[i].slot != slot)
			continue;
		rd_seek(&at, symbol * SYM_SIZE);
		name = read_name(&names, rd_u32(&at), left);
		if (!at.failed && name && plain_is(name))
			plt->list[i].symbol.name = name;
	}
}

bool symbols_read_plt(const struct image *image, struct symbols *symbols, struct err *err)
{
	const struct image_section *table = table_find(image, SHT_DYNSYM);
	uint64_t left = SYMBOLS_NAMES_SHARE * (uint64_t)image->size;
	struct plt plt = {0};
	bool ok = true;

	*symbols = (struct symbols){.dynamic = true};
	for (size_t i = 0; ok && !image->object && i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		const uint64_t size = section->hdr.sh_size;

		if (image_is_plt_name(section->name) && section->data &&
		    image_is_code(image, section->hdr.sh_addr, size))
			ok = image_own(image, section->data, size, err) &&
			     (plt_read(image, section, &plt) || err_set_nomem(err));
	}
	if (plt.n)
		qsort(plt.list, plt.n, sizeof(*plt.list), search_order_pairs);
	/* The other tables were copied when the file was opened. */
	if (ok && table && plt.n && table->hdr.sh_link < image->n_sections) {
		const struct image_section *strings =
		    &image->sections[table->hdr.sh_link];

		ok = !strings->data ||
		     image_own(image, strings->data, strings->hdr.sh_size, err);
	}
	for (size_t i = 0; ok && table && plt.n && i < image->n_sections; i++)
		plt_name(image, &image->sections[i], table, &plt, &left);
	for (size_t i = 0; ok && i < plt.n; i++)
		ok = symbols_add(symbols, &plt.list[i].symbol) || err_set_nomem(err);
	free(plt.list);
	if (ok)
		symbols_sort(symbols);
	else
		symbols_deinit(symbols);
	return ok;
}
