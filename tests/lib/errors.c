/* SPDX-License-Identifier: MIT */
/* What goes wrong, and what a caller of another version may rely on. */
#include "tests/lib/lib.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void wants(bool failed, const struct eh2sframe_error *error,
    enum eh2sframe_status status, const char *what)
{
	check(failed && error->status == status && *error->text &&
		  !strchr(error->text, '\n'),
	    "%s: status %d: %s", what, failed ? (int)error->status : 0, error->text);
}

static void wrong_options(void)
{
	static const char *const pairs[][2] = {{"format", "4"}, {"format", NULL},
	    {"refresh", "yes"}, {"section-only", NULL}, {"", NULL}, {"jobs", "0"},
	    {"max-rows", "x"}, {"min-coverage", "50,5"}, {"witness", ""}};
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_error error;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		error = (struct eh2sframe_error){0};
		wants(!eh2sframe_options_set(options, pairs[i][0], pairs[i][1], &error),
		    &error, EH2SFRAME_USAGE, pairs[i][0]);
	}
	check(eh2sframe_options_set(options, "no-pcrel", NULL, &error) &&
		  eh2sframe_options_check(options, &error),
	    "an option alone");
	check(eh2sframe_options_set(options, "format", "3", &error), "another alone");
	wants(!eh2sframe_options_check(options, &error), &error, EH2SFRAME_USAGE,
	    "together");
	wants(!eh2sframe_open_path("/bin/ls", options, &error), &error, EH2SFRAME_USAGE,
	    "opened with them");
	eh2sframe_options_free(options);
	eh2sframe_options_free(NULL);
}

static void wrong_files(void)
{
	struct eh2sframe_error error;
	static const char text[] = "this is not an ELF file, but it is longer than the "
				   "header of one, which has 64 bytes";

	wants(!eh2sframe_open_path("/no/such/file", NULL, &error), &error, EH2SFRAME_IO,
	    "no file");
	wants(!eh2sframe_open_path("/", NULL, &error), &error, EH2SFRAME_INPUT,
	    "a directory");
	wants(!eh2sframe_open_fd(-1, "x", NULL, &error), &error, EH2SFRAME_IO,
	    "no descriptor");
	wants(!eh2sframe_open_memory(text, sizeof(text), "x", NULL, &error), &error,
	    EH2SFRAME_INPUT, "not ELF");
	wants(!eh2sframe_open_memory(text, 0, "x", NULL, &error), &error, EH2SFRAME_INPUT,
	    "no byte");
	wants(!eh2sframe_open_memory(NULL, 0, "x", NULL, &error), &error, EH2SFRAME_INPUT,
	    "no memory");
	check(!eh2sframe_open_path("/no/such/file", NULL, NULL), "nobody is told why");
	eh2sframe_close(NULL);
	eh2sframe_free(NULL);
}

static bool stop(void *context, const char *text, size_t size)
{
	size_t *calls = context;

	(void)text;
	(void)size;
	return ++*calls < 2;
}

static void wrong_calls(const char *path)
{
	struct eh2sframe_report *report = eh2sframe_report_new();
	struct eh2sframe_error error;
	struct eh2sframe *file = eh2sframe_open_path(path, NULL, &error);
	size_t calls = 0;

	wants(!eh2sframe_report_add(report, file, EH2SFRAME_DONE, &error), &error,
	    EH2SFRAME_USAGE, "a report of nothing");
	check(eh2sframe_count(file, EH2SFRAME_FDES) == 0, "no count of nothing");
	wants(!eh2sframe_dump(file, bytes_add, &(struct bytes){0}, &error), &error,
	    EH2SFRAME_NOTHING, "no section to dump");
	wants(!eh2sframe_verify(file, NULL, bytes_add, &(struct bytes){0}, &error),
	    &error, EH2SFRAME_NOTHING, "no section to verify");
	wants(!eh2sframe_lint(file, "windows", bytes_add, &(struct bytes){0}, &error),
	    &error, EH2SFRAME_USAGE, "a reader unknown");
	wants(!eh2sframe_text(
		  file, (enum eh2sframe_text)99, bytes_add, &(struct bytes){0}, &error),
	    &error, EH2SFRAME_USAGE, "a text unknown");
	check(eh2sframe_make(file, &error) && eh2sframe_costs(file, &error) &&
		  eh2sframe_report_add(report, file, EH2SFRAME_DONE, &error),
	    "made");
	check(eh2sframe_count(file, (enum eh2sframe_count)99) == 0, "a count unknown");
	wants(!eh2sframe_report_write(report, stop, &calls, &error), &error, EH2SFRAME_IO,
	    "JSON that nobody wants");
	check(calls == 2, "and is not given on: %zu pieces", calls);
	calls = 1;
	wants(!eh2sframe_text(file, EH2SFRAME_TEXT_REPORT, stop, &calls, &error), &error,
	    EH2SFRAME_IO, "text that nobody wants");
	check(calls == 2, "and is not given on: %zu pieces", calls);
	wants(!eh2sframe_write_path(file, "/no/such/directory/out", &error), &error,
	    EH2SFRAME_IO, "no place");
	eh2sframe_close(file);
	eh2sframe_report_free(report);
	eh2sframe_report_free(NULL);
}

