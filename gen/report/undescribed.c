/* SPDX-License-Identifier: MIT */
/*
 * A symbol with a size is a function: its author says so. The rest is decoded. A stretch
 * of one kind is cut where a symbol begins, so that each has one name.
 */
#include "gen/report/model.h"

#include <string.h>

#include "base/vec.h"
#include "code/code.h"

const char *report_stretch_name(enum report_stretch_kind kind)
{
	static const char *const names[] = {[REPORT_CODE] = "code",
	    [REPORT_DATA] = "data",
	    [REPORT_PLT] = "plt",
	    [REPORT_UNKNOWN] = "unknown"};

	return names[kind];
}

/* A walk over stretches, sections and symbols, which all ascend. */
struct stretches {
	struct report *report;
	enum code_machine machine;
	bool decodes;
	size_t section, symbol; /* the next one of each */
	struct code_parts parts;
};

/* Adds a stretch, or extends one of the same kind before it, unless a symbol begins here. */
static bool stretches_add(struct stretches *walk, uint64_t start, uint64_t end,
    enum report_stretch_kind kind, bool named)
{
	struct report_details *details = &walk->report->details;
	struct report_stretch *last =
	    details->n_stretches ? &details->stretches[details->n_stretches - 1] : NULL;

	details->bytes[kind] += end - start;
	if (last && !named && last->kind == kind && last->start + last->size == start) {
		last->size += end - start;
		return true;
	}
	if (!vec_reserve(
		&details->stretches, &details->cap_stretches, details->n_stretches + 1))
		return false;
	details->stretches[details->n_stretches++] =
	    (struct report_stretch){start, end - start, kind};
	return true;
}

/* Splits bytes that no symbol with a size covers. */
static bool stretches_split(struct stretches *walk, const uint8_t *bytes, uint64_t start,
    uint64_t end, bool named)
{
	struct code_parts *parts = &walk->parts;

	if (!walk->decodes)
		return stretches_add(walk, start, end, REPORT_UNKNOWN, named);
	parts->n = 0;
	if (!code_split(walk->machine, bytes, end - start, start, parts))
		return false;
	/* A label without a size can be one of a table. */
	walk->report->details.n_functions +=
	    named && parts->n && parts->list[0].kind == CODE_KIND_CODE;
	for (size_t i = 0; i < parts->n; i++) {
		const struct code_part *part = &parts->list[i];
		uint64_t at = start + part->start;

		if (part->kind == CODE_KIND_PADDING)
			walk->report->details.padding += part->size;
		else if (!stretches_add(walk, at, at + part->size,
			     part->kind == CODE_KIND_DATA ? REPORT_DATA : REPORT_CODE,
			     named && i == 0))
			return false;
	}
	return true;
}

/* Returns the end of the symbol at index i and of those at the same address: the farthest. */
static uint64_t stretches_symbol_end(
    const struct symbols *symbols, size_t *i, uint64_t limit)
{
	const uint64_t start = symbols->list[*i].addr;
	uint64_t end = start;

	for (; *i < symbols->n && symbols->list[*i].addr == start; (*i)++)
		if (symbols->list[*i].size > end - start)
			end = symbols->list[*i].size > limit - start
				  ? limit
				  : start + symbols->list[*i].size;
	return end;
}

/* Walks through one stretch, cut at its symbols. */
static bool stretches_walk(struct stretches *walk, const struct coverage_stretch *stretch)
{
	struct report_details *details = &walk->report->details;
	const struct symbols *symbols = &details->symbols;
	uint64_t at = stretch->start;
	bool named = false;

	while (walk->symbol < symbols->n && symbols->list[walk->symbol].addr < at)
		walk->symbol++;
	while (at < stretch->end) {
		uint64_t next = stretch->end;

		if (walk->symbol < symbols->n &&
		    symbols->list[walk->symbol].addr < stretch->end)
			next = symbols->list[walk->symbol].addr;
		if (next > at) {
			if (!stretches_split(walk, stretch->bytes + (at - stretch->start),
				at, next, named))
				return false;
			at = next;
			named = false;
			continue;
		}
		next = stretches_symbol_end(symbols, &walk->symbol, stretch->end);
		named = next == at;
		details->n_functions += !named;
		/* Symbols inside of this one are its own labels. */
		while (
		    walk->symbol < symbols->n && symbols->list[walk->symbol].addr < next)
			walk->symbol++;
		if (next > at && !stretches_add(walk, at, next, REPORT_CODE, true))
			return false;
		at = next;
	}
	return true;
}

static bool stretches_in_plt(struct stretches *walk, uint64_t addr)
{
	const struct report_details *details = &walk->report->details;

	while (walk->section < details->n_sections &&
	       details->sections[walk->section].start +
		       details->sections[walk->section].size <=
		   addr)
		walk->section++;
	return walk->section < details->n_sections &&
	       details->sections[walk->section].start <= addr &&
	       !strncmp(details->sections[walk->section].name, ".plt", 4);
}

bool report_undescribed_make(struct report *report)
{
	const struct coverage *coverage = &report->coverage;
	struct stretches walk = {.report = report, .machine = report->input->arch->code};
	bool ok = true;

	walk.decodes = code_can_decode(walk.machine);
	report->details.decoded = walk.decodes;
	for (size_t i = 0; ok && i < coverage->n_stretches; i++) {
		const struct coverage_stretch *stretch = &coverage->stretches[i];

		if (stretches_in_plt(&walk, stretch->start))
			ok = stretches_add(
			    &walk, stretch->start, stretch->end, REPORT_PLT, false);
		else
			ok = stretches_walk(&walk, stretch);
	}
	code_parts_deinit(&walk.parts);
	return ok;
}
