/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of every command fails once, and once together with all that follow.
 * The program is linked with --wrap. So allocations of libelf and libdwarf do not fail,
 * except for the handle of a file. LSan checks for leaks.
 */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <libelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/args.h"
#include "cmd/run.h"

/* No command makes more allocations on these files. A runaway loop stops here. */
#define MAX_ALLOCATIONS 20000

static struct {
	bool armed, persistent;
	size_t n, fail_at; /* allocations so far; the number of the one that fails */
} heap;

static bool heap_fails(void)
{
	if (!heap.armed)
		return false;
	heap.n++;
	return heap.persistent ? heap.n >= heap.fail_at : heap.n == heap.fail_at;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
Elf *__real_elf_memory(char *bytes, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);
Elf *__wrap_elf_memory(char *bytes, size_t size);
int __wrap_asprintf(char **text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

void *__wrap_malloc(size_t size)
{
	return heap_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return heap_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return heap_fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
	return heap_fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
	return heap_fails() ? NULL : __real_strndup(text, n);
}

Elf *__wrap_elf_memory(char *bytes, size_t size)
{
	if (!heap_fails())
		return __real_elf_memory(bytes, size);
	errno = ENOMEM;
	return NULL;
}

int __wrap_asprintf(char **text, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (heap_fails())
		return -1;
	va_start(ap, fmt);
	n = vasprintf(text, fmt, ap);
	va_end(ap);
	return n;
}

/*
 * "IN" stands for the file, "CONV" for its conversion, "OUT" for an output,
 * "JSON" for a report of it in version 1. "result" is
 * not a command: see run_result.
 */
static const char *const commands[] = {
    "-q IN OUT",
    ("-q --optimize=none --allow-unmatched --exclude-symbol=x* --exclude-section=.y* "
     "IN OUT"),
    "report --json --exclude-symbol=x* --allow-unmatched IN",
    "-q --optimize=size IN OUT",
    "section -q IN OUT",
    "-q --refresh CONV OUT",
    "report -v IN",
    "report IN IN",
    "report --functions IN",
    "report --baseline=JSON IN",
    "--baseline=JSON IN OUT",
    "diff JSON JSON",
    "report --json -j1 IN",
    "dump CONV",
    "verify CONV",
    "verify --cfi=IN CONV",
    "verify --witness=libdwarf CONV",
    "lint CONV",
    "-q --format=1 IN OUT",
    "-q --format=3 IN OUT",
    "remove CONV OUT",
    "result IN",
    "result CONV",
};

enum {
	N_COMMANDS = sizeof(commands) / sizeof(commands[0]),
	N_INPUTS = 2,
	N_WAYS = N_COMMANDS * N_INPUTS
};

static const char *const input_names[N_INPUTS] = {"NOMEM_INPUT_1", "NOMEM_INPUT_2"};

static struct {
	char dir[64], conv[80], out[80], json[64];
	const char *in;
	FILE *null;
} place;

/* Returns a word of a command line with its path, in text. */
static char *word_of(const char *word, char *text, size_t size)
{
	static const char *const stands[] = {"IN", "CONV", "OUT", "JSON"};
	const char *paths[] = {place.in, place.conv, place.out, place.json};
	size_t len = strlen(word);

	snprintf(text, size, "%s", word);
	for (size_t i = 0; i < sizeof(stands) / sizeof(stands[0]); i++) {
		size_t n = strlen(stands[i]);

		if (len >= n && !strcmp(word + len - n, stands[i]))
			snprintf(text, size, "%.*s%s", (int)(len - n), word, paths[i]);
	}
	return text;
}

/* Runs a command without its output. error gets its standard error. */
static bool run_quietly(const struct args *args, struct eh2sframe_error *error)
{
	FILE *out = stdout, *err = stderr;
	char *said = NULL;
	size_t size;

	stdout = place.null;
	/* Allocations of stdio do not count. */
	stderr = open_memstream(&said, &size);
	error->status = (enum eh2sframe_status)run_command(args);
	fclose(stderr);
	stdout = out;
	stderr = err;
	snprintf(error->text, sizeof(error->text), "%s", said);
	free(said);
	return error->status == EH2SFRAME_DONE;
}

/* Writes one result in every form. OUT is last, because it stays after a failure. */
static bool write_result(struct eh2sframe_result *result, bool linked, void *bytes[2],
    struct eh2sframe_error *error)
{
	size_t size;

	return (!linked ||
		   eh2sframe_result_section(result, 0x1000, &bytes[0], &size, error)) &&
	       eh2sframe_result_write_memory(result, &bytes[1], &size, error) &&
	       eh2sframe_result_write_path(result, place.out, error);
}

/* Calls functions of the library that no command uses. */
static bool run_result(const char *path, struct eh2sframe_error *error)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	struct eh2sframe_result *result = NULL;
	struct eh2sframe_file *file = NULL;
	void *bytes[2] = {NULL, NULL};
	bool ok = options != NULL;

	if (!ok)
		*error = (struct eh2sframe_error){EH2SFRAME_NO_MEMORY, "out of memory"};
	ok = ok && eh2sframe_options_set(options, "format", "2", error) &&
	     eh2sframe_options_set(options, "refresh", NULL, error);
	if (ok)
		file = eh2sframe_open_path(path, options, error);
	if (file)
		result = eh2sframe_convert(file, NULL, error);
	ok = result && eh2sframe_result_function(result, 0, &function);
	if (ok) {
		/* Without memory there is no name. */
		eh2sframe_result_symbol(result, function.start);
		ok = write_result(
		    result, strcmp(place.in, getenv("NOMEM_INPUT_3")), bytes, error);
	}
	eh2sframe_free(bytes[0]);
	eh2sframe_free(bytes[1]);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
	return ok;
}

/* Runs one command line. The heap fails only from parsing to cleaning up. */
static bool run(const char *line, struct eh2sframe_error *error)
{
	char words[8][256], copy[128], program[] = "eh2sframe", *argv[9] = {program},
				       *state;
	struct args args;
	int argc = 1;
	bool ok;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &state); word;
	     word = strtok_r(NULL, " ", &state)) {
		argv[argc] = word_of(word, words[argc - 1], sizeof(words[0]));
		argc++;
	}
	optind = 0;
	*error = (struct eh2sframe_error){0};
	heap.n = 0;
	heap.armed = true;
	if (!strcmp(argv[1], "result")) {
		ok = run_result(argv[2], error);
	} else {
		ok = args_parse(argc, argv, &args, error) && run_quietly(&args, error);
		args_deinit(&args);
	}
	heap.armed = false;
	return ok;
}

