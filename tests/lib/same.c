/* SPDX-License-Identifier: MIT */
/* Path, descriptor, memory and the command give the same bytes and the same words. */
#include "tests/lib/lib.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum origin { BY_PATH, BY_FD, BY_MEMORY, N_ORIGINS };
static const char *const origins[] = {"path", "descriptor", "memory"};

/* Opens the file in one of the ways. A block of memory has exactly its size. */
static struct eh2sframe_file *open_as(enum origin origin, const char *path,
    const struct bytes *bytes, const struct eh2sframe_options *options,
    struct eh2sframe_error *error)
{
	struct eh2sframe_file *file;
	int fd;

	if (origin == BY_PATH)
		return eh2sframe_open_path(path, options, error);
	if (origin == BY_MEMORY)
		return eh2sframe_open_memory(
		    bytes->data, bytes->size, path, options, error);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	lseek(fd, 17, SEEK_SET);
	file = eh2sframe_open_fd(fd, path, options, error);
	if (lseek(fd, 0, SEEK_CUR) != 17)
		check(false, "%s: opening moved the descriptor", path);
	/* The library has its own text for this. */
	close(fd);
	return file;
}

/* Compares one result of the library. status is the exit status of the command. */
static void compare(bool ok, const struct eh2sframe_error *error, struct bytes *got,
    int status, const struct bytes *wanted, const char *what)
{
	int mine = ok ? 0 : (int)error->status;

	check(mine == status && (status || bytes_same(got, wanted)),
	    "%s: status %d and %d, %zu and %zu bytes%s%s", what, mine, status, got->size,
	    wanted->size, ok ? "" : ": ", ok ? "" : error->text);
	eh2sframe_free(got->data);
	*got = (struct bytes){0};
}

/* Returns what the command makes of a file with some options. */
struct wanted {
	int status, section_status;
	struct bytes whole, section;
};

static struct wanted wanted_of(const char *command, const char *path, const char *args)
{
	const char *out = scratch_path("out"), *bare = scratch_path("bare");
	/* The bare section does not get into a file, and is not one of an object. */
	const char *method = strstr(args, " --method=");
	const char *whole = method ? method : strstr(args, " --object-sections=");
	const int n = whole ? (int)(whole - args) : (int)strlen(args);
	struct wanted wanted = {0};

	wanted.status = run(NULL, "%s -q %s %s %s", command, args, path, out);
	if (wanted.status == 0)
		wanted.whole = file_read(out);
	wanted.section_status = run(NULL, "%s section -q --address=0x1000000 %.*s %s %s",
	    command, n, args, path, bare);
	if (wanted.section_status == 0)
		wanted.section = file_read(bare);
	return wanted;
}

/*
 * Compares the bytes of one result, in all forms, with those of the command. Without a
 * result, error has the reason.
 */
static void writes_result(struct eh2sframe_result *result, struct eh2sframe_error *error,
    const struct wanted *wanted, const char *name)
{
	const char *out = scratch_path("out"), *bare = scratch_path("bare");
	struct bytes got = {0};
	char what[700];
	bool ok;

	ok = result && eh2sframe_result_section(
			   result, 0x1000000, (void **)&got.data, &got.size, error);
	snprintf(what, sizeof(what), "%s: section", name);
	compare(ok, error, &got, wanted->section_status, &wanted->section, what);
	ok = result && eh2sframe_result_section_path(result, 0x1000000, bare, error);
	got = ok ? file_read(bare) : (struct bytes){0};
	snprintf(what, sizeof(what), "%s: section to a path", name);
	compare(ok, error, &got, wanted->section_status, &wanted->section, what);
	ok = result &&
	     eh2sframe_result_write_memory(result, (void **)&got.data, &got.size, error);
	snprintf(what, sizeof(what), "%s: whole", name);
	compare(ok, error, &got, wanted->status, &wanted->whole, what);
	ok = result && eh2sframe_result_write_path(result, out, error);
	got = ok ? file_read(out) : (struct bytes){0};
	snprintf(what, sizeof(what), "%s: to a path", name);
	compare(ok, error, &got, wanted->status, &wanted->whole, what);
	if (wanted->status == EH2SFRAME_DONE || wanted->status == EH2SFRAME_COVERAGE) {
		ok = result && eh2sframe_result_check(result, error);
		check(ok == (wanted->status == EH2SFRAME_DONE) &&
			  (ok || (int)error->status == wanted->status),
		    "%s: checked: %s", name, ok ? "" : error->text);
	}
}

