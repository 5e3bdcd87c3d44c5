/* SPDX-License-Identifier: MIT */
/* Finds the files that are mapped and stay so, and enters their rows. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "walk/never_unmapped.h"
#include "walk/process.h"

/* Limit of loadable segments of one file. */
enum { MOST_SEGMENTS = 8 };

/* All mapped files, in scratch memory. */
struct files {
	struct walk_file *files;
	size_t n, room;
	size_t n_with_rows;
	struct walk_table *draft;
	const struct walk_kept *kept;
};

static const Elf64_Phdr *header_of_type(const struct walk_file *file, uint32_t type)
{
	for (size_t i = 0; i < file->n_headers; i++)
		if (file->headers[i].p_type == type)
			return &file->headers[i];
	return NULL;
}

/* Returns the ELF header in memory, or NULL. */
static const void *elf_header(const struct walk_file *file)
{
	for (size_t i = 0; i < file->n_headers; i++)
		if (file->headers[i].p_type == PT_LOAD &&
		    file->headers[i].p_offset == 0 &&
		    file->headers[i].p_filesz >= sizeof(Elf64_Ehdr))
			return (const void *)(uintptr_t)(file->bias +
							 file->headers[i].p_vaddr);
	return NULL;
}

/* The code of a file, without segments that hold none. Returns how many. */
static size_t walk_code_of(
    const struct walk_file *file, struct walk_range ranges[static MOST_SEGMENTS])
{
	size_t n = 0;

	for (size_t i = 0; i < file->n_headers && n < MOST_SEGMENTS; i++) {
		const Elf64_Phdr *header = &file->headers[i];
		uint64_t start = file->bias + header->p_vaddr;

		if (header->p_type == PT_LOAD && (header->p_flags & PF_X) &&
		    header->p_memsz > 0)
			ranges[n++] = (struct walk_range){
			    .start = start, .end = start + header->p_memsz};
	}
	return n;
}

/* Opens the section for all code of its file; program headers ascend by address. */
static bool walk_open_section(struct eh2sframe_walk_section *section,
    const struct walk_file *file, const void *bytes, size_t size, uint64_t address)
{
	struct walk_range ranges[MOST_SEGMENTS];
	size_t n = walk_code_of(file, ranges);

	return n > 0 && eh2sframe_walk_open(section, bytes, size, address,
			    ranges[0].start, ranges[n - 1].end);
}

/* Opens the section that the file itself has. */
static bool open_own(struct eh2sframe_walk_section *section, const struct walk_file *file)
{
	const Elf64_Phdr *own = header_of_type(file, PT_GNU_SFRAME);
	uint64_t address;

	if (!own || !walk_is_readable(file->headers, file->n_headers, own))
		return false;
	address = file->bias + own->p_vaddr;
	return walk_open_section(
	    section, file, (const void *)(uintptr_t)address, own->p_filesz, address);
}

/* Opens the section that the function of the caller's options finds. */
static bool open_made(
    struct eh2sframe_walk_section *section, const struct walk_file *file)
{
	const struct eh2sframe_walk_options *options = &walk_settings.options;
	struct eh2sframe_walk_module module = {.struct_size = sizeof(module),
	    .path = file->path,
	    .bias = file->bias,
	    .header = elf_header(file),
	    .headers = file->headers};

	if (!options->rows || !module.header ||
	    !options->rows(options->rows_context, &module) ||
	    !walk_open_section(
		section, file, module.bytes, module.size, file->bias + module.address))
		return false;
	eh2sframe_walk_open_extra(section, module.extra, module.n_extra, file->bias);
	return true;
}

static struct eh2sframe_walk_section *walk_open_file(const struct walk_file *file)
{
	struct eh2sframe_walk_section *section =
	    walk_memory(sizeof(*section), _Alignof(struct eh2sframe_walk_section));
	void *index;
	size_t size;

	/* Made rows are never freed, so none are made without room for them. */
	if (!section)
		return NULL;
	if (!open_own(section, file) && !open_made(section, file)) {
		walk_memory_undo(section);
		return NULL;
	}
	size = eh2sframe_walk_index_size(section);
	index = size > 0 ? walk_memory(size, 64) : NULL;
	if (index)
		eh2sframe_walk_index_make(section, index);
	return section;
}

static void set_section(
    struct walk_table *draft, uint64_t start, struct eh2sframe_walk_section *section)
{
	for (size_t i = 0; i < draft->n; i++)
		if (draft->ranges[i].start == start)
			draft->ranges[i].section = section;
}

/* Adds a file that stays. A file that is in the table already was added by an earlier refresh. */
static void note_file(struct files *files, const struct walk_file *file)
{
	struct walk_range ranges[MOST_SEGMENTS];
	size_t n = walk_code_of(file, ranges);
	const struct walk_range *known =
	    n > 0 ? walk_table_find(files->draft, ranges[0].start) : NULL;
	struct eh2sframe_walk_section *section;
	bool added[MOST_SEGMENTS], any = false;

	if (n == 0 || known || !walk_table_has_room(files->draft, n)) {
		files->n_with_rows += known && known->section;
		return;
	}
	/* Enters the code first: what overlaps another file's code would otherwise be
	 * converted by each refresh. */
	for (size_t i = 0; i < n; i++) {
		added[i] = walk_table_insert(files->draft, &ranges[i]);
		any |= added[i];
	}
	if (!any)
		return;
	section = walk_open_file(file);
	files->n_with_rows += section != NULL;
	for (size_t i = 0; i < n; i++)
		if (added[i])
			set_section(files->draft, ranges[i].start, section);
}

