/* SPDX-License-Identifier: MIT */
/*
 * Each call of one open file, and of one result of it, gives the same answer however often it is made, and
 * in whatever order with the others.
 */
#include "tests/lib/lib.h"

#include <inttypes.h>
#include <string.h>

/* One open file; its path is one that it may be converted at. */
struct subject {
	const char *path;
	struct bytes bytes;
	struct eh2sframe_file *file;
	struct eh2sframe_result *result;
};

/* Makes a call, and adds what it gives. Returns what it returned. */
typedef bool call_fn(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error);

/* Adds the bytes that a call gave away, and frees them. */
static bool give(bool ok, void **bytes, const size_t *size, struct bytes *got)
{
	if (!ok)
		return false;
	bytes_add(got, *bytes, *size);
	eh2sframe_free(*bytes);
	return true;
}

/* Adds a file that a call wrote. */
static bool give_file(bool ok, const char *path, struct bytes *got)
{
	struct bytes written = ok ? file_read(path) : (struct bytes){0};

	if (ok)
		bytes_add(got, written.data, written.size);
	bytes_free(&written);
	return ok;
}

static bool call_facts(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	struct eh2sframe_info info = {.struct_size = sizeof(info)};
	struct eh2sframe_segment segment = {.struct_size = sizeof(segment)};
	const char *machine = eh2sframe_file_machine(subject->file);
	uint64_t range[2] = {0, 0};
	enum eh2sframe_skip skip = eh2sframe_file_skip(subject->file);
	bool text = eh2sframe_file_text(subject->file, &range[0], &range[1]);
	bool ok = eh2sframe_file_info(subject->file, &info);

	bytes_add(got, machine, strlen(machine));
	bytes_add(got, (const char *)&skip, sizeof(skip));
	bytes_add(got, (const char *)&text, sizeof(text));
	bytes_add(got, (const char *)range, sizeof(range));
	bytes_add(got, (const char *)&info, sizeof(info));
	bytes_add(got, (const char *)info.build_id, info.build_id_size);
	for (size_t i = 0; eh2sframe_file_segment(subject->file, i, &segment); i++)
		bytes_add(got, (const char *)&segment, sizeof(segment));
	error->status = ok ? EH2SFRAME_DONE : EH2SFRAME_USAGE;
	return ok;
}

/* For eh2sframe_symbol_fn; context is a struct bytes. */
static bool add_symbol(void *context, const struct eh2sframe_symbol *symbol)
{
	const char *name = symbol->name ? symbol->name : "-";

	bytes_add(context, (const char *)&symbol->start, sizeof(symbol->start));
	bytes_add(context, (const char *)&symbol->size, sizeof(symbol->size));
	return bytes_add(context, name, strlen(name));
}

static bool call_symbols(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return eh2sframe_file_functions(
	    subject->file, EH2SFRAME_ORIGIN_SYMBOLS, add_symbol, got, error);
}

static bool call_fdes(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return eh2sframe_file_functions(
	    subject->file, EH2SFRAME_ORIGIN_EH_FRAME, add_symbol, got, error);
}

static bool call_remove_path(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	const char *out = scratch_path("repeat-out");

	return give_file(eh2sframe_file_remove_path(subject->file, out, error), out, got);
}

static bool call_remove_memory(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	void *bytes = NULL;
	size_t size = 0;

	return give(eh2sframe_file_remove_memory(subject->file, &bytes, &size, error),
	    &bytes, &size, got);
}

/* Converts it, and adds all that the result has. */
static bool convert(struct subject *subject, const char *out, struct bytes *got,
    struct eh2sframe_error *error)
{
	struct eh2sframe_result *result = eh2sframe_convert(subject->file, out, error);
	struct bytes all = result ? result_contents(result) : (struct bytes){0};
	bool ok = result != NULL;

	bytes_add(got, all.data, all.size);
	bytes_free(&all);
	eh2sframe_result_free(result);
	return out ? give_file(ok, out, got) : ok;
}

static bool call_convert(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return convert(subject, NULL, got, error);
}

static bool call_convert_to(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return convert(subject, scratch_path("repeat-out"), got, error);
}

/* The open file is the one that was there before. */
static bool call_convert_in_place(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return convert(subject, subject->path, got, error);
}

static bool call_verify(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return eh2sframe_file_verify(subject->file, NULL, bytes_add, got, error);
}

static bool call_lint(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return eh2sframe_file_lint(subject->file, "all", bytes_add, got, error);
}

static bool call_dump(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return eh2sframe_file_dump(subject->file, bytes_add, got, error);
}

static bool call_check(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	struct eh2sframe_check *made = eh2sframe_check_file(subject->file, error);
	bool ok =
	    made && eh2sframe_check_print(made, bytes_add, got, error) &&
	    eh2sframe_check_json(made, true, EH2SFRAME_DONE, bytes_add, got, error) &&
	    eh2sframe_check_judge(made, error);

	eh2sframe_check_free(made);
	return ok;
}

static bool call_contents(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	struct bytes all = result_contents(subject->result);

	bytes_add(got, all.data, all.size);
	bytes_free(&all);
	return eh2sframe_result_check(subject->result, error);
}

static bool call_words(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	bool ok = eh2sframe_result_add_details(subject->result, error);

	for (int what = 0; ok && what <= EH2SFRAME_TEXT_FUNCTIONS; what++)
		ok = eh2sframe_result_print(
		    subject->result, (enum eh2sframe_text)what, bytes_add, got, error);
	return ok;
}

