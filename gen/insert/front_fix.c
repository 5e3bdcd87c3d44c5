/* SPDX-License-Identifier: MIT */
/* What leads to the sections that the rung "front" moves: dynamic tags and symbols, found
 * for the plan and corrected for the output. */
#include "gen/insert/internal.h"

#include <string.h>

#include "base/rd.h"

enum { SYM_SIZE = 24, SYM_VALUE = 8, DYN_VALUE = 8 };

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

/* A symbol of a section that may in truth mean another place (__ehdr_start) is not in it.
 */
static bool in_block(const struct image *image, const struct write_front *front,
	const struct place *symbol)
{
	const GElf_Shdr *hdr;

	if (!symbol->section || symbol->section > front->n_sections)
		return false;
	hdr = &image->sections[symbol->section].hdr;
	return symbol->value - hdr->sh_addr <= hdr->sh_size;
}

/* Those that a linker or the C library's startup files give every program. */
static bool is_harmless(const struct image *image, const struct image_section *table,
	const struct place *symbol)
{
	static const char tag[] = "__abi_tag";
	const struct image_section *names;

	if (table->hdr.sh_type != SHT_SYMTAB)
		return false;
	if (symbol->type == STT_SECTION)
		return true;
	if (table->hdr.sh_link >= image->n_sections)
		return false;
	names = &image->sections[table->hdr.sh_link];
	return names->data && symbol->name < names->hdr.sh_size &&
	       names->hdr.sh_size - symbol->name >= sizeof(tag) &&
	       memcmp(names->data + symbol->name, tag, sizeof(tag)) == 0;
}

static bool table_symbols(const struct image *image, const struct image_section *table,
	struct write_front *front)
{
	for (uint64_t at = 0; at + SYM_SIZE <= table->hdr.sh_size; at += SYM_SIZE) {
		struct place symbol = symbol_at(image, table, at);

		if (!in_block(image, front, &symbol))
			continue;
		if (!is_harmless(image, table, &symbol))
			return false;
		if (!front->symbols_size)
			front->symbols_off = table->hdr.sh_offset + at;
		front->symbols_size =
			table->hdr.sh_offset + at + SYM_SIZE - front->symbols_off;
		front->symtab = (size_t)(table - image->sections);
	}
	return true;
}

bool write_front_symbols(const struct image *image, struct write_front *front)
{
	size_t n = 0;

	for (size_t i = 1; i < image->n_sections; i++) {
		const struct image_section *table = &image->sections[i];

		if (table->hdr.sh_type != SHT_SYMTAB && table->hdr.sh_type != SHT_DYNSYM)
			continue;
		n += table->hdr.sh_type == SHT_SYMTAB;
		if (!table->data || table->hdr.sh_size % SYM_SIZE ||
			table->hdr.sh_flags & SHF_COMPRESSED || n > 1 ||
			!table_symbols(image, table, front))
			return false;
	}
	/* The order in which the ranges are written, recorded and hashed. */
	return !front->symbols_size ||
	       front->symbols_off >= front->dynamic_off + front->dynamic_size;
}

void write_put_dynamic(
	struct wr *wr, const struct image *image, const struct write_plan *plan)
{
	const struct write_front *front = &plan->front;
	const uint8_t *data = image->bytes + front->dynamic_off;
	size_t size = (size_t)front->dynamic_size;
	uint64_t off, addr;
	struct rd rd;

	wr_bytes(wr, data, size);
	if (wr->failed)
		return;
	rd_init(&rd, data, size, image->big_endian);
	for (size_t at = 0; at + WRITE_DYN_SIZE <= size; at += WRITE_DYN_SIZE) {
		uint64_t tag = rd_u64(&rd), value = rd_u64(&rd);

		if (tag == DT_NULL)
			break;
		if (tag != DT_SYMTAB && tag != DT_HASH && tag != DT_GNU_HASH)
			continue;
		/* One of them may stand behind what had to move. */
		if (write_front_moves(plan, value - front->bias, &off, &addr))
			wr_patch_u64(wr, at + DYN_VALUE, addr);
	}
}

/* By the section and not by the value: that may be the section's end. */
void write_put_symbols(
	struct wr *wr, const struct image *image, const struct write_plan *plan)
{
	const struct write_front *front = &plan->front;
	const struct image_section *table = &image->sections[front->symtab];
	uint64_t start = front->symbols_off - table->hdr.sh_offset, off, addr;

	wr_bytes(wr, image->bytes + front->symbols_off, (size_t)front->symbols_size);
	if (wr->failed)
		return;
	for (uint64_t at = 0; at < front->symbols_size; at += SYM_SIZE) {
		struct place symbol = symbol_at(image, table, start + at);
		const GElf_Shdr *hdr;

		if (!in_block(image, front, &symbol))
			continue;
		hdr = &image->sections[symbol.section].hdr;
		if (write_front_moves(plan, hdr->sh_offset, &off, &addr))
			wr_patch_u64(wr, (size_t)at + SYM_VALUE,
				symbol.value - hdr->sh_addr + addr);
	}
}
