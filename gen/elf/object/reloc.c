/* SPDX-License-Identifier: MIT */
/* Symbols and relocations of an object: found, checked, applied. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/plain.h"
#include "base/rd.h"
#include "gen/elf/object/internal.h"

/* No real name is longer; a name table without a NUL must not be read once per symbol. */
#define MAX_NAME 4096

/*
 * One pass finds all tables. A file may have very many sections, and a search for each of
 * them would take quadratic time. A damaged table is reported when it is needed: most of
 * them are for sections that are not read here.
 */
bool object_tables_find(struct image *image, struct err *err)
{
	struct object *object = image->object;

	object->users = calloc(image->n_sections + 1, sizeof(*object->users));
	if (!object->users)
		return err_set_nomem(err);
	for (size_t i = 1; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		struct object_user *user;
		uint32_t index;

		if (!num_u32(i, &index))
			return err_set(err, ERR_LIMIT, "too many sections");
		if (hdr->sh_type == SHT_SYMTAB && object->symtab)
			return err_set(err, ERR_MALFORMED,
			    "sections %zu and %zu are both symbol tables", object->symtab,
			    i);
		if (hdr->sh_type == SHT_SYMTAB)
			object->symtab = i;
		if (hdr->sh_type == SHT_SYMTAB_SHNDX)
			object->extended = i;
		if ((hdr->sh_type != SHT_RELA && hdr->sh_type != SHT_REL &&
			hdr->sh_type != OBJECT_SHT_CREL) ||
		    !hdr->sh_size || hdr->sh_info >= image->n_sections)
			continue;
		user = &object->users[hdr->sh_info];
		/* Two tables for one section are an error only for a caller that needs one. */
		if (user->rela)
			user->more = index;
		else
			user->rela = index;
	}
	return true;
}

/* gABI: an object has one symbol table, and what refers to symbols names it. */
bool object_symtab_open(
    const struct image *image, size_t user, struct object_symtab *table, struct err *err)
{
	uint32_t link = image->sections[user].hdr.sh_link;
	const struct image_section *section = &image->sections[image->object->symtab];

	*table = (struct object_symtab){.image = image};
	if (!link || link != image->object->symtab)
		return err_set(err, ERR_MALFORMED,
		    "section %zu (%s): its sh_link, %" PRIu32 ", is not the symbol table",
		    user, image->sections[user].name, link);
	if (!section->data || section->hdr.sh_entsize != OBJECT_SYM_SIZE)
		return err_set(err, ERR_MALFORMED,
		    "the symbol table (section %" PRIu32 ", 0x%" PRIx64
		    " bytes at offset 0x%" PRIx64 ", entries of %" PRIu64
		    ") is not inside the file, or its entries do not have 24 bytes",
		    link, section->hdr.sh_size, section->hdr.sh_offset,
		    section->hdr.sh_entsize);
	table->n = section->hdr.sh_size / OBJECT_SYM_SIZE;
	return true;
}

/* For messages only, so damage is no matter. */
static const char *symbol_name(const struct image *image, uint32_t off)
{
	uint32_t link = image->sections[image->object->symtab].hdr.sh_link;
	const struct image_section *names;
	const char *name;
	struct rd rd;

	if (link >= image->n_sections || !image->sections[link].data)
		return "";
	names = &image->sections[link];
	rd_init(&rd, names->data, (size_t)names->hdr.sh_size, image->big_endian);
	if (!rd_skip(&rd, off))
		return "";
	if (rd.size - rd.pos > MAX_NAME)
		rd.size = rd.pos + MAX_NAME;
	name = rd_cstr(&rd);
	return name && plain_is(name) ? name : "";
}

/* The table of section numbers is as long as that of symbols; one that is cut off has no
 * answer for the rest. */
size_t object_extended(const struct image *image, size_t i)
{
	const struct image_section *section = &image->sections[image->object->extended];
	struct rd rd;

	if (!section->data)
		return SIZE_MAX;
	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	rd_skip(&rd, i * sizeof(uint32_t));
	i = rd_u32(&rd);
	return rd.failed ? SIZE_MAX : i;
}

