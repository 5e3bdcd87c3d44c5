/* SPDX-License-Identifier: MIT */
/* Walks SFrame functions and CFI tables side by side, over one range after the other. */
#include "gen/verify/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "cfi/libdwarf.h"
#include "gen/verify/meaning.h"
#include "gen/elf/object/object.h"
#include "gen/rows/reduce.h"

/* The function's name; for code that has none, such as a PLT, its section's. */
static const char *verify_name(const struct verify_run *run, uint64_t pc)
{
	const struct policy *policy = run->in->policy;
	const struct symbol *symbol = symbols_find(policy->symbols, pc);

	for (size_t i = 0; i < policy->image->n_sections; i++) {
		const GElf_Shdr *hdr = &policy->image->sections[i].hdr;

		if (!(hdr->sh_flags & SHF_EXECINSTR) || pc < hdr->sh_addr ||
		    pc - hdr->sh_addr >= hdr->sh_size)
			continue;
		if (!symbol || (symbol->size == 0 && symbol->addr < hdr->sh_addr))
			return policy->image->sections[i].name;
	}
	return symbol ? symbol->name : "?";
}

void verify_differ(
    struct verify_run *run, uint64_t pc, uint64_t off, const char *fmt, ...)
{
	struct verify_result *result = run->result;
	char where[OBJECT_WHERE], place[32] = "", *text;
	int used;
	va_list ap;

	/* Without memory the text is lost, and the count is still right. */
	if (result->n_differences++ >= VERIFY_MAX_TEXTS ||
	    !vec_reserve(&result->texts, &result->cap_texts, result->n_texts + 1))
		return;
	text = result->texts[result->n_texts++];
	if (off)
		snprintf(place, sizeof(place), ", .sframe+0x%" PRIx64, off);
	used = snprintf(text, VERIFY_TEXT,
	    "%s <%.60s>%s: ", object_where(run->in->policy->image, pc, where),
	    verify_name(run, pc), place);
	va_start(ap, fmt);
	vsnprintf(text + used, VERIFY_TEXT - (size_t)used, fmt, ap);
	va_end(ap);
}

static uint64_t verify_row_end(const struct cfi_table *table, size_t i)
{
	return i + 1 < table->n_rows ? table->rows[i + 1].pc : table->end;
}

/* Describes both sides, for the column that differs. */
static void verify_rule_differs(struct verify_run *run, uint64_t pc,
    enum meaning_column column, const struct sf_segment *segment,
    const struct cfi_row *cfi)
{
	const struct arch *arch = run->in->policy->arch;
	const struct cfi_rule *rules[] = {[MEANING_CFA] = &cfi->cfa,
	    [MEANING_SP] = &cfi->sp,
	    [MEANING_RA] = &cfi->ra,
	    [MEANING_FP] = &cfi->fp};
	struct cfi_rule covered;
	char ours[64], theirs[64];

	if (column == MEANING_RA_SIGNED) {
		verify_differ(run, pc, segment->off,
		    "the return address is %s in .sframe, not in %s",
		    segment->row->ra_signed ? "signed" : "unsigned", run->source);
		return;
	}
	covered = meaning_rule_of(arch, segment->row, column);
	meaning_rule_text(arch, &covered, ours, sizeof(ours));
	meaning_rule_text(arch, rules[column], theirs, sizeof(theirs));
	verify_differ(run, pc, segment->off, "%s is %s in .sframe, %s in %s",
	    meaning_column_name(column), ours, theirs, run->source);
}

/*
 * Compares the marks of a function as a whole. In a signal frame the PC is looked up as
 * it is, else one byte before; the key is that of every signature in it.
 */
static bool verify_marks(struct verify_run *run, const struct sf_segment *segment)
{
	bool signal_frame = run->target.signal_frame, pauth_b = run->target.pauth_b;

	if (!run->marks_known ||
	    (segment->signal_frame == signal_frame && segment->pauth_b == pauth_b))
		return true;
	if (run->marks_reported)
		return false;
	run->marks_reported = true;
	if (segment->signal_frame != signal_frame)
		verify_differ(run, segment->start, run->cursor.func.field_off,
		    "the frame is %s in .sframe, %s in %s",
		    signal_frame ? "not a signal frame" : "a signal frame",
		    signal_frame ? "a signal frame" : "not a signal frame", run->source);
	else
		verify_differ(run, segment->start, run->cursor.func.field_off,
		    "the signing key is %s in .sframe, %s in %s", pauth_b ? "A" : "B",
		    pauth_b ? "B" : "A", run->source);
	return false;
}

/* Counts code whose row is right by what it was held against. */
static void verify_hold(struct verify_run *run, uint64_t start, uint64_t end)
{
	const uint64_t repaired =
	    corrections_bytes(run->in->policy->corrections, start, end);

	run->result->held.repaired_bytes += repaired;
	*run->agreed += end - start - repaired;
}

