/* SPDX-License-Identifier: MIT */
/*
 * The public interface: contents of a result. Rows are those of the model, not of the
 * encoded section. So they are the same for every version, and need no decoding. The
 * proof and tests/lib/rows.c show that the two say the same.
 */
#include "gen/lib/api.h"

#include "gen/elf/object/object.h"

static uint32_t api_function_flags(bool signal_frame, bool key_b)
{
	return (signal_frame ? EH2SFRAME_FLAG_SIGNAL_FRAME : 0U) |
	       (key_b ? EH2SFRAME_FLAG_KEY_B : 0U);
}

bool eh2sframe_result_function(
    const struct eh2sframe_result *result, size_t i, struct eh2sframe_function *function)
{
	struct eh2sframe_function made = {0};
	const struct sf_func *func;

	if (!result || !function || i >= result->conv.model.n_funcs)
		return false;
	func = &result->conv.model.funcs[i];
	made.start = func->start;
	made.size = func->size;
	made.n_rows = func->n_rows;
	made.block_size = func->rep_size;
	made.flags = api_function_flags(func->signal_frame, func->pauth_b);
	if (func->pcmask)
		made.flags |= EH2SFRAME_FLAG_REPEATS;
	return api_give(function, function->struct_size, &made, sizeof(made));
}

/*
 * Kinds of the model may be renumbered, those of the interface may not. Offsets and
 * registers fit: the section has room for no larger ones.
 */
static struct eh2sframe_location api_location(struct sf_loc loc, int64_t offset)
{
	struct eh2sframe_location made = {
	    .reg = (uint8_t)loc.reg, .offset = (int32_t)offset};

	switch (loc.kind) {
	case SF_LOC_AT_CFA:
		made.place = EH2SFRAME_PLACE_AT_CFA;
		break;
	case SF_LOC_REG:
		made.place = EH2SFRAME_PLACE_REGISTER;
		break;
	case SF_LOC_AT_REG:
		made.place = EH2SFRAME_PLACE_AT_REGISTER;
		break;
	default:
		made.place = EH2SFRAME_PLACE_SAME;
	}
	return made;
}

/*
 * Gives a row of the model as a rule. The model leaves out where the call of the machine
 * puts the return address.
 */
static struct eh2sframe_rule api_rule(
    const struct arch *arch, const struct sf_row *row, uint32_t flags)
{
	struct eh2sframe_rule made = {.flags = flags};

	if (row->ra_signed)
		made.flags |= EH2SFRAME_FLAG_SIGNED;
	if (row->outermost) {
		made.flags |= EH2SFRAME_FLAG_OUTERMOST;
		return made;
	}
	made.cfa = api_location(row->cfa, row->cfa_off);
	made.ra = api_location(row->ra, row->ra_off);
	made.fp = api_location(row->fp, row->fp_off);
	if (row->ra.kind == SF_LOC_NONE && !arch->ra_tracked)
		made.ra = (struct eh2sframe_location){
		    .place = EH2SFRAME_PLACE_AT_CFA, .offset = arch->fixed_ra_off};
	return made;
}

bool eh2sframe_result_row(const struct eh2sframe_result *result, size_t function,
    size_t i, struct eh2sframe_row *row)
{
	const struct sf_section *model;
	struct eh2sframe_row made = {0};
	const struct sf_func *func;
	const struct sf_row *from;

	if (!result || !row)
		return false;
	model = &result->conv.model;
	if (function >= model->n_funcs || i >= model->funcs[function].n_rows)
		return false;
	func = &model->funcs[function];
	from = &model->rows[func->first_row + i];
	made.start = from->start;
	made.rule = api_rule(result->conv.input.arch, from,
	    api_function_flags(func->signal_frame, func->pauth_b));
	return api_give(row, row->struct_size, &made, sizeof(made));
}

bool eh2sframe_result_gap(
    const struct eh2sframe_result *result, size_t i, struct eh2sframe_gap *gap)
{
	const struct coverage_gap *from;
	struct eh2sframe_gap made = {0};

	if (!result || !gap || i >= result->conv.report.coverage.n_gaps)
		return false;
	from = &result->conv.report.coverage.gaps[i];
	made.start = from->start;
	made.end = from->end;
	made.function = from->fde_pc;
	made.reason = refusal_name(from->why);
	made.text = refusal_text(from->why);
	made.needs_version = refusal_needs(from->why, result->conv.input.arch);
	return api_give(gap, gap->struct_size, &made, sizeof(made));
}

