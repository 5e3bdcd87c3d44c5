/* SPDX-License-Identifier: MIT */
/* References to the sections that the method "grow" moves: dynamic tags, relocations and
 * symbols, found for the plan and corrected for the output. */
#include "gen/insert/internal.h"

#include <string.h>

#include "base/rd.h"
#include "gen/arch/arch.h"

/* Not in all elf.h: what packs relocations, or has addends in the data. */
enum {
	REFS_SHT_CREL = 0x40000014,
	REFS_SHT_ANDROID_REL = 0x60000001,
	REFS_SHT_ANDROID_RELA = 0x60000002,
	REFS_SHT_ANDROID_RELR = 0x6fffff00,
};
enum { RELA_SIZE = 24, RELR_WORD = 8, SYM_SIZE = 24, SYM_VALUE = 8, DYN_VALUE = 8 };

/* The tags that lead to what can move. */
static bool is_tag(uint64_t tag)
{
	return tag == DT_SYMTAB || tag == DT_HASH || tag == DT_GNU_HASH ||
	       tag == DT_STRTAB || tag == DT_RELA;
}

struct place {
	uint8_t type; /* STT_* */
	uint32_t name;
	size_t section;
	uint64_t value;
};

static struct place symbol_at(
    const struct image *image, const struct image_section *table, uint64_t at)
{
	struct place symbol;
	struct rd rd;

	rd_init(&rd, table->data + at, SYM_SIZE, image->big_endian);
	symbol.name = rd_u32(&rd);
	symbol.type = rd_u8(&rd) & 0xf;
	rd_skip(&rd, 1);
	symbol.section = rd_u16(&rd);
	symbol.value = rd_u64(&rd);
	return symbol;
}

/* True for a symbol in the block. A symbol of a section that may in truth mean another
 * place (__ehdr_start) is not. */
static bool in_block(
    const struct image *image, const struct insert_grow *grow, const struct place *symbol)
{
	const GElf_Shdr *hdr;

	if (!symbol->section || symbol->section > grow->n_sections)
		return false;
	hdr = &image->sections[symbol->section].hdr;
	return symbol->value - hdr->sh_addr <= hdr->sh_size;
}

/*
 * Names that a linker or the C library's startup files give every program. mold gives __dso_handle
 * the place of the first section; it only tells modules apart, and nothing reads what is there.
 * Assemblers for AArch64 mark data by $d.
 */
static bool is_harmless_name(const char *name, size_t size)
{
	static const char *const known[] = {"__abi_tag", "__dso_handle", "$d"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i]) < size && strcmp(name, known[i]) == 0)
			return true;
	return size > 3 && memcmp(name, "$d.", 3) == 0;
}

static bool is_harmless(const struct image *image, const struct image_section *table,
    const struct place *symbol)
{
	const struct image_section *names;

	if (table->hdr.sh_type != SHT_SYMTAB)
		return false;
	if (symbol->type == STT_SECTION)
		return true;
	if (table->hdr.sh_link >= image->n_sections)
		return false;
	names = &image->sections[table->hdr.sh_link];
	/* The last byte of all ends the last name. */
	return names->data && symbol->name < names->hdr.sh_size &&
	       !names->data[names->hdr.sh_size - 1] &&
	       is_harmless_name((const char *)names->data + symbol->name,
		   (size_t)(names->hdr.sh_size - symbol->name));
}

static bool table_symbols(const struct image *image, const struct image_section *table,
    struct insert_grow *grow)
{
	for (uint64_t at = 0; at + SYM_SIZE <= table->hdr.sh_size; at += SYM_SIZE) {
		struct place symbol = symbol_at(image, table, at);

		if (!in_block(image, grow, &symbol))
			continue;
		if (!is_harmless(image, table, &symbol))
			return false;
		if (!grow->symbols_size)
			grow->symbols_off = table->hdr.sh_offset + at;
		grow->symbols_size =
		    table->hdr.sh_offset + at + SYM_SIZE - grow->symbols_off;
		grow->symtab = (size_t)(table - image->sections);
	}
	return true;
}