static size_t file_bytes(const char *path, char *bytes, size_t size)
{
	FILE *in = fopen(path, "rb");
	size_t n = 0;

	if (in) {
		n = fread(bytes, 1, size, in);
		fclose(in);
	}
	return n;
}

static void put_out(const char *text)
{
	FILE *out = fopen(place.out, "wb");

	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	fclose(out);
}

static void setup(void)
{
	const char *tmp = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";

	snprintf(place.dir, sizeof(place.dir), "%s/nomem.XXXXXX", tmp);
	ck_assert_ptr_nonnull(mkdtemp(place.dir));
	snprintf(place.conv, sizeof(place.conv), "%s/conv", place.dir);
	snprintf(place.out, sizeof(place.out), "%s/out", place.dir);
	snprintf(place.json, sizeof(place.json), "%s/nomem.json.XXXXXX", tmp);
	close(mkstemp(place.json));
	place.null = fopen("/dev/null", "w");
	ck_assert_ptr_nonnull(place.null);
}

static void teardown(void)
{
	fclose(place.null);
	unlink(place.conv);
	unlink(place.json);
	unlink(place.out);
	ck_assert_int_eq(rmdir(place.dir), 0);
}
UNIT_FIXTURE(setup, teardown)

/* There is nothing except OUT and CONV. */
static void check_strays(size_t n)
{
	DIR *dir = opendir(place.dir);
	struct dirent *entry;
	int files = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)))
		files += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(dir);
	ck_assert_msg(files == 2, "%d files after allocation %zu failed", files, n);
}

static void fail_each(const char *line, bool persistent)
{
	static const char before[] = "before";
	static char wanted[1 << 20], got[1 << 20];
	size_t n_wanted, n, n_nomem = 0;
	struct eh2sframe_error err;
	bool ok;

	put_out(before);
	heap.fail_at = 0;
	heap.persistent = false;
	ok = run(line, &err);
	ck_assert_msg(ok, "%s: %s", line, err.text);
	n_wanted = file_bytes(place.out, wanted, sizeof(wanted));
	heap.persistent = persistent;
	for (n = 1; n < MAX_ALLOCATIONS; n++) {
		size_t n_got;

		put_out(before);
		heap.fail_at = n;
		ok = run(line, &err);
		n_got = file_bytes(place.out, got, sizeof(got));
		ck_assert_msg(ok || (err.status == EH2SFRAME_NO_MEMORY &&
					strstr(err.text, "out of memory")),
		    "%s, allocation %zu: status %d: %s", line, n, (int)err.status,
		    err.text);
		n_nomem += !ok;
		if (ok)
			ck_assert_msg(n_got == n_wanted && !memcmp(got, wanted, n_got),
			    "%s, allocation %zu: another OUT", line, n);
		else
			ck_assert_msg(
			    n_got == strlen(before) && !memcmp(got, before, n_got),
			    "%s, allocation %zu: OUT was touched", line, n);
		check_strays(n);
		if (heap.n < n)
			break;
	}
	ck_assert_msg(n < MAX_ALLOCATIONS, "%s: no end of allocations", line);
	ck_assert_msg(n_nomem > 0, "%s: nothing failed", line);
}

UNIT_LOOP(nomem, 0, N_WAYS)
{
	struct eh2sframe_error err;

	place.in = getenv(input_names[_i / N_COMMANDS]);
	ck_assert_msg(place.in, "%s is not set", input_names[_i / N_COMMANDS]);
	heap.fail_at = 0;
	ck_assert_msg(run("-q IN CONV", &err), "%s", err.text);
	ck_assert_msg(run("report --json --format=1 -o JSON IN", &err), "%s", err.text);
	fail_each(commands[_i % N_COMMANDS], false);
	fail_each(commands[_i % N_COMMANDS], true);
}

/* As commands, for a relocatable object. */
static const char *const object_commands[] = {
    "-q --format=1 IN OUT",
    "-q --format=3 --object-sections=group IN OUT",
    "-q --format=2 --object-sections=text IN OUT",
    "-q --refresh --format=2 CONV OUT",
    "report -v IN",
    "dump CONV",
    "verify CONV",
    "remove CONV OUT",
    "result IN",
    "result CONV",
};

enum { N_OBJECT_COMMANDS = sizeof(object_commands) / sizeof(object_commands[0]) };

UNIT_LOOP(nomem_object, 0, N_OBJECT_COMMANDS)
{
	struct eh2sframe_error err;

	place.in = getenv("NOMEM_INPUT_3");
	ck_assert_msg(place.in, "NOMEM_INPUT_3 is not set");
	heap.fail_at = 0;
	ck_assert_msg(
	    run("-q --format=1 --object-sections=text IN CONV", &err), "%s", err.text);
	fail_each(object_commands[_i], false);
	fail_each(object_commands[_i], true);
}