static void writes(const char *command, const char *path, const struct bytes *bytes,
    const char *words, const char *args)
{
	struct eh2sframe_options *options = options_of(words);
	struct wanted wanted = wanted_of(command, path, args);
	char name[600], what[700];

	for (int origin = 0; origin < N_ORIGINS; origin++) {
		const char *out = scratch_path("out");
		struct eh2sframe_error error = {0};
		struct eh2sframe_result *result, *at_once;
		struct eh2sframe_file *file;
		struct bytes got = {0};

		snprintf(name, sizeof(name), "%s by %s%s", path, origins[origin], args);
		file = open_as((enum origin)origin, path, bytes, options, &error);
		result = file ? eh2sframe_convert(file, NULL, &error) : NULL;
		writes_result(result, &error, &wanted, name);
		unlink(out);
		at_once = file ? eh2sframe_convert(file, out, &error) : NULL;
		got = at_once ? file_read(out) : got;
		snprintf(what, sizeof(what), "%s: converted to a path", name);
		compare(
		    at_once != NULL, &error, &got, wanted.status, &wanted.whole, what);
		check(
		    at_once || access(out, F_OK) != 0, "%s: no file of a failure", name);
		eh2sframe_result_free(at_once);
		eh2sframe_result_free(result);
		eh2sframe_close(file);
	}
	bytes_free(&wanted.whole);
	bytes_free(&wanted.section);
	eh2sframe_options_free(options);
}

/* A section is removed in memory, and made again. */
static void back(const char *path, const struct bytes *bytes)
{
	struct eh2sframe_options *refresh = options_of("refresh verbose");
	struct bytes conv = {0}, got = {0};
	struct eh2sframe_error error = {0};
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	bool ok;

	file = eh2sframe_open_memory(bytes->data, bytes->size, path, NULL, &error);
	ok = file &&
	     !eh2sframe_file_remove_memory(file, (void **)&got.data, &got.size, &error);
	check(ok && error.status == EH2SFRAME_NOTHING, "%s: nothing to take out", path);
	result = eh2sframe_convert(file, NULL, &error);
	ok = result && eh2sframe_result_write_memory(
			   result, (void **)&conv.data, &conv.size, &error);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	if (!ok) {
		check(false, "%s: %s", path, error.text);
		return;
	}
	file = eh2sframe_open_memory(conv.data, conv.size, path, NULL, &error);
	ok = eh2sframe_file_remove_memory(file, (void **)&got.data, &got.size, &error);
	compare(ok, &error, &got, 0, bytes, "taken out in memory");
	ok = eh2sframe_file_remove_path(file, scratch_path("removed"), &error);
	got = ok ? file_read(scratch_path("removed")) : got;
	compare(ok, &error, &got, 0, bytes, "taken out to a path");
	eh2sframe_close(file);
	file = eh2sframe_open_memory(conv.data, conv.size, path, refresh, &error);
	result = eh2sframe_convert(file, NULL, &error);
	for (int i = 0; i < 2; i++) {
		ok = result && eh2sframe_result_write_memory(
				   result, (void **)&got.data, &got.size, &error);
		compare(ok, &error, &got, 0, &conv, "made again in memory");
	}
	/* The open file still has its section. */
	ok = eh2sframe_file_remove_memory(file, (void **)&got.data, &got.size, &error);
	compare(ok, &error, &got, 0, bytes, "taken out after that");
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_free(conv.data);
	eh2sframe_options_free(refresh);
}

/* Compares text with the output of a command, which is given by the other arguments. */
static void said(bool ok, struct bytes *got, const char *what, const char *command,
    const char *words, const char *paths)
{
	struct bytes wanted = {0};

	run(&wanted, "%s %s %s", command, words, paths);
	check(ok && wanted.size &&
		  (bytes_same(got, &wanted) || bytes_in_document(got, &wanted)),
	    "%s: %s: %zu and %zu bytes", paths, what, got->size, wanted.size);
	bytes_free(got);
	bytes_free(&wanted);
}

/* A check of the code is made once, then printed, judged and put into a report. */
static void checked(
    const char *command, const char *path, const struct eh2sframe_file *file)
{
	struct eh2sframe_error error;
	struct bytes got = {0};
	struct eh2sframe_check *code = eh2sframe_check_file(file, &error);
	bool ok;

	/* Without Zydis this machine's code is not decoded. */
	if (!strstr(eh2sframe_features(), "zydis")) {
		check(!code && error.status == EH2SFRAME_INPUT, "%s: no check", path);
		return;
	}
	ok = code && eh2sframe_check_print(code, bytes_add, &got, &error);
	said(ok, &got, "check", command, "check -v", path);
	ok = eh2sframe_check_judge(code, &error);
	ok = code && eh2sframe_check_json(code, true,
			 ok ? EH2SFRAME_DONE : EH2SFRAME_PROOF, bytes_add, &got, &error);
	said(ok, &got, "JSON of the check", command, "check --json", path);
	eh2sframe_check_free(code);
}