static bool is_kept(const struct files *files, const struct walk_file *file)
{
	uint64_t dynamic = walk_file_dynamic(file);

	for (size_t i = 0; i < files->kept->n; i++)
		if (files->kept->dynamic[i] == dynamic)
			return true;
	return false;
}

/* True for files that are there from the beginning to the end of the process; what they need stays, too. */
static bool is_from_start(const struct files *files, const struct walk_file *file)
{
	uintptr_t header = (uintptr_t)elf_header(file);

#ifndef __GLIBC__
	/* musl never unmaps a file. */
	return true;
#endif
	/* The kernel says 0 where it loaded no interpreter. */
	return file->path[0] == 0 || is_kept(files, file) ||
	       (header && (header == getauxval(AT_SYSINFO_EHDR) ||
			      header == getauxval(AT_BASE)));
}

static int collect_file(struct dl_phdr_info *info, size_t size, void *context)
{
	struct files *files = context;
	struct walk_file *file = &files->files[files->n];

	(void)size;
	if (files->n == files->room)
		return 1;
	*file = (struct walk_file){.path = info->dlpi_name ? info->dlpi_name : "",
	    .bias = info->dlpi_addr,
	    .headers = info->dlpi_phdr,
	    .n_headers = info->dlpi_phnum};
	file->stays = is_from_start(files, file);
	files->n++;
	return 0;
}

/* The loader lists the program first. Its lock is held until this function returns, so that
 * no file goes away meanwhile. */
static int collect_files(struct dl_phdr_info *info, size_t size, void *context)
{
	struct files *files = context;
	struct eh2sframe_walk_section section;
	size_t n = 0;

	(void)info;
	(void)size;
	dl_iterate_phdr(collect_file, files);
	walk_files_follow(files->files, files->n);
	for (size_t i = 0; i < files->n; i++)
		if (files->files[i].stays)
			files->files[n++] = files->files[i];
		else
			files->n_with_rows += open_own(&section, &files->files[i]);
	files->n = n;
	return 1;
}

/* Names of files, one after the other, each with a zero behind it. */
struct names {
	char *text;
	size_t size, room, n;
};

static size_t name_size(const struct dl_phdr_info *info)
{
	return info->dlpi_name && info->dlpi_name[0] ? strlen(info->dlpi_name) + 1 : 0;
}

static int measure_name(struct dl_phdr_info *info, size_t size, void *context)
{
	struct names *names = context;

	(void)size;
	names->room += name_size(info);
	names->n++;
	return 0;
}

static int collect_name(struct dl_phdr_info *info, size_t size, void *context)
{
	struct names *names = context;
	size_t length = name_size(info);

	(void)size;
	if (length <= names->room - names->size) {
		memcpy(names->text + names->size, info->dlpi_name, length);
		names->size += length;
	}
	return 0;
}

/* Keeps files only after the loader has listed them, because that cannot be done meanwhile. If
 * a file goes away in between, the loader says that it does not have it. */
void walk_modules_keep(struct walk_kept *kept)
{
	struct names names = {0};

	dl_iterate_phdr(measure_name, &names);
	names.text = malloc(names.room + 1);
	kept->dynamic = calloc(names.n + 1, sizeof(*kept->dynamic));
	if (names.text && kept->dynamic)
		dl_iterate_phdr(collect_name, &names);
	for (size_t at = 0; at < names.size && kept->n < names.n;
	     at += strlen(names.text + at) + 1) {
		void *handle =
		    dlopen(names.text + at, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
		struct link_map *map;

		if (!handle)
			continue;
		if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0)
			kept->dynamic[kept->n++] = (uintptr_t)map->l_ld;
		dlclose(handle);
	}
	free(names.text);
}

/* Static programs have the vDSO, too, but some loaders do not list it. */
static void note_vdso(struct files *files)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	struct walk_file vdso = {.path = "linux-vdso.so.1", .stays = true};
	const Elf64_Phdr *load;

	if (!header || files->n == files->room)
		return;
	vdso.headers = (const Elf64_Phdr *)((const char *)header + header->e_phoff);
	vdso.n_headers = header->e_phnum;
	load = header_of_type(&vdso, PT_LOAD);
	for (size_t i = 0; i < files->n; i++)
		if (elf_header(&files->files[i]) == header)
			return;
	if (load) {
		vdso.bias = (uintptr_t)header - (load->p_vaddr - load->p_offset);
		files->files[files->n++] = vdso;
	}
}

size_t walk_modules_note(
    struct walk_table *draft, const struct walk_kept *kept, void *scratch, size_t size)
{
	struct files files = {.draft = draft,
	    .kept = kept,
	    .files = scratch,
	    .room = size / sizeof(*files.files)};

	dl_iterate_phdr(collect_files, &files);
	note_vdso(&files);
	for (size_t i = 0; i < files.n; i++)
		note_file(&files, &files.files[i]);
	return files.n_with_rows;
}
