/* SPDX-License-Identifier: MIT */
/*
 * Promises of a result: it stays as it is when it is written, it can be written often,
 * and there can be several of one file. All ways of writing give the same bytes. With
 * "refresh" the result of a converted file is that of the original file.
 */
#include "tests/lib/lib.h"

#include <string.h>
#include <unistd.h>

enum { N_COUNTS = EH2SFRAME_COUNT_SECTION_ROWS + 1 };

static void add_number(struct bytes *to, uint64_t number)
{
	bytes_add(to, (const char *)&number, sizeof(number));
}

static void add_name(struct bytes *to, const char *name)
{
	bytes_add(to, name ? name : "", name ? strlen(name) + 1 : 1);
}

static void add_location(struct bytes *to, const struct eh2sframe_location *location)
{
	add_number(to, (uint64_t)location->place);
	add_number(to, location->reg);
	add_number(to, (uint64_t)location->offset);
}

/* Adds an address, and the place that it stands for. */
static void add_address(
    struct bytes *to, struct eh2sframe_result *result, uint64_t address)
{
	uint64_t offset = 0;
	size_t section = 0;

	add_number(to, address);
	add_number(
	    to, eh2sframe_result_section_offset(result, address, &section, &offset));
	add_number(to, section);
	add_number(to, offset);
	add_name(to, eh2sframe_result_symbol(result, address));
}

struct bytes result_contents(struct eh2sframe_result *result)
{
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	struct bytes all = {0};

	for (size_t i = 0; eh2sframe_result_function(result, i, &function); i++) {
		add_address(&all, result, function.start);
		add_number(&all, function.size);
		add_number(&all, function.n_rows);
		add_number(&all, function.block_size);
		add_number(&all, function.flags);
		for (size_t k = 0; eh2sframe_result_row(result, i, k, &row); k++) {
			add_number(&all, row.start);
			add_number(&all, row.rule.flags);
			add_location(&all, &row.rule.cfa);
			add_location(&all, &row.rule.ra);
			add_location(&all, &row.rule.fp);
		}
	}
	for (size_t i = 0; eh2sframe_result_gap(result, i, &gap); i++) {
		add_address(&all, result, gap.start);
		add_address(&all, result, gap.function);
		add_number(&all, gap.end);
		add_name(&all, gap.reason);
		add_name(&all, gap.text);
		add_number(&all, gap.needs_version);
	}
	for (int i = 0; i < N_COUNTS; i++)
		add_number(&all, eh2sframe_result_count(result, (enum eh2sframe_count)i));
	return all;
}

/* True if a result has rows, and is equal to this text. */
static bool contains(struct eh2sframe_result *result, const struct bytes *wanted)
{
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	struct bytes got = result_contents(result);
	bool ok = bytes_same(&got, wanted) && eh2sframe_result_row(result, 0, 0, &row);

	bytes_free(&got);
	return ok;
}

static struct bytes text_of(struct eh2sframe_result *result, enum eh2sframe_text what)
{
	struct bytes text = {0};
	struct eh2sframe_error error;

	if (!eh2sframe_result_print(result, what, bytes_add, &text, &error))
		check(false, "text %d: %s", (int)what, error.text);
	return text;
}

/* Every text and the JSON of two results are the same. */
static bool same_words(struct eh2sframe_result *a, struct eh2sframe_result *b)
{
	struct eh2sframe_result *both[] = {a, b};
	struct bytes json[2] = {{0}, {0}};
	struct eh2sframe_error error;
	bool ok = true;

	for (int i = 0; i < 2; i++)
		if (!eh2sframe_result_add_details(both[i], &error))
			check(false, "details: %s", error.text);
	for (int what = 0; what <= EH2SFRAME_TEXT_FUNCTIONS; what++) {
		struct bytes x = text_of(a, (enum eh2sframe_text)what);
		struct bytes y = text_of(b, (enum eh2sframe_text)what);

		ok = ok && bytes_same(&x, &y);
		bytes_free(&x);
		bytes_free(&y);
	}
	for (int i = 0; i < 2; i++)
		ok = ok && eh2sframe_result_json(both[i], true, EH2SFRAME_DONE, bytes_add,
			       &json[i], &error);
	ok = ok && json[0].size && bytes_same(&json[0], &json[1]);
	bytes_free(&json[0]);
	bytes_free(&json[1]);
	return ok;
}

/* Writes into memory. Returns no bytes when that fails. eh2sframe_free frees them. */
static struct bytes written(
    struct eh2sframe_result *result, struct eh2sframe_error *error)
{
	struct bytes got = {0};

	if (!eh2sframe_result_write_memory(result, (void **)&got.data, &got.size, error))
		return (struct bytes){0};
	return got;
}