/* What makes a file needs names, what gives something needs a place for it. */
static void null_arguments(const char *path)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_report *report = eh2sframe_report_new();
	struct eh2sframe_error error, why = {EH2SFRAME_INPUT, "x"};
	struct eh2sframe *file = eh2sframe_open_path(path, NULL, &error);
	struct bytes got = {0};
	void **bytes = (void **)&got.data;
	size_t *size = &got.size;

#define REFUSED(call)                                                                    \
	do {                                                                             \
		error = (struct eh2sframe_error){0};                                     \
		wants(!(call), &error, EH2SFRAME_USAGE, #call);                          \
	} while (0)

	REFUSED(eh2sframe_options_set(NULL, "refresh", NULL, &error));
	REFUSED(eh2sframe_options_set(options, NULL, NULL, &error));
	REFUSED(eh2sframe_options_check(NULL, &error));
	REFUSED(eh2sframe_open_path(NULL, NULL, &error));
	REFUSED(eh2sframe_open_fd(0, NULL, NULL, &error));
	REFUSED(eh2sframe_open_memory("bytes", 5, NULL, NULL, &error));
	REFUSED(eh2sframe_open_memory(NULL, 64, "x", NULL, &error));
	REFUSED(eh2sframe_section(file, 0, NULL, size, &error));
	REFUSED(eh2sframe_section(file, 0, bytes, NULL, &error));
	REFUSED(eh2sframe_section_path(file, 0, NULL, &error));
	REFUSED(eh2sframe_write_path(file, NULL, &error));
	REFUSED(eh2sframe_write_memory(file, NULL, size, &error));
	REFUSED(eh2sframe_write_memory(file, bytes, NULL, &error));
	REFUSED(eh2sframe_remove_path(file, NULL, &error));
	REFUSED(eh2sframe_remove_memory(file, NULL, size, &error));
	REFUSED(eh2sframe_remove_memory(file, bytes, NULL, &error));
	REFUSED(eh2sframe_text(file, EH2SFRAME_TEXT_REPORT, NULL, NULL, &error));
	REFUSED(eh2sframe_dump(file, NULL, NULL, &error));
	REFUSED(eh2sframe_verify(file, NULL, NULL, NULL, &error));
	REFUSED(eh2sframe_lint(file, NULL, bytes_add, &got, &error));
	REFUSED(eh2sframe_lint(file, "all", NULL, NULL, &error));
	REFUSED(eh2sframe_report_add(NULL, file, EH2SFRAME_DONE, &error));
	REFUSED(eh2sframe_report_add_failure(report, NULL, &why, &error));
	REFUSED(eh2sframe_report_add_failure(report, "x", NULL, &error));
	REFUSED(eh2sframe_report_write(report, NULL, NULL, &error));
	check(!got.data && eh2sframe_count(file, EH2SFRAME_FDES) == 0,
	    "and nothing was done");
	eh2sframe_close(file);
	eh2sframe_report_free(report);
	eh2sframe_options_free(options);
}

