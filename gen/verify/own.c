/* SPDX-License-Identifier: MIT */
/*
 * Proves every range, and everything between them, by this project's own interpreter.
 * Instructions and rows that were compared before are not compared again, and parts of
 * the file are compared at the same time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "base/vec.h"
#include "cfi/interp.h"
#include "cfi/program_cache.h"
#include "gen/rows/last_calls.h"
#include "gen/rows/padding.h"
#include "gen/rows/plt.h"
#include "gen/verify/internal.h"
#include "sframe/compact/compact.h"

/* A function that has been found right; any FDE with the same instructions makes another
 * one with the same rows right. */
struct verify_proven {
	uint64_t reach; /* of the CFI table */
	uint32_t rows_off;
	uint32_t n_rows; /* 0: nothing is known */
	uint8_t row_type;
	bool flex, pauth_b, signal_frame;
};

/* Some of the ranges, to be worked through by one thread. */
struct verify_part {
	struct verify_run run;
	size_t first, last;		    /* ranges [first, last) */
	bool to_the_end;		    /* and all addresses behind them */
	const struct sf_section *templates; /* of PLTs without CFI */
	const struct sf_section *derived;   /* of code without CFI that proves its rows */
	struct cfi_interp interp;
	struct cfi_table corrected;    /* what the code corrected of the interpreter's */
	const struct cfi_table *table; /* one of the two */
	bool readable;		       /* the CFI program of the FDE at hand */
	struct cfi_program_cache programs; /* programs met */
	struct verify_proven *proven;	   /* by program; at first zeros */
	struct verify_result result;
	bool ok;
	struct err err;
};

/* Turns to another FDE: its rules, and the rows that could express them. */
static bool verify_begin_fde(
    struct verify_part *part, const struct cfi_range *range, struct err *err)
{
	struct verify_run *run = &part->run;
	const struct policy *policy = run->in->policy;
	const struct cfi_fde *fde = &run->in->frames->fdes[range->fde];
	const struct cfi_cie *cie = &run->in->frames->cies[fde->cie];
	struct err program; /* not zeroed, because its text is large */

	program.kind = ERR_NONE;
	part->interp.max_expr_ops =
	    cfi_ranges_expr_ops(run->in->ranges, (size_t)(range - run->in->ranges->list));
	part->readable = cfi_interpret(&part->interp, fde, &program);
	part->table = &part->interp.table;
	if (part->readable)
		part->table = corrections_apply(
		    policy->corrections, &part->interp.table, &part->corrected);
	if ((!part->readable && program.kind == ERR_NOMEM) || !part->table)
		return err_set_nomem(err);
	run->target = target_for(run->target.arch, run->target.version, cie);
	run->marks_reported = false;
	run->judge_missing = policy_fde(policy, cie, fde) == REFUSE_NOTHING;
	return true;
}

static bool verify_fde_range(
    struct verify_part *part, const struct cfi_range *range, bool again, struct err *err)
{
	struct verify_run *run = &part->run;
	const struct cfi_fde *fde = &run->in->frames->fdes[range->fde];
	uint64_t missing = run->result->missing_bytes;

	if (!again && !verify_begin_fde(part, range, err))
		return false;
	run->table = part->readable && !range->overlapping ? part->table : NULL;
	run->no_table_why = range->overlapping ? "two FDEs disagree about this code"
					       : "the CFI of this code is damaged";
	if (!verify_range(run, range->start, range->end, err))
		return false;
	verify_miss(run, fde->pc, run->result->missing_bytes - missing);
	return true;
}

static bool verify_same_rows(const struct verify_proven *a, const struct verify_proven *b)
{
	return a->rows_off == b->rows_off && a->n_rows == b->n_rows &&
	       a->row_type == b->row_type && a->flex == b->flex &&
	       a->pauth_b == b->pauth_b && a->signal_frame == b->signal_frame;
}

/* Compares a range that is all of its FDE; func is what sf_cursor_function_at found for it. */
static bool verify_whole(struct verify_part *part, const struct cfi_range *range,
    const struct sf_view_func *func, struct err *err)
{
	const struct cfi_fde *fde = &part->run.in->frames->fdes[range->fde];
	const struct cfi_table *table = &part->interp.table;
	struct verify_proven *proven, now = {.rows_off = func->rows_off,
					  .n_rows = func->func.n_rows,
					  .row_type = func->row_type,
					  .flex = func->flex,
					  .pauth_b = func->func.pauth_b,
					  .signal_frame = func->func.signal_frame};
	uint64_t agreed = *part->run.agreed;
	size_t number;

	if (corrections_touch(
		part->run.in->policy->corrections, range->start, range->end))
		return verify_fde_range(part, range, false, err);
	if (!cfi_program_cache_find(&part->programs, fde, &number))
		return err_set_nomem(err);
	proven = &part->proven[number];
	if (proven->n_rows && proven->reach < fde->range &&
	    verify_same_rows(proven, &now)) {
		*part->run.agreed += fde->range;
		return true;
	}
	if (!verify_fde_range(part, range, false, err))
		return false;
	now.reach = table->reach;
	/* A row at the function's end has not been looked at: it holds for nothing here.
	 */
	if (!proven->n_rows && *part->run.agreed - agreed == fde->range &&
	    table->movable && sf_cursor_at_end(&part->run.cursor))
		*proven = now;
	return true;
}