static bool file_holds(const char *path, const struct bytes *wanted)
{
	struct bytes got = {0};
	bool ok;

	if (access(path, F_OK) == 0)
		got = file_read(path);
	ok = got.size && bytes_same(&got, wanted);
	bytes_free(&got);
	return ok;
}

/* Writes both results in all ways. *whole is the converted file. */
static void write_all(struct eh2sframe_result *first, struct eh2sframe_result *at_once,
    const char *path, struct bytes *whole, const struct bytes *wanted)
{
	struct eh2sframe_result *results[] = {first, at_once, first};
	const char *out = scratch_path("again");
	struct eh2sframe_error error = {0};

	*whole = written(first, &error);
	check(whole->size > 0, "%s: written: %s", path, error.text);
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct bytes again = written(results[i], &error);
		bool ok = bytes_same(&again, whole);

		eh2sframe_free(again.data);
		unlink(out);
		ok = ok && eh2sframe_result_write_path(results[i], out, &error) &&
		     file_holds(out, whole);
		check(ok, "%s: written again, %zu: %s", path, i, error.text);
		check(contains(results[i], wanted), "%s: nothing changes by it, %zu",
		    path, i);
	}
}

/* Returns the name of the first function that has one. */
static const char *first_symbol(struct eh2sframe_result *result)
{
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	const char *name = NULL;

	for (size_t i = 0; !name && eh2sframe_result_function(result, i, &function); i++)
		name = eh2sframe_result_symbol(result, function.start);
	return name ? name : "";
}

/*
 * Two results of one file: one is written after the conversion, the other together with
 * it. Gives what is in a result, and the converted file.
 */
static void two_results(const struct eh2sframe_file *file, const char *path,
    struct bytes *inside, struct bytes *whole)
{
	const char *out = scratch_path("at_once");
	struct eh2sframe_error error, before;
	struct eh2sframe_result *first, *at_once;
	struct bytes method;
	const char *name;
	char copy[200];

	memset(&before, 0x5a, sizeof(before));
	error = before;
	first = eh2sframe_convert(file, NULL, &error);
	at_once = first ? eh2sframe_convert(file, out, &error) : NULL;
	check(first && at_once && !memcmp(&error, &before, sizeof(error)),
	    "%s: two results, and the error is left alone: %.500s", path,
	    at_once ? "" : error.text);
	*inside = result_contents(first);
	check(contains(at_once, inside), "%s: both are the same", path);
	method = text_of(first, EH2SFRAME_TEXT_METHOD);
	check(method.size == 0, "%s: no method of what is not written", path);
	bytes_free(&method);
	name = first_symbol(first);
	snprintf(copy, sizeof(copy), "%s", name);
	write_all(first, at_once, path, whole, inside);
	check(!strncmp(name, copy, sizeof(copy) - 1), "%s: a name stays: %s", path, copy);
	check(file_holds(out, whole), "%s: the same bytes at once", path);
	check(same_words(first, at_once), "%s: the same words", path);
	eh2sframe_result_free(first);
	check(contains(at_once, inside), "%s: one remains without the other", path);
	eh2sframe_result_free(at_once);
}

/* Returns what dump prints of the section that a file has. */
static struct bytes dump_of(const struct eh2sframe_file *file)
{
	struct eh2sframe_error error;
	struct bytes text = {0};

	if (!eh2sframe_file_dump(file, bytes_add, &text, &error))
		check(false, "dump: %s", error.text);
	return text;
}

/* With "refresh", a converted file counts as the original. */
static void refreshed(const struct eh2sframe_file *conv, const char *path,
    const struct bytes *original, const struct bytes *inside, const struct bytes *whole)
{
	struct bytes before = dump_of(conv), after, back = {0}, text = {0}, again;
	const char *out = scratch_path("refreshed");
	struct eh2sframe_error error = {0};
	struct eh2sframe_result *result, *at_once;
	bool ok;

	check(eh2sframe_file_skip(conv) == EH2SFRAME_SKIP_NOT, "%s: not skipped", path);
	result = eh2sframe_convert(conv, NULL, &error);
	check(result && contains(result, inside), "%s: refreshed as the original: %s",
	    path, error.text);
	again = written(result, &error);
	check(bytes_same(&again, whole), "%s: refreshed, the same file: %s", path,
	    error.text);
	eh2sframe_free(again.data);
	at_once = eh2sframe_convert(conv, out, &error);
	check(at_once && file_holds(out, whole), "%s: refreshed at once: %s", path,
	    error.text);
	check(contains(at_once, inside) && contains(result, inside),
	    "%s: and both results are as the original's", path);
	check(same_words(result, at_once), "%s: refreshed, the same words", path);
	after = dump_of(conv);
	check(before.size && bytes_same(&before, &after),
	    "%s: the section of the opened file is dumped as before", path);
	ok = eh2sframe_file_verify(conv, NULL, bytes_add, &text, &error);
	check(ok, "%s: and proven: %s", path, ok ? "" : error.text);
	ok = eh2sframe_file_remove_memory(conv, (void **)&back.data, &back.size, &error);
	check(ok && bytes_same(&back, original), "%s: and taken out: %s", path,
	    ok ? "" : error.text);
	check(contains(result, inside), "%s: which changes no result", path);
	eh2sframe_free(back.data);
	eh2sframe_result_free(at_once);
	eh2sframe_result_free(result);
	bytes_free(&before);
	bytes_free(&after);
	bytes_free(&text);
}

