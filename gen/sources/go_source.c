/* SPDX-License-Identifier: MIT */
/* Finds Go's table in a file. */
#include "gen/sources/go_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "base/rd.h"
#include "base/search.h"
#include "base/vec.h"
#include "gen/arch/arch.h"
#include "gen/elf/window.h"

enum {
	/* Bytes of an Elf64_Rela. */
	GO_RELA_SIZE = 24,
	/* The linker aligns the table to this and more. */
	GO_TABLE_ALIGN = 8,
	/* Go's module data: a pointer to the table, 6 slices, ... */
	GO_MODULE_LOWEST = 20, /* the lowest address of a function: a word's number */
	GO_MODULE_TEXT = 22,   /* the address that functions count from */
};

/* A relocation that puts an address of this file at a place; also a word of the file, as if one did. */
struct go_reloc {
	uint64_t place, value; /* addresses */
};

/* The words that relocations fill in, ascending by place. Of several for a place, the one with the lowest value counts. */
struct go_words {
	const struct image *image;
	struct go_reloc *list; /* owned */
	size_t n, cap;
};

/* The bytes of the table; size may reach up to the end of its segment. */
struct go_bytes {
	const char *section;
	const uint8_t *data; /* NULL: the section's header leads out of the file */
	uint64_t addr, size;
	size_t index; /* of the section */
};

/* All relocations of the program. */
struct go_relocs {
	struct rd rd;
	uint32_t type; /* of those that count */
};

static struct go_relocs all_relocs(const struct image *image)
{
	struct go_relocs relocs = {.type = image->ehdr.e_machine == EM_X86_64
					       ? R_X86_64_RELATIVE
					       : R_AARCH64_RELATIVE};
	const uint8_t *bytes = NULL;
	uint64_t addr, size = 0;

	if (image_dynamic(image, DT_RELA, &addr) &&
	    image_dynamic(image, DT_RELASZ, &size))
		bytes = image_at_addr(image, addr, size);
	rd_init(&relocs.rd, bytes, bytes ? (size_t)size : 0, image->big_endian);
	return relocs;
}

static bool next_reloc(struct go_relocs *relocs, struct go_reloc *reloc)
{
	struct rd *rd = &relocs->rd;

	while (rd_has(rd, GO_RELA_SIZE)) {
		uint32_t type;

		reloc->place = rd_u64(rd);
		type = (uint32_t)ELF64_R_TYPE(rd_u64(rd));
		reloc->value = rd_u64(rd);
		if (type == relocs->type)
			return true;
	}
	return false;
}

/* Each of many words is looked up, so relocations are sorted first. */
static bool words_read(const struct image *image, struct go_words *words)
{
	struct go_relocs relocs = all_relocs(image);
	struct go_reloc reloc;
	size_t n = 0;

	*words = (struct go_words){.image = image};
	while (next_reloc(&relocs, &reloc)) {
		if (!vec_reserve(&words->list, &words->cap, words->n + 1))
			return false;
		words->list[words->n++] = reloc;
	}
	if (words->n)
		qsort(words->list, words->n, sizeof(*words->list), search_order_pairs);
	for (size_t i = 0; i < words->n; i++)
		if (!n || words->list[n - 1].place != words->list[i].place)
			words->list[n++] = words->list[i];
	words->n = n;
	return true;
}

/* Returns the word at addr once the program is loaded, less the distance that it is moved. */
static uint64_t loaded_word(const struct go_words *words, uint64_t addr)
{
	const size_t i = search_list_from(words->list, words->n, place, addr);
	const uint8_t *bytes;
	struct rd rd;

	if (i < words->n && words->list[i].place == addr)
		return words->list[i].value;
	bytes = image_at_addr(words->image, addr, 8);
	rd_init(&rd, bytes, bytes ? 8 : 0, words->image->big_endian);
	return rd_u64(&rd);
}

/* Puts what relocations say into a copy of the table, if any of them is in it. */
static bool relocate(const struct image *image, struct go_bytes *bytes, uint8_t **copy)
{
	struct go_relocs relocs = all_relocs(image);
	struct go_reloc reloc;

	while (next_reloc(&relocs, &reloc)) {
		if (reloc.place < bytes->addr || bytes->size < 8 ||
		    reloc.place - bytes->addr > bytes->size - 8)
			continue;
		if (!*copy) {
			*copy = malloc(bytes->size);
			if (!*copy)
				return false;
			memcpy(*copy, bytes->data, bytes->size);
			bytes->data = *copy;
		}
		reloc.value = htole64(reloc.value);
		memcpy(
		    *copy + (reloc.place - bytes->addr), &reloc.value, sizeof(uint64_t));
	}
	return true;
}

/* Returns the text's address, if the module's data that begins at addr belongs to the table. */
static bool text_of_module(const struct go_words *words, const struct go_table *table,
    uint64_t addr, uint64_t *text)
{
	struct go_table moved = *table;
	struct err ignored = {0};
	struct go_func first;

	moved.text = loaded_word(words, addr + GO_MODULE_TEXT * 8);
	if (!moved.text || !go_table_func(&moved, 0, &first, &ignored) ||
	    first.start != loaded_word(words, addr + GO_MODULE_LOWEST * 8))
		return false;
	*text = moved.text;
	return true;
}