/*
 * True if the segment, the last one that came up, has the row that holds before it, which has been compared, and lies in
 * padding: it is all of [from, to) between two functions of an FDE that goes on behind it, or the one unit behind a
 * call that ends its FDE. No PC is ever there but that call's return address.
 */
static bool verify_padding(
    struct verify_run *run, const struct sf_segment *segment, uint64_t from, uint64_t to)
{
	const struct policy *policy = run->in->policy;

	if (segment->start != from || !sf_cursor_held(&run->cursor, from))
		return false;
	if (sf_cursor_ends(&run->cursor, segment->end))
		return reader_looks_up_returns(
			   NULL, run->in->view->version, run->in->view->abi) &&
		       last_call_reaches(
			   &run->code, policy->arch, from, segment->end, to);
	return to - from <= SF_COMPACT_PADDING_MAX && segment->end == to &&
	       padding_only(&run->code, policy->arch, from, to);
}

/*
 * Returns the row for code at pc without CFI: a PLT template's, or (*derived) the code's
 * own. NULL when there is none. *end is lowered to where the answer may differ.
 */
static const struct sf_row *verify_bare_row(
    const struct verify_part *part, uint64_t pc, uint64_t *end, bool *derived)
{
	uint64_t limit = *end;
	const struct sf_row *row = sf_section_row_at(part->templates, pc, end);

	*derived = !row;
	if (!row)
		row = sf_section_row_at(part->derived, pc, end);
	*end = *end < limit ? *end : limit;
	return row;
}

/* Counts [from, to), which has neither CFI nor a row in the section. */
static void verify_bare_silent(struct verify_part *part, uint64_t from, uint64_t to)
{
	uint64_t first = from, missing = 0;
	bool derived;

	for (uint64_t end = to; from < to; from = end, end = to) {
		if (!verify_bare_row(part, from, &end, &derived))
			continue;
		first = missing ? first : from;
		missing += end - from;
	}
	part->run.result->missing_bytes += missing;
	verify_miss(&part->run, first, missing);
}

/* The segment is in code without CFI: a row is only allowed in padding, and where a PLT template or
 * the code says the same. */
static void verify_bare_said(
    struct verify_part *part, const struct sf_segment *segment, bool padding)
{
	struct verify_run *run = &part->run;
	struct verify_result *result = run->result;

	for (uint64_t pc = segment->start, end = segment->end; pc < segment->end;
	     pc = end, end = segment->end) {
		bool derived;
		const struct sf_row *row = verify_bare_row(part, pc, &end, &derived);

		if (!row && padding)
			result->padding_bytes += end - pc;
		else if (!row) {
			verify_differ(
			    run, pc, segment->off, "there is a row, but no CFI");
			result->n_bare++;
		} else if (!sf_row_same(row, segment->row) || segment->signal_frame ||
			   segment->pauth_b)
			verify_differ(run, pc, segment->off,
			    derived ? "the row is not what the code says"
				    : "the row does not match this PLT stub");
		else if (derived)
			result->held.derived_bytes += end - pc;
		else
			result->held.template_bytes += end - pc;
	}
}

/* Compares [from, to), which has no CFI. */
static bool verify_outside(
    struct verify_part *part, uint64_t from, uint64_t to, struct err *err)
{
	struct verify_run *run = &part->run;
	struct sf_segment segment;

	sf_cursor_seek(&run->cursor, from);
	while (from < to && sf_cursor_next(&run->cursor, to, &segment, err)) {
		verify_bare_silent(part, from, segment.start);
		verify_bare_said(part, &segment, verify_padding(run, &segment, from, to));
		from = segment.end;
	}
	if (run->cursor.failed)
		return false;
	verify_bare_silent(part, from, to);
	return true;
}

