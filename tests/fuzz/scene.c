/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/scene.h"

#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/common/args.h"
#include "cmd/run.h"
#include "tests/fuzz/fuzz.h"

#define BEFORE "what was here before"

struct scene scene;

void scene_write(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	FUZZ_ASSERT(
	    fd >= 0 && write(fd, data, size) == (ssize_t)size, "cannot write %s", path);
	close(fd);
}

bool scene_file_is(const char *path, const void *data, size_t size)
{
	char *bytes = malloc(size + 1);
	int fd = open(path, O_RDONLY);
	bool same;

	FUZZ_ASSERT(bytes && fd >= 0, "cannot read %s", path);
	/* One more is asked for, to see that there is none. */
	same = read(fd, bytes, size + 1) == (ssize_t)size && !memcmp(bytes, data, size);
	close(fd);
	free(bytes);
	return same;
}

bool scene_same(const char *a, const char *b)
{
	FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
	int one, other;

	FUZZ_ASSERT(x && y, "cannot read %s and %s", a, b);
	do {
		one = getc(x);
		other = getc(y);
	} while (one == other && one != EOF);
	fclose(x);
	fclose(y);
	return one == other;
}

static void scene_close(void)
{
	if (scene.pid != getpid())
		return;
	unlink(scene.in);
	unlink(scene.out);
	unlink(scene.back);
	rmdir(scene.dir);
	fclose(scene.null);
}

/* A directory of this process; a forked child makes its own. */
void scene_open(void)
{
	const char *parent = getenv(FUZZ_DIR);

	if (scene.pid == getpid())
		return;
	scene.pid = getpid();
	snprintf(scene.dir, sizeof(scene.dir), "%.150s/%d.XXXXXX",
	    parent ? parent : "/tmp", (int)scene.pid);
	scene.null = fopen("/dev/null", "w");
	FUZZ_ASSERT(scene.null && mkdtemp(scene.dir), "cannot make %s", scene.dir);
	snprintf(scene.in, sizeof(scene.in), "%s/in", scene.dir);
	snprintf(scene.out, sizeof(scene.out), "%s/out", scene.dir);
	snprintf(scene.back, sizeof(scene.back), "%s/back", scene.dir);
	if (!parent)
		atexit(scene_close);
}

static void scene_check(const char *words)
{
	DIR *dir = opendir(scene.dir);
	struct dirent *entry;

	FUZZ_ASSERT(dir, "cannot list %s", scene.dir);
	while ((entry = readdir(dir)))
		FUZZ_ASSERT(!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
				!strcmp(entry->d_name, "in") ||
				!strcmp(entry->d_name, "out") ||
				!strcmp(entry->d_name, "back"),
		    "%s left %s behind", words, entry->d_name);
	closedir(dir);
}

/* One line, that begins with the program's name. */
static bool scene_is_line(const char *text)
{
	size_t n = strlen(text);

	return n && text[n - 1] == '\n' && strchr(text, '\n') == text + n - 1 &&
	       !strncmp(text, "eh2sframe: ", 11);
}

/* Each line begins with the program's name. */
static bool scene_is_lines(const char *text)
{
	while (!strncmp(text, "eh2sframe: ", 11)) {
		const char *end = strchr(text, '\n');

		if (!end)
			return false;
		text = end + 1;
	}
	return !*text;
}

/* Runs the command without its output. *said is its standard error, which the caller
 * frees. */
static int scene_run(const struct args *args, char **said)
{
	FILE *out = stdout, *err = stderr, *capture;
	size_t size;
	int status;

	capture = open_memstream(said, &size);
	FUZZ_ASSERT(capture, "no memory for %s", "messages");
	stdout = scene.null;
	stderr = capture;
	status = run_command(args);
	fclose(capture);
	stdout = out;
	stderr = err;
	return status;
}

/*
 * One command line, words apart by blanks, then paths; its exit status. Only verify and
 * check may find that a proof fails: a conversion whose proof does is a bug, whatever the file
 * says.
 */
int scene_command(const char *words, const char *path, const char *path2)
{
	char line[320], *argv[16] = {line}, *state = NULL, *said;
	/* It may not know the file, and names each function that is worse off. */
	const bool baseline = strstr(words, "--baseline") != NULL;
	struct eh2sframe_error error;
	int argc = 0, status;
	struct args args;

	snprintf(line, sizeof(line), "eh2sframe %s", words);
	for (char *word = strtok_r(line, " ", &state); word;
	     word = strtok_r(NULL, " ", &state))
		argv[argc++] = word;
	/* args.c only reads them. */
	argv[argc++] = strdup(path);
	argv[argc++] = path2 ? strdup(path2) : NULL;
	argc -= !path2;
	optind = 0;
	FUZZ_ASSERT(args_parse(argc, argv, &args, &error), "%s: %s", words, error.text);
	status = scene_run(&args, &said);
	FUZZ_ASSERT(
	    status == 0 || status == 1 || status == 5 || status == 6 ||
		(status == 2 && baseline) || (status == 3 && scene.changes) ||
		(status == 4 && (args.verb == VERB_VERIFY || args.verb == VERB_CHECK)),
	    "%s: status %d: %s", words, status, said);
	FUZZ_ASSERT(
	    status == 0 || (baseline ? scene_is_lines(said) : scene_is_line(said)),
	    "%s: not one line: %s", words, said);
	FUZZ_ASSERT((status != 1 && status != 4) || strstr(said, "; "),
	    "%s: does not say what to do: %s", words, said);
	scene_check(words);
	args_deinit(&args);
	free(said);
	free(argv[argc - 1]);
	if (path2)
		free(argv[argc - 2]);
	return status;
}

/* A command that writes OUT: all of it, or nothing. */
int scene_writes(const char *words, const char *in, const char *out)
{
	int status;

	scene_write(out, BEFORE, sizeof(BEFORE));
	status = scene_command(words, in, out);
	FUZZ_ASSERT((status != 0) == scene_file_is(out, BEFORE, sizeof(BEFORE)),
	    "%s: status %d, and OUT is as it %s", words, status,
	    status ? "was not" : "was");
	return status;
}
