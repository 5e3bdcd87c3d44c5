/* SPDX-License-Identifier: MIT */
/* Follows what the loader needs from file to file. */
#include <string.h>

#include "walk/never_unmapped.h"

/* A dynamic section, as far as it is of interest here. */
struct dynamic {
	const Elf64_Dyn *entries;
	size_t n;
	const char *strings;
	uint64_t strings_size;
	uint64_t name;
	bool has_name;
};

uint64_t walk_file_dynamic(const struct walk_file *file)
{
	for (size_t i = 0; i < file->n_headers; i++)
		if (file->headers[i].p_type == PT_DYNAMIC)
			return file->bias + file->headers[i].p_vaddr;
	return 0;
}

static bool walk_is_loaded(const struct walk_file *file, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < file->n_headers; i++) {
		const Elf64_Phdr *header = &file->headers[i];
		uint64_t offset = address - (file->bias + header->p_vaddr);

		if (header->p_type == PT_LOAD && offset < header->p_memsz &&
		    size <= header->p_memsz - offset)
			return true;
	}
	return false;
}

static struct dynamic dynamic_of(const struct walk_file *file)
{
	struct dynamic dynamic = {0};
	uint64_t address = walk_file_dynamic(file), strings = 0;

	if (address == 0)
		return dynamic;
	dynamic.entries = (const Elf64_Dyn *)(uintptr_t)address;
	for (const Elf64_Dyn *entry = dynamic.entries; entry->d_tag != DT_NULL; entry++) {
		dynamic.n++;
		if (entry->d_tag == DT_STRTAB)
			strings = entry->d_un.d_ptr;
		else if (entry->d_tag == DT_STRSZ)
			dynamic.strings_size = entry->d_un.d_val;
		else if (entry->d_tag == DT_SONAME) {
			dynamic.name = entry->d_un.d_val;
			dynamic.has_name = true;
		}
	}
	/* glibc adds the bias in place, except in the vDSO; musl does not. */
	if (!walk_is_loaded(file, strings, dynamic.strings_size))
		strings += file->bias;
	if (walk_is_loaded(file, strings, dynamic.strings_size))
		dynamic.strings = (const char *)(uintptr_t)strings;
	else
		dynamic.strings_size = 0;
	return dynamic;
}

/* Returns a string of the table; NULL: it is outside. */
static const char *string_at(const struct dynamic *dynamic, uint64_t offset)
{
	if (offset >= dynamic->strings_size ||
	    !memchr(dynamic->strings + offset, 0, dynamic->strings_size - offset))
		return NULL;
	return dynamic->strings + offset;
}

/* True if the loader takes file for what needs this name: by its own name, or by its path. */
static bool has_name(const struct walk_file *file, const char *name)
{
	struct dynamic dynamic = dynamic_of(file);
	const char *own = dynamic.has_name ? string_at(&dynamic, dynamic.name) : NULL;
	const char *base = strrchr(file->path, '/');

	return (own && strcmp(own, name) == 0) || strcmp(file->path, name) == 0 ||
	       (base && strcmp(base + 1, name) == 0);
}

static void follow(
    struct walk_file *files, size_t n, const struct dynamic *dynamic, bool *more)
{
	for (size_t i = 0; i < dynamic->n; i++) {
		const char *name;

		if (dynamic->entries[i].d_tag != DT_NEEDED)
			continue;
		name = string_at(dynamic, dynamic->entries[i].d_un.d_val);
		/* Follows the first file of the name, as the loader does: a plug-in may
		 * have the name, too. */
		for (size_t j = 0; name && j < n; j++)
			if (has_name(&files[j], name)) {
				*more |= !files[j].stays;
				files[j].stays = true;
				break;
			}
	}
}

void walk_files_follow(struct walk_file *files, size_t n)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++)
			if (files[i].stays && !files[i].followed) {
				struct dynamic dynamic = dynamic_of(&files[i]);

				files[i].followed = true;
				follow(files, n, &dynamic, &more);
			}
	}
}
