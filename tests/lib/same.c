/* SPDX-License-Identifier: MIT */
/* By path, by descriptor, in memory, and by the command: the same bytes, the same words.
 */
#include "tests/lib/lib.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum origin { BY_PATH, BY_FD, BY_MEMORY, N_ORIGINS };
static const char *const origins[] = {"path", "descriptor", "memory"};

/* Opens it in one of the ways; memory is a block of just its size. */
static struct eh2sframe *open_as(enum origin origin, const char *path,
    const struct bytes *bytes, const struct eh2sframe_options *options,
    struct eh2sframe_error *error)
{
	struct eh2sframe *file;
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
	/* The library has its own. */
	close(fd);
	return file;
}

/* One result of the library; status is what the command's was. */
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

static void writes(const char *command, const char *path, const struct bytes *bytes,
    const char *words, const char *args)
{
	struct eh2sframe_options *options = options_of(words);
	const char *out = scratch_path("out"), *bare = scratch_path("bare");
	struct bytes whole = {0}, section = {0};
	int status, bare_status;
	char what[600];

	status = run(NULL, "%s -q %s %s %s", command, args, path, out);
	if (status == 0)
		whole = file_read(out);
	bare_status =
	    run(NULL, "%s -q --section-only --section-address=0x1000000 %s %s %s",
		command, args, path, bare);
	if (bare_status == 0)
		section = file_read(bare);
	for (int origin = 0; origin < N_ORIGINS; origin++) {
		struct eh2sframe_error error = {0};
		struct bytes got = {0};
		struct eh2sframe *file;
		bool ok;

		file = open_as((enum origin)origin, path, bytes, options, &error);
		/* Made before or not, twice or once: no difference. */
		ok = file && (origin == BY_FD || eh2sframe_make(file, &error)) &&
		     eh2sframe_section(
			 file, 0x1000000, (void **)&got.data, &got.size, &error);
		snprintf(what, sizeof(what), "%s by %s%s: section", path, origins[origin],
		    args);
		compare(ok, &error, &got, bare_status, &section, what);
		ok = file &&
		     eh2sframe_write_memory(file, (void **)&got.data, &got.size, &error);
		snprintf(
		    what, sizeof(what), "%s by %s%s: whole", path, origins[origin], args);
		compare(ok, &error, &got, status, &whole, what);
		ok = file && eh2sframe_write_path(file, out, &error);
		got = ok ? file_read(out) : (struct bytes){0};
		snprintf(what, sizeof(what), "%s by %s%s: to a path", path,
		    origins[origin], args);
		compare(ok, &error, &got, status, &whole, what);
		eh2sframe_close(file);
	}
	bytes_free(&whole);
	bytes_free(&section);
	eh2sframe_options_free(options);
}

/* From and to memory: taken out, refused, made anew. */
static void back(const char *path, const struct bytes *bytes)
{
	struct eh2sframe_options *refresh = options_of("refresh verbose");
	struct bytes conv = {0}, got = {0};
	struct eh2sframe_error error = {0};
	struct eh2sframe *file;
	bool ok;

	file = eh2sframe_open_memory(bytes->data, bytes->size, path, NULL, &error);
	ok =
	    file && !eh2sframe_remove_memory(file, (void **)&got.data, &got.size, &error);
	check(ok && error.status == EH2SFRAME_NOTHING, "%s: nothing to take out", path);
	ok = eh2sframe_write_memory(file, (void **)&conv.data, &conv.size, &error);
	eh2sframe_close(file);
	if (!ok) {
		check(false, "%s: %s", path, error.text);
		return;
	}
	file = eh2sframe_open_memory(conv.data, conv.size, path, NULL, &error);
	ok = eh2sframe_remove_memory(file, (void **)&got.data, &got.size, &error);
	compare(ok, &error, &got, 0, bytes, "taken out in memory");
	ok = eh2sframe_write_memory(file, (void **)&got.data, &got.size, &error);
	check(!ok && error.status == EH2SFRAME_NOTHING, "%s: has one already", path);
	ok = eh2sframe_remove_path(file, scratch_path("removed"), &error);
	got = ok ? file_read(scratch_path("removed")) : got;
	compare(ok, &error, &got, 0, bytes, "taken out to a path");
	eh2sframe_close(file);
	file = eh2sframe_open_memory(conv.data, conv.size, path, refresh, &error);
	for (int i = 0; i < 2; i++) {
		ok = eh2sframe_write_memory(file, (void **)&got.data, &got.size, &error);
		compare(ok, &error, &got, 0, &conv, "made anew in memory");
	}
	/* What was opened still has the section that it had. */
	ok = eh2sframe_remove_memory(file, (void **)&got.data, &got.size, &error);
	compare(ok, &error, &got, 0, bytes, "taken out behind that");
	ok = eh2sframe_dump(file, bytes_add, &got, &error) &&
	     eh2sframe_verify(file, NULL, bytes_add, &got, &error);
	check(ok && got.size, "%s: dumped and proven behind that: %s", path,
	    ok ? "" : error.text);
	bytes_free(&got);
	eh2sframe_close(file);
	/* Through a descriptor the original's bytes come from the mapping, too. */
	file_write(scratch_path("conv"), conv.data, conv.size);
	file = open_as(BY_FD, scratch_path("conv"), NULL, refresh, &error);
	ok = eh2sframe_make(file, &error) &&
	     eh2sframe_write_memory(file, (void **)&got.data, &got.size, &error);
	compare(ok, &error, &got, 0, &conv, "made anew by descriptor");
	/* Names come from the file as it was without the section. */
	ok = ok && eh2sframe_text(file, EH2SFRAME_TEXT_GAPS, bytes_add, &got, &error);
	check(ok, "%s: gaps of what was made anew: %zu bytes", path, got.size);
	bytes_free(&got);
	eh2sframe_close(file);
	eh2sframe_free(conv.data);
	eh2sframe_options_free(refresh);
}

