/* SPDX-License-Identifier: MIT */
/* Calls fail as the header says. Callers of other versions get what they rely on. */
#include "tests/lib/lib.h"

#include <elf.h>
#include <string.h>
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
	    {"refresh", "yes"}, {"json", NULL}, {"", NULL}, {"jobs", "0"},
	    {"min-coverage", "50,5"}, {"witness", ""}};
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
	check(!eh2sframe_open_path("/no/such/file", NULL, NULL), "an error may be NULL");
	eh2sframe_close(NULL);
	eh2sframe_free(NULL);
}

static bool stop(void *context, const char *text, size_t size)
{
	size_t *calls = context;

	(void)text;
	(void)size;
	return (ptrdiff_t)++ * calls < 2;
}

static void wrong_calls(const char *path)
{
	struct eh2sframe_error error;
	struct eh2sframe_file *file = eh2sframe_open_path(path, NULL, &error);
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, &error);
	struct bytes got = {0};
	size_t calls = 0;

	wants(!eh2sframe_file_dump(file, bytes_add, &(struct bytes){0}, &error), &error,
	    EH2SFRAME_NOTHING, "no section to dump");
	wants(!eh2sframe_file_verify(file, NULL, bytes_add, &(struct bytes){0}, &error),
	    &error, EH2SFRAME_NOTHING, "no section to verify");
	wants(!eh2sframe_file_lint(file, "all", bytes_add, &(struct bytes){0}, &error),
	    &error, EH2SFRAME_NOTHING, "no section to lint");
	wants(
	    !eh2sframe_file_lint(file, "windows", bytes_add, &(struct bytes){0}, &error),
	    &error, EH2SFRAME_USAGE, "a reader unknown");
	wants(!eh2sframe_file_remove_path(file, scratch_path("null"), &error), &error,
	    EH2SFRAME_NOTHING, "no section to take out");
	wants(!eh2sframe_result_print(
		  result, (enum eh2sframe_text)99, bytes_add, &(struct bytes){0}, &error),
	    &error, EH2SFRAME_USAGE, "a text unknown");
	check(eh2sframe_result_json(
		  result, true, EH2SFRAME_DONE, bytes_add, &got, &error) &&
		  got.size,
	    "JSON");
	bytes_free(&got);
	check(eh2sframe_result_count(result, (enum eh2sframe_count)99) == 0,
	    "a count unknown");
	for (size_t piece = 0; piece < 40; piece++) {
		calls = 1 - piece;
		wants(!eh2sframe_result_json(
			  result, true, EH2SFRAME_DONE, stop, &calls, &error),
		    &error, EH2SFRAME_IO, "JSON that the caller refuses");
		check(calls == 2, "and gets no more of: %zu pieces", calls);
	}
	calls = 1;
	wants(
	    !eh2sframe_result_print(result, EH2SFRAME_TEXT_REPORT, stop, &calls, &error),
	    &error, EH2SFRAME_IO, "text that the caller refuses");
	check(calls == 2, "and gets no more of: %zu pieces", calls);
	wants(!eh2sframe_result_write_path(result, "/no/such/directory/out", &error),
	    &error, EH2SFRAME_IO, "no place");
	wants(!eh2sframe_convert(file, "/no/such/directory/out", &error), &error,
	    EH2SFRAME_IO, "no place at once");
	eh2sframe_result_free(result);
	eh2sframe_close(file);
}

/* A result that is not worth writing is not written in any form. */
static void not_written(const char *path, const char *words, enum eh2sframe_status status)
{
	struct eh2sframe_options *options = options_of(words);
	const char *out = scratch_path("not_written");
	struct eh2sframe_error error;
	struct eh2sframe_file *file = eh2sframe_open_path(path, options, &error);
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, &error);
	struct bytes got = {0};
	void **bytes = (void **)&got.data;

	unlink(out);
	check(result && eh2sframe_result_count(result, EH2SFRAME_COUNT_FDES) > 0,
	    "%s: converted", words);
	wants(!eh2sframe_result_check(result, &error), &error, status, "checked");
	wants(!eh2sframe_result_section(result, 0, bytes, &got.size, &error), &error,
	    status, "no section");
	wants(!eh2sframe_result_section_path(result, 0, out, &error), &error, status,
	    "no section as a file");
	wants(!eh2sframe_result_write_memory(result, bytes, &got.size, &error), &error,
	    status, "not written");
	wants(!eh2sframe_result_write_path(result, out, &error), &error, status,
	    "not written to a path");
	wants(
	    !eh2sframe_convert(file, out, &error), &error, status, "not written at once");
	check(!got.data && access(out, F_OK) != 0, "%s: nothing is there", words);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
}

