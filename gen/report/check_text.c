/* SPDX-License-Identifier: MIT */
/* eh2sframe check: the findings about the CFI, as text. */
#include "gen/report/check_code.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/percent.h"
#include "base/plain.h"
#include "gen/elf/object/object.h"
#include "gen/report/model.h"

static const char *check_kind_text(enum validate_fault_kind kind)
{
	static const char *const texts[] = {
	    [VALIDATE_FAULT_OTHER] = "another row of the function is right here",
	    [VALIDATE_FAULT_LATE] = "the row that follows is right already",
	    [VALIDATE_FAULT_EARLY] = "the row before is still right",
	    [VALIDATE_FAULT_MISSING] = "no row of the function is right here"};

	return texts[kind];
}

/* "CFA = rsp + 16 is 8 bytes too high": the row's rule, and what it gives. */
static void check_fault_print(
    const struct report_check *check, const struct validate_fault *fault, FILE *out)
{
	const struct code_value found = fault->answer.found;
	const struct cfi_rule *rule = report_check_fault_rule(fault);
	char words[REPORT_CHECK_RULE_SIZE];

	report_check_rule_text(check, rule, words);
	fprintf(out, "%s%s %s", report_check_column_name(fault->answer.column),
	    rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME ? "" : " =", words);
	report_check_found_text(check, found, words);
	if (fault->answer.column == VALIDATE_CFA && found.kind == CODE_CFA)
		fprintf(out, " is %" PRIu64 " bytes too %s",
		    found.off < 0 ? 0 - (uint64_t)found.off : (uint64_t)found.off,
		    found.off < 0 ? "low" : "high");
	else
		fprintf(out, " is %s", words);
}

static void check_place_print(const struct report_check *check, uint64_t pc, FILE *out)
{
	char where[OBJECT_WHERE];
	char *name = symbols_readable(&check->symbols, pc);

	fputs(object_where(check->image, pc, where), out);
	if (name) {
		fputs(" in ", out);
		plain_print(name, out);
	}
	free(name);
}

/* Prints one line for all faults of one kind and column. */
static void check_group_print(const struct report_check *check,
    enum validate_fault_kind kind, enum validate_column column, FILE *out)
{
	const struct report_check_group group =
	    report_check_group_of(check, kind, column);
	const struct validate_fault *first;

	if (group.first == SIZE_MAX)
		return;
	first = &check->result.faults[group.first];
	fprintf(out,
	    "%s: %s %s: %" PRIu64 " instruction%s of %zu function%s (%s); first at ",
	    check->image->shown, report_check_kind_name(kind),
	    report_check_column_name(column), group.n_instructions,
	    num_s(group.n_instructions), group.n_functions, num_s(group.n_functions),
	    check_kind_text(kind));
	check_place_print(check, first->start, out);
	fputs(": ", out);
	check_fault_print(check, first, out);
	fputc('\n', out);
}

/* Prints one line for each fault. */
static void check_print_faults(const struct report_check *check, FILE *out)
{
	for (size_t i = 0; i < check->result.n_faults; i++) {
		const struct validate_fault *fault = &check->result.faults[i];
		char *right = fault->repairable
				  ? report_rule_text(check->input.arch, &fault->repaired)
				  : NULL;

		fprintf(out, "%s: ", check->image->shown);
		check_place_print(check, fault->start, out);
		fprintf(out, ", %u instruction%s: ", fault->n_instructions,
		    num_s(fault->n_instructions));
		check_fault_print(check, fault, out);
		if (right)
			fprintf(out, "; the code gives %s", right);
		fprintf(out, " (%s)\n",
		    report_check_kind_name((enum validate_fault_kind)fault->kind));
		free(right);
	}
}

static void check_print_summary(const struct report_check *check, FILE *out)
{
	const struct validate_result *result = &check->result;
	const size_t n = result->n_fdes - result->n_not_looked_at;
	char confirmed[PERCENT_SIZE], seeded[PERCENT_SIZE];

	fprintf(out,
	    "%s: %zu %s%s: %s confirmed by the code, %zu to review, %zu unknown, "
	    "%zu contradict%s it; %s of instructions start from a row",
	    check->image->shown, n, check->of_section ? "function" : "FDE", num_s(n),
	    percent_text(result->n_of[VALIDATE_CONFIRMED], n, " %", confirmed),
	    result->n_of[VALIDATE_REVIEW], result->n_of[VALIDATE_OPEN],
	    result->n_of[VALIDATE_WRONG], result->n_of[VALIDATE_WRONG] == 1 ? "s" : "",
	    percent_text(result->seeded, result->instructions, " %", seeded));
	if (result->n_not_looked_at)
		fprintf(out, "; %zu not looked at", result->n_not_looked_at);
	fputc('\n', out);
}

/* Prints why some FDEs are neither right nor wrong. */
static void check_print_doubts(const struct report_check *check, FILE *out)
{
	for (size_t i = 0; i < check->result.n_ranges; i++) {
		const struct validate_range *range = &check->result.ranges[i];
		const char *reason = report_check_doubt_reason(range);

		if (!reason)
			continue;
		fprintf(out, "%s: ", check->image->shown);
		check_place_print(check,
		    range->first_open ? range->first_open
				      : check->input.ranges.list[i].start,
		    out);
		fprintf(out, ": %s: %s\n",
		    range->state == VALIDATE_OPEN ? "unknown" : "review", reason);
	}
}

void report_check_print(const struct report_check *check, int verbosity, FILE *out)
{
	if (verbosity > 0) {
		check_print_faults(check, out);
		check_print_doubts(check, out);
	} else {
		for (int kind = 0; kind < VALIDATE_N_FAULT_KINDS; kind++)
			for (int column = 0; column <= VALIDATE_FP; column++)
				check_group_print(check, (enum validate_fault_kind)kind,
				    (enum validate_column)column, out);
	}
	if (verbosity >= 0)
		check_print_summary(check, out);
}