/* Compares the section's row for the segment, which is inside the range being compared. */
static void verify_said(struct verify_run *run, const struct sf_segment *segment)
{
	const struct cfi_table *table = run->table;
	const struct sf_row *row = segment->row;
	uint64_t from = segment->start, to = segment->end;

	if (!table) {
		verify_differ(
		    run, from, segment->off, "there is a row, but %s", run->no_table_why);
		return;
	}
	if (!verify_marks(run, segment))
		return;
	while (from < to) {
		const struct cfi_row *cfi;
		struct cfi_row unsigned_row;
		enum meaning_column column;
		uint64_t end;

		while (verify_row_end(table, run->at_row) <= from)
			run->at_row++;
		cfi = &table->rows[run->at_row];
		if (!run->marks_known && row->ra_signed) {
			/* libdwarf knows of no signatures. */
			unsigned_row = *cfi;
			unsigned_row.ra_signed = true;
			cfi = &unsigned_row;
		}
		end = verify_row_end(table, run->at_row);
		end = end < to ? end : to;
		column = meaning_compare(&run->target, row, cfi);
		if (column == MEANING_SAME)
			verify_hold(run, from, end);
		else
			verify_rule_differs(run, from, column, segment, cfi);
		from = end;
	}
}

/* Counts [from, to), for which the section has no row. */
static void verify_silent(struct verify_run *run, uint64_t from, uint64_t to)
{
	const struct cfi_table *table = run->table;
	struct sf_row row;

	if (!table || !run->judge_missing)
		return;
	for (size_t i = run->at_row; from < to; i++) {
		uint64_t end = verify_row_end(table, i);

		if (end <= from)
			continue;
		end = end < to ? end : to;
		if (reduce_row(&run->target, &table->rows[i], &row) == REFUSE_NOTHING)
			run->result->missing_bytes += end - from;
		from = end;
	}
}

bool verify_range(struct verify_run *run, uint64_t from, uint64_t to, struct err *err)
{
	struct sf_segment segment;

	run->at_row = run->table ? cfi_table_row_at(run->table, from) : 0;
	sf_cursor_seek(&run->cursor, from);
	while (from < to && sf_cursor_next(&run->cursor, to, &segment, err)) {
		verify_silent(run, from, segment.start);
		verify_said(run, &segment);
		from = segment.end;
	}
	if (run->cursor.failed)
		return false;
	verify_silent(run, from, to);
	return true;
}

void verify_miss(struct verify_run *run, uint64_t pc, uint64_t bytes)
{
	struct verify_result *result = run->result;
	char where[OBJECT_WHERE];

	if (bytes == 0)
		return;
	/* Without memory the text is lost, and the count is still right. */
	if (result->n_missing++ >= VERIFY_MAX_MISSING ||
	    !vec_reserve(
		&result->missing, &result->cap_missing, result->n_missing_texts + 1))
		return;
	snprintf(result->missing[result->n_missing_texts++], VERIFY_TEXT,
	    "%s <%.80s>: %" PRIu64 " byte%s could have a row but have none",
	    object_where(run->in->policy->image, pc, where), verify_name(run, pc), bytes,
	    num_s(bytes));
}

void verify_result_deinit(struct verify_result *result)
{
	free(result->texts);
	free(result->missing);
	*result = (struct verify_result){0};
}

struct verify_run verify_begin(
    const struct verify_input *input, struct verify_result *result)
{
	return (struct verify_run){.in = input,
	    .result = result,
	    .target = {.arch = input->policy->arch, .version = input->view->version},
	    .code = {.image = input->policy->image}};
}

void verify_turn(struct verify_run *run, const struct cfi_fde *fde)
{
	const bool go = cfi_fde_source(run->in->frames, fde) == SOURCE_GO;

	run->source = go ? source_words(SOURCE_GO) : "CFI";
	run->agreed = go ? &run->result->held.go_bytes : &run->result->held.cfi_bytes;
}

/* Adds the code in [from, to) that has rows to a count of what is compared with nothing. */
static bool verify_count(
    struct verify_run *run, uint64_t from, uint64_t to, uint64_t *bytes, struct err *err)
{
	struct sf_segment segment;

	sf_cursor_seek(&run->cursor, from);
	while (sf_cursor_next(&run->cursor, to, &segment, err))
		*bytes += segment.end - segment.start;
	return !run->cursor.failed;
}

/* Rows of an FDE times bytes of its program: libdwarf runs all of it for each row. */
#define VERIFY_LIBDWARF_WORK ((size_t)1 << 27)

