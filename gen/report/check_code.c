/* SPDX-License-Identifier: MIT */
/* --check-code: what the instructions say of the CFI, as text. */
#include "gen/report/check_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/plain.h"
#include "gen/elf/object/object.h"
#include "gen/input/symbols.h"
#include "gen/verify/meaning.h"

/* Faults alike: of one kind, in one column. */
struct check_group {
	size_t first; /* index of the first fault; SIZE_MAX: none */
	size_t n_fdes;
	uint64_t n_instructions;
};

struct check_text {
	const struct image *image;
	const struct cfi_input *input;
	const struct validate_result *result;
	struct symbols symbols;
	FILE *out;
};

static const char *const check_columns[] = {[VALIDATE_CFA] = "CFA",
    [VALIDATE_RA] = "return address",
    [VALIDATE_FP] = "frame pointer"};

const char *report_fault_kind_name(enum validate_fault_kind kind)
{
	static const char *const names[] = {[VALIDATE_FAULT_OTHER] = "misplaced",
	    [VALIDATE_FAULT_LATE] = "late",
	    [VALIDATE_FAULT_EARLY] = "early",
	    [VALIDATE_FAULT_MISSING] = "missing"};

	return names[kind];
}

static const char *check_kind_text(enum validate_fault_kind kind)
{
	static const char *const texts[] = {
	    [VALIDATE_FAULT_OTHER] = "another row of the function is right here",
	    [VALIDATE_FAULT_LATE] = "the row that follows is right already",
	    [VALIDATE_FAULT_EARLY] = "the row before is still right",
	    [VALIDATE_FAULT_MISSING] = "no row of the function is right here"};

	return texts[kind];
}

/* The rule of the column that contradicts. */
static const struct cfi_rule *check_fault_rule(const struct validate_fault *fault)
{
	return fault->answer.column == VALIDATE_CFA  ? &fault->row.cfa
	       : fault->answer.column == VALIDATE_RA ? &fault->row.ra
						     : &fault->row.fp;
}

/* "CFA = rsp + 16 is 8 bytes too high": the row's rule, and what is wrong with it. */
static void check_fault_print(
    const struct check_text *text, const struct validate_fault *fault)
{
	const struct code_value found = fault->answer.found;
	const struct cfi_rule *rule = check_fault_rule(fault);
	char words[96];

	fputs(check_columns[fault->answer.column], text->out);
	if (rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME) {
		fputs(" unchanged", text->out);
	} else {
		meaning_rule_text(text->input->arch, rule, words, sizeof(words));
		fprintf(text->out, " = %s", words);
	}
	if (fault->answer.column == VALIDATE_CFA && found.kind == CODE_CFA)
		fprintf(text->out, " is %" PRIu64 " bytes too %s",
		    found.off < 0 ? 0 - (uint64_t)found.off : (uint64_t)found.off,
		    found.off < 0 ? "low" : "high");
	else
		fputs(" is another value", text->out);
}

static void check_place_print(
    const struct check_text *text, const struct validate_fault *fault)
{
	char where[OBJECT_WHERE];
	char *name = symbols_readable(&text->symbols, fault->start);

	fputs(object_where(text->image, fault->start, where), text->out);
	if (name) {
		fputs(" in ", text->out);
		plain_print(name, text->out);
	}
	free(name);
}

/* One line for all faults of one kind and column. */
static void check_print_groups(const struct check_text *text)
{
	const struct validate_result *result = text->result;

	for (unsigned int kind = 0; kind < VALIDATE_N_FAULT_KINDS; kind++)
		for (unsigned int column = 0; column <= VALIDATE_FP; column++) {
			struct check_group group = {.first = SIZE_MAX};
			uint32_t last = UINT32_MAX;

			for (size_t i = 0; i < result->n_faults; i++) {
				const struct validate_fault *fault = &result->faults[i];

				if (fault->kind != kind || fault->answer.column != column)
					continue;
				if (group.first == SIZE_MAX)
					group.first = i;
				group.n_fdes += fault->range != last;
				last = fault->range;
				group.n_instructions += fault->n_instructions;
			}
			if (group.first == SIZE_MAX)
				continue;
			fprintf(text->out,
			    "%s: %s %s: %" PRIu64
			    " instruction%s of %zu function%s (%s); first at ",
			    text->image->shown,
			    report_fault_kind_name((enum validate_fault_kind)kind),
			    check_columns[column], group.n_instructions,
			    num_s(group.n_instructions), group.n_fdes,
			    num_s(group.n_fdes),
			    check_kind_text((enum validate_fault_kind)kind));
			check_place_print(text, &result->faults[group.first]);
			fputs(": ", text->out);
			check_fault_print(text, &result->faults[group.first]);
			fputc('\n', text->out);
		}
}