/* Finds Go's module data by a word that leads to the table, where no relocation does. */
static bool module_by_words(const struct go_words *words, uint64_t table_addr,
    const struct go_table *table, uint64_t *text)
{
	const struct image *image = words->image;

	for (size_t i = 0; i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];
		const uint8_t *bytes;
		struct rd rd;

		if (phdr->p_type != PT_LOAD || phdr->p_flags & PF_X)
			continue;
		bytes = image_segment_bytes(image, phdr);
		rd_init(&rd, bytes, bytes ? (size_t)phdr->p_filesz : 0, false);
		while (rd_has(&rd, 8))
			if (rd_u64(&rd) == table_addr &&
			    text_of_module(
				words, table, phdr->p_vaddr + rd.pos - 8, text))
				return true;
	}
	return false;
}

/* Finds the text's address, which newer releases of Go leave out of the header. */
static bool find_text(
    const struct image *image, struct go_source *source, struct err *err)
{
	struct go_table *table = &source->table;
	struct go_words words;
	bool ok, found = false;

	if (table->version == GO_1_16 || table->text || !table->n_funcs)
		return true;
	ok = words_read(image, &words);
	for (size_t i = 0; ok && !found && i < words.n; i++)
		found = words.list[i].value == source->addr &&
			text_of_module(&words, table, words.list[i].place, &table->text);
	found =
	    ok && (found || module_by_words(&words, source->addr, table, &table->text));
	free(words.list);
	if (!ok)
		return err_set_nomem(err);
	return found ||
	       err_set(err, ERR_UNSUPPORTED,
		   "the address of Go's text is not known, %s+0x18; rebuild the file",
		   source->section);
}

/* Finds the table's section. Linkers prefix its name in position-independent files. */
static bool by_name(const struct image *image, struct go_bytes *bytes)
{
	static const char suffix[] = ".gopclntab";

	for (size_t i = 0; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];
		const size_t length = strlen(section->name);

		if (length < sizeof(suffix) - 1 || section->hdr.sh_type == SHT_NOBITS ||
		    !section->hdr.sh_size || !(section->hdr.sh_flags & SHF_ALLOC) ||
		    strcmp(section->name + length - (sizeof(suffix) - 1), suffix) != 0)
			continue;
		*bytes = (struct go_bytes){section->name, section->data,
		    section->hdr.sh_addr, section->hdr.sh_size, i};
		return true;
	}
	return false;
}

/* True if a known version's header begins here, of a table with functions. */
static bool begins_here(const uint8_t *data, size_t size)
{
	struct err ignored = {0};
	struct go_table table;

	return go_table_begins(data, size) &&
	       go_table_read_header("", data, size, &table, &ignored) && table.n_funcs;
}

/* Returns the next place, from at on, whose first 8 bytes can be those of a table, apart from two of them; or one near the end. */
static uint64_t may_begin_from(
    struct image_window *window, const GElf_Phdr *phdr, uint64_t at)
{
	while (phdr->p_filesz - at > GO_TABLE_ALIGN) {
		const uint64_t left = phdr->p_filesz - at, most = IMAGE_WINDOW / 2;
		const size_t n = (size_t)(left < most ? left : most);
		const uint8_t *data = image_window_at(
		    window, window->image->bytes + phdr->p_offset + at, n);
		uint64_t word;

		for (size_t i = 0; i + sizeof(word) <= n; i += GO_TABLE_ALIGN) {
			memcpy(&word, data + i, sizeof(word));
			if ((le64toh(word) & UINT64_C(0xff00ffffffffff00)) ==
			    UINT64_C(0x08000000ffffff00))
				return at + i;
		}
		at += n - n % GO_TABLE_ALIGN;
	}
	return at;
}

/* Finds the table by its bytes: other linkers join the section with others, and section
 * headers can be gone. */
static bool by_content(const struct image *image, struct go_bytes *bytes)
{
	struct image_window window = {.image = image};
	bool found = false;

	for (size_t i = 0; !found && i < image->n_phdrs; i++) {
		const GElf_Phdr *phdr = &image->phdrs[i];
		const uint8_t *data;
		uint64_t at = 0;

		if (phdr->p_type != PT_LOAD || phdr->p_flags & PF_X)
			continue;
		data = image_segment_bytes(image, phdr);
		if (!data || phdr->p_vaddr % GO_TABLE_ALIGN)
			continue;
		for (; !found; at += found ? 0 : GO_TABLE_ALIGN) {
			at = may_begin_from(&window, phdr, at);
			if (phdr->p_filesz - at <= GO_TABLE_ALIGN)
				break;
			found = begins_here(data + at, phdr->p_filesz - at);
		}
		if (found)
			*bytes = (struct go_bytes){".gopclntab", data + at,
			    phdr->p_vaddr + at, phdr->p_filesz - at, 0};
	}
	image_window_free(&window);
	return found;
}

