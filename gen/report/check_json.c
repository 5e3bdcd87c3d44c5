/* SPDX-License-Identifier: MIT */
/* eh2sframe check: the findings about the CFI, as the object of a file in the JSON report. */
#include <stdlib.h>

#include "gen/report/json_parts.h"
#include "gen/report/model.h"

/* {"late CFA": {"functions", "instructions"}, ...} of what there is. */
static json_t *groups_of(const struct report_check *check)
{
	json_t *groups = json_object();

	for (int i = 0; groups && i < VALIDATE_N_FAULT_KINDS * (VALIDATE_FP + 1); i++) {
		const enum validate_fault_kind kind =
		    (enum validate_fault_kind)(i / (VALIDATE_FP + 1));
		const enum validate_column column =
		    (enum validate_column)(i % (VALIDATE_FP + 1));
		const struct report_check_group group =
		    report_check_group_of(check, kind, column);
		char name[64];

		if (group.first == SIZE_MAX)
			continue;
		snprintf(name, sizeof(name), "%s %s", report_check_kind_name(kind),
		    report_check_column_name(column));
		groups = report_json_with(groups, name,
		    json_pack("{sI sI}", "functions",
			report_json_count(group.n_functions), "instructions",
			report_json_count(group.n_instructions)));
	}
	return groups;
}

static json_t *check_counts_of(const struct report_check *check)
{
	const struct validate_result *result = &check->result;

	return json_pack("{sI sI sI sI sI sI sI sI sI so}", "fdes",
	    report_json_count(result->n_fdes - result->n_not_looked_at), "confirmed",
	    report_json_count(result->n_of[VALIDATE_CONFIRMED]), "review",
	    report_json_count(result->n_of[VALIDATE_REVIEW]), "unknown",
	    report_json_count(result->n_of[VALIDATE_OPEN]), "contradicts",
	    report_json_count(result->n_of[VALIDATE_WRONG]), "not_looked_at",
	    report_json_count(result->n_not_looked_at), "instructions",
	    report_json_count(result->instructions), "agreeing",
	    report_json_count(result->agreeing), "seeded",
	    report_json_count(result->seeded), "groups", groups_of(check));
}

/* A row of CFI as formulas. */
static json_t *row_of(const struct report_check *check, const struct cfi_row *row)
{
	char *rule = report_rule_text(check->input.arch, row);
	json_t *value = rule ? json_utf8(rule) : NULL;

	free(rule);
	return value;
}

/*
 * Adds the function of a range. One without a symbol also gets its place in the file: that stays
 * when the same file is linked for another address.
 */
static json_t *in_function(
    json_t *object, const struct report_check *check, uint32_t range)
{
	const uint64_t start = check->input.ranges.list[range].start;
	const uint8_t *bytes =
	    check->image->object ? NULL : image_at_addr(check->image, start, 1);

	if (object)
		object = report_json_with(
		    object, "function", report_json_place(check->image, start));
	if (object && bytes && !symbols_find(&check->symbols, start))
		object = report_json_with(object, "offset",
		    report_json_address((uint64_t)(bytes - check->image->bytes)));
	return report_json_named(object, &check->symbols, start);
}

static json_t *fault_of(const void *context, size_t i)
{
	const struct report_check *check = context;
	const struct validate_fault *fault = &check->result.faults[i];
	char rule[REPORT_CHECK_RULE_SIZE], found[REPORT_CHECK_RULE_SIZE];
	json_t *object;

	report_check_rule_text(check, report_check_fault_rule(fault), rule);
	report_check_found_text(check, fault->answer.found, found);
	object = json_pack("{so sI sI ss ss ss ss so so}", "start",
	    report_json_place(check->image, fault->start), "size",
	    report_json_count(fault->end - fault->start), "instructions",
	    report_json_count(fault->n_instructions), "kind",
	    report_check_kind_name((enum validate_fault_kind)fault->kind), "column",
	    report_check_column_name((enum validate_column)fault->answer.column), "rule",
	    rule, "found", found, "row", row_of(check, &fault->row), "repair",
	    fault->repairable ? row_of(check, &fault->repaired) : json_null());
	return in_function(object, check, fault->range);
}

/* The FDEs that are neither right nor wrong: which of the ranges they are. */
struct doubts {
	const struct report_check *check;
	uint32_t *ranges;
	size_t n;
};

static json_t *doubt_of(const void *context, size_t i)
{
	const struct doubts *doubts = context;
	const struct report_check *check = doubts->check;
	const uint32_t number = doubts->ranges[i];
	const struct validate_range *range = &check->result.ranges[number];
	const struct cfi_range *of = &check->input.ranges.list[number];
	const bool unknown = range->state == VALIDATE_OPEN;
	json_t *object = json_pack("{so sI ss ss}", "start",
	    report_json_place(check->image,
		unknown && range->first_open ? range->first_open : of->start),
	    "size", report_json_count(of->end - of->start), "verdict",
	    unknown ? "unknown" : "review", "reason", report_check_doubt_reason(range));

	return in_function(object, check, number);
}

static bool put_doubts(struct report_json *json, const struct report_check *check)
{
	struct doubts doubts = {.check = check,
	    .ranges = malloc((check->result.n_ranges + 1) * sizeof(*doubts.ranges))};
	bool ok = doubts.ranges;

	for (size_t i = 0; ok && i < check->result.n_ranges; i++)
		if (report_check_doubt_reason(&check->result.ranges[i]))
			doubts.ranges[doubts.n++] = (uint32_t)i;
	ok = ok && report_json_list(json, &doubts, "doubts", doubts.n, doubt_of);
	free(doubts.ranges);
	return ok;
}

bool report_json_check(struct report_json *json, const struct report_check *check,
    int status, bool lists, struct err *err)
{
	struct image_build_id id;
	bool ok =
	    report_json_file(json, check->image->path, status) &&
	    report_json_member(json, "machine", json_string(check->input.arch->name)) &&
	    (!image_build_id(check->image, &id) ||
		report_json_member(json, "build_id", report_json_build_id(&id))) &&
	    report_json_member(json, "check", check_counts_of(check));

	if (lists)
		ok = ok &&
		     report_json_list(
			 json, check, "faults", check->result.n_faults, fault_of) &&
		     put_doubts(json, check);
	return report_json_ended(json, ok && report_json_put(json, "}"), err);
}
