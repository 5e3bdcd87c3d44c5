/* SPDX-License-Identifier: MIT */
/*
 *   test_lib COMMAND FILE...: what the library does with each file, against the command.
 */
#include "tests/lib/lib.h"

#include <sys/wait.h>
#include <unistd.h>

struct work {
	char **paths;
	size_t n;
};

/* Everything that is public, once for each file, failures too. */
static void work(void *context)
{
	const struct work *all = context;

	for (size_t i = 0; i < all->n; i++) {
		struct eh2sframe_options *options =
			options_of("verbose witness=libdwarf");
		struct eh2sframe_error error;
		struct eh2sframe *file;
		struct bytes got = {0}, text = {0};

		file = eh2sframe_open_path(all->paths[i], options, &error);
		if (file && eh2sframe_write_path(file, scratch_path("out"), &error) &&
			eh2sframe_text(
				file, EH2SFRAME_TEXT_DAMAGE, bytes_add, &text, &error) &&
			eh2sframe_write_memory(
				file, (void **)&got.data, &got.size, &error))
			eh2sframe_free(got.data);
		if (eh2sframe_section_path(file, 0, scratch_path("bare"), &error))
			unlink(scratch_path("bare"));
		if (!eh2sframe_verify(file, NULL, bytes_add, &text, &error))
			eh2sframe_close(file);
		file = eh2sframe_open_path(scratch_path("out"), options, &error);
		if (eh2sframe_verify(file, NULL, bytes_add, &text, &error))
			eh2sframe_close(file);
		if (!eh2sframe_open_path("/no/such/file", options, &error))
			eh2sframe_options_free(options);
		bytes_free(&text);
	}
}

/* With none of the three standard descriptors, whose numbers files then get. */
static void without_streams(const char *path)
{
	const char *out = scratch_path("streamless"), *with = scratch_path("with");
	struct eh2sframe_error error;
	struct eh2sframe *file;
	struct bytes a, b;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		file = eh2sframe_open_path(path, NULL, &error);
		_exit(!file || !eh2sframe_write_path(file, out, &error));
	}
	waitpid(pid, &status, 0);
	file = eh2sframe_open_path(path, NULL, &error);
	check(file && eh2sframe_write_path(file, with, &error) && status == 0,
		"without standard streams: status %d", status);
	eh2sframe_close(file);
	a = file_read(out);
	b = file_read(with);
	check(bytes_same(&a, &b), "the same without standard streams");
	bytes_free(&a);
	bytes_free(&b);
}

int main(int argc, char **argv)
{
	struct work all;

	if (argc < 3)
		return 2;
	all = (struct work){argv + 2, (size_t)argc - 2};
	for (int i = 2; i < argc; i++) {
		test_same(argv[1], argv[i]);
		test_rows(argv[i]);
	}
	test_errors(argv[2]);
	test_quiet(work, &all);
	without_streams(argv[2]);
	test_threads(all.paths, all.n);
	return check_end();
}
