/* SPDX-License-Identifier: MIT */
/* Functions: read once into a sorted list. */
#include "gen/sources/symbols_read.h"

#include "base/plain.h"
#include "base/rd.h"
#include "cfi/frames.h"
#include "gen/elf/object/object.h"
#include "gen/sources/go_source.h"

#define SYM_SIZE 24
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
 * False only without memory: a symbol that makes no sense is skipped, because a file must
 * not fail for a name in a report. Absolute and common symbols do not lie in code.
 */
static bool read_one(const struct image *image, struct rd *rd, const struct rd *names,
    uint64_t *left, struct symbols *symbols)
{
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
	symbol.rank = symbol_rank(GELF_ST_TYPE(info), GELF_ST_BIND(info), symbol.size);
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
	const struct image_section *strings;
	struct rd rd, names;
	uint64_t left;

	if (!table || table->hdr.sh_link >= image->n_sections)
		return true;
	strings = &image->sections[table->hdr.sh_link];
	if (!strings->data)
		return true;
	/* The tables of a debug file have not been copied yet. */
	if (!image_own(image, strings->data, strings->hdr.sh_size, err) ||
	    !image_own(image, table->data, table->hdr.sh_size, err))
		return false;
	rd_init(&names, strings->data, (size_t)strings->hdr.sh_size, image->big_endian);
	rd_init(&rd, table->data, (size_t)table->hdr.sh_size, image->big_endian);
	left = SYMBOLS_NAMES_SHARE * ((uint64_t)rd.size + names.size);
	while (rd.size - rd.pos >= SYM_SIZE)
		if (!read_one(image, &rd, &names, &left, symbols))
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
