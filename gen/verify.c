/* SPDX-License-Identifier: MIT */
/* Walks SFrame functions and CFI tables side by side. */
#include "gen/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/task.h"
#include "base/vec.h"
#include "cfi/interp.h"
#include "cfi/same.h"
#include "cfi/witness.h"
#include "gen/answer.h"
#include "gen/plt.h"
#include "gen/reduce.h"
#include "gen/sweep.h"
#include "sframe/check.h"

/* A function that has been found right; any FDE with the same instructions makes another
 * one with the same rows right. */
struct verify_seen {
	uint64_t reach; /* of the CFI table */
	uint32_t rows_off, n_rows;
	uint8_t row_type;
	bool flex, pauth_b, signal_frame;
};

struct verify_run {
	const struct verify_input *in;
	struct verify_result *result;
	struct sweep sweep;	       /* over the section */
	const struct cfi_table *table; /* what CFI says; NULL: nothing may be said */
	size_t at_row;		       /* of table; ascends with the PC */
	const char *no_table_why;
	bool readable;	      /* the CFI program of the FDE at hand */
	struct target target; /* what rows for this code can say */
	bool marks_known;     /* target's signal frame and key are what CFI says */
	bool marks_told;      /* that the section says otherwise */
	bool judge_missing;
	/* Only for our own reading of the CFI: */
	const struct sf_section *templates; /* of PLTs without CFI */
	size_t first, last;		    /* claims [first, last) */
	struct cfi_interp interp;
	struct cfi_same same; /* programs met, with indices into seen */
	struct verify_seen *seen;
	size_t n_seen, cap_seen;
	struct verify_result part; /* what a run beside others finds */
	bool ok;
	struct err err;
};

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

ATTR_PRINTF(3, 4)
static void verify_differ(struct verify_run *run, uint64_t pc, const char *fmt, ...)
{
	struct verify_result *result = run->result;
	char text[sizeof(result->texts[0])];
	int used;
	va_list ap;

	if (result->n_differences++ >=
		(result->differ ? VERIFY_MAX_TOLD : VERIFY_MAX_TEXTS))
		return;
	used = snprintf(
		text, sizeof(text), "0x%" PRIx64 " <%.60s>: ", pc, verify_name(run, pc));
	va_start(ap, fmt);
	vsnprintf(text + used, sizeof(text) - (size_t)used, fmt, ap);
	va_end(ap);
	if (result->n_texts < VERIFY_MAX_TEXTS)
		memcpy(result->texts[result->n_texts++], text, sizeof(text));
	if (result->differ)
		result->differ(result->context, text);
}

static uint64_t verify_row_end(const struct cfi_table *table, size_t i)
{
	return i + 1 < table->n_rows ? table->rows[i + 1].pc : table->end;
}

/* Both sides in words, for the column that differs. */
static void verify_rule_differs(struct verify_run *run, uint64_t pc,
	enum answer_column column, const struct sf_row *row, const struct cfi_row *cfi)
{
	const struct arch *arch = run->in->policy->arch;
	const struct cfi_rule *rules[] = {[ANSWER_CFA] = &cfi->cfa,
		[ANSWER_SP] = &cfi->sp,
		[ANSWER_RA] = &cfi->ra,
		[ANSWER_FP] = &cfi->fp};
	struct cfi_rule claimed;
	char ours[64], theirs[64];

	if (column == ANSWER_RA_SIGNED) {
		verify_differ(run, pc, "the return address is %s in .sframe, not in CFI",
			row->ra_signed ? "signed" : "unsigned");
		return;
	}
	claimed = answer_rule_of(arch, row, column);
	answer_rule_text(arch, &claimed, ours, sizeof(ours));
	answer_rule_text(arch, rules[column], theirs, sizeof(theirs));
	verify_differ(run, pc, "%s is %s in .sframe, %s in CFI",
		answer_column_name(column), ours, theirs);
}

/*
 * What holds for a function as a whole. In a signal frame the PC is looked up as it is,
 * else one byte before; the key is that of every signature in it.
 */
