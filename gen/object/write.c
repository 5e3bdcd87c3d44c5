/* SPDX-License-Identifier: MIT */
/*
 * Writes an object with its .sframe: new sections, their relocations, grown groups and
 * names, the record that leads back, and the section header table, all behind the input.
 */
#include "gen/object/write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/newfile.h"
#include "base/num.h"
#include "gen/elf/object/internal.h"
#include "gen/insert/internal.h"
#include "sframe/decode.h"

/* Offsets of fields in a section header and in the ELF header. */
enum { SH_OFFSET = 24, SH_SIZE = 32, E_SHOFF = 40, E_FLAGS = 48, E_SHSTRNDX = 62 };

enum { SECTION_ALIGN = 8 };

/* The name of the relocations ends with the other one. */
static const char new_names[] = ".rela.sframe";
enum { SFRAME_NAME = sizeof(".rela") - 1 };

/* State while the tail is made: all offsets are in the output. */
struct tail {
	const struct image *image;
	const struct object *object;
	const struct sf_section *model;
	struct object_output *output;
	uint64_t start;
	struct wr bytes;
	uint32_t *symbols;	 /* per section: a local symbol in it, or 0 */
	uint64_t *values;	 /* of those */
	uint64_t *group_offs;	 /* per section: where the grown group is, or 0 */
	uint32_t *group_sframes; /* per section: .sframe sections that join the group */
	uint64_t names_off, names_old;
	uint64_t shdr_off;
};

static uint64_t tail_at(const struct tail *tail)
{
	return tail->start + tail->bytes.size;
}

/* Aligns the offset in the file, which readers may rely on. */
static void tail_align(struct tail *tail, uint64_t align)
{
	wr_zeros(&tail->bytes, (size_t)(-tail_at(tail) & (align - 1)));
}

/*
 * Linkers expect section symbols. Where a section has none, any local symbol does, because
 * its value is known. A global symbol may belong to another object when the file is linked.
 */
static bool tail_symbols(struct tail *tail, size_t rela, struct err *err)
{
	size_t n = tail->image->n_sections;
	struct object_symtab symtab;
	struct object_symbol symbol;

	tail->symbols = calloc(n, sizeof(*tail->symbols));
	tail->values = calloc(n, sizeof(*tail->values));
	if (!tail->symbols || !tail->values)
		return err_set_nomem(err);
	if (!object_symtab_open(tail->image, rela, &symtab, err))
		return false;
	for (uint32_t i = 1; i < symtab.n; i++) {
		if (!object_symbol(&symtab, i, &symbol, err))
			return false;
		if (!symbol.section || symbol.bind != STB_LOCAL ||
		    (tail->symbols[symbol.section] && symbol.type != STT_SECTION))
			continue;
		tail->symbols[symbol.section] = i;
		tail->values[symbol.section] = symbol.value;
	}
	return true;
}

/*
 * The place of each start is taken from the bytes and not from what was encoded, so that
 * all of them have one. Linkers count on as many relocations as functions, in that order.
 */
static bool tail_relocate(
    struct tail *tail, struct object_sframe *sframe, struct err *err)
{
	const struct arch *arch =
	    arch_find(tail->image->ehdr.e_machine, tail->image->big_endian);
	uint32_t type =
	    tail->output->version < 3 ? arch->reloc_start32 : arch->reloc_start64;
	struct sf_view view;

	if (!sf_view_open(sframe->bytes.data, sframe->bytes.size, 0, &view, err))
		return false;
	for (uint32_t i = 0; i < view.n_funcs; i++) {
		uint64_t start = tail->model->funcs[sframe->first + i].start;
		const struct object_place *place = object_place_at(tail->object, start);
		uint32_t symbol = tail->symbols[place->section];

		if (!symbol)
			return err_set(err, ERR_UNSUPPORTED,
			    "section %zu (%s) has neither a section symbol nor a local "
			    "symbol, and .rela.sframe needs one; GNU ld -r adds them",
			    place->section, tail->image->sections[place->section].name);
		wr_u64(&tail->bytes, view.func_off + (uint64_t)i * view.func_size);
		wr_u64(&tail->bytes, GELF_R_INFO((uint64_t)symbol, type));
		wr_u64(&tail->bytes, start - place->addr - tail->values[place->section]);
	}
	return true;
}

