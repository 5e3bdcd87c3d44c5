/* SPDX-License-Identifier: MIT */
/* Reads reports into a small form. Another program may have written them. */
#include "cmd/report/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cmd/report/reading.h"

static void history_function_deinit(struct report_function *function)
{
	free(function->key);
	free(function->name);
	free(function->reason);
}

void report_state_deinit(struct report_state *state)
{
	for (size_t i = 0; i < state->n; i++)
		history_function_deinit(&state->list[i]);
	free(state->list);
	free(state->path);
	*state = (struct report_state){0};
}

/* Takes no member of the object; where tells a function by its address. */
static bool history_add(struct report_state *state, const json_t *object,
    const char *where, enum report_function_class of, const char *reason,
    struct eh2sframe_error *err)
{
	const char *name = json_string_value(json_object_get(object, "name"));
	const char *symbol = json_string_value(json_object_get(object, "symbol"));
	const char *address = json_string_value(json_object_get(object, where));
	const char *offset = json_string_value(json_object_get(object, "offset"));
	const char *key = symbol ? symbol : name;
	struct report_function function = {.n = 1, .of = of};

	if (!address)
		return cmd_fail(err, EH2SFRAME_INPUT, "%s is not text", where);
	if (!report_add_count(object, "size", &function.bytes, err))
		return false;
	if (!vec_reserve(&state->list, &state->cap, state->n + 1))
		return cmd_fail_nomem(err);
	/* Prefers names and offsets, because the same file can be linked for another address. */
	if (asprintf(&function.key, "%c%s", key ? 'n' : 'a',
		key	 ? key
		: offset ? offset
			 : address) < 0)
		function.key = NULL;
	function.name = strdup(name ? name : address);
	function.reason = strdup(reason);
	if (function.key && function.name && function.reason) {
		state->list[state->n++] = function;
		return true;
	}
	history_function_deinit(&function);
	return cmd_fail_nomem(err);
}

/* Makes the reason of a gap or a fault, which the caller frees. Whole, for half a letter would be no text of JSON. */
static bool history_reason(const json_t *entry, enum report_function_class of,
    char **reason, struct eh2sframe_error *err)
{
	const bool fault = of == REPORT_CONTRADICTED;
	const char *text =
	    json_string_value(json_object_get(entry, fault ? "kind" : "reason"));
	const char *column =
	    fault ? json_string_value(json_object_get(entry, "column")) : "";

	if (!text || !column)
		return cmd_fail(err, EH2SFRAME_INPUT, "%s is not text",
		    fault ? "kind or column" : "reason");
	return asprintf(reason, "%s%s%s", text, fault ? " " : "", column) >= 0 ||
	       cmd_fail_nomem(err);
}

/* Adds gaps or faults. Those of one function follow each other, and count once. Where the stack ends,
 * nothing is lost. */
static bool history_add_places(struct report_state *state, const json_t *places,
    enum report_function_class of, struct eh2sframe_error *err)
{
	const json_t *place, *last = NULL;
	char *reason;
	bool ok = true;
	size_t i;

	json_array_foreach(places, i, place)
	{
		const json_t *function = json_object_get(place, "function");

		if (!history_reason(place, of, &reason, err))
			return false;
		if (strcmp(reason, "ra-undefined") == 0) {
			free(reason);
			continue;
		}
		ok = last && json_equal(function, last)
			 ? report_add_count(
			       place, "size", &state->list[state->n - 1].bytes, err)
			 : history_add(state, place, "function", of, reason, err);
		last = function;
		free(reason);
		if (!ok)
			return false;
	}
	return true;
}

static bool history_add_code(
    struct report_state *state, const json_t *stretches, struct eh2sframe_error *err)
{
	const json_t *stretch;
	size_t i;

	json_array_foreach(stretches, i, stretch)
	{
		const char *kind = json_string_value(json_object_get(stretch, "kind"));

		if (kind && strcmp(kind, "data") != 0 &&
		    !history_add(state, stretch, "start", REPORT_UNCOVERED, "", err))
			return false;
	}
	return true;
}