static bool call_section(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	void *bytes = NULL;
	size_t size = 0;

	return give(
	    eh2sframe_result_section(subject->result, 0x1000000, &bytes, &size, error),
	    &bytes, &size, got);
}

static bool call_section_path(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	const char *out = scratch_path("repeat-out");

	return give_file(
	    eh2sframe_result_section_path(subject->result, 0x1000000, out, error), out,
	    got);
}

static bool call_write_path(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	const char *out = scratch_path("repeat-out");

	return give_file(
	    eh2sframe_result_write_path(subject->result, out, error), out, got);
}

static bool call_write_in_place(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	return give_file(
	    eh2sframe_result_write_path(subject->result, subject->path, error),
	    subject->path, got);
}

static bool call_write_memory(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	void *bytes = NULL;
	size_t size = 0;

	return give(eh2sframe_result_write_memory(subject->result, &bytes, &size, error),
	    &bytes, &size, got);
}

static bool call_rows(
    struct subject *subject, struct bytes *got, struct eh2sframe_error *error)
{
	struct eh2sframe_walk_module module = {.struct_size = sizeof(module)};
	bool ok;

	ok = eh2sframe_rows(subject->file, &module, error);
	if (!ok)
		return false;
	bytes_add(
	    got, (const char *)module.extra, module.n_extra * sizeof(*module.extra));
	bytes_add(got, module.bytes, module.size);
	eh2sframe_free((void *)(uintptr_t)module.extra);
	eh2sframe_free((void *)(uintptr_t)module.bytes);
	return true;
}

static const struct call {
	const char *name;
	call_fn *make;
} calls[] = {{"facts", call_facts}, {"symbols", call_symbols}, {"FDEs", call_fdes},
    {"remove to a path", call_remove_path}, {"remove to memory", call_remove_memory},
    {"convert", call_convert}, {"convert to a path", call_convert_to},
    {"convert in place", call_convert_in_place}, {"verify", call_verify},
    {"lint", call_lint}, {"dump", call_dump}, {"check", call_check},
    {"contents", call_contents}, {"words", call_words}, {"section", call_section},
    {"section to a path", call_section_path}, {"write to a path", call_write_path},
    {"write in place", call_write_in_place}, {"write to memory", call_write_memory},
    {"rows", call_rows}};

enum { N_CALLS = sizeof(calls) / sizeof(calls[0]) };

/* The results of a call as bytes: its status, its words, and all else. */
static struct bytes answer(const struct call *call, struct subject *subject)
{
	struct eh2sframe_error error = {0};
	struct bytes got = {0};
	bool ok = call->make(subject, &got, &error);

	bytes_add(&got, (const char *)&ok, sizeof(ok));
	if (!ok)
		bytes_add(&got, error.text, strlen(error.text));
	return got;
}

/* Puts n numbers of calls, each as often as the others, into an order that depends on nothing else. */
static void shuffle(unsigned char *order, size_t n)
{
	uint64_t state = 39;

	for (size_t i = 0; i < n; i++)
		order[i] = (unsigned char)(i % N_CALLS);
	for (size_t i = n; i > 1; i--) {
		size_t k;
		unsigned char kept = order[i - 1];

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		k = (size_t)(state >> 33) % i;
		order[i - 1] = order[k];
		order[k] = kept;
	}
}

static void repeat_calls(struct subject *subject, const char *name, size_t times)
{
	const size_t n = times * N_CALLS;
	unsigned char *order = malloc(n);
	struct bytes first[N_CALLS];
	size_t wrong[N_CALLS] = {0};

	for (size_t i = 0; i < N_CALLS; i++)
		first[i] = answer(&calls[i], subject);
	shuffle(order, n);
	for (size_t i = 0; i < n; i++) {
		struct bytes now = answer(&calls[order[i]], subject);

		wrong[order[i]] += !bytes_same(&now, &first[order[i]]);
		bytes_free(&now);
	}
	for (size_t i = 0; i < N_CALLS; i++) {
		check(!wrong[i], "%s: %s, %zu times: %zu other answers", name,
		    calls[i].name, times, wrong[i]);
		bytes_free(&first[i]);
	}
	free(order);
}

void test_repeat(const char *path, size_t times)
{
	char *copy = strdup(scratch_path("repeat-in"));
	struct subject subject = {.path = copy, .bytes = file_read(path)};
	struct eh2sframe_options *options = options_of("format=3 verbose");
	struct eh2sframe_error error = {0};
	struct bytes ignored = {0};

	file_write(subject.path, subject.bytes.data, subject.bytes.size);
	subject.file = eh2sframe_open_path(subject.path, options, &error);
	subject.result =
	    subject.file ? eh2sframe_convert(subject.file, NULL, &error) : NULL;
	check(subject.result != NULL, "%s is opened: %s", path, error.text);
	if (subject.result) {
		/* From now on it also says how it got in. */
		(void)!call_write_memory(&subject, &ignored, &error);
		repeat_calls(&subject, path, times);
	}
	bytes_free(&ignored);
	eh2sframe_result_free(subject.result);
	eh2sframe_close(subject.file);
	eh2sframe_options_free(options);
	bytes_free(&subject.bytes);
	free(copy);
}