/* One line for each fault. */
static void check_print_faults(const struct check_text *text)
{
	for (size_t i = 0; i < text->result->n_faults; i++) {
		const struct validate_fault *fault = &text->result->faults[i];

		fprintf(text->out, "%s: ", text->image->shown);
		check_place_print(text, fault);
		fprintf(text->out, ", %u instruction%s: ", fault->n_instructions,
		    num_s(fault->n_instructions));
		check_fault_print(text, fault);
		fprintf(text->out, " (%s)\n",
		    report_fault_kind_name((enum validate_fault_kind)fault->kind));
	}
}

static double check_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 100.0;
}

static void check_print_summary(const struct check_text *text)
{
	const struct validate_result *result = text->result;
	const size_t n = result->n_fdes - result->n_not_looked_at;

	fprintf(text->out,
	    "%s: %zu FDE%s: %.2f %% confirmed by the code, %zu to review, %zu unknown, "
	    "%zu contradict%s it; %.2f %% of instructions start from a row",
	    text->image->shown, n, num_s(n),
	    check_percent(result->n_of[VALIDATE_CONFIRMED], n),
	    result->n_of[VALIDATE_REVIEW], result->n_of[VALIDATE_OPEN],
	    result->n_of[VALIDATE_WRONG], result->n_of[VALIDATE_WRONG] == 1 ? "s" : "",
	    check_percent(result->seeded, result->instructions));
	if (result->n_not_looked_at)
		fprintf(text->out, "; %zu not looked at", result->n_not_looked_at);
	fputc('\n', text->out);
}

/* Why FDEs that are neither right nor wrong are so. */
static void check_print_doubts(const struct check_text *text)
{
	for (size_t i = 0; i < text->result->n_ranges; i++) {
		const struct validate_range *range = &text->result->ranges[i];
		const uint64_t start = text->input->ranges.list[i].start;
		const struct validate_fault place = {
		    .start = range->first_open ? range->first_open : start};

		if (!range->looked_at ||
		    (range->state != VALIDATE_OPEN && range->state != VALIDATE_REVIEW))
			continue;
		fprintf(text->out, "%s: ", text->image->shown);
		check_place_print(text, &place);
		if (range->state == VALIDATE_OPEN)
			fputs(": unknown: the code does not tell what the row says",
			    text->out);
		else if (range->reviews & VALIDATE_REVIEW_RETURN)
			fputs(": review: SP at a return is not as at entry", text->out);
		else if (range->reviews & VALIDATE_REVIEW_CALL)
			fputs(": review: rows are right only if a call does not return",
			    text->out);
		else
			fputs(": review: no row says that a function begins, and nothing "
			      "leads here",
			    text->out);
		fputc('\n', text->out);
	}
}

bool report_check_code(
    const struct image *image, const struct options *options, FILE *out, struct err *err)
{
	struct check_text text = {.image = image, .out = out};
	struct validate_result result = {0};
	struct cfi_input input = {0};
	bool ok;

	if (image->object)
		return err_set(err, ERR_UNSUPPORTED,
		    "a relocatable object is not checked against its code: link it "
		    "first");
	if (!cfi_input_read(image, image, options, &input, err)) {
		cfi_input_deinit(&input);
		return false;
	}
	text.input = &input;
	text.result = &result;
	ok = code_can_decode(input.arch->code) ||
	     err_set(err, ERR_UNSUPPORTED,
		 "this build cannot decode %s code: build it with Zydis",
		 input.arch->name);
	ok = ok && symbols_read(image, &text.symbols, err) &&
	     validate_cfi(image, &input, options->jobs, &result, err);
	if (ok && options->verbosity > 0) {
		check_print_faults(&text);
		check_print_doubts(&text);
	} else if (ok) {
		check_print_groups(&text);
	}
	if (ok && options->verbosity >= 0)
		check_print_summary(&text);
	if (ok && result.n_of[VALIDATE_WRONG])
		ok = err_set(err, ERR_PROOF,
		    "the code contradicts the CFI of %zu function%s",
		    result.n_of[VALIDATE_WRONG], num_s(result.n_of[VALIDATE_WRONG]));
	validate_result_deinit(&result);
	symbols_deinit(&text.symbols);
	cfi_input_deinit(&input);
	return ok;
}
