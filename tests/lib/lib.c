/* SPDX-License-Identifier: MIT */
/* Results, files, commands. */
#include "tests/lib/lib.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static size_t n_checks, n_failed;
static char dir[64];

void check(bool ok, const char *fmt, ...)
{
	va_list ap;

	n_checks++;
	n_failed += !ok;
	printf("%s %zu - ", ok ? "ok" : "not ok", n_checks);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

int check_end(void)
{
	printf("1..%zu\n", n_checks);
	if (*dir)
		run(NULL, "rm -rf %s", dir);
	return n_failed || !n_checks ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(EXIT_FAILURE);
}

bool bytes_add(void *context, const char *text, size_t size)
{
	struct bytes *bytes = context;

	if (!size)
		return true;
	if (bytes->size + size > bytes->cap) {
		bytes->cap = (bytes->size + size) * 2;
		bytes->data = realloc(bytes->data, bytes->cap);
		if (!bytes->data)
			die("memory");
	}
	memcpy(bytes->data + bytes->size, text, size);
	bytes->size += size;
	return true;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

bool bytes_same(const struct bytes *a, const struct bytes *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

bool bytes_in_document(const struct bytes *object, const struct bytes *document)
{
	static const char tail[] = "\n ]\n}\n";
	const size_t head =
	    sizeof("{ 'tool': 'eh2sframe', 'version': '1.0.0-rc1' 'schema': 1");
	const size_t size = object->size + sizeof(tail) - 1;

	return object->size && document->size > size &&
	       document->size < size + 2 * head &&
	       !memcmp(
		   document->data + document->size - size, object->data, object->size) &&
	       !memcmp(document->data + document->size - sizeof(tail) + 1, tail,
		   sizeof(tail) - 1);
}

struct bytes file_read(const char *path)
{
	struct bytes bytes = {0};
	FILE *in = fopen(path, "rb");
	char chunk[65536];
	size_t n;

	if (!in)
		die(path);
	while ((n = fread(chunk, 1, sizeof(chunk), in)) > 0)
		bytes_add(&bytes, chunk, n);
	fclose(in);
	return bytes;
}

void file_write(const char *path, const void *data, size_t size)
{
	FILE *out = fopen(path, "wb");

	if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0)
		die(path);
}

const char *scratch(void)
{
	if (!*dir) {
		const char *tmp = getenv("TMPDIR");

		snprintf(dir, sizeof(dir), "%s/libtest.XXXXXX", tmp ? tmp : "/tmp");
		if (!mkdtemp(dir))
			die("cannot make a directory");
	}
	return dir;
}

const char *scratch_path(const char *name)
{
	static char paths[16][200];
	static size_t at;
	char *path = paths[at++ % 16];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch(), name);
	return path;
}

struct eh2sframe_options *options_of(const char *text)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_error error;
	char copy[200], *state;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *name = strtok_r(copy, " ", &state); name;
	     name = strtok_r(NULL, " ", &state)) {
		char *value = strchr(name, '=');

		if (value)
			*value++ = '\0';
		if (!eh2sframe_options_set(options, name, value, &error))
			die(error.text);
	}
	return options;
}

int run(struct bytes *said, const char *fmt, ...)
{
	char line[2000], *argv[32] = {NULL}, *state;
	posix_spawn_file_actions_t actions;
	const char *to = said ? scratch_path("said") : "/dev/null";
	size_t argc = 0;
	int status;
	pid_t pid;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (char *word = strtok_r(line, " ", &state); word && argc < 31;
	     word = strtok_r(NULL, " ", &state))
		argv[argc++] = word;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(
	    &actions, STDOUT_FILENO, to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(
	    &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		die(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	waitpid(pid, &status, 0);
	if (said)
		*said = file_read(to);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
