/* SPDX-License-Identifier: MIT */
/*
 * Symbol tables of ELF files, by libelf. The files are read and not mapped: one that is cut
 * off meanwhile is then a failed call and no signal.
 */
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/regular.h"
#include "base/vec.h"
#include "profile/symbols/naming_table.h"

/* Longer names do not help a reader. */
enum { TABLE_MAX_NAME = 65536 };
/* Of a file; programs have fewer than twenty. */
enum { TABLE_MAX_SEGMENTS = 4096 };

struct table_elf {
	int fd; /* -1: in memory */
	Elf *elf;
};

static void table_elf_close(struct table_elf *file)
{
	elf_end(file->elf);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct table_elf){.fd = -1};
}

/* Whether the notes of one section have the build-id. */
static bool table_note_matches(Elf_Data *data, const struct profile_module *module)
{
	GElf_Nhdr note;
	size_t offset = 0, name, desc;

	while ((offset = gelf_getnote(data, offset, &note, &name, &desc)) > 0) {
		const char *bytes = data->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(bytes + name, "GNU", 4) == 0)
			return note.n_descsz == module->build_id_size &&
			       memcmp(bytes + desc, module->build_id,
				   module->build_id_size) == 0;
	}
	return false;
}

/* By program headers, for sections may be stripped, and then by sections. */
static bool table_is_build_id(Elf *elf, const struct profile_module *module)
{
	Elf_Scn *scn = NULL;
	GElf_Phdr phdr;
	GElf_Shdr shdr;
	size_t n = 0;

	if (!module->build_id_size)
		return true;
	/* Program headers of a debug file lead to bytes that it does not have. */
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_NOTE &&
		    (data = elf_getdata(scn, NULL)) && table_note_matches(data, module))
			return true;
	}
	if (elf_getphdrnum(elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n && i < TABLE_MAX_SEGMENTS; i++) {
		Elf_Data *data;

		if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_NOTE &&
		    (data = elf_getdata_rawchunk(elf, (int64_t)phdr.p_offset,
			 phdr.p_filesz, phdr.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)) &&
		    table_note_matches(data, module))
			return true;
	}
	return false;
}

/* Opens what is there when it is an ELF file with the build-id of the module. */
static bool table_elf_open(
    const char *path, const struct profile_module *module, struct table_elf *file)
{
	struct stat st;

	*file = (struct table_elf){.fd = regular_open(path, &st)};
	if (file->fd < 0)
		return false;
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (file->elf && elf_kind(file->elf) == ELF_K_ELF &&
	    table_is_build_id(file->elf, module))
		return true;
	table_elf_close(file);
	return false;
}

static Elf_Scn *table_section(Elf *elf, uint32_t type, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, shdr) && shdr->sh_type == type)
			return scn;
	return NULL;
}

/* Labels of hand-written code have no type, but neither have mapping symbols ("$x",
 * ".L1"). */
static bool table_is_function(const GElf_Sym *sym, const char *name)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (!*name || sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS ||
	    sym->st_shndx == SHN_COMMON)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && *name != '$' && *name != '.';
}

/* Linkers put versions behind names in .symtab: "fopen@@GLIBC_2.2.5". */
static void table_cut_version(char *name)
{
	char *at = strchr(name + 1, '@');

	if (at)
		*at = '\0';
}

/* table->names: a copy of the strings, which end with NUL whatever the file has. */
static bool table_add_symbols(
    Elf_Data *data, size_t names_size, struct table *table, struct err *err)
{
	GElf_Sym sym;

	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		char *name = (char *)table->names + sym.st_name;
		struct symbol symbol = {
		    .addr = sym.st_value, .size = sym.st_size, .name = name};

		if (sym.st_name >= names_size ||
		    strnlen(name, TABLE_MAX_NAME) == TABLE_MAX_NAME ||
		    !table_is_function(&sym, name))
			continue;
		table_cut_version(name);
		symbol.rank = symbol_rank(
		    GELF_ST_TYPE(sym.st_info), GELF_ST_BIND(sym.st_info), sym.st_size);
		if (!symbols_add(&table->symbols, &symbol))
			return err_set_nomem(err);
	}
	symbols_sort(&table->symbols);
	return true;
}

/* No symbols when the file has no such table. */
static bool table_read_type(Elf *elf, uint32_t type, struct table *table, struct err *err)
{
	GElf_Shdr shdr, strings_shdr;
	Elf_Scn *scn = table_section(elf, type, &shdr), *strings;
	Elf_Data *data, *bytes;

	if (!scn || !(strings = elf_getscn(elf, shdr.sh_link)) ||
	    !gelf_getshdr(strings, &strings_shdr) || strings_shdr.sh_type == SHT_NOBITS ||
	    !(data = elf_getdata(scn, NULL)) || !(bytes = elf_getdata(strings, NULL)) ||
	    !data->d_buf || !bytes->d_buf)
		return true;
	table->names = malloc(bytes->d_size + 1);
	if (!table->names)
		return err_set_nomem(err);
	memcpy(table->names, bytes->d_buf, bytes->d_size);
	((char *)table->names)[bytes->d_size] = '\0';
	return table_add_symbols(data, bytes->d_size, table, err);
}