/* Compares the ranges of a part, and all addresses between the last range of the part before and these. */
static bool verify_ranges(struct verify_part *part, struct err *err)
{
	const struct cfi_ranges *ranges = part->run.in->ranges;
	const struct cfi_frames *frames = part->run.in->frames;
	struct sf_cursor *cursor = &part->run.cursor;
	uint64_t at = part->first ? ranges->list[part->first - 1].end : 0;
	uint32_t current = UINT32_MAX;

	part->run.marks_known = true;
	for (size_t i = part->first; i < part->last; i++) {
		const struct cfi_range *range = &ranges->list[i];
		const struct cfi_fde *fde = &frames->fdes[range->fde];
		const struct sf_view_func *func = NULL;

		if (at < range->start && !verify_outside(part, at, range->start, err))
			return false;
		verify_turn(&part->run, fde);
		if (cfi_range_is_whole(range, fde))
			func =
			    sf_cursor_function_at(cursor, range->start, range->end, err);
		if (cursor->failed)
			return false;
		if (func ? !verify_whole(part, range, func, err)
			 : !verify_fde_range(part, range, range->fde == current, err))
			return false;
		current = range->fde;
		at = range->end;
	}
	return !part->to_the_end || verify_outside(part, at, UINT64_MAX, err);
}

static void verify_work(void *context)
{
	struct verify_part *part = context;
	const struct verify_input *in = part->run.in;

	cfi_interp_init(&part->interp, in->frames, &in->policy->arch->cfi);
	cfi_program_cache_init(&part->programs, in->frames, part->last - part->first);
	part->proven = calloc(part->last - part->first + 1, sizeof(*part->proven));
	part->ok =
	    part->proven ? verify_ranges(part, &part->err) : err_set_nomem(&part->err);
	cfi_interp_deinit(&part->interp);
	free(part->corrected.rows);
	cfi_program_cache_deinit(&part->programs);
	image_window_free(&part->run.code);
	free(part->proven);
}

/* Appends what a part found to what the parts before it found. */
static void verify_join(struct verify_result *result, const struct verify_result *part)
{
	result->held.cfi_bytes += part->held.cfi_bytes;
	result->held.go_bytes += part->held.go_bytes;
	result->held.repaired_bytes += part->held.repaired_bytes;
	result->held.template_bytes += part->held.template_bytes;
	result->held.derived_bytes += part->held.derived_bytes;
	result->padding_bytes += part->padding_bytes;
	result->missing_bytes += part->missing_bytes;
	result->n_differences += part->n_differences;
	result->n_bare += part->n_bare;
	for (size_t i = 0;
	     i < part->n_texts && result->n_texts < VERIFY_MAX_TEXTS &&
	     vec_reserve(&result->texts, &result->cap_texts, result->n_texts + 1);
	     i++)
		memcpy(result->texts[result->n_texts++], part->texts[i], VERIFY_TEXT);
	for (size_t i = 0;
	     i < part->n_missing_texts && result->n_missing_texts < VERIFY_MAX_MISSING &&
	     vec_reserve(
		 &result->missing, &result->cap_missing, result->n_missing_texts + 1);
	     i++)
		memcpy(result->missing[result->n_missing_texts++], part->missing[i],
		    VERIFY_TEXT);
	result->n_missing += part->n_missing;
}

/* Proves all ranges in n parts at the same time. */
static bool verify_parts(const struct verify_part *whole, size_t n, struct err *err)
{
	struct verify_part *parts = calloc(n, sizeof(*parts));
	bool ok = true;

	if (!parts)
		return err_set_nomem(err);
	for (size_t i = 0; i < n; i++) {
		parts[i] = *whole;
		parts[i].run.result = &parts[i].result;
		parts[i].first = i ? parts[i - 1].last : 0;
		parts[i].last = cfi_ranges_part_end(whole->run.in->ranges, i, n);
		parts[i].to_the_end = i == n - 1;
	}
	task_run_all(verify_work, parts, sizeof(*parts), n);
	for (size_t i = 0; i < n; i++) {
		if (ok && !parts[i].ok)
			*err = parts[i].err;
		ok = ok && parts[i].ok;
		verify_join(whole->run.result, &parts[i].result);
		verify_result_deinit(&parts[i].result);
	}
	free(parts);
	return ok;
}

bool verify_own(
    const struct verify_input *input, struct verify_result *result, struct err *err)
{
	struct verify_part whole = {.run = verify_begin(input, result)};
	size_t n = cfi_ranges_n_parts(input->ranges, input->policy->options->jobs);
	const struct target target = {
	    .arch = input->policy->arch, .version = input->view->version};
	struct sf_section templates = {0}, derived = {0};
	uint64_t bytes;
	struct coverage unused = {0};
	bool ok;

	if (!sf_cursor_init(&whole.run.cursor, input->view, err))
		return false;
	whole.templates = &templates;
	whole.derived = &derived;
	/* An object's PLT comes from its linker. */
	ok = input->policy->image->object ||
	     plt_from_templates(input->policy, input->ranges, &templates, &unused) ||
	     err_set_nomem(err);
	ok = ok && (derived_reduce(input->policy->derived, &target, &derived, &bytes) ||
		       err_set_nomem(err));
	ok = ok && verify_parts(&whole, n, err);
	sf_section_deinit(&templates);
	sf_section_deinit(&derived);
	sf_cursor_deinit(&whole.run.cursor);
	return ok;
}