static bool find_symbols(const struct image *image, struct insert_grow *grow)
{
	size_t n = 0;

	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *table = &image->sections[i];

		if (table->hdr.sh_type != SHT_SYMTAB && table->hdr.sh_type != SHT_DYNSYM)
			continue;
		n += table->hdr.sh_type == SHT_SYMTAB;
		if (!table->data || table->hdr.sh_size % SYM_SIZE ||
		    table->hdr.sh_flags & SHF_COMPRESSED || n > 1 ||
		    !table_symbols(image, table, grow))
			return false;
	}
	/* The order in which the ranges are written, recorded and hashed. */
	return !grow->symbols_size ||
	       (grow->symbols_off >= grow->block_end &&
		   grow->symbols_off >= grow->dynamic_off + grow->dynamic_size);
}

/* Checks that each section that moves into the segment has exactly one tag that leads to it, and to nothing behind it. */
static bool check_tag(
    const struct image *image, const struct image_section *dynamic, const GElf_Shdr *hdr)
{
	struct rd rd;
	size_t n = 0;

	rd_init(&rd, dynamic->data, (size_t)dynamic->hdr.sh_size, image->big_endian);
	for (;;) {
		uint64_t tag = rd_u64(&rd), value = rd_u64(&rd);

		if (rd.failed || tag == DT_NULL)
			return !rd.failed && n == 1;
		if (tag == (uint64_t)insert_grow_size_tag(hdr->sh_type) &&
		    value > hdr->sh_size)
			return false;
		if (tag != (uint64_t)insert_grow_tag(hdr->sh_type))
			continue;
		if (value != hdr->sh_addr)
			return false;
		n++;
	}
}

/* Checks that no such tag leads into the block where no section of its kind starts. */
static bool no_other_tag(const struct image *image, const struct image_section *dynamic,
    const struct insert_grow *grow)
{
	uint64_t start = grow->block_off + grow->bias,
		 size = grow->block_end - grow->block_off;
	struct rd rd;

	rd_init(&rd, dynamic->data, (size_t)dynamic->hdr.sh_size, image->big_endian);
	for (;;) {
		uint64_t tag = rd_u64(&rd), value = rd_u64(&rd);
		bool ours = false;

		if (rd.failed || tag == DT_NULL)
			return true;
		if (!is_tag(tag) && tag != DT_JMPREL)
			continue;
		for (size_t i = 1; i <= grow->n_sections; i++)
			ours |= image->sections[i].hdr.sh_addr == value &&
				(uint64_t)insert_grow_tag(
				    image->sections[i].hdr.sh_type) == tag;
		if (!ours && value - start < size)
			return false;
	}
}

/* PT_DYNAMIC and .dynamic are the same bytes. */
static const struct image_section *find_dynamic(const struct image *image)
{
	const struct image_section *dynamic = NULL;
	size_t n = 0;

	for (size_t i = 1; i < image->n_sections; i++)
		if (image->sections[i].hdr.sh_type == SHT_DYNAMIC)
			dynamic = &image->sections[i];
	if (!dynamic || !dynamic->data || dynamic->hdr.sh_size % INSERT_DYN_SIZE ||
	    dynamic->hdr.sh_flags & SHF_COMPRESSED)
		return NULL;
	for (size_t i = 0; i < image->n_phdrs; i++) {
		if (image->phdrs[i].p_type != PT_DYNAMIC)
			continue;
		if (image->phdrs[i].p_offset != dynamic->hdr.sh_offset ||
		    image->phdrs[i].p_filesz != dynamic->hdr.sh_size)
			return NULL;
		n++;
	}
	return n == 1 ? dynamic : NULL;
}

static bool find_tags(const struct image *image, struct insert_grow *grow)
{
	const struct image_section *dynamic = find_dynamic(image);

	if (!grow->moves_dynamic)
		return !dynamic || no_other_tag(image, dynamic, grow);
	if (!dynamic || dynamic->hdr.sh_offset < grow->block_end)
		return false;
	grow->dynamic_off = dynamic->hdr.sh_offset;
	grow->dynamic_size = dynamic->hdr.sh_size;
	for (size_t i = 1; i <= grow->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if (insert_grow_tag(hdr->sh_type) != DT_NULL &&
		    !check_tag(image, dynamic, hdr))
			return false;
	}
	return no_other_tag(image, dynamic, grow);
}

/* Addresses that move. */
struct block {
	const struct image *image;
	uint64_t start, size;
};

