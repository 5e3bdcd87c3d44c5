/* SPDX-License-Identifier: MIT */
/* Adds up checks, and prints the sums. */
#include "cmd/report/checks.h"

#include "base/num.h"
#include "base/percent.h"
#include "base/plain.h"
#include "cmd/report/report.h"

bool report_checks_init(struct report_checks *checks, struct eh2sframe_error *err)
{
	*checks = (struct report_checks){.groups = json_object()};
	return checks->groups || cmd_fail_nomem(err);
}

void report_checks_deinit(struct report_checks *checks)
{
	json_decref(checks->groups);
	*checks = (struct report_checks){0};
}

/* A later version may have other groups. */
static bool checks_add_group(
    json_t *groups, const char *name, const json_t *group, struct eh2sframe_error *err)
{
	const json_t *old = json_object_get(groups, name);
	json_int_t files = 1, functions = 0, instructions = 0;

	if (!json_is_object(group))
		return cmd_fail(
		    err, EH2SFRAME_INPUT, "check.groups.%.60s is not an object", name);
	if (!report_add_count(old, "files", &files, err) ||
	    !report_add_count(old, "functions", &functions, err) ||
	    !report_add_count(group, "functions", &functions, err) ||
	    !report_add_count(old, "instructions", &instructions, err) ||
	    !report_add_count(group, "instructions", &instructions, err))
		return false;
	return json_object_set_new(groups, name,
		   json_pack("{sI sI sI}", "files", files, "functions", functions,
		       "instructions", instructions)) == 0 ||
	       cmd_fail_nomem(err);
}

bool report_checks_add(
    struct report_checks *checks, const json_t *check, struct eh2sframe_error *err)
{
	const struct {
		const char *name;
		json_int_t *sum;
	} counts[] = {{"fdes", &checks->fdes}, {"confirmed", &checks->confirmed},
	    {"review", &checks->review}, {"unknown", &checks->unknown},
	    {"contradicts", &checks->contradicts},
	    {"not_looked_at", &checks->not_looked_at},
	    {"instructions", &checks->instructions}, {"agreeing", &checks->agreeing},
	    {"seeded", &checks->seeded}};
	json_t *groups = json_object_get(check, "groups"), *group;
	const char *name;

	if (!check)
		return true;
	if (!json_is_object(check) || (groups && !json_is_object(groups)))
		return cmd_fail(err, EH2SFRAME_INPUT, "check is not an object");
	checks->files++;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (!report_add_count(check, counts[i].name, counts[i].sum, err))
			return false;
	json_object_foreach(groups, name, group)
	{
		if (!checks_add_group(checks->groups, name, group, err))
			return false;
	}
	return true;
}

json_t *report_checks_object(const struct report_checks *checks)
{
	return json_pack("{sI sI sI sI sI sI sI sI sI sI so}", "files", checks->files,
	    "fdes", checks->fdes, "confirmed", checks->confirmed, "review",
	    checks->review, "unknown", checks->unknown, "contradicts",
	    checks->contradicts, "not_looked_at", checks->not_looked_at, "instructions",
	    checks->instructions, "agreeing", checks->agreeing, "seeded", checks->seeded,
	    "groups", report_sort_members(checks->groups));
}

/* "12 files": a count and its noun. */
static void checks_print_n(json_int_t n, const char *noun, FILE *out)
{
	fprintf(out, "%" JSON_INTEGER_FORMAT " %s%s", n, noun, num_s((uint64_t)n));
}

static void checks_print_groups(const struct report_checks *checks, FILE *out)
{
	json_t *sorted = report_sort_members(checks->groups), *group;
	const char *name;

	json_object_foreach(sorted, name, group)
	{
		plain_print(name, out);
		fputs(": ", out);
		checks_print_n(json_integer_value(json_object_get(group, "instructions")),
		    "instruction", out);
		fputs(" of ", out);
		checks_print_n(json_integer_value(json_object_get(group, "functions")),
		    "function", out);
		fputs(" in ", out);
		checks_print_n(
		    json_integer_value(json_object_get(group, "files")), "file", out);
		putc('\n', out);
	}
	json_decref(sorted);
}

void report_checks_print(const struct report_checks *checks, FILE *out)
{
	char confirmed[PERCENT_SIZE], seeded[PERCENT_SIZE];

	checks_print_groups(checks, out);
	checks_print_n(checks->fdes, "FDE", out);
	fputs(" of ", out);
	checks_print_n(checks->files, "file", out);
	fprintf(out,
	    ": %s confirmed by the code, %" JSON_INTEGER_FORMAT
	    " to review, %" JSON_INTEGER_FORMAT " unknown, %" JSON_INTEGER_FORMAT
	    " contradict%s it; %s of instructions start from a row",
	    percent_text(
		(uint64_t)checks->confirmed, (uint64_t)checks->fdes, " %", confirmed),
	    checks->review, checks->unknown, checks->contradicts,
	    checks->contradicts == 1 ? "s" : "",
	    percent_text(
		(uint64_t)checks->seeded, (uint64_t)checks->instructions, " %", seeded));
	if (checks->not_looked_at)
		fprintf(out, "; %" JSON_INTEGER_FORMAT " not looked at",
		    checks->not_looked_at);
	putc('\n', out);
}