/* Finds the table by the section's name; search: also where it is in another section, or in none. */
static bool find_table(const struct image *image, bool search, struct go_bytes *bytes)
{
	const struct arch *arch = arch_find(image->ehdr.e_machine, image->big_endian);
	bool named;

	if (image->object || image->big_endian || !arch || !go_cfi_can(arch->code))
		return false;
	named = by_name(image, bytes);
	return (named && bytes->data) || (search && by_content(image, bytes)) || named;
}

static const uint8_t *code_at(const void *context, uint64_t addr, uint64_t len)
{
	const struct image *image = context;

	return image_code_segment(image, addr, len) ? image_at_addr(image, addr, len)
						    : NULL;
}

bool image_has_go_source(const struct image *image)
{
	struct go_bytes bytes;

	return find_table(image, true, &bytes);
}

bool image_is_go(const struct image *image)
{
	const struct arch *arch = arch_find(image->ehdr.e_machine, image->big_endian);
	struct go_bytes bytes;

	return arch && go_cfi_can(arch->code) &&
	       (by_name(image, &bytes) || image_has_go_source(image));
}

/* Functions that begin elsewhere than in code have no rows, whatever the table says. */
static bool check_first(
    const struct image *image, const struct go_source *source, struct err *err)
{
	struct go_func func;

	if (!source->table.n_funcs)
		return true;
	if (!go_table_func(&source->table, 0, &func, err))
		return false;
	return code_at(image, func.start, 1) ||
	       err_set(err, ERR_MALFORMED,
		   "the first function is at 0x%" PRIx64
		   ", where the file has no code, %s+0x18; rebuild the file",
		   func.start, source->section);
}

/* Opens the table at bytes, whose functions are in code. */
static bool open_table(const struct image *image, struct go_bytes *bytes,
    struct go_source *source, struct err *err)
{
	*source = (struct go_source){
	    .section = bytes->section, .addr = bytes->addr, .size = bytes->size};
	if (!relocate(image, bytes, &source->copy))
		return err_set_nomem(err);
	return go_table_read(bytes->section, bytes->data, (size_t)bytes->size,
		   &source->table, err) &&
	       find_text(image, source, err) && check_first(image, source, err);
}

/* Adds the name where it is in image: data is the table there. A copy of it does not live as long. */
static bool add_name(const struct image *image, const struct go_source *source,
    const uint8_t *data, const struct go_func *func, struct symbols *symbols)
{
	const size_t into = (size_t)(func->name - (const char *)source->table.data);
	struct symbol symbol = {.name = (const char *)data + into,
	    .addr = func->start,
	    .size = func->limit - func->start,
	    .rank =
		symbol_rank(func->name, STT_FUNC, STB_LOCAL, func->limit - func->start)};
	const size_t length = strlen(func->name);

	if (!symbol.size || !length || symbol.name[length] || !plain_is(symbol.name) ||
	    !code_at(image, func->start, 1))
		return true;
	return symbols_add(symbols, &symbol);
}

bool image_go_names(const struct image *image, bool search, struct symbols *symbols)
{
	struct err ignored = {0};
	struct go_source source;
	struct go_bytes bytes;
	const uint8_t *data;
	struct go_func func;
	uint64_t n_names = 0;
	bool ok = true;

	if (!find_table(image, search, &bytes) || !bytes.data)
		return true;
	data = bytes.data;
	if (!image_own(image, data, bytes.size, &ignored))
		return ignored.kind != ERR_NOMEM;
	if (open_table(image, &bytes, &source, &ignored))
		for (size_t i = 0; ok && i < source.table.n_funcs &&
				   n_names / SYMBOLS_NAMES_SHARE < source.size &&
				   go_table_func(&source.table, i, &func, &ignored);
		     i++) {
			ok = add_name(image, &source, data, &func, symbols);
			n_names += strlen(func.name) + 1;
		}
	image_go_source_deinit(&source);
	return ok && ignored.kind != ERR_NOMEM;
}

bool image_go_source(const struct image *image, struct go_source *source, struct err *err)
{
	struct go_bytes bytes;
	struct go_text text = {.bytes = code_at, .context = image};

	*source = (struct go_source){0};
	if (!find_table(image, true, &bytes))
		return true;
	if (!bytes.data)
		return image_section_cut(image, bytes.index, err);
	text.machine = arch_find(image->ehdr.e_machine, image->big_endian)->code;
	if (image_own(image, bytes.data, bytes.size, err) && image_own_code(image, err) &&
	    open_table(image, &bytes, source, err) &&
	    go_cfi_make(&source->table, &text, &source->cfi, err))
		return true;
	image_go_source_deinit(source);
	return false;
}

void image_go_source_deinit(struct go_source *source)
{
	free(source->copy);
	go_cfi_deinit(&source->cfi);
	*source = (struct go_source){0};
}