/* A file header alone is a file without CFI. */
static void no_cfi(const char *path)
{
	struct bytes bytes = file_read(path), got = {0};
	const char *out = scratch_path("no_cfi");
	struct eh2sframe_error error = {0};
	struct eh2sframe_file *file;
	Elf64_Ehdr header;

	memcpy(&header, bytes.data, sizeof(header));
	header.e_phoff = header.e_shoff = 0;
	header.e_phnum = header.e_shnum = header.e_shstrndx = 0;
	file = eh2sframe_open_memory(&header, sizeof(header), "x", NULL, &error);
	check(file && eh2sframe_file_skip(file) == EH2SFRAME_SKIP_NO_CFI, "no CFI: %s",
	    error.text);
	wants(!eh2sframe_convert(file, NULL, &error), &error, EH2SFRAME_NOTHING,
	    "nothing to convert");
	unlink(out);
	wants(!eh2sframe_convert(file, out, &error), &error, EH2SFRAME_NOTHING,
	    "nothing to write");
	wants(!eh2sframe_file_dump(file, bytes_add, &got, &error), &error,
	    EH2SFRAME_NOTHING, "nothing to dump");
	check(!got.data && access(out, F_OK) != 0, "and there is nothing");
	eh2sframe_close(file);
	bytes_free(&bytes);
}

static bool symbol_none(void *context, const struct eh2sframe_symbol *symbol)
{
	(void)context;
	return !symbol;
}

/* Functions that open or give something need names, and places for the results. */
static void null_arguments(const char *path)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_error error;
	struct eh2sframe_file *file = eh2sframe_open_path(path, NULL, &error);
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, &error);
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
	REFUSED(eh2sframe_result_section(result, 0, NULL, size, &error));
	REFUSED(eh2sframe_result_section(result, 0, bytes, NULL, &error));
	REFUSED(eh2sframe_result_section_path(result, 0, NULL, &error));
	REFUSED(eh2sframe_result_write_path(result, NULL, &error));
	REFUSED(eh2sframe_result_write_memory(result, NULL, size, &error));
	REFUSED(eh2sframe_result_write_memory(result, bytes, NULL, &error));
	REFUSED(eh2sframe_file_remove_path(file, NULL, &error));
	REFUSED(eh2sframe_file_remove_memory(file, NULL, size, &error));
	REFUSED(eh2sframe_file_remove_memory(file, bytes, NULL, &error));
	REFUSED(
	    eh2sframe_result_print(result, EH2SFRAME_TEXT_REPORT, NULL, NULL, &error));
	REFUSED(eh2sframe_file_dump(file, NULL, NULL, &error));
	REFUSED(eh2sframe_file_verify(file, NULL, NULL, NULL, &error));
	REFUSED(eh2sframe_file_lint(file, NULL, bytes_add, &got, &error));
	REFUSED(eh2sframe_file_lint(file, "all", NULL, NULL, &error));
	REFUSED(
	    eh2sframe_file_functions(file, EH2SFRAME_ORIGIN_SYMBOLS, NULL, NULL, &error));
	REFUSED(eh2sframe_file_functions(
	    file, (enum eh2sframe_origin)9, symbol_none, NULL, &error));
	REFUSED(eh2sframe_result_json(result, true, EH2SFRAME_DONE, NULL, NULL, &error));
	check(!eh2sframe_result_function(result, 0, NULL) &&
		  !eh2sframe_result_row(result, 0, 0, NULL) &&
		  !eh2sframe_result_gap(result, 0, NULL) &&
		  !eh2sframe_result_extra(result, 0, NULL) &&
		  !eh2sframe_file_info(file, NULL) &&
		  !eh2sframe_file_segment(file, 0, NULL),
	    "no place for a function, row, gap or segment");
	check(!got.data && !got.size &&
		  eh2sframe_result_print(
		      result, EH2SFRAME_TEXT_METHOD, bytes_add, &got, &error) &&
		  !got.size,
	    "and nothing was done");
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
}