static bool verify_marks(struct verify_run *run, const struct sweep_segment *segment)
{
	bool signal_frame = run->target.signal_frame, pauth_b = run->target.pauth_b;
	bool told = run->marks_told;

	if (!run->marks_known ||
		(segment->signal_frame == signal_frame && segment->pauth_b == pauth_b))
		return true;
	run->marks_told = true;
	if (told)
		return false;
	if (segment->signal_frame != signal_frame)
		verify_differ(run, segment->start,
			"the frame is %s signal frame in .sframe, %s in CFI",
			signal_frame ? "no" : "a", signal_frame ? "one" : "none");
	else
		verify_differ(run, segment->start,
			"the signing key is %s in .sframe, %s in CFI",
			pauth_b ? "A" : "B", pauth_b ? "B" : "A");
	return false;
}

/* What the section says for the segment, which is inside the range being compared. */
static void verify_said(struct verify_run *run, const struct sweep_segment *segment)
{
	const struct cfi_table *table = run->table;
	const struct sf_row *row = &segment->row;
	uint64_t from = segment->start, to = segment->end;

	if (!table) {
		verify_differ(run, from, "a row, but %s", run->no_table_why);
		return;
	}
	if (!verify_marks(run, segment))
		return;
	while (from < to) {
		const struct cfi_row *cfi;
		struct cfi_row unsigned_row;
		enum answer_column column;
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
		column = answer_compare(&run->target, row, cfi);
		if (column == ANSWER_SAME)
			run->result->agreed_bytes += end - from;
		else
			verify_rule_differs(run, from, column, row, cfi);
		from = end;
	}
}

/* The section says nothing about [from, to). */
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

/* Compares [from, to), which lies inside run->table if there is one. */
static bool verify_range(
	struct verify_run *run, uint64_t from, uint64_t to, struct err *err)
{
	struct sweep_segment segment;

	run->at_row = run->table ? cfi_table_row_at(run->table, from) : 0;
	sweep_seek(&run->sweep, from);
	while (from < to && sweep_next(&run->sweep, to, &segment, err)) {
		if (segment.start > from)
			verify_silent(run, from, segment.start);
		verify_said(run, &segment);
		from = segment.end;
	}
	if (run->sweep.failed)
		return false;
	if (from < to)
		verify_silent(run, from, to);
	return true;
}

/* One line for all that is missing of an FDE. */
static void verify_miss(struct verify_run *run, const struct cfi_fde *fde, uint64_t bytes)
{
	struct verify_result *result = run->result;

	if (bytes == 0 || result->n_missing++ >= VERIFY_MAX_MISSING)
		return;
	snprintf(result->missing[result->n_missing - 1], sizeof(result->missing[0]),
		"0x%" PRIx64 " <%.80s>: %" PRIu64 " bytes could have a row and have none",
		fde->pc, verify_name(run, fde->pc), bytes);
}

/* Another FDE's turn: its rules, and what of them a row could say. */
static bool verify_begin_fde(struct verify_run *run, const struct cfi_fde *fde,
	bool *readable, struct err *err)
{
	const struct cfi_cie *cie = &run->in->frames->cies[fde->cie];
	struct err program = {0};

	*readable = cfi_interpret(&run->interp, fde, &program);
	if (!*readable && program.kind == ERR_NOMEM)
		return err_set_nomem(err);
	run->target = target_for(run->target.arch, run->target.version, cie);
	run->marks_told = false;
	run->judge_missing = policy_fde(run->in->policy, cie, fde) == REFUSE_NOTHING;
	return true;
}

static bool verify_claim(
	struct verify_run *run, const struct claim *claim, bool again, struct err *err)
{
	const struct cfi_fde *fde = &run->in->frames->fdes[claim->fde];
	uint64_t missing = run->result->missing_bytes;

	if (!again && !verify_begin_fde(run, fde, &run->readable, err))
		return false;
	run->table = run->readable && !claim->contested ? &run->interp.table : NULL;
	run->no_table_why = claim->contested ? "two FDEs disagree about this code"
					     : "the CFI of this code is damaged";
	if (!verify_range(run, claim->start, claim->end, err))
		return false;
	verify_miss(run, fde, run->result->missing_bytes - missing);
	return true;
}

static bool verify_same_rows(const struct verify_seen *a, const struct verify_seen *b)
{
	return a->rows_off == b->rows_off && a->n_rows == b->n_rows &&
	       a->row_type == b->row_type && a->flex == b->flex &&
	       a->pauth_b == b->pauth_b && a->signal_frame == b->signal_frame;
}