/* Common symbols are nowhere yet, like undefined ones. */
bool object_symbol(const struct object_symtab *table, uint64_t i,
    struct object_symbol *symbol, struct err *err)
{
	const struct image *image = table->image;
	const struct image_section *section = &image->sections[image->object->symtab];
	uint64_t where;
	uint32_t name;
	uint8_t info;
	struct rd rd;

	if (i >= table->n)
		return err_set(err, ERR_MALFORMED,
		    "symbol %" PRIu64 " does not exist: the symbol table (section "
		    "%zu) has %" PRIu64,
		    i, image->object->symtab, table->n);
	rd_init(&rd, section->data, (size_t)section->hdr.sh_size, image->big_endian);
	rd_seek(&rd, i * OBJECT_SYM_SIZE);
	name = rd_u32(&rd);
	info = rd_u8(&rd);
	rd_skip(&rd, 1);
	where = rd_u16(&rd);
	*symbol = (struct object_symbol){.value = rd_u64(&rd),
	    .type = GELF_ST_TYPE(info),
	    .bind = GELF_ST_BIND(info),
	    .name = symbol_name(image, name)};
	if (where == SHN_XINDEX)
		where = object_extended(image, i);
	else if (where >= SHN_LORESERVE) {
		symbol->absolute = where == SHN_ABS;
		where = 0;
	}
	if (where >= image->n_sections)
		return err_set(err, ERR_MALFORMED,
		    "symbol %" PRIu64 " (%.60s) is in section %" PRIu64
		    ", but the file has %zu sections",
		    i, symbol->name, where, image->n_sections);
	symbol->section = (size_t)where;
	return true;
}

/* Refuses the other kinds of relocations: without them, pointers would have no values. */
static bool relocs_refuse(const struct image *image, size_t i, struct err *err)
{
	const GElf_Shdr *hdr = &image->sections[i].hdr;
	const char *target = image->sections[hdr->sh_info].name;

	if (hdr->sh_type == SHT_REL)
		return err_set(err, ERR_UNSUPPORTED,
		    "section %zu (%s): relocations of %s without addends (SHT_REL), but "
		    "objects of this machine have addends",
		    i, image->sections[i].name, target);
	return err_set(err, ERR_UNSUPPORTED,
	    "section %zu (%s): compact relocations (SHT_CREL) of %s; assemble the object "
	    "without them",
	    i, image->sections[i].name, target);
}

/* Checks the table before the first entry is read, so that reading one cannot fail. */
static bool relocs_check(const struct object_relocs *relocs, struct err *err)
{
	const struct image_section *section = &relocs->image->sections[relocs->rela];
	const GElf_Shdr *hdr = &section->hdr;

	if (hdr->sh_entsize != OBJECT_RELA_SIZE || hdr->sh_size % OBJECT_RELA_SIZE)
		return err_set(err, ERR_MALFORMED,
		    "section %zu (%s): 0x%" PRIx64 " bytes in entries of %" PRIu64
		    " are not a table of 24-byte relocations",
		    relocs->rela, section->name, hdr->sh_size, hdr->sh_entsize);
	if (!section->data)
		return image_section_cut(relocs->image, relocs->rela, err);
	return true;
}

bool object_relocs_open(const struct image *image, size_t target,
    struct object_relocs *relocs, struct err *err)
{
	const struct object_user *user = &image->object->users[target];

	*relocs = (struct object_relocs){.image = image,
	    .arch = arch_find(image->ehdr.e_machine, image->big_endian),
	    .target = target,
	    .rela = user->rela};
	if (user->more)
		return err_set(err, ERR_MALFORMED,
		    "sections %" PRIu32 " and %" PRIu32
		    " are both relocations of %s (section %zu)",
		    user->rela, user->more, image->sections[target].name, target);
	if (!relocs->rela)
		return true;
	if (image->sections[relocs->rela].hdr.sh_type != SHT_RELA)
		return relocs_refuse(image, relocs->rela, err);
	if (!relocs_check(relocs, err) ||
	    !object_symtab_open(image, relocs->rela, &relocs->symtab, err))
		return false;
	relocs->n = image->sections[relocs->rela].hdr.sh_size / OBJECT_RELA_SIZE;
	relocs->size = image->sections[target].hdr.sh_size;
	return true;
}