/* A caller may miss a failure, and go on with NULL. */
static void null_handles(void)
{
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};
	struct eh2sframe_extra extra;
	struct eh2sframe_info info = {.struct_size = sizeof(info)};
	struct eh2sframe_segment segment = {.struct_size = sizeof(segment)};
	struct eh2sframe_error error;
	struct bytes got = {0};
	void **bytes = (void **)&got.data;
	const char *null = scratch_path("null");
	uint64_t offset;
	size_t section;

	REFUSED(eh2sframe_convert(NULL, NULL, &error));
	REFUSED(eh2sframe_convert(NULL, null, &error));
	REFUSED(eh2sframe_result_check(NULL, &error));
	REFUSED(eh2sframe_result_add_details(NULL, &error));
	REFUSED(eh2sframe_result_section(NULL, 0, bytes, &got.size, &error));
	REFUSED(eh2sframe_result_section_path(NULL, 0, null, &error));
	REFUSED(eh2sframe_result_write_path(NULL, null, &error));
	REFUSED(eh2sframe_result_write_memory(NULL, bytes, &got.size, &error));
	REFUSED(eh2sframe_file_remove_path(NULL, null, &error));
	REFUSED(eh2sframe_file_remove_memory(NULL, bytes, &got.size, &error));
	REFUSED(
	    eh2sframe_result_print(NULL, EH2SFRAME_TEXT_REPORT, bytes_add, &got, &error));
	REFUSED(eh2sframe_file_dump(NULL, bytes_add, &got, &error));
	REFUSED(eh2sframe_file_verify(NULL, NULL, bytes_add, &got, &error));
	REFUSED(eh2sframe_file_lint(NULL, "all", bytes_add, &got, &error));
	REFUSED(eh2sframe_file_functions(
	    NULL, EH2SFRAME_ORIGIN_SYMBOLS, symbol_none, NULL, &error));
	REFUSED(
	    eh2sframe_result_json(NULL, true, EH2SFRAME_DONE, bytes_add, &got, &error));
	REFUSED(
	    eh2sframe_check_json(NULL, true, EH2SFRAME_DONE, bytes_add, &got, &error));
	REFUSED(eh2sframe_check_file(NULL, &error));
	REFUSED(eh2sframe_check_judge(NULL, &error));
	REFUSED(eh2sframe_check_print(NULL, bytes_add, &got, &error));
	eh2sframe_check_free(NULL);
#undef REFUSED
	eh2sframe_options_on_temporary(NULL, NULL, NULL);
	eh2sframe_result_free(NULL);
	check(!got.data && access(null, F_OK) != 0 &&
		  !eh2sframe_result_function(NULL, 0, &function) &&
		  !eh2sframe_result_row(NULL, 0, 0, &row) &&
		  !eh2sframe_result_gap(NULL, 0, &gap) &&
		  !eh2sframe_result_extra(NULL, 0, &extra) &&
		  !eh2sframe_result_section_offset(NULL, 0, &section, &offset) &&
		  !eh2sframe_file_info(NULL, &info) &&
		  !eh2sframe_file_segment(NULL, 0, &segment) &&
		  !eh2sframe_result_symbol(NULL, 0) && !eh2sframe_file_machine(NULL) &&
		  eh2sframe_result_count(NULL, EH2SFRAME_COUNT_FDES) == 0 &&
		  eh2sframe_file_skip(NULL) == EH2SFRAME_SKIP_NOT &&
		  eh2sframe_kind(NULL, 64) == EH2SFRAME_KIND_NOT_ELF,
	    "nothing of no file");
}

/*
 * The library writes nothing behind the struct of an earlier version. Of a later one it
 * writes only the first part.
 */
