/* SPDX-License-Identifier: MIT */
/* Walks SFrame functions and CFI tables side by side. */
#include "gen/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cfi/interp.h"
#include "cfi/witness.h"
#include "gen/answer.h"
#include "gen/plt.h"
#include "gen/reduce.h"
#include "gen/sweep.h"
#include "sframe/check.h"

struct verify_run {
	const struct verify_input *in;
	struct verify_result *result;
	struct sweep sweep;	       /* over the section */
	const struct cfi_table *table; /* what CFI says; NULL: nothing may be said */
	size_t at_row;		       /* of table; ascends with the PC */
	const char *no_table_why;
	bool judge_missing;
};

ATTR_PRINTF(3, 4)
static void verify_differ(struct verify_run *run, uint64_t pc, const char *fmt, ...)
{
	struct verify_result *result = run->result;
	const struct symbol *symbol;
	char *text;
	int used;
	va_list ap;

	if (result->n_differences++ >= VERIFY_MAX_TEXTS)
		return;
	text = result->texts[result->n_texts++];
	symbol = symbols_find(run->in->policy->symbols, pc);
	used = snprintf(text, sizeof(result->texts[0]), "0x%" PRIx64 " <%.60s>: ", pc,
		symbol ? symbol->name : "?");
	va_start(ap, fmt);
	vsnprintf(text + used, sizeof(result->texts[0]) - (size_t)used, fmt, ap);
	va_end(ap);
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

/* The section says row for [from, to), all inside the range being compared. */
static void verify_said(
	struct verify_run *run, uint64_t from, uint64_t to, const struct sf_row *row)
{
	const struct cfi_table *table = run->table;

	if (!table) {
		verify_differ(run, from, "a row, but %s", run->no_table_why);
		return;
	}
	while (from < to) {
		const struct cfi_row *cfi;
		enum answer_column column;
		uint64_t end;

		while (verify_row_end(table, run->at_row) <= from)
			run->at_row++;
		cfi = &table->rows[run->at_row];
		end = verify_row_end(table, run->at_row);
		end = end < to ? end : to;
		column = answer_compare(run->in->policy->arch, row, cfi);
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
		if (reduce_row(run->in->policy->arch, &table->rows[i], &row) ==
			REFUSE_NOTHING)
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
		verify_said(run, segment.start, segment.end, &segment.row);
		from = segment.end;
	}
	if (run->sweep.failed)
		return false;
	if (from < to)
		verify_silent(run, from, to);
	return true;
}

static bool verify_claims(
	struct verify_run *run, struct cfi_interp *interp, struct err *err)
{
	const struct cfi_frames *frames = run->in->frames;
	const struct claims *claims = run->in->claims;
	uint32_t current = UINT32_MAX;
	bool readable = false, judge = false;

	for (size_t i = 0; i < claims->n; i++) {
		const struct claim *claim = &claims->list[i];
		const struct cfi_fde *fde = &frames->fdes[claim->fde];
		struct err program = {0};

		if (claim->fde != current) {
			current = claim->fde;
			readable = cfi_interpret(interp, fde, &program);
			if (!readable && program.kind == ERR_NOMEM)
				return err_set_nomem(err);
			judge = policy_fde(run->in->policy, &frames->cies[fde->cie],
					fde) == REFUSE_NOTHING;
		}
		run->table = readable && !claim->contested ? &interp->table : NULL;
		run->no_table_why = claim->contested ? "two FDEs disagree about this code"
						     : "the CFI of this code is damaged";
		run->judge_missing = judge;
		if (!verify_range(run, claim->start, claim->end, err))
			return false;
	}
	return true;
}

/* [from, to) has no CFI: rows are only allowed where a PLT template says the same. */
static bool verify_outside(struct verify_run *run, const struct sf_section *templates,
	uint64_t from, uint64_t to, struct err *err)
{
	struct sweep_segment segment;

	sweep_seek(&run->sweep, from);
	while (from < to && sweep_next(&run->sweep, to, &segment, err)) {
		for (uint64_t pc = segment.start; pc < segment.end;) {
			const struct sf_row *row;
			uint64_t end = segment.end;

			row = sweep_model_row(templates, pc, &end);
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

/* Every address between and around the claims. */
static bool verify_unclaimed(struct verify_run *run, struct err *err)
{
	const struct claims *claims = run->in->claims;
	struct sf_section templates = {0};
	uint64_t at = 0, bytes;
	bool ok = true;

	if (!plt_from_templates(run->in->policy, claims, &templates, &bytes)) {
		sf_section_deinit(&templates);
		return err_set_nomem(err);
	}
	for (size_t i = 0; ok && i <= claims->n; i++) {
		uint64_t next = i < claims->n ? claims->list[i].start : UINT64_MAX;

		if (at < next)
			ok = verify_outside(run, &templates, at, next, err);
		if (i < claims->n)
			at = claims->list[i].end;
	}
	sf_section_deinit(&templates);
	return ok;
}

static bool verify_begin(struct verify_run *run, const struct verify_input *input,
	struct verify_result *result, struct err *err)
{
	*result = (struct verify_result){0};
	*run = (struct verify_run){.in = input, .result = result};
	return sf_check_all(input->view, NULL, err) &&
	       sweep_init(&run->sweep, input->view, err);
}

bool verify_own(
	const struct verify_input *input, struct verify_result *result, struct err *err)
{
	struct cfi_interp interp;
	struct verify_run run;
	bool ok;

	if (!verify_begin(&run, input, result, err))
		return false;
	cfi_interp_init(&interp, input->frames, &input->policy->arch->cfi);
	ok = verify_claims(&run, &interp, err) && verify_unclaimed(&run, err);
	cfi_interp_deinit(&interp);
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

	if (!verify_begin(&run, input, result, err))
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
