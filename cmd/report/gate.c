/* SPDX-License-Identifier: MIT */
/* Compares the files of a run with an old report. */
#include "cmd/report/gate.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/plain.h"
#include "base/vec.h"

bool report_gate_open(
    struct report_gate *gate, const struct args *args, struct eh2sframe_error *error)
{
	const bool each = args->verb == VERB_REPORT || args->verb == VERB_CHECK;

	*gate = (struct report_gate){.path = args->baseline,
	    .alone = !args->tree && (args->n_paths == 1 || !each)};
	return !gate->path || report_history_read(&gate->old, gate->path, error);
}

void report_gate_deinit(struct report_gate *gate)
{
	for (size_t i = 0; i < gate->n; i++) {
		free(gate->list[i].path);
		json_decref(gate->list[i].changes);
	}
	free(gate->list);
	report_history_deinit(&gate->old);
	*gate = (struct report_gate){0};
}

static bool gate_compare(const struct report_gate *gate, const struct report_state *old,
    json_t *file, struct eh2sframe_error *error)
{
	struct report_state now = {0};
	bool ok = report_state_read(&now, file, error);
	json_t *changes = ok ? report_changes(old, &now) : NULL;
	const size_t n = json_array_size(json_object_get(changes, "worse"));

	report_state_deinit(&now);
	if (!ok)
		return false;
	if (!changes || json_object_set_new(file, "changes", changes) < 0)
		return cmd_fail_nomem(error);
	return !n ||
	       cmd_fail(error, EH2SFRAME_COVERAGE, "%zu function%s worse off than in %s",
		   n, n == 1 ? " is" : "s are", gate->path);
}

/* Finds what the old report says of a file; *old is NULL where it has none. False: it has several. */
static bool gate_find(const struct report_gate *gate, const char *path,
    const struct report_state **old, struct eh2sframe_error *error)
{
	*old = path ? report_history_find(&gate->old, path, gate->alone) : NULL;
	return !*old || report_history_is_only(&gate->old, *old) ||
	       cmd_fail(error, EH2SFRAME_USAGE,
		   "%s has this path more than once; give a report that has it once",
		   gate->path);
}

bool report_gate_judge(
    const struct report_gate *gate, json_t *file, struct eh2sframe_error *error)
{
	const char *path = json_string_value(json_object_get(file, "path"));
	const bool check = json_object_get(file, "check") != NULL;
	const struct report_state *old;

	if (!gate_find(gate, path, &old, error))
		return false;
	/* A file that failed or was passed over says nothing about functions. */
	if (!old || (!old->counted && !old->has_faults))
		return !gate->alone ||
		       cmd_fail(error, EH2SFRAME_USAGE,
			   "%s does not have this file; give a report that has it",
			   gate->path);
	if (check && !old->has_faults)
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "%s does not list what the code contradicts in this file; make it "
		    "with eh2sframe check",
		    gate->path);
	if (!check && !old->has_functions)
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "%s does not list the functions of this file; make it with this "
		    "version%s",
		    gate->path, old->has_faults ? ", by eh2sframe report" : "");
	return gate_compare(gate, old, file, error);
}

bool report_gate_judge_bare(
    const struct report_gate *gate, const char *path, struct eh2sframe_error *error)
{
	const struct report_state *old;

	if (!gate_find(gate, gate->path ? path : NULL, &old, error))
		return false;
	return !old || !old->counted ||
	       cmd_fail(error, EH2SFRAME_COVERAGE,
		   "newly without CFI: the whole file, which has some in %s", gate->path);
}

bool report_gate_note(
    struct report_gate *gate, json_t *file, struct eh2sframe_error *error)
{
	const char *path = json_string_value(json_object_get(file, "path"));
	json_t *changes = json_object_get(file, "changes");
	struct report_gate_file one = {.changes = changes};
	bool any = json_array_size(json_object_get(changes, "worse")) ||
		   json_array_size(json_object_get(changes, "better"));

	if (!gate->path)
		return true;
	json_incref(changes);
	if (changes)
		gate->compared++;
	else
		gate->missing += !gate->alone && (json_object_get(file, "counts") ||
						     json_object_get(file, "check"));
	if (changes)
		json_object_del(file, "changes");
	if (!any || !vec_reserve(&gate->list, &gate->cap, gate->n + 1)) {
		json_decref(changes);
		return !any || cmd_fail_nomem(error);
	}
	one.path = strdup(path ? path : "");
	if (!one.path) {
		json_decref(changes);
		return cmd_fail_nomem(error);
	}
	gate->list[gate->n++] = one;
	return true;
}

/* Takes the object; NULL: error has the reason already. */
static bool gate_judge_object(
    struct report_gate *gate, json_t *file, struct eh2sframe_error *error)
{
	struct eh2sframe_error late;
	bool ok;

	if (!file)
		return false;
	ok = report_gate_judge(gate, file, error);
	if (!report_gate_note(gate, file, &late)) {
		*error = late;
		ok = false;
	}
	json_decref(file);
	return ok;
}

bool report_gate_judge_result(struct report_gate *gate, struct eh2sframe_result *result,
    struct eh2sframe_error *error)
{
	return !gate->path ||
	       gate_judge_object(gate, report_of_result(result, true, error), error);
}

bool report_gate_judge_check(struct report_gate *gate,
    const struct eh2sframe_check *check, struct eh2sframe_error *error)
{
	return gate->path
		   ? gate_judge_object(gate, report_of_check(check, true, error), error)
		   : eh2sframe_check_judge(check, error);
}

static int gate_order(const void *a, const void *b)
{
	const struct report_gate_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static void gate_print_list(const struct report_gate_file *file, const char *name)
{
	json_t *list = json_object_get(file->changes, name), *change;
	size_t i;

	json_array_foreach(list, i, change)
	{
		fputs("eh2sframe: ", stderr);
		plain_print(file->path, stderr);
		fputs(": ", stderr);
		report_change_print(change, stderr);
		putc('\n', stderr);
	}
}

int report_gate_print(struct report_gate *gate, bool quiet)
{
	struct eh2sframe_error error;

	if (!gate->path)
		return EH2SFRAME_DONE;
	if (gate->n)
		qsort(gate->list, gate->n, sizeof(*gate->list), gate_order);
	for (size_t i = 0; i < gate->n; i++) {
		gate_print_list(&gate->list[i], "worse");
		if (!quiet)
			gate_print_list(&gate->list[i], "better");
	}
	if (!gate->missing)
		return EH2SFRAME_DONE;
	if (gate->compared && quiet)
		return EH2SFRAME_DONE;
	cmd_fail(&error, EH2SFRAME_USAGE, "--baseline does not have %zu file%s%s",
	    gate->missing, num_s(gate->missing),
	    gate->compared ? "; not compared" : "; give a report of these files");
	print_error(gate->path, &error);
	return gate->compared ? EH2SFRAME_DONE : EH2SFRAME_USAGE;
}