static void struct_sizes(const char *path)
{
	struct eh2sframe_error error;
	struct eh2sframe_file *file = eh2sframe_open_path(path, NULL, &error);
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, &error);
	struct eh2sframe_function whole = {.struct_size = sizeof(whole)}, part;
	struct {
		struct eh2sframe_row row;
		unsigned char more[32];
	} later;
	bool ok = result != NULL;

	memset(&part, 0x5a, sizeof(part));
	part.struct_size = offsetof(struct eh2sframe_function, n_rows);
	ok = ok && eh2sframe_result_function(result, 0, &whole) &&
	     eh2sframe_result_function(result, 0, &part);
	check(ok && part.start == whole.start && part.size == whole.size &&
		  part.n_rows == UINT64_C(0x5a5a5a5a5a5a5a5a) &&
		  part.struct_size == offsetof(struct eh2sframe_function, n_rows),
	    "a struct of an earlier version");
	memset(&later, 0x5a, sizeof(later));
	later.row.struct_size = sizeof(later);
	ok = eh2sframe_result_row(result, 0, 0, &later.row);
	check(ok && later.row.start == 0 && later.more[0] == 0x5a &&
		  later.row.struct_size == sizeof(later),
	    "a struct of a later version");
	whole.struct_size = 0;
	check(!eh2sframe_result_function(result, 0, &whole), "a struct without its size");
	part.struct_size = offsetof(struct eh2sframe_function, n_rows) + 4;
	check(!eh2sframe_result_function(result, 0, &part) &&
		  part.n_rows == UINT64_C(0x5a5a5a5a5a5a5a5a),
	    "a struct that ends in a member");
	check(
	    !eh2sframe_result_row(result, (size_t)-1, 0, &later.row) &&
		!eh2sframe_result_row(result, 0, (size_t)-1, &later.row) &&
		!eh2sframe_result_gap(result, (size_t)-1,
		    &(struct eh2sframe_gap){.struct_size = sizeof(struct eh2sframe_gap)}),
	    "what there is not");
	eh2sframe_result_free(result);
	eh2sframe_close(file);
}

/* Patterns that leave nothing out are named, in their order. */
static void unmatched(const char *path)
{
	struct eh2sframe_options *options =
	    options_of("allow-unmatched exclude-symbol=no_such_* exclude-section=.text "
		       "exclude-section=.nosuch");
	struct eh2sframe_error error;
	struct eh2sframe_file *file = eh2sframe_open_path(path, options, &error);
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, &error);
	struct bytes got = {0};
	const char *first;

	check(result &&
		  eh2sframe_result_json(
		      result, false, EH2SFRAME_DONE, bytes_add, &got, &error) &&
		  bytes_add(&got, "", 1),
	    "JSON of patterns");
	first = got.data ? strstr(got.data, "\".nosuch\"") : NULL;
	check(first && strstr(first, "\"no_such_*\"") && !strstr(got.data, "\".text\""),
	    "unmatched: %s", got.data);
	bytes_free(&got);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
}

/* The section alone has no size to grow from; the file has. */
static void grown(const char *path)
{
	struct eh2sframe_options *options = options_of("max-growth=0.001");
	struct eh2sframe_error error;
	struct eh2sframe_file *file = eh2sframe_open_path(path, options, &error);
	struct eh2sframe_result *result = eh2sframe_convert(file, NULL, &error);
	const char *out = scratch_path("not_grown");
	struct bytes got = {0};
	void **bytes = (void **)&got.data;

	check(result && eh2sframe_result_check(result, &error), "the result is good");
	wants(!eh2sframe_result_write_memory(result, bytes, &got.size, &error), &error,
	    EH2SFRAME_COVERAGE, "grows in memory");
	wants(!eh2sframe_convert(file, out, &error), &error, EH2SFRAME_COVERAGE, "grows");
	check(!got.data && access(out, F_OK) != 0, "nothing has grown");
	check(eh2sframe_result_count(result, EH2SFRAME_COUNT_EXECUTABLE_BYTES) >=
		  eh2sframe_result_count(result, EH2SFRAME_COUNT_COVERED_BYTES) +
		      eh2sframe_result_count(result, EH2SFRAME_COUNT_TEMPLATE_BYTES) +
		      eh2sframe_result_count(result, EH2SFRAME_COUNT_OUTERMOST_BYTES),
	    "executable bytes");
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
}

void test_errors(const char *path)
{
	wrong_options();
	wrong_files();
	wrong_calls(path);
	not_written(path, "exclude-section=* quiet", EH2SFRAME_INPUT);
	not_written(path, "min-coverage-of=text min-coverage=100", EH2SFRAME_COVERAGE);
	not_written(path, "max-size=27", EH2SFRAME_COVERAGE);
	not_written(path, "exclude-symbol=no_such_function", EH2SFRAME_USAGE);
	unmatched(path);
	grown(path);
	no_cfi(path);
	null_arguments(path);
	null_handles();
	struct_sizes(path);
	check(strlen(eh2sframe_version()) >= 5, "version %s", eh2sframe_version());
}