/* Aligns both sections, for linkers that read relocations where they are mapped. */
static bool tail_sections(struct tail *tail, struct err *err)
{
	for (size_t i = 0; i < tail->output->n_sframes; i++) {
		struct object_sframe *sframe = &tail->output->sframes[i];

		tail_align(tail, SECTION_ALIGN);
		sframe->off = tail_at(tail);
		wr_bytes(&tail->bytes, sframe->bytes.data, sframe->bytes.size);
		tail_align(tail, SECTION_ALIGN);
		sframe->rela_off = tail_at(tail);
		if (!tail_relocate(tail, sframe, err))
			return false;
	}
	return true;
}

/* Returns the number of the .sframe; its relocations have the next one. */
static uint32_t sframe_number(const struct tail *tail, size_t sframe)
{
	/* In range: tail_make has seen to it. */
	return (uint32_t)(tail->image->n_sections + 2 * sframe);
}

/* A group with more members is longer, so it moves. */
static bool tail_groups(struct tail *tail, struct err *err)
{
	const struct image *image = tail->image;
	size_t n = image->n_sections;
	uint64_t *at = calloc(n, sizeof(*at));

	tail->group_offs = calloc(n, sizeof(*tail->group_offs));
	tail->group_sframes = calloc(n, sizeof(*tail->group_sframes));
	if (!at || !tail->group_offs || !tail->group_sframes) {
		free(at);
		return err_set_nomem(err);
	}
	for (size_t i = 0; i < tail->output->n_sframes; i++)
		tail->group_sframes[tail->output->sframes[i].group]++;
	for (size_t i = 1; i < n; i++) {
		if (!tail->group_sframes[i])
			continue;
		tail_align(tail, sizeof(uint32_t));
		tail->group_offs[i] = tail_at(tail);
		wr_bytes(&tail->bytes, image->sections[i].data,
		    (size_t)image->sections[i].hdr.sh_size);
		at[i] = tail->bytes.size;
		wr_zeros(&tail->bytes, 2 * sizeof(uint32_t) * tail->group_sframes[i]);
	}
	for (size_t i = 0; i < tail->output->n_sframes; i++) {
		uint32_t group = tail->output->sframes[i].group;

		if (!group)
			continue;
		wr_patch_u32(&tail->bytes, (size_t)at[group], sframe_number(tail, i));
		wr_patch_u32(
		    &tail->bytes, (size_t)at[group] + 4, sframe_number(tail, i) + 1);
		at[group] += 2 * sizeof(uint32_t);
	}
	free(at);
	return true;
}

/* Checks that all names end inside their table, or the new names behind it would become
 * some old section's. */
static bool names_end(
    const struct image *image, const struct image_section *names, struct err *err)
{
	uint64_t size = names->hdr.sh_size;

	if (!size || names->data[size - 1] != '\0')
		return err_set(err, ERR_MALFORMED,
		    "the section name table (0x%" PRIx64 " bytes at offset 0x%" PRIx64
		    ") does not end with a zero byte",
		    size, names->hdr.sh_offset);
	for (size_t i = 0; i < image->n_sections; i++)
		if (image->sections[i].hdr.sh_name >= size)
			return err_set(err, ERR_MALFORMED,
			    "the name of section %zu is at 0x%" PRIx32
			    ", but the section name table has 0x%" PRIx64 " bytes",
			    i, image->sections[i].hdr.sh_name, size);
	return true;
}

/* Checks that the file has all bytes of its sections, or new bytes would be theirs. */
static bool sections_end(const struct image *image, struct err *err)
{
	for (size_t i = 0; i < image->n_sections; i++)
		if (!image_section_inside(image, i, err))
			return false;
	return true;
}