/* One part of the CFI, and libdwarf's reading of it. */
struct verify_witness {
	struct verify_run *run;
	const struct cfi_part *part;
	struct cfi_libdwarf *reader;
	size_t max_rows;
	struct cfi_table corrected;    /* what the code corrected of libdwarf's */
	const struct cfi_table *table; /* of the FDE at hand; NULL: there is none */
	bool listed;		       /* libdwarf has that FDE */
};

/* Rows of code that two FDEs describe are differences already. */
static bool verify_is_of(
    const struct verify_witness *witness, const struct cfi_range *range)
{
	const struct cfi_frames *frames = witness->run->in->frames;

	return !range->overlapping && cfi_section_part(&frames->section,
					  frames->fdes[range->fde].off) == witness->part;
}

/*
 * Turns to another FDE: libdwarf's table of the same record. The record decides and not the address, because
 * libdwarf may list only one of several FDEs that begin at an address.
 */
static bool verify_ask(
    struct verify_witness *witness, const struct cfi_fde *fde, struct err *err)
{
	struct verify_run *run = witness->run;
	const size_t most = VERIFY_LIBDWARF_WORK / (fde->program_len + 1) + 1;
	uint64_t end;
	size_t i;

	run->table = witness->table = NULL;
	witness->listed =
	    cfi_libdwarf_find(witness->reader, fde->off - witness->part->off, &i);
	if (!witness->listed)
		return true;
	if (!cfi_libdwarf_table(witness->reader, i,
		most < witness->max_rows ? most : witness->max_rows, &run->table, &end,
		err))
		return false;
	if (run->table->start != fde->pc || end != fde->pc + fde->range) {
		verify_differ(run, fde->pc, 0,
		    "libdwarf reads the FDE of this code as one of 0x%" PRIx64
		    " to 0x%" PRIx64,
		    run->table->start, end);
		return true;
	}
	witness->table = corrections_apply(
	    run->in->policy->corrections, run->table, &witness->corrected);
	return witness->table || err_set_nomem(err);
}

/* Compares a range as far as libdwarf says something of it, and counts the rest. */
static bool verify_asked(
    struct verify_witness *witness, const struct cfi_range *range, struct err *err)
{
	struct verify_run *run = witness->run;
	uint64_t start = range->start, end = range->end;

	if (!witness->listed)
		return verify_count(
		    run, start, end, &run->result->held.unlisted_bytes, err);
	run->table = witness->table;
	if (!run->table)
		return true;
	if (end > run->table->end)
		end = run->table->end;
	if (start < end && !verify_range(run, start, end, err))
		return false;
	return verify_count(run, start > end ? start : end, range->end,
	    &run->result->held.skipped_bytes, err);
}

/* Our own ranges lead: so code counts once, and what libdwarf leaves out is known. */
static bool verify_witnessed(struct verify_witness *witness, struct err *err)
{
	struct verify_run *run = witness->run;
	const struct cfi_ranges *ranges = run->in->ranges;
	const struct cfi_frames *frames = run->in->frames;
	uint32_t current = UINT32_MAX;

	for (size_t i = 0; i < ranges->n; i++) {
		const struct cfi_range *range = &ranges->list[i];

		if (!verify_is_of(witness, range))
			continue;
		verify_turn(run, &frames->fdes[range->fde]);
		if (range->fde != current) {
			if (!verify_ask(witness, &frames->fdes[range->fde], err))
				return false;
		}
		current = range->fde;
		if (!verify_asked(witness, range, err))
			return false;
	}
	return true;
}

/* Compares with one part of the CFI. */
static bool verify_one_part(
    struct verify_run *run, const struct cfi_part *part, size_t max_rows, struct err *err)
{
	const struct cfi_section section =
	    cfi_section_one(&run->in->frames->section, part);
	struct verify_witness witness = {.run = run, .part = part, .max_rows = max_rows};
	bool ok;

	witness.reader = cfi_libdwarf_new(&section, &run->in->policy->arch->cfi, err);
	ok = witness.reader && verify_witnessed(&witness, err);
	free(witness.corrected.rows);
	cfi_libdwarf_free(witness.reader);
	return ok;
}

bool verify_libdwarf(const struct verify_input *input, size_t max_rows,
    struct verify_result *result, struct err *err)
{
	const struct cfi_section *section = &input->frames->section;
	struct verify_run run = verify_begin(input, result);
	bool ok = true;

	result->held.cfi_bytes = result->held.go_bytes = result->held.repaired_bytes = 0;
	result->held.by_libdwarf = true;
	if (!sf_cursor_init(&run.cursor, input->view, err))
		return false;
	for (size_t i = 0; ok && i < section->n_parts; i++)
		ok = verify_one_part(&run, &section->parts[i], max_rows, err);
	sf_cursor_deinit(&run.cursor);
	return ok;
}