/* The command and the library print the same about the section of a file. */
static void words_after(
    const char *command, const char *conv, const struct eh2sframe_options *verbose)
{
	struct eh2sframe_error error;
	struct bytes got = {0};
	struct eh2sframe_file *file = eh2sframe_open_path(conv, verbose, &error);
	bool ok = eh2sframe_file_dump(file, bytes_add, &got, &error);

	said(ok, &got, "dump", command, "dump", conv);
	ok = eh2sframe_file_verify(file, NULL, bytes_add, &got, &error);
	said(ok, &got, "verify", command, "verify -v", conv);
	ok = eh2sframe_file_lint(file, "binutils-2.46", bytes_add, &got, &error);
	said(ok || error.status == EH2SFRAME_INPUT, &got, "lint", command,
	    "lint -v --for=binutils-2.46", conv);
	checked(command, conv, file);
	eh2sframe_close(file);
}

/* Compares the words of conversions with those of the command, too. */
static void words(const char *command, const char *path, const struct bytes *bytes)
{
	struct eh2sframe_options *verbose = options_of("verbose jobs=2");
	struct eh2sframe_error error;
	struct eh2sframe_result *result;
	struct eh2sframe_file *file;
	struct bytes got = {0};
	const char *conv = scratch_path("conv");
	char paths[600];
	bool ok;

	file = eh2sframe_open_memory(bytes->data, bytes->size, path, verbose, &error);
	result = eh2sframe_convert(file, NULL, &error);
	ok = eh2sframe_result_add_details(result, &error) &&
	     eh2sframe_result_print(
		 result, EH2SFRAME_TEXT_REPORT, bytes_add, &got, &error);
	said(ok, &got, "report", command, "report -v", path);
	ok = eh2sframe_result_json(result, true, EH2SFRAME_DONE, bytes_add, &got, &error);
	said(ok, &got, "JSON", command, "report --json -v", path);
	ok = eh2sframe_result_write_path(result, conv, &error);
	for (int at_once = 0; at_once < 2; at_once++) {
		static const enum eh2sframe_text texts[] = {
		    EH2SFRAME_TEXT_GAPS, EH2SFRAME_TEXT_METHOD, EH2SFRAME_TEXT_SUMMARY};

		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			ok = ok && eh2sframe_result_print(
				       result, texts[i], bytes_add, &got, &error);
		snprintf(paths, sizeof(paths), "%s %s", path, scratch_path("other"));
		said(ok, &got, at_once ? "summary at once" : "summary", command, "-v",
		    paths);
		eh2sframe_result_free(result);
		result = eh2sframe_convert(file, conv, &error);
		ok = result != NULL;
	}
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	words_after(command, conv, verbose);
	eh2sframe_options_free(verbose);
}

void test_objects(const char *command, const char *path)
{
	static const char *const sets[][2] = {
	    {"", ""},
	    {"format=1", " --format=1"},
	    {"format=2 jobs=2", " --format=2 -j2"},
	    {"format=3 object-sections=text", " --format=3 --object-sections=text"},
	};
	struct bytes bytes = file_read(path);

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		writes(command, path, &bytes, sets[i][0], sets[i][1]);
	test_results(path, "format=2");
	test_results(path, "format=3 object-sections=group");
	bytes_free(&bytes);
}

void test_same(const char *command, const char *path)
{
	static const char *const sets[][2] = {
	    {"", ""},
	    {"format=1", " --format=1"},
	    {"format=3 jobs=2", " --format=3 -j2"},
	    {"optimize=size", " --optimize=size"},
	    {"format=2 no-pcrel optimize=none", " --format=2 --no-pcrel --optimize=none"},
	    {"exclude-symbol=*a* exclude-section=.plt* method=grow",
		" --exclude-symbol=*a* --exclude-section=.plt* --method=grow"},
	    {"min-coverage=100 min-coverage-of=text",
		" --min-coverage=100 --min-coverage-of=text"},
	};
	struct bytes bytes = file_read(path);

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		writes(command, path, &bytes, sets[i][0], sets[i][1]);
	back(path, &bytes);
	words(command, path, &bytes);
	test_results(path, "verbose");
	bytes_free(&bytes);
}
