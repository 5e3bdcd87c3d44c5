/* SPDX-License-Identifier: MIT */
/* Puts records of Go's table before .eh_frame, and .debug_frame behind it, so that all stages read one list of
 * FDEs. */
#include "gen/sources/cfi_sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "gen/elf/object/object.h"
#include "gen/sources/debug_file.h"

static bool wants(const struct options *options, enum source source)
{
	return options->sources & SOURCE_BIT(source);
}

static const char *debug_dir(const struct options *options)
{
	return options->debug_dir ? options->debug_dir : OPTIONS_DEBUG_DIR;
}

/* Makes the last size bytes of the section a part. */
static void sources_part(
    struct cfi_section *section, enum source source, const char *name, size_t size)
{
	if (size)
		section->parts[section->n_parts++] = (struct cfi_part){.name = name,
		    .off = section->size - size,
		    .size = size,
		    .source = source,
		    .debug = source == SOURCE_DEBUG_FRAME};
}

/* Makes room for size bytes of .debug_frame behind all others, and returns where they are
 * to be written; NULL: no memory. */
static uint8_t *sources_extend(struct cfi_sources *sources, size_t size)
{
	struct cfi_section *section = &sources->section;
	const size_t before = section->size;
	uint8_t *joined;

	if (before > SIZE_MAX - size)
		return NULL;
	joined = malloc(before + size);
	if (!joined)
		return NULL;
	if (before)
		memcpy(joined, section->data, before);
	free(sources->joined);
	sources->joined = joined;
	section->data = sources->joined;
	section->size = before + size;
	sources_part(section, SOURCE_DEBUG_FRAME, ".debug_frame", size);
	sources->list[SOURCE_DEBUG_FRAME].size = size;
	return sources->joined + before;
}

/* Puts .eh_frame behind the records of Go's table, which are its own then. */
static bool sources_add_go(
    const struct image *image, struct cfi_sources *sources, struct err *err)
{
	struct cfi_section *section = &sources->section;
	struct wr *records = &sources->go.cfi.records;
	const size_t size = section->size;

	if (!image_go_source(image, &sources->go, err))
		return false;
	if (!sources->go.section)
		return true;
	section->addr -= records->size;
	section->size = records->size;
	sources_part(section, SOURCE_GO, "go", records->size);
	if (size)
		wr_bytes(records, section->data, size);
	if (records->failed)
		return err_set_nomem(err);
	section->data = sources->joined = records->data;
	section->size = records->size;
	*records = (struct wr){0};
	sources->list[SOURCE_GO].size = sources->go.size;
	return true;
}

/* Takes .debug_frame away again. */
static void sources_cut(struct cfi_sources *sources)
{
	struct cfi_section *section = &sources->section;

	section->size = section->parts[--section->n_parts].off;
	sources->list[SOURCE_DEBUG_FRAME].size = 0;
}

/* Adds an object's .debug_frame: the copy with relocations applied. */
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

	if (!file->frames.size)
		return true;
	to = sources_extend(sources, file->frames.size);
	if (!to)
		return err_set_nomem(err);
	if (!image_debug_frames_read(file->image, &file->frames, to, err)) {
		sources_cut(sources);
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
		    "%.200s: debug files of relocatable objects are not read; convert "
		    "the object before its debug sections are stripped",
		    options->debug_file);
	if (image->object)
		return sources_add_object(image->object, sources, err);
	ok =
	    debug_file_open(image, options->debug_file, debug_dir(options), &file, err) &&
	    sources_add_file(&file, sources, err);
	debug_file_close(&file);
	return ok;
}

/*
 * Go's compiler writes into .debug_frame that no function saves the frame pointer, which is wrong of most. Go's
 * table says where the instructions do. Without it those rows are not to be had.
 */
static bool sources_check_debug(const struct image *image, const struct options *options,
    struct cfi_sources *sources, struct err *err)
{
	if (!cfi_section_debug(&sources->section) || !wants(options, SOURCE_GO) ||
	    sources->go.section || !image_is_go(image))
		return true;
	sources_cut(sources);
	return err_set(err, ERR_UNSUPPORTED,
	    "Go's compiler wrote .debug_frame, and its rules for the frame pointer are "
	    "wrong where Go's table is not read; --source=debug_frame takes them as they "
	    "are");
}

bool cfi_sources_read(const struct image *image, const struct options *options,
    struct cfi_sources *sources, struct err *err)
{
	struct cfi_section *section = &sources->section;
	struct cfi_source *go = &sources->list[SOURCE_GO],
			  *debug = &sources->list[SOURCE_DEBUG_FRAME];
	size_t eh_size;
	bool found;