/* Without a symbol the addend is the address, but of thread-local storage it is an offset. */
static bool check_rela(const struct image_section *section, const struct block *block)
{
	const struct image *image = block->image;
	const struct arch *arch = arch_find(image->ehdr.e_machine, image->big_endian);
	struct rd rd;

	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	for (uint64_t at = 0; at + RELA_SIZE <= section->hdr.sh_size; at += RELA_SIZE) {
		uint64_t place = rd_u64(&rd), info = rd_u64(&rd), addend = rd_u64(&rd);

		if (place - block->start < block->size ||
		    (!(info >> 32) && addend - block->start < block->size &&
			!arch_reloc_is_tls(arch, (uint32_t)info)))
			return false;
	}
	return true;
}

/* A word that the loader adds the load address to. */
static bool check_word(void *context, uint64_t addr)
{
	const struct block *block = context;
	const uint8_t *data = image_at_addr(block->image, addr, RELR_WORD);
	struct rd rd;

	if (!data || addr - block->start < block->size)
		return false;
	rd_init(&rd, data, RELR_WORD, block->image->big_endian);
	return rd_u64(&rd) - block->start >= block->size;
}

/* Checks that no relocation is of the block's bytes, or makes a pointer to them. */
static bool check_relocations(const struct image *image, const struct insert_grow *grow)
{
	struct block block = {.image = image,
	    .start = grow->block_off + grow->bias,
	    .size = grow->block_end - grow->block_off};
	uint64_t relr;
	bool unseen = image_dynamic(image, IMAGE_DT_RELR, &relr);

	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *section = &image->sections[i];

		if (!(section->hdr.sh_flags & SHF_ALLOC) || !section->data)
			continue;
		switch (section->hdr.sh_type) {
		case SHT_RELA:
			if (!check_rela(section, &block))
				return false;
			break;
		case IMAGE_SHT_RELR:
			if (!image_relr_each(image, section, check_word, &block))
				return false;
			unseen = false;
			break;
		case SHT_REL:
		case REFS_SHT_CREL:
		case REFS_SHT_ANDROID_REL:
		case REFS_SHT_ANDROID_RELA:
		case REFS_SHT_ANDROID_RELR:
			return false;
		}
	}
	return !unseen;
}

enum obstacle insert_grow_refs(const struct image *image, struct insert_grow *grow)
{
	if (!find_tags(image, grow))
		return OBSTACLE_GROW_DYNAMIC;
	if (!check_relocations(image, grow) || !find_symbols(image, grow))
		return OBSTACLE_GROW_SYMBOL;
	return OBSTACLE_NONE;
}

void insert_put_dynamic(
    struct wr *wr, const struct image *image, const struct insert_plan *plan)
{
	const struct insert_grow *grow = &plan->grow;
	const uint8_t *data = image->bytes + grow->dynamic_off;
	size_t size = (size_t)grow->dynamic_size;
	uint64_t off, addr;
	struct rd rd;

	wr_bytes(wr, data, size);
	if (wr->failed)
		return;
	rd_init(&rd, data, size, image->big_endian);
	for (size_t at = 0; at + INSERT_DYN_SIZE <= size; at += INSERT_DYN_SIZE) {
		uint64_t tag = rd_u64(&rd), value = rd_u64(&rd);

		if (tag == DT_NULL)
			break;
		if (!is_tag(tag))
			continue;
		/* A table that is not in the block stays where it is, and so does its tag. */
		if (insert_grow_moves(plan, value - grow->bias, &off, &addr))
			wr_patch_u64(wr, at + DYN_VALUE, addr);
	}
}

/* A symbol moves with its section. Its value does not tell which that is: at the end of a section it is the start of the
 * next one, too. */
void insert_put_symbols(
    struct wr *wr, const struct image *image, const struct insert_plan *plan)
{
	const struct insert_grow *grow = &plan->grow;
	const struct image_section *table = &image->sections[grow->symtab];
	uint64_t start = grow->symbols_off - table->hdr.sh_offset, off, addr;

	wr_bytes(wr, image->bytes + grow->symbols_off, (size_t)grow->symbols_size);
	if (wr->failed)
		return;
	for (uint64_t at = 0; at < grow->symbols_size; at += SYM_SIZE) {
		struct place symbol = symbol_at(image, table, start + at);
		const GElf_Shdr *hdr;

		if (!in_block(image, grow, &symbol))
			continue;
		hdr = &image->sections[symbol.section].hdr;
		if (insert_grow_moves(plan, hdr->sh_offset, &off, &addr))
			wr_patch_u64(wr, (size_t)at + SYM_VALUE,
			    symbol.value - hdr->sh_addr + addr);
	}
}
