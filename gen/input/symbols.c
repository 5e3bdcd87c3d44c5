/* SPDX-License-Identifier: MIT */
/* Function names: read once into a sorted list, of one address the best name last. */
#include "gen/input/symbols.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/plain.h"
#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"
#include "gen/elf/object/object.h"

#define SYM_SIZE 24
/* How far back a symbol that encloses others is looked for; nesting is never deeper. */
#define FIND_STEPS 32
/* A string table without a NUL must not be read once per symbol. */
#define MAX_NAME 65536

/* The rank of a name among several at one address: lower is better. */
static uint8_t rank_of(unsigned int type, unsigned int bind, uint64_t size)
{
	uint8_t rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;

	if (!size)
		rank |= 4;
	if (type == STT_NOTYPE)
		rank |= 8;
	return rank;
}

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

/*
 * False only without memory: a symbol that makes no sense is skipped, because a name in a
 * report is no reason to fail on a file. Absolute and common symbols are no places in
 * code.
 */
static bool read_one(const struct image *image, struct rd *rd, const struct rd *names,
    struct symbols *symbols)
{
	size_t index = rd->pos / SYM_SIZE, where;
	struct rd at = *names;
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
	if (rd_skip(&at, name_off)) {
		if (at.size - at.pos > MAX_NAME)
			at.size = at.pos + MAX_NAME;
		symbol.name = rd_cstr(&at);
	}
	if (!symbol.name || !plain_is(symbol.name) ||
	    !is_function(image, GELF_ST_TYPE(info), symbol.addr, symbol.name))
		return true;
	symbol.rank = rank_of(GELF_ST_TYPE(info), GELF_ST_BIND(info), symbol.size);
	if (!vec_reserve(&symbols->list, &symbols->cap, symbols->n + 1))
		return false;
	symbols->list[symbols->n++] = symbol;
	return true;
}

/*
 * All names of an address are kept, because --exclude-symbol may give any of them. The
 * best is last, where symbols_find looks first; by name at last, so that the choice does
 * not depend on the order in the file.
 */
static int symbols_compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return strcmp(b->name, a->name);
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

/* The dynamic symbols are a subset that survives strip; nothing is gained by reading
 * both. */
bool symbols_read(const struct image *image, struct symbols *symbols, struct err *err)
{
	const struct image_section *table = table_find(image, SHT_SYMTAB), *strings;
	struct rd rd, names;

	*symbols = (struct symbols){0};
	symbols->dynamic = !table;
	if (!table)
		table = table_find(image, SHT_DYNSYM);
	if (!table || table->hdr.sh_link >= image->n_sections)
		return true;
	strings = &image->sections[table->hdr.sh_link];
	if (!strings->data)
		return true;
	rd_init(&names, strings->data, (size_t)strings->hdr.sh_size, image->big_endian);
	rd_init(&rd, table->data, (size_t)table->hdr.sh_size, image->big_endian);
	while (rd.size - rd.pos >= SYM_SIZE) {
		if (!read_one(image, &rd, &names, symbols)) {
			symbols_deinit(symbols);
			return err_set_nomem(err);
		}
	}
	if (symbols->n)
		qsort(symbols->list, symbols->n, sizeof(*symbols->list), symbols_compare);
	return true;
}

void symbols_deinit(struct symbols *symbols)
{
	free(symbols->list);
	*symbols = (struct symbols){0};
}

/*
 * The nearest start below need not be the one that covers: a sized function may enclose
 * labels, and one that ended earlier may be nearer than one that goes on.
 */
const struct symbol *symbols_find(const struct symbols *symbols, uint64_t pc)
{
	size_t end = search_list_above(symbols->list, symbols->n, addr, pc);
	const struct symbol *sizeless = NULL;

	for (size_t i = end, steps = 0; i > 0 && steps < FIND_STEPS; i--, steps++) {
		const struct symbol *symbol = &symbols->list[i - 1];

		if (symbol->size && pc - symbol->addr < symbol->size)
			return symbol;
		/* A label without a size may be inside a function that has one. */
		if (!symbol->size && !sizeless)
			sizeless = symbol;
	}
	return sizeless;
}

struct plain {
	char *text; /* of SYMBOL_READABLE bytes */
	size_t n;
	jmp_buf too_long;
};

static void plain_append(const char *text, size_t n, void *context)
{
	struct plain *plain = context;

	/* There is no other way to stop libiberty. It holds no memory during this call.
	 */
	if (n >= SYMBOL_READABLE - plain->n)
		longjmp(plain->too_long, 1);
	memcpy(plain->text + plain->n, text, n);
	plain->n += n;
}

static bool demangle(const char *name, struct plain *plain)
{
	const int style = DMGL_PARAMS | DMGL_ANSI;

	/* Rust first: its older names look like C++. The recursion limit stays on: names
	 * come from the file. */
	if (rust_demangle_callback(name, style, plain_append, plain))
		return true;
	plain->n = 0;
	return cplus_demangle_v3_callback(name, style, plain_append, plain) != 0;
}

bool symbol_readable(const char *name, char text[SYMBOL_READABLE])
{
	struct plain plain = {.text = text};

	if (setjmp(plain.too_long) != 0 || !demangle(name, &plain))
		return false;
	text[plain.n] = '\0';
	return true;
}

char *symbol_demangle(const char *name)
{
	char *text = malloc(SYMBOL_READABLE), *readable;

	if (!text)
		return NULL;
	readable = strdup(symbol_readable(name, text) ? text : name);
	free(text);
	return readable;
}

char *symbols_readable(const struct symbols *symbols, uint64_t pc)
{
	const struct symbol *symbol = symbols_find(symbols, pc);

	return symbol ? symbol_demangle(symbol->name) : NULL;
}
