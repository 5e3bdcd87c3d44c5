/* SPDX-License-Identifier: MIT */
/* Changes of functions from one report to another. */
#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "base/plain.h"
#include "cmd/report/history.h"

/* The functions of one key in a report, by class. */
struct changes_side {
	const struct report_function *of[REPORT_N_CLASSES]; /* NULL: none */
};

/* Words for a change, by class of the function. */
struct changes_words {
	const char *of[REPORT_N_CLASSES];
};

static const struct changes_words changes_worse = {
    {[REPORT_UNCOVERED] = "newly without CFI",
	[REPORT_REFUSED] = "newly refused",
	[REPORT_CONTRADICTED] = "newly contradicted"}};
static const struct changes_words changes_better = {
    {[REPORT_UNCOVERED] = "no longer without CFI",
	[REPORT_REFUSED] = "no longer refused",
	[REPORT_CONTRADICTED] = "no longer contradicted"}};

/* Functions with this key, from *i on, which then is behind them. */
static struct changes_side changes_take(
    const struct report_state *state, size_t *i, const char *key)
{
	struct changes_side side = {0};

	for (; *i < state->n && !strcmp(state->list[*i].key, key); (*i)++)
		side.of[state->list[*i].of] = &state->list[*i];
	return side;
}

static json_int_t changes_n(const struct report_function *function)
{
	return function ? function->n : 0;
}

static bool changes_add(
    json_t *list, const char *what, const struct report_function *function)
{
	return json_array_append_new(
		   list, json_pack("{ss ss ss sI}", "what", what, "name", function->name,
			     "reason", function->reason, "bytes", function->bytes)) == 0;
}

/* Lists functions that only one side has. A function without CFI has fewer rows than one
 * with gaps, so a function that loses its CFI gets worse. */
static bool changes_beyond(json_t *list, const struct changes_side *has,
    const struct changes_side *had, const struct changes_words *words)
{
	for (int i = 0; i < REPORT_N_CLASSES; i++) {
		json_int_t before = changes_n(had->of[i]);

		if (i == REPORT_REFUSED)
			before += changes_n(had->of[REPORT_UNCOVERED]);
		if (changes_n(has->of[i]) > before &&
		    !changes_add(list, words->of[i], has->of[i]))
			return false;
	}
	return true;
}

/* The smaller of the next keys; NULL at the end of both. */
static const char *changes_next(
    const struct report_state *old, size_t i, const struct report_state *now, size_t k)
{
	const char *a = i < old->n ? old->list[i].key : NULL;
	const char *b = k < now->n ? now->list[k].key : NULL;

	return a && b ? (strcmp(a, b) < 0 ? a : b) : a ? a : b;
}

json_t *report_changes(const struct report_state *old, const struct report_state *now)
{
	json_t *worse = json_array(), *better = json_array();
	bool ok = worse && better;
	const char *key;

	for (size_t i = 0, k = 0; ok && (key = changes_next(old, i, now, k)) != NULL;) {
		const struct changes_side was = changes_take(old, &i, key);
		const struct changes_side is = changes_take(now, &k, key);

		ok = changes_beyond(worse, &is, &was, &changes_worse) &&
		     changes_beyond(better, &was, &is, &changes_better);
	}
	if (ok)
		return json_pack("{so so}", "worse", worse, "better", better);
	json_decref(worse);
	json_decref(better);
	return NULL;
}

void report_change_print(const json_t *change, FILE *out)
{
	const char *reason = json_string_value(json_object_get(change, "reason"));
	const json_int_t bytes = json_integer_value(json_object_get(change, "bytes"));

	fprintf(out, "%s: ", json_string_value(json_object_get(change, "what")));
	plain_print(json_string_value(json_object_get(change, "name")), out);
	if (*reason) {
		fputs(", ", out);
		plain_print(reason, out);
	}
	fprintf(out, ", %" JSON_INTEGER_FORMAT " byte%s", bytes, num_s((uint64_t)bytes));
}

json_int_t report_code_uncovered(const struct report_code *code)
{
	json_int_t left;

	/* Another program may have written the counts. */
	if (__builtin_sub_overflow(code->executable, code->outermost, &left) ||
	    __builtin_sub_overflow(left, code->covered, &left) ||
	    __builtin_sub_overflow(left, code->plt_template, &left) ||
	    __builtin_sub_overflow(left, code->derived, &left) || left < 0)
		return 0;
	return left;
}
