/* SPDX-License-Identifier: MIT */
/* The check of one file, and the words for what it found. */
#include "gen/report/check_code.h"

#include <inttypes.h>

#include "base/num.h"
#include "gen/elf/object/object.h"
#include "gen/verify/code_witness.h"
#include "gen/verify/meaning.h"

const char *report_check_kind_name(enum validate_fault_kind kind)
{
	static const char *const names[] = {[VALIDATE_FAULT_OTHER] = "misplaced",
	    [VALIDATE_FAULT_LATE] = "late",
	    [VALIDATE_FAULT_EARLY] = "early",
	    [VALIDATE_FAULT_MISSING] = "missing"};

	return names[kind];
}

const char *report_check_column_name(enum validate_column column)
{
	static const char *const names[] = {[VALIDATE_CFA] = "CFA",
	    [VALIDATE_RA] = "return address",
	    [VALIDATE_FP] = "frame pointer"};

	return names[column];
}

const struct cfi_rule *report_check_fault_rule(const struct validate_fault *fault)
{
	return fault->answer.column == VALIDATE_CFA  ? &fault->row.cfa
	       : fault->answer.column == VALIDATE_RA ? &fault->row.ra
						     : &fault->row.fp;
}

void report_check_rule_text(const struct report_check *check, const struct cfi_rule *rule,
    char text[REPORT_CHECK_RULE_SIZE])
{
	if (rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME)
		snprintf(text, REPORT_CHECK_RULE_SIZE, "unchanged");
	else
		meaning_rule_text(check->input.arch, rule, text, REPORT_CHECK_RULE_SIZE);
}

void report_check_found_text(const struct report_check *check, struct code_value found,
    char text[REPORT_CHECK_RULE_SIZE])
{
	const struct arch *arch = check->input.arch;
	const uint64_t size =
	    found.off < 0 ? 0 - (uint64_t)found.off : (uint64_t)found.off;

	if (found.kind == CODE_CFA && found.off)
		snprintf(text, REPORT_CHECK_RULE_SIZE, "CFA %c %" PRIu64,
		    found.off < 0 ? '-' : '+', size);
	else if (found.kind == CODE_CFA)
		snprintf(text, REPORT_CHECK_RULE_SIZE, "CFA");
	else if (found.kind == CODE_RA || found.kind == CODE_RA_SIGNED)
		snprintf(text, REPORT_CHECK_RULE_SIZE, "%s return address",
		    found.kind == CODE_RA ? "the" : "the signed");
	else if (found.kind == CODE_CALLERS && found.symbol < arch->n_reg_names)
		snprintf(text, REPORT_CHECK_RULE_SIZE, "%s of the caller",
		    arch->reg_names[found.symbol]);
	else if (found.kind == CODE_CONST)
		snprintf(text, REPORT_CHECK_RULE_SIZE, "0x%" PRIx64, (uint64_t)found.off);
	else
		snprintf(text, REPORT_CHECK_RULE_SIZE, "another value");
}

const char *report_check_doubt_reason(const struct validate_range *range)
{
	if (!range->looked_at)
		return NULL;
	if (range->state == VALIDATE_OPEN)
		return range->undecoded ? "some of the code cannot be decoded"
					: "the code does not tell what the row says";
	if (range->state != VALIDATE_REVIEW)
		return NULL;
	if (range->reviews & VALIDATE_REVIEW_RETURN)
		return "SP at a return is not as at entry";
	if (range->reviews & VALIDATE_REVIEW_CALL)
		return "rows are right only if a call does not return";
	return "no row says that a function begins, and nothing leads here";
}

struct report_check_group report_check_group_of(const struct report_check *check,
    enum validate_fault_kind kind, enum validate_column column)
{
	struct report_check_group group = {.first = SIZE_MAX};
	uint32_t last = UINT32_MAX;

	for (size_t i = 0; i < check->result.n_faults; i++) {
		const struct validate_fault *fault = &check->result.faults[i];

		if (fault->kind != kind || fault->answer.column != column)
			continue;
		if (group.first == SIZE_MAX)
			group.first = i;
		group.n_functions += fault->range != last;
		last = fault->range;
		group.n_instructions += fault->n_instructions;
	}
	return group;
}

bool report_check_make(const struct image *image, const struct options *options,
    struct report_check *check, struct err *err)
{
	struct image linked = {0};
	struct options cfi = *options;
	bool ok;

	*check = (struct report_check){.image = image};
	/* Derived rows are the code's own. */
	cfi.derive = false;
	cfi.sources &= ~SOURCE_BIT(SOURCE_DERIVED);
	if (!cfi.sources)
		return err_set(err, ERR_NOTHING,
		    "no CFI to check: --source names derived rows alone, nothing to do");
	if (!cfi_input_read(image, image, &cfi, &check->input, err))
		return false;
	check->input.policy.options = options;
	ok = validate_can(check->input.arch, err) &&
	     (!image->object || object_link(image, &linked, err)) &&
	     symbols_read(image, &check->symbols, err) &&
	     validate_cfi(image->object ? &linked : image, &check->input, options->jobs,
		 &check->result, err);
	object_link_free(&linked);
	return ok;
}

bool report_check_make_section(const struct image *image, const struct image *cfi_image,
    const struct sf_view *view, const struct options *options, struct report_check *check,
    struct err *err)
{
	*check = (struct report_check){.image = image, .of_section = true};
	return symbols_read(image, &check->symbols, err) &&
	       verify_by_code(
		   image, cfi_image, view, options, &check->input, &check->result, err);
}

void report_check_deinit(struct report_check *check)
{
	validate_result_deinit(&check->result);
	symbols_deinit(&check->symbols);
	cfi_input_deinit(&check->input);
	*check = (struct report_check){0};
}

bool report_check_judge(const struct report_check *check, struct err *err)
{
	const size_t n = check->result.n_of[VALIDATE_WRONG];

	return !n || err_set(err, ERR_PROOF,
			 "the code contradicts the %s of %zu function%s; --code=repair "
			 "may write what the code says",
			 check->of_section ? ".sframe" : "CFI", n, num_s(n));
}