/* As after an open that failed, and that nobody looked at. */
static void null_handles(void)
{
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	struct eh2sframe_report *report = eh2sframe_report_new();
	struct eh2sframe_error error;
	struct bytes got = {0};
	void **bytes = (void **)&got.data;
	uint64_t offset;
	size_t section;

	REFUSED(eh2sframe_make(NULL, &error));
	REFUSED(eh2sframe_judge(NULL, &error));
	REFUSED(eh2sframe_costs(NULL, &error));
	REFUSED(eh2sframe_section(NULL, 0, bytes, &got.size, &error));
	REFUSED(eh2sframe_section_path(NULL, 0, scratch_path("null"), &error));
	REFUSED(eh2sframe_write_path(NULL, scratch_path("null"), &error));
	REFUSED(eh2sframe_write_memory(NULL, bytes, &got.size, &error));
	REFUSED(eh2sframe_remove_path(NULL, scratch_path("null"), &error));
	REFUSED(eh2sframe_remove_memory(NULL, bytes, &got.size, &error));
	REFUSED(eh2sframe_text(NULL, EH2SFRAME_TEXT_REPORT, bytes_add, &got, &error));
	REFUSED(eh2sframe_dump(NULL, bytes_add, &got, &error));
	REFUSED(eh2sframe_verify(NULL, NULL, bytes_add, &got, &error));
	REFUSED(eh2sframe_lint(NULL, "all", bytes_add, &got, &error));
	REFUSED(eh2sframe_report_add(report, NULL, EH2SFRAME_DONE, &error));
	REFUSED(eh2sframe_report_write(NULL, bytes_add, &got, &error));
#undef REFUSED
	eh2sframe_options_on_temporary(NULL, NULL, NULL);
	eh2sframe_options_on_progress(NULL, NULL, NULL);
	check(!got.data && access(scratch_path("null"), F_OK) != 0 &&
		  !eh2sframe_function(NULL, 0, &function) &&
		  !eh2sframe_row(NULL, 0, 0, &row) && !eh2sframe_gap(NULL, 0, &gap) &&
		  !eh2sframe_where(NULL, 0, &section, &offset) &&
		  !eh2sframe_symbol(NULL, 0) && !eh2sframe_machine(NULL) &&
		  eh2sframe_count(NULL, EH2SFRAME_FDES) == 0 &&
		  eh2sframe_lack(NULL) == EH2SFRAME_LACK_NOTHING &&
		  eh2sframe_kind(NULL, 64) == EH2SFRAME_KIND_NOT_ELF,
	    "nothing of no file");
	eh2sframe_report_free(report);
}

/* A struct of an earlier version is not written behind, of a later one only in front. */
static void struct_sizes(const char *path)
{
	struct eh2sframe_error error;
	struct eh2sframe *file = eh2sframe_open_path(path, NULL, &error);
	struct eh2sframe_function whole = {.struct_size = sizeof(whole)}, part;
	struct {
		struct eh2sframe_row row;
		unsigned char more[32];
	} later;
	bool ok = eh2sframe_make(file, &error);

	memset(&part, 0x5a, sizeof(part));
	part.struct_size = offsetof(struct eh2sframe_function, n_rows);
	ok = ok && eh2sframe_function(file, 0, &whole) &&
	     eh2sframe_function(file, 0, &part);
	check(ok && part.start == whole.start && part.size == whole.size &&
		  part.n_rows == UINT64_C(0x5a5a5a5a5a5a5a5a) &&
		  part.struct_size == offsetof(struct eh2sframe_function, n_rows),
	    "a struct of an earlier version");
	memset(&later, 0x5a, sizeof(later));
	later.row.struct_size = sizeof(later);
	ok = eh2sframe_row(file, 0, 0, &later.row);
	check(ok && later.row.start == 0 && later.more[0] == 0x5a &&
		  later.row.struct_size == sizeof(later),
	    "a struct of a later version");
	whole.struct_size = 0;
	check(!eh2sframe_function(file, 0, &whole), "a struct without its size");
	check(
	    !eh2sframe_row(file, (size_t)-1, 0, &later.row) &&
		!eh2sframe_row(file, 0, (size_t)-1, &later.row) &&
		!eh2sframe_gap(file, (size_t)-1,
		    &(struct eh2sframe_gap){.struct_size = sizeof(struct eh2sframe_gap)}),
	    "what there is not");
	eh2sframe_close(file);
}

