/* SPDX-License-Identifier: MIT */
/*
 * rules_witness FILE...: the rules that the library gives for code without rows
 * (eh2sframe_result_extra), against CFI at every address: as the interpreter reads it, and
 * as libdwarf does. CFI of a gap that is such a rule must have one.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/libdwarf.h"
#include "include/eh2sframe.h"
#include "tests/oracle/eh_file.h"
#include "tests/oracle/rule_text.h"

enum { MAX_SHOWN = 5, MAX_LIBDWARF_ROWS = 256, S390X_SAVE_AREA = 160, S390X_SP = 15 };

struct counts {
	size_t files, rules, differences;
	uint64_t gap_bytes, rule_bytes, own_bytes, libdwarf_bytes;
};

/* One file and one version. */
struct run {
	const char *path;
	struct eh_file file;
	struct cfi_frames frames;
	struct cfi_interp interp;
	struct eh2sframe_extra *rules;
	size_t n_rules;
	struct eh2sframe_gap *gaps;
	size_t n_gaps;
	struct counts *counts;
};

static void differ(
    struct run *run, const char *what, uint64_t pc, const struct cfi_row *row)
{
	if (run->counts->differences++ >= MAX_SHOWN)
		return;
	printf("%s: 0x%" PRIx64 ": %s", run->path, pc, what);
	if (row)
		row_print(stdout, row);
	else
		printf("\n");
}

static bool same_place(const struct eh2sframe_location *location,
    const struct cfi_rule *rule, bool add_is_apart)
{
	switch (location->place) {
	case EH2SFRAME_PLACE_AT_CFA:
		return rule->kind == CFI_AT_CFA && rule->off == location->offset;
	case EH2SFRAME_PLACE_REGISTER:
		return rule->kind == CFI_REG_PLUS && rule->reg == location->reg &&
		       rule->off == location->offset;
	case EH2SFRAME_PLACE_AT_REGISTER:
		return rule->kind == CFI_AT_REG && rule->reg == location->reg &&
		       rule->off == location->offset && (add_is_apart || !rule->add);
	case EH2SFRAME_PLACE_SAME:
		return rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME;
	}
	return false;
}

/* The caller's SP is the CFA, or what the ABI makes of it. */
static bool sp_is_usual(const struct run *run, const struct cfi_row *row)
{
	const struct cfi_rule *sp = &row->sp;
	bool s390x = run->file.e_machine == EM_S390;

	if (sp->kind == CFI_UNSPECIFIED || cfi_rule_equal(sp, &row->cfa))
		return true;
	if (sp->kind == CFI_CFA_PLUS)
		return sp->off == (s390x ? -S390X_SAVE_AREA : 0);
	/* A CFA that is back where a call leaves it says that SP is back, too; one that was never elsewhere says so, before a frame. */
	if (s390x && row->cfa_moved && row->cfa.kind == CFI_REG_PLUS &&
	    row->cfa.reg == S390X_SP && row->cfa.off == S390X_SAVE_AREA)
		return false;
	return s390x && (sp->kind == CFI_AT_CFA || sp->kind == CFI_REG_PLUS);
}

static bool own_register(const struct cfi_rule *rule, uint64_t reg)
{
	return rule->kind == CFI_REG_PLUS && rule->reg == reg && rule->off == 0;
}

/* The CFA, which alone can be in an array. */
static bool is_cfa(const struct eh2sframe_rule *rule, const struct cfi_rule *cfa)
{
	if (rule->cfa.place != EH2SFRAME_PLACE_AT_SUM)
		return same_place(&rule->cfa, cfa, true) && rule->cfa_add == cfa->add;
	return cfa->kind == CFI_AT_SUM && rule->cfa.reg == cfa->reg &&
	       rule->cfa.offset == cfa->off && rule->cfa_index == cfi_rule_index(cfa) &&
	       rule->cfa_shift == cfi_rule_shift(cfa) && rule->cfa_add == cfa->add;
}

static bool is_rule(const struct run *run, const struct eh2sframe_rule *rule,
    const struct cfi_row *row, bool signal_frame, uint64_t ra_reg)
{
	bool outermost = (rule->flags & EH2SFRAME_FLAG_OUTERMOST) != 0;

	if (signal_frame != ((rule->flags & EH2SFRAME_FLAG_SIGNAL_FRAME) != 0) ||
	    outermost != (row->ra.kind == CFI_UNDEFINED))
		return false;
	if (outermost)
		return true;
	return is_cfa(rule, &row->cfa) &&
	       (same_place(&rule->ra, &row->ra, false) ||
		   (rule->ra.place == EH2SFRAME_PLACE_SAME &&
		       own_register(&row->ra, ra_reg))) &&
	       (same_place(&rule->fp, &row->fp, false) ||
		   (rule->fp.place == EH2SFRAME_PLACE_SAME &&
		       own_register(&row->fp, run->file.machine.fp_reg))) &&
	       sp_is_usual(run, row);
}