/* Against what a command prints, which is the rest of the arguments. */
static void said(bool ok, struct bytes *got, const char *what, const char *command,
    const char *words, const char *paths)
{
	struct bytes wanted = {0};

	run(&wanted, "%s %s %s", command, words, paths);
	check(ok && wanted.size && bytes_same(got, &wanted), "%s: %s: %zu and %zu bytes",
	    paths, what, got->size, wanted.size);
	bytes_free(got);
	bytes_free(&wanted);
}

/* What the command says of the section that a file has is what the library says. */
static void words_after(
    const char *command, const char *conv, const struct eh2sframe_options *verbose)
{
	struct eh2sframe_error error;
	struct bytes got = {0};
	struct eh2sframe *file = eh2sframe_open_path(conv, verbose, &error);
	bool ok = eh2sframe_dump(file, bytes_add, &got, &error);

	said(ok, &got, "dump", command, "--dump", conv);
	ok = eh2sframe_verify(file, NULL, bytes_add, &got, &error);
	said(ok, &got, "verify", command, "-v --verify", conv);
	ok = eh2sframe_lint(file, "libsframe", bytes_add, &got, &error);
	said(ok || error.status == EH2SFRAME_INPUT, &got, "lint", command,
	    "-v --lint=libsframe", conv);
	eh2sframe_close(file);
}

/* And of what it makes. */
static void words(const char *command, const char *path, const struct bytes *bytes)
{
	struct eh2sframe_options *verbose = options_of("verbose jobs=2");
	struct eh2sframe_report *report = eh2sframe_report_new();
	struct eh2sframe_error error;
	struct bytes got = {0};
	struct eh2sframe *file;
	const char *conv = scratch_path("conv");
	char paths[600];
	bool ok;

	file = eh2sframe_open_memory(bytes->data, bytes->size, path, verbose, &error);
	ok = eh2sframe_make(file, &error) && eh2sframe_costs(file, &error) &&
	     eh2sframe_text(file, EH2SFRAME_TEXT_REPORT, bytes_add, &got, &error);
	said(ok, &got, "report", command, "--report -v", path);
	ok = eh2sframe_report_add(report, file, EH2SFRAME_DONE, &error) &&
	     eh2sframe_report_write(report, bytes_add, &got, &error);
	said(ok, &got, "JSON", command, "--report=json -v", path);
	ok = eh2sframe_write_path(file, conv, &error) &&
	     eh2sframe_text(file, EH2SFRAME_TEXT_GAPS, bytes_add, &got, &error) &&
	     eh2sframe_text(file, EH2SFRAME_TEXT_METHOD, bytes_add, &got, &error) &&
	     eh2sframe_text(file, EH2SFRAME_TEXT_SUMMARY, bytes_add, &got, &error);
	snprintf(paths, sizeof(paths), "%s %s", path, scratch_path("other"));
	said(ok, &got, "summary", command, "-v", paths);
	eh2sframe_close(file);
	eh2sframe_report_free(report);
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
	bytes_free(&bytes);
}

void test_same(const char *command, const char *path)
{
	static const char *const sets[][2] = {
	    {"", ""},
	    {"format=1", " --format=1"},
	    {"format=3 jobs=2", " --format=3 -j2"},
	    {"optimize=size max-rows=8", " --optimize=size --max-rows=8"},
	    {"format=2 no-pcrel optimize=none", " --format=2 --no-pcrel --optimize=none"},
	    {"exclude-symbol=*a* exclude-section=.plt* method=append",
		" --exclude-symbol=*a* --exclude-section=.plt* --method=append"},
	    {"min-coverage=100", " --min-coverage=100"},
	};
	struct bytes bytes = file_read(path);

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		writes(command, path, &bytes, sets[i][0], sets[i][1]);
	back(path, &bytes);
	words(command, path, &bytes);
	bytes_free(&bytes);
}
