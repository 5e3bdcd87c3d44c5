/* SPDX-License-Identifier: MIT */
/* Reads what a conversion and a proof both start from. */
#include "gen/rows/cfi_input.h"

#include <inttypes.h>

#include "gen/elf/object/object.h"
#include "sframe/format.h"

/* Sorting the names of a large library costs as much as interpreting its CFI. */
static bool cfi_input_wants_names(const struct options *options)
{
	return options->verbosity > 0 || options->exclude_symbols.n || options->names;
}

/* True if a source that the file has cannot be used; err says why. */
static bool cfi_input_left_out(const struct cfi_sources *sources, struct err *err)
{
	for (int i = 0; i < N_SOURCES; i++) {
		if (!sources->list[i].left_out.kind)
			continue;
		*err = sources->list[i].left_out;
		return true;
	}
	return false;
}

bool cfi_input_can_derive(const struct image *image, struct err *err)
{
	return !image->object || err_set(err, ERR_UNSUPPORTED,
				     "--derive (--source=derived) is for linked files, "
				     "because the code of an object is not complete; "
				     "convert the linked file");
}

/* No FDE at all: is that damage, or is there simply nothing? */
static bool cfi_input_has_fdes(const struct cfi_input *input, struct err *err)
{
	const struct cfi_frames *frames = &input->frames;
	const char *section;
	uint64_t into;

	if (frames->n_fdes)
		return true;
	/* Explains first why an object cannot have derived rows, which were all that it could get. */
	if (options_derives(input->policy.options) &&
	    !cfi_input_can_derive(input->policy.image, err))
		return false;
	if (cfi_input_left_out(&input->sources, err))
		return false;
	for (size_t i = 0; i < frames->n_diags; i++) {
		const struct cfi_diag *diag = &frames->diags[i];

		if (diag->kind > CFI_DIAG_LAST_DAMAGE)
			continue;
		section = cfi_section_at(&frames->section, diag->off, &into);
		return err_set(err, ERR_MALFORMED,
		    "no FDE can be read; the first problem: %s, %s+0x%" PRIx64
		    "; rebuild the file, or name its debug file (--debug-file)",
		    diag->text, section, into);
	}
	if (!frames->section.size && input->policy.options->sources != SOURCE_DEFAULT)
		return err_set(err, ERR_NOTHING,
		    "no CFI: the file has none of what --source names, nothing to do");
	if (!frames->section.size)
		return err_set(err, ERR_NOTHING,
		    "no CFI: no .eh_frame, no .debug_frame and no Go table, nothing to "
		    "do");
	return err_set(err, ERR_NOTHING, "no CFI: %s has no FDE, nothing to do",
	    cfi_section_at(&frames->section, 0, &into));
}

/* Names the file at fault, where the CFI comes from another file than the code. */
static bool cfi_input_blame(
    const struct cfi_input *input, const struct image *cfi_image, struct err *err)
{
	const enum err_kind kind = err->kind;

	if (input->policy.image == cfi_image || kind == ERR_NOMEM)
		return false;
	if (kind == ERR_NOTHING)
		return err_set(err, kind,
		    "--cfi=%.200s has no CFI that can be compared; name the file that "
		    "was converted or its original",
		    cfi_image->path);
	return err_prefix(err, "--cfi=%.200s", cfi_image->path);
}

/* True if there is an FDE; else err says what keeps all CFI from use. */
static bool cfi_input_usable(
    const struct cfi_input *input, const struct image *cfi_image, struct err *err)
{
	return cfi_input_has_fdes(input, err) || cfi_input_blame(input, cfi_image, err);
}

/* Counts what each source has; always true. */
static bool cfi_input_count(struct cfi_input *input)
{
	const struct cfi_frames *frames = &input->frames;
	const struct cfi_section *section = &frames->section;

	for (size_t i = 0; i < frames->n_cies; i++)
		input->counts[cfi_section_part(section, frames->cies[i].off)->source]
		    .n_cies++;
	for (size_t i = 0; i < frames->n_fdes; i++)
		input->counts[cfi_fde_source(frames, &frames->fdes[i])].n_fdes++;
	return true;
}

bool cfi_input_read(const struct image *image, const struct image *cfi_image,
    const struct options *options, struct cfi_input *input, struct err *err)
{
	/* Code without CFI can have derived rows. */
	const bool bare = options_derives(options) && !image->object;

	*input = (struct cfi_input){0};
	input->arch = arch_find(image->ehdr.e_machine, image->big_endian);
	input->policy = (struct policy){.arch = input->arch,
	    .image = image,
	    .symbols = &input->symbols,
	    .options = options,
	    .corrections = &input->corrections,
	    .derived = &input->derived};
	if (image != cfi_image && (image->object || cfi_image->object))
		return err_set(err, ERR_UNSUPPORTED,
		    "--cfi is for linked files: the addresses of two relocatable objects "
		    "cannot be compared");
	if (!cfi_sources_read(cfi_image, options, &input->sources, err))
		return cfi_input_blame(input, cfi_image, err);
	if ((input->sources.section.size || bare ||
		cfi_input_usable(input, cfi_image, err)) &&
	    (!cfi_input_wants_names(options) ||
		symbols_read(image, &input->symbols, err)) &&
	    (policy_find_excluded(&input->policy) || err_set_nomem(err)) &&
	    cfi_frames_read(&input->sources.section, &input->frames, err) &&
	    (!image->object || object_settle(image, &input->frames, false, err)) &&
	    cfi_sources_settle(image, &input->sources, &input->frames, err) &&
	    cfi_input_count(input) && (bare || cfi_input_usable(input, cfi_image, err)) &&
	    cfi_ranges_read(&input->frames, &input->ranges, err))
		return true;
	cfi_input_deinit(input);
	return false;
}

void cfi_input_forget(struct cfi_input *input)
{
	cfi_ranges_deinit(&input->ranges);
	cfi_frames_forget(&input->frames);
}

void cfi_input_deinit(struct cfi_input *input)
{
	policy_deinit(&input->policy);
	corrections_deinit(&input->corrections);
	derived_deinit(&input->derived);
	symbols_deinit(&input->symbols);
	cfi_ranges_deinit(&input->ranges);
	cfi_frames_deinit(&input->frames);
	cfi_sources_deinit(&input->sources);
	*input = (struct cfi_input){0};
}

bool cfi_input_defines(
    const struct cfi_input *input, const struct options *options, struct err *err)
{
	const struct arch *arch = input->arch;
	const struct sf_abi *abi = sf_abi_find(arch->sframe_abi);
	uint8_t version = options->format;

	if (version < abi->since)
		return err_set(err, ERR_UNSUPPORTED,
		    "SFrame version %u is not defined for %s; give --format=%u", version,
		    arch->name, abi->since);
	if (options->reader &&
	    !reader_reads(options->reader->bit, version, arch->sframe_abi))
		return err_set(err, ERR_UNSUPPORTED,
		    "--for=%s: it does not read version %u for %s; give another --format",
		    options->reader->name, version, arch->name);
	return true;
}