/* Puts what names the relocation before the text. */
static bool reloc_blame(
    const struct object_relocs *relocs, uint64_t i, uint64_t off, struct err *err)
{
	return err_prefix(err, "%s, relocation %" PRIu64 " (of %s+0x%" PRIx64 ")",
	    relocs->image->sections[relocs->rela].name, i,
	    relocs->image->sections[relocs->target].name, off);
}

/* Reads entry i of the table; returns its type. */
static uint32_t relocs_entry(
    const struct object_relocs *relocs, uint64_t i, struct object_reloc *reloc)
{
	const struct image_section *section = &relocs->image->sections[relocs->rela];
	uint64_t info;
	struct rd rd;

	rd_init(
	    &rd, section->data, (size_t)section->hdr.sh_size, relocs->image->big_endian);
	rd_seek(&rd, i * OBJECT_RELA_SIZE);
	*reloc =
	    (struct object_reloc){.off = rd_u64(&rd), .rela = relocs->rela, .index = i};
	info = rd_u64(&rd);
	reloc->addend = rd_s64(&rd);
	reloc->symbol_index = (uint32_t)GELF_R_SYM(info);
	return (uint32_t)GELF_R_TYPE(info);
}

bool object_relocs_read_code(const struct object_relocs *relocs, uint64_t i,
    struct object_reloc *reloc, const struct arch_code_reloc **kind, struct err *err)
{
	const GElf_Shdr *target = &relocs->image->sections[relocs->target].hdr;

	*kind = arch_code_reloc_find(relocs->arch, relocs_entry(relocs, i, reloc));
	if (!*kind || (num_range_inside(reloc->off, (*kind)->bytes, target->sh_size) &&
			  reloc->symbol_index < relocs->symtab.n))
		return true;
	err_set(err, ERR_MALFORMED,
	    "it is outside the section, which has 0x%" PRIx64
	    " bytes, or its symbol %" PRIu32 " does not exist",
	    target->sh_size, reloc->symbol_index);
	return reloc_blame(relocs, i, reloc->off, err);
}

/* Reads the type first, because it says how many bytes there must be. */
bool object_relocs_read(const struct object_relocs *relocs, uint64_t i,
    struct object_reloc *reloc, struct err *err)
{
	uint32_t type = relocs_entry(relocs, i, reloc);

	reloc->kind = arch_reloc_find(relocs->arch, type);
	if (!reloc->kind)
		err_set(err, ERR_UNSUPPORTED,
		    "type %u does not occur in CFI of %s; link the object and convert "
		    "the result",
		    (unsigned int)type, relocs->arch->name);
	else if (!num_range_inside(reloc->off, reloc->kind->width, relocs->size))
		err_set(err, ERR_MALFORMED,
		    "it is outside the section, which has 0x%" PRIx64 " bytes",
		    relocs->size);
	else if (object_symbol(&relocs->symtab, reloc->symbol_index, &reloc->symbol, err))
		return true;
	return reloc_blame(relocs, i, reloc->off, err);
}

/* An undefined symbol counts as 0. Callers that need to know look at the symbol. */
bool object_reloc_apply(const struct object_relocs *relocs,
    const struct object_reloc *reloc, uint8_t *data, uint64_t from, struct err *err)
{
	const struct arch_reloc *kind = reloc->kind;
	const struct object_symbol *symbol = &reloc->symbol;
	uint64_t value = (uint64_t)reloc->addend;
	int32_t narrow;

	if (symbol->section)
		value += relocs->image->sections[symbol->section].hdr.sh_addr;
	if (symbol->section || symbol->absolute)
		value += symbol->value;
	if (kind->pcrel)
		value -= from;
	if (kind->width == sizeof(uint32_t) && !num_s32((int64_t)value, &narrow) &&
	    (kind->pcrel || value > UINT32_MAX)) {
		err_set(err, ERR_MALFORMED,
		    "%s: the value of %.60s+0x%" PRIx64 " does not fit 32 bits",
		    kind->name, symbol->name, (uint64_t)reloc->addend);
		return reloc_blame(relocs, reloc->index, reloc->off, err);
	}
	num_store(data + reloc->off, kind->width, relocs->image->big_endian, value);
	return true;
}