bool eh2sframe_result_extra(
    const struct eh2sframe_result *result, size_t i, struct eh2sframe_extra *extra)
{
	const struct coverage_rule *from;

	if (!result || !extra || result->conv.image->object ||
	    i >= result->conv.report.coverage.n_rules)
		return false;
	from = &result->conv.report.coverage.rules[i];
	*extra = (struct eh2sframe_extra){.start = from->start,
	    .end = from->end,
	    .rule = api_rule(result->conv.input.arch, &from->row,
		api_function_flags(from->signal_frame, from->pauth_b))};
	if (!from->row.outermost) {
		extra->rule.cfa_add = from->more.cfa_add;
		extra->rule.cfa_index = (uint8_t)from->more.index;
		extra->rule.cfa_shift = (uint8_t)from->more.shift;
		if (from->more.indexed)
			extra->rule.cfa.place = EH2SFRAME_PLACE_AT_SUM;
	}
	return true;
}

bool eh2sframe_result_section_offset(const struct eh2sframe_result *result,
    uint64_t address, size_t *section, uint64_t *offset)
{
	const struct object *object = result ? result->conv.image->object : NULL;
	const struct object_place *place =
	    object ? object_place_at(object, address) : NULL;

	if (!place || !section || !offset)
		return false;
	*section = place->section;
	*offset = address - place->addr;
	return true;
}

const char *eh2sframe_result_symbol(struct eh2sframe_result *result, uint64_t address)
{
	const struct symbol *symbol;
	struct err ignored = {0};

	if (!result)
		return NULL;
	/* Names are read for the first question: sorting them takes as long as the CFI
	 * does. Without memory there is no name. */
	if (!result->symbols_read &&
	    !symbols_read(result->conv.image, &result->symbols, &ignored))
		return NULL;
	result->symbols_read = true;
	symbol = symbols_find(&result->symbols, address);
	return symbol ? symbol->name : NULL;
}

uint64_t eh2sframe_result_count(
    const struct eh2sframe_result *result, enum eh2sframe_count which)
{
	const struct report *report = result ? &result->conv.report : NULL;

	if (!report)
		return 0;
	switch (which) {
	case EH2SFRAME_COUNT_CIES:
		return report->input->frames.n_cies;
	case EH2SFRAME_COUNT_FDES:
		return report->input->frames.n_fdes;
	case EH2SFRAME_COUNT_FUNCTIONS:
		return report->coverage.n_fdes;
	case EH2SFRAME_COUNT_FUNCTIONS_WITH_ROWS:
		return report->coverage.n_functions;
	case EH2SFRAME_COUNT_FUNCTIONS_WITH_GAPS:
		return report->coverage.n_refused;
	case EH2SFRAME_COUNT_CFI_ROWS:
		return report->coverage.n_rows;
	case EH2SFRAME_COUNT_CODE_BYTES:
		return report->coverage.code_bytes;
	case EH2SFRAME_COUNT_COVERED_BYTES:
		return report->coverage.covered_bytes;
	case EH2SFRAME_COUNT_EH_FRAME_SIZE:
		return report->input->sources.list[SOURCE_EH_FRAME].size;
	case EH2SFRAME_COUNT_EH_FRAME_HDR_SIZE:
		return report->input->sources.hdr_size;
	case EH2SFRAME_COUNT_SECTION_SIZE:
		return report->sframe_size;
	case EH2SFRAME_COUNT_SECTION_FUNCTIONS:
		return report->n_funcs;
	case EH2SFRAME_COUNT_SECTION_ROWS:
		return report->n_rows;
	case EH2SFRAME_COUNT_EXECUTABLE_BYTES:
		return report->coverage.text_bytes;
	case EH2SFRAME_COUNT_TEMPLATE_BYTES:
		return report->coverage.template_bytes;
	case EH2SFRAME_COUNT_DERIVED_BYTES:
		return report->coverage.derived_bytes;
	case EH2SFRAME_COUNT_OUTERMOST_BYTES:
		return report->coverage.outermost_bytes;
	}
	return 0;
}