/* True if a value can be said at all. */
static bool sayable(const struct cfi_rule *rule, bool is_cfa)
{
	bool near = rule->off == (int32_t)rule->off, low = rule->reg < 32;

	switch (rule->kind) {
	case CFI_AT_REG:
		return near && low && (is_cfa || !rule->add);
	case CFI_AT_SUM:
		return near && low && is_cfa;
	case CFI_REG_PLUS:
		return near && low;
	case CFI_AT_CFA:
		return near && !is_cfa;
	case CFI_SAME:
	case CFI_UNSPECIFIED:
		return !is_cfa;
	default:
		return false;
	}
}

static bool row_sayable(const struct run *run, const struct cfi_row *row)
{
	bool x86_64 = run->file.e_machine == EM_X86_64;

	if (row->ra.kind == CFI_UNDEFINED)
		return true;
	return sayable(&row->cfa, true) && sayable(&row->ra, false) &&
	       sayable(&row->fp, false) && sp_is_usual(run, row) &&
	       !row->ra_signed_with_pc &&
	       !(x86_64 &&
		   (row->ra.kind == CFI_SAME || row->ra.kind == CFI_UNSPECIFIED)) &&
	       !(run->file.e_machine == EM_S390 && row->cfa.kind == CFI_REG_PLUS &&
		   row->cfa.reg == run->file.machine.sp_reg &&
		   row->cfa.off < S390X_SAVE_AREA);
}

/* The first range that ends above pc. */
#define RANGE_ABOVE(list, n, pc, i)                                                      \
	do {                                                                             \
		size_t above = (n);                                                      \
                                                                                         \
		for ((i) = 0; (i) < above;) {                                            \
			size_t middle = (i) + (above - (i)) / 2;                         \
                                                                                         \
			if ((list)[middle].end > (pc))                                   \
				above = middle;                                          \
			else                                                             \
				(i) = middle + 1;                                        \
		}                                                                        \
	} while (0)

/* The rules that touch [from, to), which row speaks for. Returns the bytes that agree. */
static uint64_t compare_row(struct run *run, const struct cfi_row *row, uint64_t from,
    uint64_t to, bool signal_frame, uint64_t ra_reg)
{
	uint64_t bytes = 0;
	size_t i;

	RANGE_ABOVE(run->rules, run->n_rules, from, i);
	for (; i < run->n_rules && run->rules[i].start < to; i++) {
		const struct eh2sframe_extra *rule = &run->rules[i];
		uint64_t start = rule->start > from ? rule->start : from;
		uint64_t end = rule->end < to ? rule->end : to;

		if (!is_rule(run, &rule->rule, row, signal_frame, ra_reg))
			differ(run, "the rule is not that of CFI:", start, row);
		else
			bytes += end - start;
	}
	return bytes;
}

static bool about_rows(const char *reason)
{
	static const char *const others[] = {"return-column", "broken-program", "overlap",
	    "not-code", "function-size", "code-disagrees", "excluded"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(reason, others[i]))
			return false;
	return true;
}

/* The gaps that touch [from, to): all of their code has a rule where it can have one. */
static void find_missing(
    struct run *run, const struct cfi_row *row, uint64_t from, uint64_t to)
{
	size_t i, k;

	if (!row_sayable(run, row))
		return;
	RANGE_ABOVE(run->gaps, run->n_gaps, from, i);
	for (; i < run->n_gaps && run->gaps[i].start < to; i++) {
		const struct eh2sframe_gap *gap = &run->gaps[i];
		uint64_t start = gap->start > from ? gap->start : from;
		uint64_t end = gap->end < to ? gap->end : to;

		if (!about_rows(gap->reason))
			continue;
		RANGE_ABOVE(run->rules, run->n_rules, start, k);
		for (; start < end && k < run->n_rules && run->rules[k].start <= start;
		     k++)
			start = run->rules[k].end;
		if (start < end)
			differ(run, "no rule for:", start, row);
	}
}

static void compare_fdes(struct run *run)
{
	for (size_t i = 0; i < run->frames.n_fdes; i++) {
		const struct cfi_fde *fde = &run->frames.fdes[i];
		const struct cfi_cie *cie = &run->frames.cies[fde->cie];
		const struct cfi_table *table = &run->interp.table;
		struct err err = {0};

		if (!cfi_interpret(&run->interp, fde, &err) || table->pc_dependent)
			continue;
		for (size_t k = 0; k < table->n_rows; k++) {
			uint64_t from = table->rows[k].pc, to = table->end;

			if (k + 1 < table->n_rows)
				to = table->rows[k + 1].pc;
			run->counts->own_bytes += compare_row(run, &table->rows[k], from,
			    to, cie->signal_frame, cie->ra_reg);
			find_missing(run, &table->rows[k], from, to);
		}
	}
}

