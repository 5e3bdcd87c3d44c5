/* SPDX-License-Identifier: MIT */
/*
 * The public interface: what was made, piece by piece. Rows are those of the model and
 * not of the encoded section, so they are the same for every version and need no
 * decoding; that the two say the same is for the proof, and for tests/lib/rows.c.
 */
#include "lib/api.h"

#include <string.h>

#include "gen/arch/arch.h"
#include "gen/elf/object/object.h"

/*
 * A struct of the caller's may be shorter than the one here, when it was compiled against
 * an earlier version, or longer; its first member, its size, is left alone.
 */
static bool api_give(void *to, size_t to_size, const void *from, size_t size)
{
	size_t n = to_size < size ? to_size : size;

	if (n <= sizeof(size_t))
		return false;
	memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t),
	    n - sizeof(size_t));
	return true;
}

bool eh2sframe_function(
    const struct eh2sframe *file, size_t i, struct eh2sframe_function *function)
{
	struct eh2sframe_function made = {0};
	const struct sf_func *func;

	if (!file || !function || !file->conv.made || i >= file->conv.model.n_funcs)
		return false;
	func = &file->conv.model.funcs[i];
	made.start = func->start;
	made.size = func->size;
	made.n_rows = func->n_rows;
	made.block_size = func->rep_size;
	if (func->pcmask)
		made.flags |= EH2SFRAME_FUNCTION_REPEATS;
	if (func->signal_frame)
		made.flags |= EH2SFRAME_FUNCTION_SIGNAL_FRAME;
	if (func->pauth_b)
		made.flags |= EH2SFRAME_FUNCTION_KEY_B;
	return api_give(function, function->struct_size, &made, sizeof(made));
}

/* The model's kinds may be renumbered, the public ones may not. */
static uint16_t api_place(struct sf_loc loc)
{
	switch (loc.kind) {
	case SF_LOC_AT_CFA:
		return EH2SFRAME_PLACE_AT_CFA;
	case SF_LOC_REG:
		return EH2SFRAME_PLACE_REGISTER;
	case SF_LOC_AT_REG:
		return EH2SFRAME_PLACE_AT_REGISTER;
	default:
		return EH2SFRAME_PLACE_NONE;
	}
}

bool eh2sframe_row(
    const struct eh2sframe *file, size_t function, size_t i, struct eh2sframe_row *row)
{
	const struct sf_section *model;
	struct eh2sframe_row made = {0};
	const struct sf_row *from;

	if (!file || !row || !file->conv.made)
		return false;
	model = &file->conv.model;
	if (function >= model->n_funcs || i >= model->funcs[function].n_rows)
		return false;
	from = &model->rows[model->funcs[function].first_row + i];
	made.start = from->start;
	if (from->ra_signed)
		made.flags |= EH2SFRAME_ROW_SIGNED;
	if (from->outermost)
		made.flags |= EH2SFRAME_ROW_OUTERMOST;
	made.cfa_place = api_place(from->cfa);
	made.cfa_register = from->cfa.reg;
	made.cfa_offset = from->cfa_off;
	made.ra_place = api_place(from->ra);
	made.ra_register = from->ra.reg;
	made.ra_offset = from->ra_off;
	made.fp_place = api_place(from->fp);
	made.fp_register = from->fp.reg;
	made.fp_offset = from->fp_off;
	return api_give(row, row->struct_size, &made, sizeof(made));
}

bool eh2sframe_gap(const struct eh2sframe *file, size_t i, struct eh2sframe_gap *gap)
{
	const struct coverage_gap *from;
	struct eh2sframe_gap made = {0};

	if (!file || !gap || !file->conv.report.source ||
	    i >= file->conv.report.coverage.n_gaps)
		return false;
	from = &file->conv.report.coverage.gaps[i];
	made.start = from->start;
	made.end = from->end;
	made.function = from->fde_pc;
	made.reason = refusal_name(from->why);
	made.text = refusal_text(from->why);
	made.needs_version = refusal_needs(from->why, file->conv.source.arch);
	return api_give(gap, gap->struct_size, &made, sizeof(made));
}

bool eh2sframe_where(
    const struct eh2sframe *file, uint64_t address, size_t *section, uint64_t *offset)
{
	const struct object *object = file ? file->conv.image.object : NULL;
	const struct object_place *place =
	    object ? object_place_at(object, address) : NULL;

	if (!place || !section || !offset)
		return false;
	*section = place->section;
	*offset = address - place->addr;
	return true;
}

const char *eh2sframe_symbol(struct eh2sframe *file, uint64_t address)
{
	const struct symbol *symbol;
	struct err ignored = {0};

	if (!file)
		return NULL;
	/* Read when the first name is asked for: sorting them takes as long as the CFI
	 * does. Without memory there is no name. */
	if (!file->symbols_read &&
	    !symbols_read(&file->conv.image, &file->symbols, &ignored))
		return NULL;
	file->symbols_read = true;
	symbol = symbols_find(&file->symbols, address);
	return symbol ? symbol->name : NULL;
}

const char *eh2sframe_machine(const struct eh2sframe *file)
{
	const struct image *image;

	if (!file)
		return NULL;
	image = &file->conv.image;
	/* Files of other machines are not opened. */
	return arch_find(image->ehdr.e_machine, image->big_endian)->name;
}

uint64_t eh2sframe_count(const struct eh2sframe *file, enum eh2sframe_count which)
{
	const struct report *report;
	const struct coverage *coverage;

	/* Set by the first stage, and as long as the rest is there. */
	if (!file || !file->conv.report.source)
		return 0;
	report = &file->conv.report;
	coverage = &report->coverage;
	switch (which) {
	case EH2SFRAME_CIES:
		return report->source->frames.n_cies;
	case EH2SFRAME_FDES:
		return report->source->frames.n_fdes;
	case EH2SFRAME_FUNCTIONS:
		return coverage->n_fdes;
	case EH2SFRAME_FUNCTIONS_WITH_ROWS:
		return coverage->n_functions;
	case EH2SFRAME_FUNCTIONS_WITH_GAPS:
		return coverage->n_refused;
	case EH2SFRAME_CFI_ROWS:
		return coverage->n_rows;
	case EH2SFRAME_CODE_BYTES:
		return coverage->code_bytes;
	case EH2SFRAME_COVERED_BYTES:
		return coverage->covered_bytes;
	case EH2SFRAME_EH_FRAME_SIZE:
		return report->source->cfi.size;
	case EH2SFRAME_EH_FRAME_HDR_SIZE:
		return report->source->hdr_size;
	case EH2SFRAME_SECTION_SIZE:
		return report->sframe_size;
	case EH2SFRAME_SECTION_FUNCTIONS:
		return report->n_funcs;
	case EH2SFRAME_SECTION_ROWS:
		return report->n_rows;
	}
	return 0;
}
