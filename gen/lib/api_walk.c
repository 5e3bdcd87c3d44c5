/* SPDX-License-Identifier: MIT */
/*
 * The public interface: rows for libeh2sframe-walk, so that files without a section need
 * no conversion on disk. It is not linked with the walker, whose structs it fills in.
 */
#include "gen/lib/api.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* The extra rules in an array; NULL and *n == 0 when there are none. */
static bool walk_extra_take(const struct eh2sframe_result *result,
    struct eh2sframe_extra **extra, size_t *n, struct err *err)
{
	const size_t most = result->conv.report.coverage.n_rules;
	struct eh2sframe_extra *made = most > 0 ? calloc(most, sizeof(*made)) : NULL;

	*extra = made;
	*n = 0;
	if (most > 0 && !made)
		return err_set_nomem(err);
	while (made && eh2sframe_result_extra(result, *n, &made[*n]))
		++*n;
	return true;
}

bool eh2sframe_rows(const struct eh2sframe_file *file,
    struct eh2sframe_walk_module *module, struct eh2sframe_error *error)
{
	struct eh2sframe_result *result;
	struct eh2sframe_extra *extra = NULL;
	struct err err = {0};
	size_t n_extra = 0, size;
	void *bytes;
	bool ok = api_given(file && module, &err);

	if (ok && module->struct_size < sizeof(*module))
		ok = err_set(&err, ERR_USAGE,
		    "struct_size is %zu, and struct eh2sframe_walk_module has %zu bytes",
		    module->struct_size, sizeof(*module));
	if (!ok)
		return api_return(false, &err, error);
	result = eh2sframe_convert(file, NULL, error);
	ok = result && eh2sframe_result_section(result, 0, &bytes, &size, error);
	if (ok && !walk_extra_take(result, &extra, &n_extra, &err)) {
		eh2sframe_free(bytes);
		ok = api_return(false, &err, error);
	}
	if (ok) {
		module->bytes = bytes;
		module->size = size;
		module->address = 0;
		module->extra = extra;
		module->n_extra = n_extra;
	}
	eh2sframe_result_free(result);
	return ok;
}

/* Tells notes that the loader has put into memory from those that are in the file alone. */
static bool walk_is_loaded(
    const Elf64_Phdr *load, size_t n_headers, const Elf64_Phdr *note)
{
	for (; n_headers > 0; n_headers--, load++) {
		const uint64_t offset = note->p_vaddr - load->p_vaddr;

		if (load->p_type == PT_LOAD && load->p_flags & PF_R &&
		    offset <= load->p_filesz &&
		    note->p_filesz <= load->p_filesz - offset &&
		    note->p_offset - load->p_offset == offset)
			return true;
	}
	return false;
}

/*
 * True if the file is still the one that is mapped, and was not replaced since: its
 * headers are the same, and its notes, which hold a hash of the whole file.
 */
static bool walk_is_mapped(
    const uint8_t *elf, size_t size, const struct eh2sframe_walk_module *module)
{
	const Elf64_Ehdr *header = module->header;
	const Elf64_Phdr *note = module->headers;
	size_t n;

	if (size < sizeof(*header) || memcmp(elf, header, sizeof(*header)) != 0)
		return false;
	n = header->e_phnum * sizeof(*note);
	if (header->e_phoff > size || n > size - header->e_phoff ||
	    memcmp(elf + header->e_phoff, note, n) != 0)
		return false;
	for (size_t i = 0; i < header->e_phnum; i++, note++)
		if (note->p_type == PT_NOTE &&
		    walk_is_loaded(module->headers, header->e_phnum, note) &&
		    (note->p_offset > size || note->p_filesz > size - note->p_offset ||
			memcmp(elf + note->p_offset,
			    (const char *)(uintptr_t)(module->bias + note->p_vaddr),
			    note->p_filesz) != 0))
			return false;
	return true;
}

/* The rows of elf, which is in memory, or without it of the file at path, if the module was mapped from that. */
static bool walk_rows(
    const void *elf, size_t size, const char *path, struct eh2sframe_walk_module *module)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_file *file = NULL;
	bool made = options && eh2sframe_options_set(options, "format", "3", NULL);

	if (made)
		file = elf ? eh2sframe_open_memory(elf, size, path, options, NULL)
			   : eh2sframe_open_path(path, options, NULL);
	made = file &&
	       (elf || walk_is_mapped(file->image.bytes, file->image.size, module)) &&
	       eh2sframe_rows(file, module, NULL);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
	return made;
}

bool eh2sframe_rows_module(void *context, struct eh2sframe_walk_module *module)
{
	const Elf64_Ehdr *header;

	(void)context;
	if (!module || module->struct_size < sizeof(*module) || !module->path ||
	    !module->header || !module->headers)
		return false;
	if (!*module->path)
		return walk_rows(NULL, 0, "/proc/self/exe", module);
	if (strchr(module->path, '/'))
		return walk_rows(NULL, 0, module->path, module);
	header = module->header;
	/* No file has the vDSO, but all of it is in memory. Libraries that were found by an empty
	 * directory name have no '/' in their paths either, and are not all there. */
	return (uintptr_t)header == getauxval(AT_SYSINFO_EHDR) &&
	       walk_rows(header,
		   header->e_shoff + (size_t)header->e_shnum * header->e_shentsize,
		   module->path, module);
}