/* libdwarf tells neither a signal frame nor the return address column: both are taken from
 * the rule, and from the other reader. */
static void compare_libdwarf(struct run *run)
{
	struct err err = {0};
	struct cfi_libdwarf *witness =
	    cfi_libdwarf_new(&run->file.section, &run->file.machine, &err);
	size_t n = witness ? cfi_libdwarf_n_fdes(witness) : 0, k;

	for (size_t i = 0; i < n; i++) {
		const struct cfi_table *table;
		uint64_t end;

		if (!cfi_libdwarf_table(
			witness, i, MAX_LIBDWARF_ROWS, &table, &end, &err))
			continue;
		for (size_t r = 0; r < table->n_rows; r++) {
			uint64_t from = table->rows[r].pc, to = table->end;

			if (r + 1 < table->n_rows)
				to = table->rows[r + 1].pc;
			RANGE_ABOVE(run->rules, run->n_rules, from, k);
			if (k == run->n_rules || run->rules[k].start >= to)
				continue;
			run->counts->libdwarf_bytes +=
			    compare_row(run, &table->rows[r], from, to,
				run->rules[k].rule.flags & EH2SFRAME_FLAG_SIGNAL_FRAME,
				run->frames.cies[0].ra_reg);
		}
	}
	cfi_libdwarf_free(witness);
}

static bool room(void **list, size_t n, size_t size)
{
	/* At powers of 2. */
	if (n & (n - 1))
		return true;
	*list = realloc(*list, (n ? 2 * n : 1) * size);
	return *list != NULL;
}

static bool read_result(struct run *run, const char *format)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_file *file = NULL;
	struct eh2sframe_result *result = NULL;
	struct eh2sframe_extra rule;
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	uint64_t before = 0;

	/* libdwarf reads no tables of Go, which have a rule for functions without a caller. */
	if (options && eh2sframe_options_set(options, "format", format, NULL) &&
	    eh2sframe_options_set(options, "source", "eh_frame", NULL) &&
	    eh2sframe_options_set(options, "jobs", "1", NULL))
		file = eh2sframe_open_path(run->path, options, NULL);
	result = file ? eh2sframe_convert(file, NULL, NULL) : NULL;
	for (; result && eh2sframe_result_extra(result, run->n_rules, &rule) &&
	       room((void **)&run->rules, run->n_rules, sizeof(rule));
	     run->n_rules++) {
		if (rule.start < before || rule.end <= rule.start)
			differ(run, "the rule is not above the last", rule.start, NULL);
		before = rule.end;
		run->counts->rule_bytes += rule.end - rule.start;
		run->rules[run->n_rules] = rule;
	}
	for (; result && eh2sframe_result_gap(result, run->n_gaps, &gap) &&
	       room((void **)&run->gaps, run->n_gaps, sizeof(gap));
	     run->n_gaps++) {
		run->counts->gap_bytes += gap.end - gap.start;
		run->gaps[run->n_gaps] = gap;
	}
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
	return result != NULL;
}

static void compare_file(const char *path, const char *format, struct counts *counts)
{
	struct run run = {.path = path, .counts = counts};
	struct err err = {0};
	uint64_t bytes = counts->rule_bytes, own = counts->own_bytes;

	if (!eh_file_open(path, &run.file))
		return;
	if (run.file.section.size &&
	    cfi_frames_read(&run.file.section, &run.frames, &err)) {
		cfi_interp_init(&run.interp, &run.frames, &run.file.machine);
		if (read_result(&run, format)) {
			counts->files++;
			counts->rules += run.n_rules;
			compare_fdes(&run);
			if (run.n_rules)
				compare_libdwarf(&run);
			if (counts->rule_bytes - bytes > counts->own_bytes - own)
				differ(&run, "a rule without CFI", 0, NULL);
		}
		cfi_interp_deinit(&run.interp);
		cfi_frames_deinit(&run.frames);
	}
	free(run.rules);
	free(run.gaps);
	eh_file_close(&run.file);
}

int main(int argc, char **argv)
{
	static const char *const formats[] = {"2", "3"};
	bool ok = true;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct counts counts = {0};

		for (int k = 1; k < argc; k++)
			compare_file(argv[k], formats[i], &counts);
		printf("version %s: %zu files, %" PRIu64
		       " bytes in gaps, %zu rules for %" PRIu64
		       " of them; equal: %" PRIu64 " by the interpreter, %" PRIu64
		       " by libdwarf; %zu differences\n",
		    formats[i], counts.files, counts.gap_bytes, counts.rules,
		    counts.rule_bytes, counts.own_bytes, counts.libdwarf_bytes,
		    counts.differences);
		ok = ok && !counts.differences && counts.rule_bytes &&
		     counts.libdwarf_bytes;
	}
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