static int history_function_order(const void *a, const void *b)
{
	const struct report_function *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (int)y->of - (int)x->of;
}

/* Sorts them, and adds up those that are alike. */
static void history_sort(struct report_state *state)
{
	size_t kept = 0;

	if (!state->n)
		return;
	qsort(state->list, state->n, sizeof(*state->list), history_function_order);
	for (size_t i = 1; i < state->n; i++) {
		struct report_function *to = &state->list[kept], *from = &state->list[i];

		if (history_function_order(to, from) != 0) {
			state->list[++kept] = *from;
			continue;
		}
		to->n++;
		report_sum(&to->bytes, from->bytes);
		history_function_deinit(from);
		*from = (struct report_function){0};
	}
	state->n = kept + 1;
}

bool report_state_read(
    struct report_state *state, const json_t *file, struct eh2sframe_error *err)
{
	const json_t *gaps = json_object_get(file, "gaps");
	const json_t *without = json_object_get(file, "without_cfi");
	const json_t *faults = json_object_get(file, "faults");
	const json_t *code = json_object_get(file, "code");
	const char *path = json_string_value(json_object_get(file, "path"));
	const json_t *status = json_object_get(file, "status");

	*state = (struct report_state){0};
	if (!path || !json_is_integer(status))
		return cmd_fail(err, EH2SFRAME_INPUT, "a file needs a path and a status");
	state->path = strdup(path);
	if (!state->path)
		return cmd_fail_nomem(err);
	state->status = (int)json_integer_value(status);
	state->counted = code != NULL;
	state->has_functions = json_is_array(gaps) && json_is_array(without);
	state->has_faults = json_is_array(faults);
	if (!report_code_add(&state->code, code, err) ||
	    !report_add_count(
		json_object_get(file, "sizes"), ".sframe", &state->sframe, err) ||
	    !history_add_places(state, gaps, REPORT_REFUSED, err) ||
	    !history_add_code(state, without, err) ||
	    !history_add_places(state, faults, REPORT_CONTRADICTED, err))
		return false;
	history_sort(state);
	return true;
}

static bool history_add_file(void *context, json_t *file, struct eh2sframe_error *err)
{
	struct report_history *history = context;

	if (!vec_reserve(&history->list, &history->cap, history->n + 1))
		return cmd_fail_nomem(err);
	if (report_state_read(&history->list[history->n], file, err)) {
		history->list[history->n].seq = history->n;
		history->n++;
		return true;
	}
	report_state_deinit(&history->list[history->n]);
	return false;
}

static int history_order(const void *a, const void *b)
{
	const struct report_state *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* qsort may exchange what is equal. */
static int history_order_kept(const void *a, const void *b)
{
	const struct report_state *x = a, *y = b;
	int order = history_order(a, b);

	return order ? order : (x->seq > y->seq) - (x->seq < y->seq);
}

bool report_history_read(
    struct report_history *history, const char *path, struct eh2sframe_error *err)
{
	const struct report_reading to = {.file = history_add_file, .context = history};

	if (!report_read(path, &to, err))
		return false;
	if (history->n)
		qsort(history->list, history->n, sizeof(*history->list),
		    history_order_kept);
	return true;
}

void report_history_deinit(struct report_history *history)
{
	for (size_t i = 0; i < history->n; i++)
		report_state_deinit(&history->list[i]);
	free(history->list);
	*history = (struct report_history){0};
}

struct report_state *report_history_find(
    const struct report_history *history, const char *path, bool alone)
{
	struct report_state key = {.path = (char *)(uintptr_t)path}, *found = NULL;

	if (history->n)
		found =
		    bsearch(&key, history->list, history->n, sizeof(key), history_order);
	return !found && alone && history->n == 1 ? &history->list[0] : found;
}

bool report_history_is_only(
    const struct report_history *history, const struct report_state *state)
{
	const size_t i = (size_t)(state - history->list);

	return !(i > 0 && history_order(state, state - 1) == 0) &&
	       !(i + 1 < history->n && history_order(state, state + 1) == 0);
}