struct told {
	size_t begun, gone;
	bool right;
	char path[300];
};

static void told(void *context, const char *path, bool exists)
{
	struct told *what = context;
	struct stat st;
	sigset_t now;

	if (exists) {
		what->begun++;
		sigprocmask(SIG_BLOCK, NULL, &now);
		snprintf(what->path, sizeof(what->path), "%s", path);
		what->right &= stat(path, &st) == 0 && sigismember(&now, SIGTERM) == 1;
	} else {
		what->gone++;
		what->right &= stat(path, &st) < 0 && !strcmp(path, what->path);
	}
}

/* Each temporary file is told of, and is gone when that is said. */
static void temporaries(const char *path)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct told what = {.right = true};
	struct eh2sframe_error error;
	struct eh2sframe *file;
	bool ok;

	eh2sframe_options_on_temporary(options, told, &what);
	file = eh2sframe_open_path(path, options, &error);
	ok = eh2sframe_write_path(file, scratch_path("out"), &error);
	check(ok && what.right && what.begun == 1 && what.gone == 1,
	    "one temporary file of a conversion");
	ok = eh2sframe_section_path(file, 0, scratch_path("bare"), &error);
	check(ok && what.right && what.begun == 2 && what.gone == 2, "one of a section");
	ok = eh2sframe_write_path(file, "/dev/null", &error);
	check(!ok && what.begun == 2, "none where nothing can be: %s", error.text);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
}

/* Mode 0666 less the umask, which nobody sets meanwhile, where no input has one. */
static void modes(const char *path)
{
	struct bytes bytes = file_read(path);
	struct eh2sframe_error error;
	struct eh2sframe *file;
	mode_t before = umask(027);
	struct stat st = {0};
	bool ok;

	file = eh2sframe_open_memory(bytes.data, bytes.size, "x", NULL, &error);
	ok = eh2sframe_section_path(file, 0, scratch_path("bare"), &error) &&
	     stat(scratch_path("bare"), &st) == 0;
	check(ok && (st.st_mode & 07777) == 0640, "the mode of a section is %o",
	    (unsigned int)st.st_mode & 07777);
	unlink(scratch_path("out"));
	ok = eh2sframe_write_path(file, scratch_path("out"), &error) &&
	     stat(scratch_path("out"), &st) == 0;
	check(ok && (st.st_mode & 07777) == 0640, "the mode of a file from memory is %o",
	    (unsigned int)st.st_mode & 07777);
	check(umask(before) == 027, "the umask is what it was");
	eh2sframe_close(file);
	bytes_free(&bytes);
}

/* What the caller lent is as it was, and still the caller's. */
static void lent(const char *path)
{
	struct bytes bytes = file_read(path), got = {0};
	size_t room = (bytes.size + 8191) & ~(size_t)4095;
	char *whole = aligned_alloc(4096, room);
	struct eh2sframe_error error;
	struct eh2sframe *file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok;

	/* Whole pages, so that nothing but care keeps them. */
	memcpy(whole, bytes.data, bytes.size);
	file = eh2sframe_open_memory(whole, bytes.size, "x", NULL, &error);
	ok = eh2sframe_write_memory(file, (void **)&got.data, &got.size, &error);
	eh2sframe_close(file);
	check(ok && !memcmp(whole, bytes.data, bytes.size), "memory stays as it was");
	eh2sframe_free(got.data);
	free(whole);
	lseek(fd, 17, SEEK_SET);
	file = eh2sframe_open_fd(fd, "x", NULL, &error);
	ok = eh2sframe_write_memory(file, (void **)&got.data, &got.size, &error);
	check(ok && lseek(fd, 0, SEEK_CUR) == 17, "a descriptor stays where it was");
	eh2sframe_close(file);
	check(close(fd) == 0, "and open");
	eh2sframe_free(got.data);
	bytes_free(&bytes);
}

void test_errors(const char *path)
{
	wrong_options();
	wrong_files();
	wrong_calls(path);
	null_arguments(path);
	null_handles();
	struct_sizes(path);
	temporaries(path);
	modes(path);
	lent(path);
	check(strlen(eh2sframe_version()) >= 5, "version %s", eh2sframe_version());
}