static bool table_read_segments(Elf *elf, struct table *table, struct err *err)
{
	GElf_Phdr phdr;
	size_t n = 0;

	if (elf_getphdrnum(elf, &n) < 0)
		return true;
	for (size_t i = 0; i < n && i < TABLE_MAX_SEGMENTS; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD)
			continue;
		if (!vec_reserve(
			&table->segments, &table->cap_segments, table->n_segments + 1))
			return err_set_nomem(err);
		table->segments[table->n_segments++] =
		    (struct table_segment){phdr.p_offset, phdr.p_vaddr, phdr.p_filesz};
	}
	return true;
}

bool table_address(const struct table *table, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < table->n_segments; i++) {
		const struct table_segment *segment = &table->segments[i];

		if (offset >= segment->offset &&
		    offset - segment->offset < segment->size) {
			*address = offset - segment->offset + segment->address;
			return true;
		}
	}
	return false;
}

/* The .symtab of the first separate debug file that has one. */
static bool table_read_debug(const struct profile_module *module,
    const struct naming_options *options, struct table *table, struct err *err)
{
	char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "", path[4096];
	bool ok = true;

	for (uint32_t i = 0; i < module->build_id_size; i++)
		snprintf(hex + 2 * i, 3, "%02x", module->build_id[i]);
	if (module->build_id_size < 2)
		return true;
	for (size_t i = 0; ok && i < options->n_debug_dirs && !table->symbols.n; i++) {
		struct table_elf file;
		int n = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug",
		    options->debug_dirs[i], hex, hex + 2);

		if (n >= (int)sizeof(path) || !table_elf_open(path, module, &file))
			continue;
		ok = table_read_type(file.elf, SHT_SYMTAB, table, err);
		table_elf_close(&file);
	}
	return ok;
}

/* A damaged or empty table leaves its strings, and the next table brings others. */
static void table_forget_names(struct table *table)
{
	free(table->names);
	table->names = NULL;
}

/* The file itself: bytes in the recording, or what its path leads to now. false: there is none. */
static bool table_open_module(const struct profile_module *module, struct table_elf *file)
{
	*file = (struct table_elf){.fd = -1};
	if (elf_version(EV_CURRENT) == EV_NONE)
		return false;
	if (module->image)
		file->elf = elf_memory((char *)module->image, module->image_size);
	else if (*module->path == '/')
		return table_elf_open(module->path, module, file);
	return file->elf;
}

bool table_read_starts(
    const struct profile_module *module, struct table *table, struct err *err)
{
	struct table_elf file;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;
	bool ok = true;

	if (table->starts_known)
		return true;
	table->starts_known = true;
	if (!table_open_module(module, &file))
		return true;
	if (elf_getshdrstrndx(file.elf, &names) == 0)
		while (ok && (scn = elf_nextscn(file.elf, scn))) {
			const char *name, *ident = elf_getident(file.elf, NULL);
			Elf_Data *data;

			if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS ||
			    !(name = elf_strptr(file.elf, names, shdr.sh_name)) ||
			    strcmp(name, ".eh_frame") != 0 ||
			    !(data = elf_rawdata(scn, NULL)) || !data->d_buf || !ident)
				continue;
			ok = table_add_starts(data->d_buf, data->d_size, shdr.sh_addr,
			    ident[EI_DATA] == ELFDATA2MSB, table, err);
		}
	table_elf_close(&file);
	return ok;
}

bool table_read_module(const struct profile_module *module,
    const struct naming_options *options, struct table *table, struct err *err)
{
	struct table_elf file;
	bool ok = true;

	if (table_open_module(module, &file))
		ok = table_read_segments(file.elf, table, err) &&
		     table_read_type(file.elf, SHT_SYMTAB, table, err);
	if (ok && !table->symbols.n) {
		table_forget_names(table);
		ok = table_read_debug(module, options, table, err);
	}
	if (ok && !table->symbols.n && file.elf) {
		table_forget_names(table);
		ok = table_read_type(file.elf, SHT_DYNSYM, table, err);
	}
	table_elf_close(&file);
	return ok;
}

void table_free(struct table *table)
{
	symbols_deinit(&table->symbols);
	symbols_deinit(&table->starts);
	free(table->functions);
	free(table->names);
	free(table->segments);
	*table = (struct table){0};
}