/* Without "refresh", the section that a file has prevents writing, and nothing else. */
static void not_refreshed(const struct eh2sframe_file *conv, const char *path,
    const struct bytes *inside, const struct bytes *section)
{
	const char *out = scratch_path("kept");
	struct eh2sframe_error error = {0};
	struct eh2sframe_result *result;
	struct bytes got = {0};
	bool ok;

	check(
	    eh2sframe_file_skip(conv) == EH2SFRAME_SKIP_HAS_SFRAME, "%s: skipped", path);
	result = eh2sframe_convert(conv, NULL, &error);
	check(result && contains(result, inside), "%s: converted again: %s", path,
	    error.text);
	check(eh2sframe_result_check(result, &error), "%s: and worth writing", path);
	unlink(out);
	ok =
	    !eh2sframe_result_write_memory(result, (void **)&got.data, &got.size, &error);
	check(ok && error.status == EH2SFRAME_NOTHING, "%s: has one, in memory", path);
	ok = !eh2sframe_result_write_path(result, out, &error);
	check(ok && error.status == EH2SFRAME_NOTHING, "%s: has one, to a path", path);
	ok = !eh2sframe_convert(conv, out, &error);
	check(ok && error.status == EH2SFRAME_NOTHING, "%s: has one, at once", path);
	check(access(out, F_OK) != 0, "%s: nothing is written", path);
	ok = eh2sframe_result_section(
	    result, 0x1000000, (void **)&got.data, &got.size, &error);
	check(section->size ? ok && bytes_same(&got, section)
			    : !ok && error.status == EH2SFRAME_INPUT,
	    "%s: the section alone, %zu bytes", path, section->size);
	check(contains(result, inside), "%s: and the result stays", path);
	eh2sframe_free(got.data);
	eh2sframe_result_free(result);
}

/* A result is written over its own file. The file stays open, and can be written again. */
static void in_place(const char *path, const struct bytes *original,
    const struct eh2sframe_options *options, const struct bytes *inside,
    const struct bytes *whole)
{
	const char *place = scratch_path("in_place");
	struct eh2sframe_error error = {0};
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	struct bytes got;

	file_write(place, original->data, original->size);
	file = eh2sframe_open_path(place, options, &error);
	result = eh2sframe_convert(file, NULL, &error);
	check(result && eh2sframe_result_write_path(result, place, &error) &&
		  file_holds(place, whole),
	    "%s: in place: %s", path, error.text);
	got = written(result, &error);
	check(bytes_same(&got, whole) && contains(result, inside), "%s: and again: %s",
	    path, error.text);
	eh2sframe_result_free(result);
	result = eh2sframe_convert(file, place, &error);
	check(result && file_holds(place, whole), "%s: in place at once: %s", path,
	    error.text);
	eh2sframe_free(got.data);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
}

void test_results(const char *path, const char *words)
{
	struct eh2sframe_options *options = options_of(words), *refresh;
	struct bytes original = file_read(path), inside = {0}, whole = {0}, section = {0};
	struct eh2sframe_error error = {0};
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	char more[200];

	snprintf(more, sizeof(more), "%s refresh", words);
	refresh = options_of(more);
	file = eh2sframe_open_memory(original.data, original.size, path, options, &error);
	check(file && eh2sframe_file_skip(file) == EH2SFRAME_SKIP_NOT, "%s, %s: %s", path,
	    words, error.text);
	two_results(file, path, &inside, &whole);
	result = eh2sframe_convert(file, NULL, &error);
	/* An object has no bytes that mean something without relocations. */
	if (!eh2sframe_result_section(
		result, 0x1000000, (void **)&section.data, &section.size, &error))
		section.size = 0;
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	file = eh2sframe_open_memory(whole.data, whole.size, path, refresh, &error);
	refreshed(file, path, &original, &inside, &whole);
	eh2sframe_close(file);
	file = eh2sframe_open_memory(whole.data, whole.size, path, options, &error);
	not_refreshed(file, path, &inside, &section);
	eh2sframe_close(file);
	in_place(path, &original, options, &inside, &whole);
	bytes_free(&original);
	bytes_free(&inside);
	eh2sframe_free(whole.data);
	eh2sframe_free(section.data);
	eh2sframe_options_free(options);
	eh2sframe_options_free(refresh);
}
