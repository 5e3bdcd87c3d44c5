/* SPDX-License-Identifier: MIT */
/*
 * test_lib COMMAND FILE...: compares the library with the command for each file. test_lib
 * --locale COMMAND FILE: compares their words where a decimal point is a comma. test_lib --repeat
 * N FILE...: makes each call N times on one open file.
 */
#include "tests/lib/lib.h"

#include <locale.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct work {
	char **paths;
	size_t n, n_failed, n_refused;
};

/* Calls everything that prints or writes, once for each file. */
static void work(void *context)
{
	struct work *all = context;

	for (size_t i = 0; i < all->n; i++) {
		struct eh2sframe_options *options =
		    options_of("verbose witness=libdwarf");
		const char *out = scratch_path("out");
		struct eh2sframe_result *result, *at_once;
		struct eh2sframe_file *file, *conv;
		struct bytes got = {0}, text = {0};
		struct eh2sframe_error error;
		bool ok;

		file = eh2sframe_open_path(all->paths[i], options, &error);
		at_once = file ? eh2sframe_convert(file, out, &error) : NULL;
		result = at_once ? eh2sframe_convert(file, NULL, &error) : NULL;
		ok = result && eh2sframe_result_write_path(result, out, &error) &&
		     eh2sframe_result_write_memory(
			 result, (void **)&got.data, &got.size, &error) &&
		     eh2sframe_result_section_path(
			 result, 0, scratch_path("bare"), &error) &&
		     eh2sframe_result_print(
			 result, EH2SFRAME_TEXT_DAMAGE, bytes_add, &text, &error);
		conv = ok ? eh2sframe_open_path(out, options, &error) : NULL;
		ok = conv && eh2sframe_file_verify(conv, NULL, bytes_add, &text, &error);
		/* These fail. */
		ok = ok && !eh2sframe_file_verify(file, NULL, bytes_add, &text, &error) &&
		     !eh2sframe_convert(conv, out, &error) &&
		     !eh2sframe_open_path("/no/such/file", options, &error);
		/* libdwarf refuses some files. */
		all->n_refused += file && !at_once;
		all->n_failed += at_once ? !ok : error.status != EH2SFRAME_INPUT;
		eh2sframe_free(got.data);
		eh2sframe_result_free(at_once);
		eh2sframe_result_free(result);
		eh2sframe_close(file);
		eh2sframe_close(conv);
		eh2sframe_options_free(options);
		bytes_free(&text);
	}
}

/* Without the three standard descriptors, files get the numbers 0 to 2. */
static void without_streams(const char *path)
{
	const char *out = scratch_path("streamless"), *with = scratch_path("with");
	struct eh2sframe_error error;
	struct eh2sframe_result *result = NULL;
	struct eh2sframe_file *file;
	struct bytes a, b;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		file = eh2sframe_open_path(path, NULL, &error);
		_exit(!file || !eh2sframe_convert(file, out, &error));
	}
	waitpid(pid, &status, 0);
	file = eh2sframe_open_path(path, NULL, &error);
	if (file)
		result = eh2sframe_convert(file, with, &error);
	check(result && status == 0, "without standard streams: status %d", status);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	a = file_read(out);
	b = file_read(with);
	check(bytes_same(&a, &b), "the same without standard streams");
	bytes_free(&a);
	bytes_free(&b);
}

/* The command runs in the C locale. */
static int with_comma(const char *command, const char *path)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct bytes text = {0}, wanted = {0};
	struct eh2sframe_error error = {0};
	struct eh2sframe_result *result = NULL;
	struct eh2sframe_file *file = NULL;
	char number[8];
	bool ok;

	snprintf(number, sizeof(number), "%.1f", 0.5);
	check(setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()->decimal_point[0] == ',' &&
		  !strcmp(number, "0.5"),
	    "a locale with a comma");
	ok = eh2sframe_options_set(options, "min-coverage", "12.5", &error);
	if (ok)
		file = eh2sframe_open_path(path, options, &error);
	if (file)
		result = eh2sframe_convert(file, NULL, &error);
	ok = result && eh2sframe_result_add_details(result, &error) &&
	     eh2sframe_result_print(
		 result, EH2SFRAME_TEXT_REPORT, bytes_add, &text, &error);
	run(&wanted, "%s report %s", command, path);
	check(ok && bytes_same(&text, &wanted), "text: %s", error.text);
	text.size = 0;
	ok = ok && eh2sframe_result_json(
		       result, true, EH2SFRAME_DONE, bytes_add, &text, &error);
	bytes_free(&wanted);
	run(&wanted, "%s report --json %s", command, path);
	check(ok && bytes_in_document(&text, &wanted), "JSON: %s", error.text);
	bytes_free(&wanted);
	bytes_free(&text);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
	snprintf(number, sizeof(number), "%.1f", 0.5);
	check(!strcmp(number, "0,5"), "the comma is there still");
	return check_end();
}

/* Repeats the calls on each file; the number of times comes first. */
static int repeat(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		test_repeat(argv[i], strtoul(argv[0], NULL, 10));
	return check_end();
}

int main(int argc, char **argv)
{
	struct work all;

	if (argc < 3)
		return 2;
	if (argc == 4 && !strcmp(argv[1], "--locale"))
		return with_comma(argv[2], argv[3]);
	if (!strcmp(argv[1], "--repeat"))
		return repeat(argc - 2, argv + 2);
	/* Objects come last, and are only compared. */
	all = (struct work){argv + 2, 0, 0, 0};
	while (all.n < (size_t)argc - 2 && !strstr(argv[all.n + 2], ".o"))
		all.n++;
	for (int i = 2; i < argc; i++) {
		size_t n = strlen(argv[i]);

		if (n > 2 && !strcmp(argv[i] + n - 2, ".o")) {
			test_objects(argv[1], argv[i]);
			continue;
		}
		test_same(argv[1], argv[i]);
		test_rows(argv[i]);
		test_frames(argv[i]);
		test_functions(argv[i]);
	}
	test_encodings();
	test_errors(argv[2]);
	test_files(argv[2]);
	test_quiet(work, &all);
	check(all.n_failed == 0 && all.n_refused < all.n,
	    "of %zu files %zu failed and %zu were refused meanwhile", all.n, all.n_failed,
	    all.n_refused);
	without_streams(argv[2]);
	test_threads(all.paths, all.n);
	return check_end();
}