/* A copy with one name more; the symbols' names may be in the same table (Clang), which
 * does not mind. */
static bool tail_names(struct tail *tail, struct err *err)
{
	const struct image_section *old;

	if (tail->image->names >= tail->image->n_sections ||
	    !tail->image->sections[tail->image->names].data)
		return err_set(err, ERR_MALFORMED,
		    "the section name table is section %zu, which is not a string table "
		    "inside the file",
		    tail->image->names);
	old = &tail->image->sections[tail->image->names];
	if (!names_end(tail->image, old, err))
		return false;
	tail->names_off = tail_at(tail);
	wr_bytes(&tail->bytes, old->data, (size_t)old->hdr.sh_size);
	wr_u8(&tail->bytes, 0);
	tail->names_old = tail_at(tail) - tail->names_off;
	wr_bytes(&tail->bytes, new_names, sizeof(new_names));
	return true;
}

/* The input's headers, with the new places of what grew. */
static void tail_old_headers(struct tail *tail)
{
	const struct image *image = tail->image;
	size_t first = tail->bytes.size;

	wr_bytes(&tail->bytes, image->bytes + image->ehdr.e_shoff,
	    image->n_sections * INSERT_SHDR_SIZE);
	if (tail->bytes.failed)
		return;
	for (size_t i = 1; i < image->n_sections; i++) {
		uint64_t off = tail->group_offs[i];
		uint64_t size = image->sections[i].hdr.sh_size +
				2 * sizeof(uint32_t) * tail->group_sframes[i];

		if (i == image->names) {
			off = tail->names_off;
			size = tail->names_old + sizeof(new_names);
		}
		if (!off)
			continue;
		wr_patch_u64(&tail->bytes, first + i * INSERT_SHDR_SIZE + SH_OFFSET, off);
		wr_patch_u64(&tail->bytes, first + i * INSERT_SHDR_SIZE + SH_SIZE, size);
	}
	/* gABI: what does not fit e_shnum is in the first header. */
	if (image->n_sections + 2 * tail->output->n_sframes >= SHN_LORESERVE)
		wr_patch_u64(&tail->bytes, first + SH_SIZE,
		    image->n_sections + 2 * tail->output->n_sframes);
}

/* GNU ld takes a section without the type for one of the versions that had none. */
static void tail_new_headers(struct tail *tail)
{
	const struct object_output *output = tail->output;

	for (size_t i = 0; i < output->n_sframes; i++) {
		const struct object_sframe *sframe = &output->sframes[i];
		const GElf_Shdr hdr = {
		    .sh_name = (GElf_Word)tail->names_old + SFRAME_NAME,
		    .sh_type = output->pcrel ? IMAGE_SHT_GNU_SFRAME : SHT_PROGBITS,
		    .sh_flags = SHF_ALLOC |
				(sframe->text ? (GElf_Xword)SHF_LINK_ORDER : 0) |
				(sframe->group ? (GElf_Xword)SHF_GROUP : 0),
		    .sh_offset = sframe->off,
		    .sh_size = sframe->bytes.size,
		    .sh_link = (GElf_Word)sframe->text,
		    .sh_addralign = SECTION_ALIGN};
		const GElf_Shdr rela = {.sh_name = (GElf_Word)tail->names_old,
		    .sh_type = SHT_RELA,
		    .sh_flags =
			SHF_INFO_LINK | (sframe->group ? (GElf_Xword)SHF_GROUP : 0),
		    .sh_offset = sframe->rela_off,
		    .sh_size = sframe->n * OBJECT_RELA_SIZE,
		    .sh_link = (GElf_Word)tail->object->symtab,
		    .sh_info = sframe_number(tail, i),
		    .sh_addralign = SECTION_ALIGN,
		    .sh_entsize = OBJECT_RELA_SIZE};

		insert_put_shdr(&tail->bytes, &hdr);
		insert_put_shdr(&tail->bytes, &rela);
	}
}

/*
 * The record is in no section, or the link would have it in the program. Tools that rewrite
 * the object leave it out.
 */
