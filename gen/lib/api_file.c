/* SPDX-License-Identifier: MIT */
/* The public interface: facts about an open file, its segments and its functions. */
#include <string.h>

#include "gen/lib/api.h"
#include "gen/sources/symbols_read.h"

bool api_give(void *to, size_t to_size, const void *from, size_t size)
{
	size_t n = to_size < size ? to_size : size;

	/* Members end at multiples of 8, or two of 4 bytes do together. */
	if (n <= sizeof(size_t) || to_size % sizeof(uint64_t) != 0)
		return false;
	memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t),
	    n - sizeof(size_t));
	return true;
}

bool eh2sframe_file_info(const struct eh2sframe_file *file, struct eh2sframe_info *info)
{
	struct eh2sframe_info made = {0};
	struct image_build_id id;

	if (!file || !info)
		return false;
	made.entry = file->image.ehdr.e_entry;
	if (image_build_id(&file->image, &id)) {
		made.build_id = id.bytes;
		made.build_id_size = id.size;
	}
	return api_give(info, info->struct_size, &made, sizeof(made));
}

bool eh2sframe_file_segment(
    const struct eh2sframe_file *file, size_t i, struct eh2sframe_segment *segment)
{
	struct eh2sframe_segment made = {0};
	const GElf_Phdr *phdr;

	if (!file || !segment || i >= file->image.n_phdrs)
		return false;
	phdr = &file->image.phdrs[i];
	made.type = phdr->p_type;
	made.flags = phdr->p_flags;
	made.offset = phdr->p_offset;
	made.file_size = phdr->p_filesz;
	made.address = phdr->p_vaddr;
	made.memory_size = phdr->p_memsz;
	return api_give(segment, segment->struct_size, &made, sizeof(made));
}

static bool api_functions(const struct image *image, enum eh2sframe_origin origin,
    struct symbols *symbols, struct err *err)
{
	switch (origin) {
	case EH2SFRAME_ORIGIN_SYMBOLS:
		return symbols_read_tables(image, symbols, err);
	case EH2SFRAME_ORIGIN_EH_FRAME:
		return symbols_read_starts(image, symbols, err);
	case EH2SFRAME_ORIGIN_PLT:
		return symbols_read_plt(image, symbols, err);
	}
	return err_set(err, ERR_USAGE, "unknown origin %d", (int)origin);
}

bool eh2sframe_file_functions(const struct eh2sframe_file *file,
    enum eh2sframe_origin origin, eh2sframe_symbol_fn *give, void *context,
    struct eh2sframe_error *error)
{
	struct eh2sframe_symbol made = {.struct_size = sizeof(made)};
	struct symbols symbols = {0};
	struct err err = {0};
	bool ok = api_given(file && give, &err) &&
		  api_functions(&file->image, origin, &symbols, &err);

	if (symbols.dynamic)
		made.flags = EH2SFRAME_SYMBOL_DYNAMIC;
	for (size_t i = 0; ok && i < symbols.n; i++) {
		const struct symbol *symbol = &symbols.list[i];

		made.start = symbol->addr;
		made.size = symbol->size;
		made.name = *symbol->name ? symbol->name : NULL;
		if (!give(context, &made))
			break;
	}
	symbols_deinit(&symbols);
	return api_return(ok, &err, error);
}