/* Keeps a function that has just been found right, if that says something about others.
 */
static bool verify_keep(struct verify_run *run, struct verify_seen *seen, uint32_t *value)
{
	/* A row at the function's end has not been looked at: it holds for nothing here.
	 */
	if (!run->interp.table.movable || !sweep_spent(&run->sweep) ||
		run->n_seen >= CFI_SAME_NEW)
		return true;
	seen->reach = run->interp.table.reach;
	if (!vec_reserve(&run->seen, &run->cap_seen, run->n_seen + 1))
		return false;
	*value = (uint32_t)run->n_seen;
	run->seen[run->n_seen++] = *seen;
	return true;
}

/* The claim is all of its FDE, and func all of the claim. */
static bool verify_whole(struct verify_run *run, const struct claim *claim,
	const struct sf_view_func *func, struct err *err)
{
	const struct cfi_fde *fde = &run->in->frames->fdes[claim->fde];
	uint32_t *value = cfi_same_value(&run->same, fde);
	struct verify_seen now = {.rows_off = func->rows_off,
		.n_rows = func->func.n_rows,
		.row_type = func->row_type,
		.flex = func->flex,
		.pauth_b = func->func.pauth_b,
		.signal_frame = func->func.signal_frame};
	uint64_t agreed = run->result->agreed_bytes;

	if (!value)
		return err_set_nomem(err);
	if (*value != CFI_SAME_NEW && run->seen[*value].reach < fde->range &&
		verify_same_rows(&run->seen[*value], &now)) {
		run->result->agreed_bytes += fde->range;
		return true;
	}
	if (!verify_claim(run, claim, false, err))
		return false;
	if (*value != CFI_SAME_NEW || run->result->agreed_bytes - agreed != fde->range)
		return true;
	return verify_keep(run, &now, value) || err_set_nomem(err);
}

/* [from, to) has no CFI: rows are only allowed where a PLT template says the same. */
static bool verify_outside(
	struct verify_run *run, uint64_t from, uint64_t to, struct err *err)
{
	struct sweep_segment segment;

	sweep_seek(&run->sweep, from);
	while (from < to && sweep_next(&run->sweep, to, &segment, err)) {
		for (uint64_t pc = segment.start; pc < segment.end;) {
			const struct sf_row *row;
			uint64_t end = segment.end;

			row = sweep_model_row(run->templates, pc, &end);
			end = end < segment.end ? end : segment.end;
			if (!row)
				verify_differ(run, pc, "a row, but there is no CFI here");
			else if (!sf_row_same(row, &segment.row))
				verify_differ(run, pc, "not the row of this PLT stub");
			else
				run->result->template_bytes += end - pc;
			pc = end;
		}
		from = segment.end;
	}
	return !run->sweep.failed;
}

/* The claims of a run, and every address before them up to the last claim of the run
 * before it; the last run goes on to the end. */
static bool verify_claims(struct verify_run *run, struct err *err)
{
	const struct claims *claims = run->in->claims;
	uint64_t at = run->first ? claims->list[run->first - 1].end : 0;
	uint32_t current = UINT32_MAX;

	run->marks_known = true;
	for (size_t i = run->first; i < run->last; i++) {
		const struct claim *claim = &claims->list[i];
		const struct cfi_fde *fde = &run->in->frames->fdes[claim->fde];
		const struct sf_view_func *func = NULL;

		if (at < claim->start && !verify_outside(run, at, claim->start, err))
			return false;
		if (!claim->contested && claim->start == fde->pc &&
			claim->end - claim->start == fde->range)
			func = sweep_whole(&run->sweep, claim->start, claim->end, err);
		if (run->sweep.failed)
			return false;
		if (func ? !verify_whole(run, claim, func, err)
			 : !verify_claim(run, claim, claim->fde == current, err))
			return false;
		current = claim->fde;
		at = claim->end;
	}
	return run->last < claims->n || verify_outside(run, at, UINT64_MAX, err);
}

static struct verify_run verify_begin(
	const struct verify_input *input, struct verify_result *result)
{
	*result = (struct verify_result){
		.differ = result->differ, .context = result->context};
	return (struct verify_run){.in = input,
		.result = result,
		.target = {.arch = input->policy->arch, .version = input->view->version}};
}

