/* SPDX-License-Identifier: MIT */
/* Puts .debug_frame behind .eh_frame, so that one walk and one list of ranges serve both. */
#include "gen/rows/cfi_sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "gen/elf/object/object.h"
#include "gen/input/debug_file.h"

static bool wants(const struct options *options, enum source source)
{
	return options->sources & SOURCE_BIT(source);
}

static const char *debug_dir(const struct options *options)
{
	return options->debug_dir ? options->debug_dir : OPTIONS_DEBUG_DIR;
}

/* Room for size bytes behind .eh_frame, where they are to be written; NULL: no memory. */
static uint8_t *sources_extend(struct cfi_sources *sources, size_t size)
{
	struct cfi_section *section = &sources->section;
	const size_t eh_size = section->size;

	if (eh_size > SIZE_MAX - size)
		return NULL;
	sources->joined = malloc(eh_size + size);
	if (!sources->joined)
		return NULL;
	if (eh_size)
		memcpy(sources->joined, section->data, eh_size);
	section->data = sources->joined;
	section->size = eh_size + size;
	section->debug_size = size;
	return sources->joined + eh_size;
}

/* Takes .debug_frame away again. */
static void sources_cut(struct cfi_section *section)
{
	section->size -= section->debug_size;
	section->debug_size = 0;
}

/* Of an object: the copy with relocations applied. */
static bool sources_add_object(
    const struct object *object, struct cfi_sources *sources, struct err *err)
{
	uint8_t *to;

	if (object->debug.err.kind) {
		*err = object->debug.err;
		return false;
	}
	if (!object->debug.size)
		return true;
	to = sources_extend(sources, object->debug.size);
	if (!to)
		return err_set_nomem(err);
	memcpy(to, object->debug.data, object->debug.size);
	return true;
}

static bool sources_add_file(
    const struct debug_file *file, struct cfi_sources *sources, struct err *err)
{
	const char *path = file->separate.path;
	uint8_t *to;

	if (!file->frame.size)
		return true;
	to = sources_extend(sources, file->frame.size);
	if (!to)
		return err_set_nomem(err);
	if (!image_debug_frame_read(file->image, &file->frame, to, err)) {
		sources_cut(&sources->section);
		return path ? err_prefix(err, "%.200s", path) : false;
	}
	sources->debug_path = path ? strdup(path) : NULL;
	return !path || sources->debug_path || err_set_nomem(err);
}

static bool sources_add_debug(const struct image *image, const struct options *options,
    struct cfi_sources *sources, struct err *err)
{
	struct debug_file file;
	bool ok;

	if (image->object && options->debug_file)
		return err_set(err, ERR_UNSUPPORTED,
		    "%.200s: debug files of relocatable objects are not read",
		    options->debug_file);
	if (image->object)
		return sources_add_object(image->object, sources, err);
	ok =
	    debug_file_open(image, options->debug_file, debug_dir(options), &file, err) &&
	    sources_add_file(&file, sources, err);
	debug_file_close(&file);
	return ok;
}

bool cfi_sources_read(const struct image *image, const struct options *options,
    struct cfi_sources *sources, struct err *err)
{
	bool found;

	*sources = (struct cfi_sources){
	    .section = {.big_endian = image->big_endian, .addr_size = 8}};
	if (wants(options, SOURCE_EH_FRAME) &&
	    !image_eh_frame(image, &sources->section, &found, &sources->hdr_size, err))
		return false;
	if (!wants(options, SOURCE_DEBUG_FRAME) ||
	    sources_add_debug(image, options, sources, &sources->left_out))
		return true;
	if (sources->left_out.kind != ERR_NOMEM)
		return true;
	cfi_sources_deinit(sources);
	return err_set_nomem(err);
}

void cfi_sources_deinit(struct cfi_sources *sources)
{
	free(sources->joined);
	free(sources->debug_path);
	*sources = (struct cfi_sources){0};
}

bool cfi_sources_any(const struct image *image, const struct options *options)
{
	struct err ignored = {0};
	struct cfi_section section;
	struct debug_file file;
	bool found = false;

	if (wants(options, SOURCE_EH_FRAME) &&
	    (!image_eh_frame(image, &section, &found, NULL, &ignored) || found))
		return true;
	if (!wants(options, SOURCE_DEBUG_FRAME))
		return false;
	if (image->object)
		return image->object->debug.size || image->object->debug.err.kind;
	found = !debug_file_open(
		    image, options->debug_file, debug_dir(options), &file, &ignored) ||
		file.frame.size;
	debug_file_close(&file);
	return found;
}

/* Executable sections, ascending; those that touch are joined. */
struct code_areas {
	struct code_area {
		uint64_t start, end; /* addresses; end is exclusive */
	} * list;
	size_t n;
};

static bool code_areas_read(const struct image *image, struct code_areas *areas)
{
	size_t n = 0;

	areas->n = 0;
	areas->list = calloc(image->n_sections + 1, sizeof(*areas->list));
	if (!areas->list)
		return false;
	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		uint64_t end;

		if (hdr->sh_flags & SHF_ALLOC && hdr->sh_flags & SHF_EXECINSTR &&
		    !__builtin_add_overflow(hdr->sh_addr, hdr->sh_size, &end))
			areas->list[n++] = (struct code_area){hdr->sh_addr, end};
	}
	if (n)
		qsort(areas->list, n, sizeof(*areas->list), search_order);
	for (size_t i = 0; i < n; i++) {
		struct code_area *last = areas->n ? &areas->list[areas->n - 1] : NULL;
		const struct code_area area = areas->list[i];

		if (!last || area.start > last->end)
			areas->list[areas->n++] = area;
		else if (area.end > last->end)
			last->end = area.end;
	}
	return true;
}

/* Without section headers, segments tell what is code. */
static bool code_areas_have(
    const struct code_areas *areas, const struct image *image, const struct cfi_fde *fde)
{
	size_t after;

	if (!areas->n)
		return image_is_code(image, fde->pc, fde->range);
	after = search_list_above(areas->list, areas->n, start, fde->pc);
	return after && fde->pc + fde->range <= areas->list[after - 1].end;
}

static bool settle_linked(
    const struct image *image, struct cfi_frames *frames, struct err *err)
{
	struct code_areas areas;
	size_t n = 0;

	if (!code_areas_read(image, &areas))
		return err_set_nomem(err);
	for (size_t i = 0; i < frames->n_fdes; i++) {
		const struct cfi_fde *fde = &frames->fdes[i];

		if (cfi_fde_is_debug(frames, fde) && !code_areas_have(&areas, image, fde))
			frames->diag_counts[CFI_DIAG_DISCARDED]++;
		else
			frames->fdes[n++] = *fde;
	}
	frames->n_fdes = n;
	free(areas.list);
	return true;
}

bool cfi_sources_settle(const struct image *image, struct cfi_sources *sources,
    struct cfi_frames *frames, struct err *err)
{
	size_t n = 0;

	if (!sources->section.debug_size)
		return true;
	if (!image->object)
		return settle_linked(image, frames, err);
	if (object_settle(image, frames, true, &sources->left_out))
		return true;
	while (n < frames->n_fdes && !cfi_fde_is_debug(frames, &frames->fdes[n]))
		n++;
	frames->n_fdes = n;
	return true;
}