static void tail_finish(struct tail *tail, struct wr *header)
{
	const struct image *image = tail->image;
	size_t n_sections = image->n_sections + 2 * tail->output->n_sframes;
	/* The record has no program headers, whatever the object says of their place. */
	struct insert_plan plan = {
	    .tail_off = tail->start, .phdr_off = ~image->ehdr.e_phoff};
	uint64_t end;

	plan.sframe_off = image->size;
	plan.record_size = insert_record_ranges_size(image, &plan) + INSERT_FOOTER_SIZE;
	end = tail_at(tail) + plan.record_size;
	plan.record_size += -end & (SECTION_ALIGN - 1);
	tail->shdr_off = tail_at(tail) + plan.record_size;
	plan.file_size = tail->shdr_off + n_sections * INSERT_SHDR_SIZE;
	tail->output->file_size = plan.file_size;
	insert_record_encode(&tail->bytes, image, &plan);
	tail_old_headers(tail);
	tail_new_headers(tail);
	wr_bytes(header, image->bytes, E_SHOFF);
	wr_u64(header, tail->shdr_off);
	wr_bytes(header, image->bytes + E_FLAGS, INSERT_E_SHNUM - E_FLAGS);
	wr_u16(header, n_sections < SHN_LORESERVE ? (uint16_t)n_sections : 0);
	wr_bytes(header, image->bytes + E_SHSTRNDX, INSERT_EHDR_SIZE - E_SHSTRNDX);
	if (header->failed || tail->bytes.failed)
		return;
	insert_record_seal(header, &tail->bytes, tail->shdr_off - tail->start);
}

/* All of it in memory: objects are small, and a failure then leaves nothing half done. */
static bool tail_make(struct tail *tail, struct wr *header, struct err *err)
{
	const struct image *image = tail->image;
	const struct object *object = image->object;
	const size_t rela = object->links.n ? object->links.list[0].rela
					    : object->debug.links.list[0].rela;
	uint32_t ignored;

	if (!num_u32(
		image->n_sections + 2 * (uint64_t)tail->output->n_sframes + 1, &ignored))
		return err_set(err, ERR_LIMIT, "too many sections");
	if (image->n_phdrs)
		return err_set(err, ERR_UNSUPPORTED,
		    "a relocatable object has %zu program headers", image->n_phdrs);
	/* Every object with CFI has relocations for it: their symbols are ours. */
	if (!sections_end(image, err) || !tail_symbols(tail, rela, err) ||
	    !tail_sections(tail, err) || !tail_groups(tail, err) ||
	    !tail_names(tail, err))
		return false;
	tail_align(tail, SECTION_ALIGN);
	tail_finish(tail, header);
	return !(tail->bytes.failed || header->failed) || err_set_nomem(err);
}

/* The header last, as for programs: until then the file is the input with bytes behind
 * it. */
bool object_write(const struct image *image, const struct sf_section *model,
    struct object_output *output, int fd, struct err *err)
{
	struct tail tail = {
	    .image = image, .object = image->object, .model = model, .output = output};
	size_t signature;
	struct wr header;
	bool ok;

	tail.start = (image->size + SECTION_ALIGN - 1) & ~(uint64_t)(SECTION_ALIGN - 1);
	/* The signature is in front of the new bytes. So the new file has none at its end,
	 * and its original has it. */
	if (!image_signature(image, &signature, err))
		return false;
	output->signed_module = signature > 0;
	wr_init(&tail.bytes, image->big_endian);
	wr_init(&header, image->big_endian);
	ok = tail_make(&tail, &header, err) &&
	     newfile_write_at(fd, tail.bytes.data, tail.bytes.size, tail.start, err) &&
	     newfile_write_at(fd, header.data, header.size, 0, err);
	wr_deinit(&header);
	wr_deinit(&tail.bytes);
	free(tail.symbols);
	free(tail.values);
	free(tail.group_offs);
	free(tail.group_sframes);
	return ok;
}