static void verify_run_part(void *context)
{
	struct verify_run *run = context;

	cfi_interp_init(&run->interp, run->in->frames, &run->in->policy->arch->cfi);
	cfi_same_init(&run->same, run->in->frames, run->last - run->first);
	run->ok = verify_claims(run, &run->err);
	cfi_same_deinit(&run->same);
	free(run->seen);
}

/*
 * All claims in n runs at the same time. False when what they found has to be told in
 * order, or may depend on n; the result then means nothing.
 */
static bool verify_beside(const struct verify_run *whole, size_t n)
{
	struct verify_result *result = whole->result;
	struct verify_run *runs = calloc(n, sizeof(*runs));
	uint64_t expr_ops = 0;
	bool ok = runs;

	for (size_t i = 0; ok && i < n; i++) {
		runs[i] = *whole;
		runs[i].result = &runs[i].part;
		runs[i].first = i ? runs[i - 1].last : 0;
		runs[i].last = claims_part_end(whole->in->claims, i, n);
	}
	if (runs)
		task_run_all(verify_run_part, runs, sizeof(*runs), n);
	for (size_t i = 0; runs && i < n; i++) {
		ok = ok && runs[i].ok && !runs[i].part.n_differences &&
		     !runs[i].part.missing_bytes;
		expr_ops += runs[i].interp.expr_ops_total;
		result->agreed_bytes += runs[i].part.agreed_bytes;
		result->template_bytes += runs[i].part.template_bytes;
		cfi_interp_deinit(&runs[i].interp);
	}
	free(runs);
	return ok && expr_ops < CFI_MAX_EXPR_OPS_TOTAL;
}

/* All claims in one run, from the start. */
static bool verify_alone(struct verify_run *run, struct err *err)
{
	struct verify_result *result = run->result;

	*result = (struct verify_result){
		.differ = result->differ, .context = result->context};
	run->last = run->in->claims->n;
	verify_run_part(run);
	/* Rules given up for that say nothing about the section. */
	if (run->ok && run->interp.expr_ops_total >= CFI_MAX_EXPR_OPS_TOTAL)
		run->ok = err_set(&run->err, ERR_LIMIT,
			"the expressions in .eh_frame take more than %u operations",
			CFI_MAX_EXPR_OPS_TOTAL);
	cfi_interp_deinit(&run->interp);
	if (!run->ok)
		*err = run->err;
	return run->ok;
}

bool verify_own(
	const struct verify_input *input, struct verify_result *result, struct err *err)
{
	struct verify_run run = verify_begin(input, result);
	size_t n = claims_n_parts(input->claims, input->policy->options->jobs);
	struct sf_section templates = {0};
	uint64_t bytes;
	bool ok;

	if (!sf_check_all(input->view, NULL, err) ||
		!sweep_init(&run.sweep, input->view, err))
		return false;
	run.templates = &templates;
	ok = plt_from_templates(input->policy, input->claims, &templates, &bytes) ||
	     err_set_nomem(err);
	ok = ok && ((n > 1 && verify_beside(&run, n)) || verify_alone(&run, err));
	sf_section_deinit(&templates);
	sweep_deinit(&run.sweep);
	return ok;
}

bool verify_libdwarf(const struct verify_input *input, size_t max_rows,
	void (*progress)(size_t done, size_t total), struct verify_result *result,
	struct err *err)
{
	struct cfi_witness *witness;
	struct verify_run run;
	size_t n;
	bool ok = true;

	run = verify_begin(input, result);
	if (!sf_check_all(input->view, NULL, err) ||
		!sweep_init(&run.sweep, input->view, err))
		return false;
	witness =
		cfi_witness_new(&input->frames->section, &input->policy->arch->cfi, err);
	n = witness ? cfi_witness_n_fdes(witness) : 0;
	for (size_t i = 0; ok && i < n; i++) {
		bool truncated;

		ok = cfi_witness_table(witness, i, max_rows, &run.table, &truncated, err);
		if (!ok || run.table->start == 0 || run.table->start == run.table->end)
			continue;
		ok = verify_range(&run, run.table->start, run.table->end, err);
		if (progress)
			progress(i + 1, n);
	}
	ok = ok && witness;
	cfi_witness_free(witness);
	sweep_deinit(&run.sweep);
	return ok;
}
