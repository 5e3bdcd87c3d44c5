/* SPDX-License-Identifier: MIT */
/* Compares two reports file by file, and prints the difference. */
#include "cmd/report/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/plain.h"
#include "base/vec.h"
#include "base/program/print.h"

struct report_diff {
	/* The files that changed, by path. */
	struct report_diff_file {
		const struct report_state *old, *now; /* NULL: this report has none */
		json_t *changes;		      /* NULL where one is missing */
	} * list;
	size_t n, cap;
	size_t same;	      /* files */
	size_t worse, better; /* functions */
};

static bool diff_numbers_same(
    const struct report_state *old, const struct report_state *now)
{
	return old->status == now->status && old->counted == now->counted &&
	       old->code.executable == now->code.executable &&
	       old->code.with_cfi == now->code.with_cfi &&
	       old->code.covered == now->code.covered && old->sframe == now->sframe;
}

/* Adds a file of either report, or of both. */
static bool diff_add(struct report_diff *diff, const struct report_state *old,
    const struct report_state *now, struct eh2sframe_error *err)
{
	struct report_diff_file file = {.old = old, .now = now};
	size_t worse, better;

	/* A report without lists does not say that functions are gone. */
	if (old && now &&
	    ((old->has_functions && now->has_functions) ||
		(old->has_faults && now->has_faults))) {
		file.changes = report_changes(old, now);
		if (!file.changes)
			return cmd_fail_nomem(err);
	}
	worse = json_array_size(json_object_get(file.changes, "worse"));
	better = json_array_size(json_object_get(file.changes, "better"));
	if (old && now && !worse && !better && diff_numbers_same(old, now)) {
		json_decref(file.changes);
		diff->same++;
		return true;
	}
	if (!vec_reserve(&diff->list, &diff->cap, diff->n + 1)) {
		json_decref(file.changes);
		return cmd_fail_nomem(err);
	}
	diff->worse += worse;
	diff->better += better;
	diff->list[diff->n++] = file;
	return true;
}

/* Pairs the files of both, which ascend by path. Files at equal paths follow each other
 * in the order of their report. */
static bool diff_make(struct report_diff *diff, const struct report_history *old,
    const struct report_history *now, struct eh2sframe_error *err)
{
	bool alone = old->n == 1 && now->n == 1, ok = true;
	size_t i = 0, k = 0;

	while (ok && (i < old->n || k < now->n)) {
		int order = i == old->n	  ? 1
			    : k == now->n ? -1
			    : alone	  ? 0
					  : strcmp(old->list[i].path, now->list[k].path);

		ok = diff_add(diff, order <= 0 ? &old->list[i] : NULL,
		    order >= 0 ? &now->list[k] : NULL, err);
		i += order <= 0;
		k += order >= 0;
	}
	return ok;
}

/* Outcome of a file in one of the reports. */
static const char *diff_outcome(const struct report_state *state)
{
	if (!state)
		return "not there";
	return state->counted	   ? "reported"
	       : state->has_faults ? "checked against its code"
				   : "failed or passed over";
}

/* "98.10% -> 99.00% of executable code, .sframe 100 -> 120 bytes". */
static void diff_print_numbers(
    const struct report_state *old, const struct report_state *now, FILE *out)
{
	char was[PERCENT_SIZE], is[PERCENT_SIZE];

	if (old && now && old->has_faults && now->has_faults && !old->counted &&
	    !now->counted) {
		fputs("checked against its code\n", out);
		return;
	}
	if (!old || !now || !old->counted || !now->counted) {
		fprintf(out, "%s -> %s\n", diff_outcome(old), diff_outcome(now));
		return;
	}
	fprintf(out,
	    "%s -> %s of executable code, .sframe %" JSON_INTEGER_FORMAT
	    " -> %" JSON_INTEGER_FORMAT " bytes\n",
	    report_code_percent(&old->code, true, was),
	    report_code_percent(&now->code, true, is), old->sframe, now->sframe);
}

static void diff_print_list(
    const struct report_diff_file *file, const char *name, FILE *out)
{
	const json_t *list = json_object_get(file->changes, name), *change;
	size_t i;

	json_array_foreach(list, i, change)
	{
		fputs("  ", out);
		report_change_print(change, out);
		putc('\n', out);
	}
}

static void diff_print(const struct report_diff *diff, FILE *out)
{
	for (size_t i = 0; i < diff->n; i++) {
		const struct report_diff_file *file = &diff->list[i];

		plain_print(file->now ? file->now->path : file->old->path, out);
		fputs(": ", out);
		diff_print_numbers(file->old, file->now, out);
		diff_print_list(file, "worse", out);
		diff_print_list(file, "better", out);
	}
	fprintf(out,
	    "%zu file%s changed, %zu did not; %zu function%s worse off, %zu better off\n",
	    diff->n, num_s(diff->n), diff->same, diff->worse,
	    diff->worse == 1 ? " is" : "s are", diff->better);
}

static bool diff_write(const struct args *args, const struct report_diff *diff,
    const char **at, struct eh2sframe_error *err)
{
	struct print_out out;
	bool ok = print_open(args->report_path, true, &out, err);

	*at = out.path;
	if (!ok)
		return false;
	print_start(&out);
	diff_print(diff, out.file);
	return print_close(&out, true, err);
}

int report_diff(const struct args *args)
{
	struct report_diff diff = {0};
	struct report_history old = {0}, now = {0};
	struct eh2sframe_error err = {0};
	const char *at = args->paths[0];
	bool ok = report_history_read(&old, at, &err);

	if (ok) {
		at = args->paths[1];
		ok = report_history_read(&now, at, &err);
	}
	if (ok) {
		at = NULL;
		ok = diff_make(&diff, &old, &now, &err) &&
		     diff_write(args, &diff, &at, &err);
	}
	if (!ok)
		print_error(at, &err);
	for (size_t i = 0; i < diff.n; i++)
		json_decref(diff.list[i].changes);
	free(diff.list);
	report_history_deinit(&old);
	report_history_deinit(&now);
	return ok ? EH2SFRAME_DONE : (int)err.status;
}