	*sources = (struct cfi_sources){
	    .section = {.big_endian = image->big_endian, .addr_size = 8}};
	if (wants(options, SOURCE_EH_FRAME) &&
	    !image_eh_frame(image, section, &found, &sources->hdr_size, err))
		return false;
	eh_size = section->size;
	sources->list[SOURCE_EH_FRAME].size = eh_size - section->gaps;
	if (wants(options, SOURCE_GO) && !sources_add_go(image, sources, &go->left_out) &&
	    go->left_out.kind == ERR_NOMEM) {
		cfi_sources_deinit(sources);
		return err_set_nomem(err);
	}
	sources_part(section, SOURCE_EH_FRAME, ".eh_frame", eh_size);
	if (wants(options, SOURCE_DEBUG_FRAME) &&
	    !(sources_add_debug(image, options, sources, &debug->left_out) &&
		sources_check_debug(image, options, sources, &debug->left_out)) &&
	    debug->left_out.kind == ERR_NOMEM) {
		cfi_sources_deinit(sources);
		return err_set_nomem(err);
	}
	return true;
}

void cfi_sources_deinit(struct cfi_sources *sources)
{
	free(sources->joined);
	free(sources->debug_path);
	image_go_source_deinit(&sources->go);
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
	if (wants(options, SOURCE_GO) && image_has_go_source(image))
		return true;
	if (!wants(options, SOURCE_DEBUG_FRAME))
		return false;
	if (image->object)
		return image->object->debug.size || image->object->debug.err.kind;
	found = !debug_file_open(
		    image, options->debug_file, debug_dir(options), &file, &ignored) ||
		file.frames.size;
	debug_file_close(&file);
	return found;
}

/* Drops FDEs in front of the first code. Others that are not in code stay, and are
 * refused as in .eh_frame. */
static void settle_linked(const struct image *image, struct cfi_frames *frames)
{
	const uint64_t start = image_first_code(image);
	size_t n = 0;

	for (size_t i = 0; i < frames->n_fdes; i++) {
		const struct cfi_fde *fde = &frames->fdes[i];

		if (cfi_fde_is_debug(frames, fde) && fde->pc < start)
			frames->diag_counts[CFI_DIAG_DISCARDED]++;
		else
			frames->fdes[n++] = *fde;
	}
	frames->n_fdes = n;
}

struct code_area {
	uint64_t start, end; /* addresses; end is exclusive */
};

/* Code that .eh_frame describes, ascending; parts that touch are joined. */
struct code_areas {
	struct code_area *list;
	size_t n;
};

/* True if one of the areas has code of the FDE. */
static bool code_areas_touch(const struct code_areas *areas, const struct cfi_fde *fde)
{
	size_t after = search_list_above(areas->list, areas->n, start, fde->pc);

	return (after && areas->list[after - 1].end > fde->pc) ||
	       (after < areas->n && areas->list[after].start < fde->pc + fde->range);
}

/* Takes out Go's FDEs of code that .eh_frame describes. */
static bool settle_go(struct cfi_frames *frames, struct err *err)
{
	struct code_areas areas = {
	    .list = calloc(frames->n_fdes + 1, sizeof(*areas.list))};
	size_t n = 0;

	if (!areas.list)
		return err_set_nomem(err);
	for (size_t i = 0; i < frames->n_fdes; i++) {
		const struct cfi_fde *fde = &frames->fdes[i];

		if (cfi_fde_source(frames, fde) == SOURCE_EH_FRAME)
			areas.list[n++] =
			    (struct code_area){fde->pc, fde->pc + fde->range};
	}
	areas.n = search_join(areas.list, sizeof(*areas.list), n);
	n = 0;
	for (size_t i = 0; i < frames->n_fdes; i++) {
		const struct cfi_fde *fde = &frames->fdes[i];

		if (cfi_fde_source(frames, fde) != SOURCE_GO ||
		    !code_areas_touch(&areas, fde))
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

	if (sources->go.section && !settle_go(frames, err))
		return false;
	if (!cfi_section_debug(&sources->section))
		return true;
	if (!image->object) {
		settle_linked(image, frames);
		return true;
	}
	if (object_settle(
		image, frames, true, &sources->list[SOURCE_DEBUG_FRAME].left_out))
		return true;
	while (n < frames->n_fdes && !cfi_fde_is_debug(frames, &frames->fdes[n]))
		n++;
	frames->n_fdes = n;
	return true;
}
