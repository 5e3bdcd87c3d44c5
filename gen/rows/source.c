/* SPDX-License-Identifier: MIT */
/* Reads what a conversion and a proof both start from. */
#include "gen/rows/source.h"

#include <inttypes.h>

#include "gen/elf/object/object.h"
#include "sframe/format.h"

/* Sorting the names of a large library costs as much as interpreting its CFI. */
static bool source_wants_names(const struct options *options)
{
	return options->verbosity > 0 || options->exclude_symbols.n || options->names;
}

/* No FDE at all: is that damage, or is there simply nothing? */
static bool source_is_empty(const struct source *source, struct err *err)
{
	const struct cfi_frames *frames = &source->frames;

	if (frames->n_fdes)
		return true;
	for (int i = 0; i <= CFI_DIAG_LAST_DAMAGE; i++)
		if (frames->diag_counts[i])
			return err_set(err, ERR_MALFORMED,
			    "no readable FDE; first: %s, .eh_frame+0x%" PRIx64
			    "; rebuild the file or take its CFI from elsewhere",
			    frames->diags[0].text, frames->diags[0].off);
	return err_set(err, ERR_NOTHING, "no CFI: .eh_frame has no FDE, nothing to do");
}

bool source_read(const struct image *image, const struct image *cfi_image,
    const struct options *options, struct source *source, struct err *err)
{
	bool found;

	*source = (struct source){0};
	source->arch = arch_find(image->ehdr.e_machine, image->big_endian);
	source->policy = (struct policy){source->arch, image, &source->symbols, options};
	if (image != cfi_image && (image->object || cfi_image->object))
		return err_set(err, ERR_UNSUPPORTED,
		    "--cfi is for linked files: the addresses of two relocatable "
		    "objects mean nothing to each other");
	if (!image_eh_frame(cfi_image, &source->cfi, &found, &source->hdr_size, err))
		return false;
	if (!found)
		return err_set(err, ERR_NOTHING, "no CFI: no .eh_frame, nothing to do");
	if (source_wants_names(options) && !symbols_read(image, &source->symbols, err))
		return false;
	if (cfi_frames_read(&source->cfi, &source->frames, err) &&
	    (!image->object || object_settle(image, &source->frames, err)) &&
	    source_is_empty(source, err) &&
	    cfi_ranges_read(&source->frames, &source->ranges, err))
		return true;
	source_deinit(source);
	return false;
}

void source_forget(struct source *source)
{
	cfi_ranges_deinit(&source->ranges);
	cfi_frames_forget(&source->frames);
}

void source_deinit(struct source *source)
{
	symbols_deinit(&source->symbols);
	cfi_ranges_deinit(&source->ranges);
	cfi_frames_deinit(&source->frames);
	*source = (struct source){0};
}

bool source_defines(const struct source *source, uint8_t version, struct err *err)
{
	const struct arch *arch = source->arch;
	const struct sf_abi *abi = sf_abi_find(arch->sframe_abi);

	return version >= abi->since ||
	       err_set(err, ERR_UNSUPPORTED,
		   "SFrame version %u is not defined for %s; --format=%u is", version,
		   arch->name, abi->since);
}
