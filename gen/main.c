/* SPDX-License-Identifier: MIT */
/* The command: one call per file, one line per failure, one exit status. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "config.h"
#include "gen/commands.h"
#include "gen/options.h"
#include "gen/pipeline.h"
#include "gen/status.h"

/* For mallopt: what is large on its own, and how much a large library needs besides. */
enum { MAIN_MMAP_SIZE = 8 << 20, MAIN_HEAP_SIZE = 64 << 20 };
/* A file from this size on is large. */
enum { MAIN_LARGE_SIZE = 4 << 20 };

static void main_complain(const char *path, const struct err *err)
{
	if (path)
		fprintf(stderr, "eh2sframe: %s: %s\n", path, err->text);
	else
		fprintf(stderr, "eh2sframe: %s\n", err->text);
}

/* Of several inputs the worst of 1 to 5 counts (a bug, 70, too); nothing to do does not.
 */
static int main_worse(int status, int next)
{
	return next != EH2SFRAME_NOTHING && next > status ? next : status;
}

static int main_each(const struct options *options,
	bool (*command)(const struct options *, const char *, FILE *, struct err *),
	FILE *out)
{
	int status = 0;

	for (size_t i = 0; i < options->n_paths; i++) {
		struct err err = {0};

		if (command(options, options->paths[i], out, &err))
			continue;
		main_complain(options->paths[i], &err);
		if (options->n_paths == 1)
			return status_of(err.kind);
		status = main_worse(status, status_of(err.kind));
	}
	return status;
}

/* A missing file is no other's: whoever opens it says so. */
static bool main_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* What is written there would take the place of the program. */
static int main_spare(const char *path)
{
	struct err err = {0};

	err_set(&err, ERR_USAGE, "is an input; the output needs a name of its own");
	main_complain(path, &err);
	return status_of(err.kind);
}

/* The JSON report is told of failures too. Returns the status that the run ends with. */
static int main_json(const struct options *options, struct report_json *json, int status,
	const char *path)
{
	struct err err = {0};

	if (json->files && !report_json_write(json, path, &err)) {
		main_complain(options->paths[0], &err);
		status = main_worse(status, status_of(err.kind));
	}
	report_json_deinit(json);
	return status;
}

/* A file below the coverage demanded of a report is in it already. */
static bool main_json_fail(const struct options *options, struct report_json *json,
	const char *path, const struct err *why)
{
	struct err err = {0};
	bool there = options->command == COMMAND_REPORT && why->kind == ERR_COVERAGE;

	return !json->files || there || report_json_fail(json, path, why, &err);
}

static int main_pair(const struct options *options)
{
	struct report_json json = {0};
	const char *in = options->paths[0], *out = options->paths[1];
	struct err err = {0};
	bool ok = true;

	if (options->command == COMMAND_SECTION_ONLY && main_same_file(in, out))
		return main_spare(out);
	if (options->json_path && main_same_file(in, options->json_path))
		return main_spare(options->json_path);
	if (options->json_path)
		ok = report_json_begin(&json, &err);
	if (ok && options->command == COMMAND_REMOVE)
		ok = command_remove(options, in, out, &err);
	else if (ok)
		ok = pipeline_convert(options, in, out, &json, &err);
	if (!ok) {
		main_complain(in, &err);
		main_json_fail(options, &json, in, &err);
	}
	return main_json(
		options, &json, status_of(ok ? ERR_NONE : err.kind), options->json_path);
}

static int main_report_each(
	const struct options *options, struct report_json *json, FILE *out)
{
	int status = 0;

	for (size_t i = 0; i < options->n_paths; i++) {
		const char *path = options->paths[i];
		struct err err = {0};
		int next;

		if (pipeline_report(options, path, out, json, &err))
			continue;
		main_complain(path, &err);
		main_json_fail(options, json, path, &err);
		next = status_of(err.kind);
		status = options->n_paths == 1 ? next : main_worse(status, next);
	}
	return status;
}

static int main_report(const struct options *options)
{
	const char *path = options->report_path;
	struct report_json json = {0};
	struct err err = {0};
	FILE *out = stdout;
	int status;

	for (size_t i = 0; path && i < options->n_paths; i++)
		if (main_same_file(path, options->paths[i]))
			return main_spare(path);
	if (options->report_json) {
		if (!report_json_begin(&json, &err)) {
			main_complain(NULL, &err);
			return status_of(err.kind);
		}
		status = main_report_each(options, &json, NULL);
		return main_json(options, &json, status, path ? path : "-");
	}
	if (path)
		out = fopen(path, "w");
	if (!out) {
		err_set_errno(&err, "cannot write");
		main_complain(path, &err);
		return status_of(err.kind);
	}
	status = main_report_each(options, &json, out);
	if (out != stdout && fclose(out) != 0) {
		err_set_errno(&err, "cannot write");
		main_complain(path, &err);
		status = main_worse(status, status_of(err.kind));
	}
	return status;
}

static int main_run(const struct options *options)
{
	switch (options->command) {
	case COMMAND_HELP:
		fputs(options_help, stdout);
		return 0;
	case COMMAND_VERSION:
		puts("eh2sframe " EH2SFRAME_VERSION);
		return 0;
	case COMMAND_CONVERT:
	case COMMAND_SECTION_ONLY:
	case COMMAND_REMOVE:
		return main_pair(options);
	case COMMAND_REPORT:
		return main_report(options);
	case COMMAND_DUMP:
		return main_each(options, command_dump, stdout);
	case COMMAND_VERIFY:
		return main_each(options, command_verify, stdout);
	case COMMAND_LINT:
		return main_each(options, command_lint, stdout);
	}
	return status_of(ERR_INTERNAL);
}

/*
 * Tens of megabytes come and go with each stage, and to get them from the kernel page by
 * page takes longer than some of the stages do. So they are kept, threads share them, and
 * come in huge pages where there are any. Without effect if malloc does otherwise.
 */
static void main_prepare_heap(const struct options *options)
{
	const uintptr_t mask = ((uintptr_t)2 << 20) - 1;
	void *volatile first; /* volatile: or the compiler does without */
	struct stat st;
	char *end;

	if (options->n_paths == 0 || stat(options->paths[0], &st) != 0 ||
		st.st_size < MAIN_LARGE_SIZE)
		return;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, MAIN_MMAP_SIZE);
	mallopt(M_TRIM_THRESHOLD, MAIN_HEAP_SIZE);
	mallopt(M_TOP_PAD, MAIN_HEAP_SIZE);
	first = malloc(1);
	end = sbrk(0);
	end -= (uintptr_t)end & mask;
	madvise(end - (MAIN_HEAP_SIZE - (mask + 1)), MAIN_HEAP_SIZE - (mask + 1),
		MADV_HUGEPAGE);
	free(first);
}

int main(int argc, char **argv)
{
	struct options options;
	struct err err = {0};
	int status;

	if (!options_parse(argc, argv, &options, &err)) {
		main_complain(NULL, &err);
		options_deinit(&options);
		return status_of(err.kind);
	}
	main_prepare_heap(&options);
	status = main_run(&options);
	options_deinit(&options);
	if (fflush(stdout) != 0) {
		err_set_errno(&err, "cannot write to standard output");
		main_complain(NULL, &err);
		status = main_worse(status, status_of(err.kind));
	}
	return status;
}
