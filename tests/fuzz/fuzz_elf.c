/* SPDX-License-Identifier: MIT */
/*
 * The whole command on one file, in process. Whatever the file: a status of the contract,
 * OUT untouched after a failure, nothing left lying about, IN as it was; and what was
 * converted is proven by verify and goes back to the input, byte for byte, with
 * remove.
 */
#include "tests/fuzz/fuzz.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "include/eh2sframe-command.h"
#include "tests/fuzz/scene.h"

const char *const fuzz_section = NULL;

/* Checks that a call of the library ended with a status of the contract, and one line.
 * Returns the status. */
static int call_status(bool ok, const struct eh2sframe_error *error, const char *what)
{
	if (ok)
		return 0;
	FUZZ_ASSERT(
	    error->status == EH2SFRAME_INPUT || error->status == EH2SFRAME_NOTHING,
	    "%s in memory: status %d: %s", what, (int)error->status, error->text);
	FUZZ_ASSERT(*error->text && !strchr(error->text, '\n'), "%s: not one line: %s",
	    what, error->text);
	FUZZ_ASSERT(error->status != EH2SFRAME_INPUT || strstr(error->text, "; "),
	    "%s: does not say what to do: %s", what, error->text);
	return (int)error->status;
}

/* Every function and row there is; rows lie in their functions. */
static void read_all(struct eh2sframe_result *result)
{
	struct eh2sframe_function function = {.struct_size = sizeof(function)};
	struct eh2sframe_row row = {.struct_size = sizeof(row)};
	struct eh2sframe_gap gap = {.struct_size = sizeof(gap)};

	for (size_t i = 0; eh2sframe_result_function(result, i, &function); i++) {
		for (size_t k = 0; eh2sframe_result_row(result, i, k, &row); k++)
			FUZZ_ASSERT(row.start < function.size, "a row beyond %s", "");
		eh2sframe_result_symbol(result, function.start);
	}
	for (size_t i = 0; eh2sframe_result_gap(result, i, &gap); i++)
		FUZZ_ASSERT(gap.start < gap.end, "an empty gap of %s", gap.reason);
}

/* For eh2sframe_file_functions: context is the start before, and names are short enough to be one. */
static bool check_symbol(void *context, const struct eh2sframe_symbol *symbol)
{
	uint64_t *before = context;

	FUZZ_ASSERT(symbol->start >= *before, "a function before %" PRIx64, *before);
	FUZZ_ASSERT(!symbol->name || (*symbol->name && strlen(symbol->name) < 65536),
	    "the name of %" PRIx64, symbol->start);
	*before = symbol->start;
	return true;
}

/* Functions by symbols and by CFI, segments, the build-id. */
static void read_file(const struct eh2sframe_file *file)
{
	struct eh2sframe_info info = {.struct_size = sizeof(info)};
	struct eh2sframe_segment segment = {.struct_size = sizeof(segment)};
	struct eh2sframe_error error;
	volatile uint8_t sum = 0;
	uint64_t before;

	for (int from = EH2SFRAME_ORIGIN_SYMBOLS; from <= EH2SFRAME_ORIGIN_PLT; from++) {
		before = 0;
		call_status(eh2sframe_file_functions(file, (enum eh2sframe_origin)from,
				check_symbol, &before, &error),
		    &error, "functions");
	}
	for (size_t i = 0; eh2sframe_file_segment(file, i, &segment); i++)
		;
	FUZZ_ASSERT(eh2sframe_file_info(file, &info), "no %s", "info");
	for (uint64_t i = 0; i < info.build_id_size; i++)
		sum ^= info.build_id[i];
}

static bool ignore_text(void *context, const char *text, size_t size)
{
	(void)context;
	(void)text;
	(void)size;
	return true;
}

/* Details read the CFI and the symbols again, and decode the code. */
static void report_all(struct eh2sframe_result *result)
{
	struct eh2sframe_error error;
	bool ok = eh2sframe_result_add_details(result, &error) &&
		  eh2sframe_result_json(
		      result, true, EH2SFRAME_DONE, ignore_text, NULL, &error);

	call_status(ok, &error, "a report");
}

/* Uses the library without files. Returns the status of writing. */
static int in_memory_file(const struct eh2sframe_file *file)
{
	void *bytes = NULL, *again = NULL, *bare = NULL;
	struct eh2sframe_result *result;
	struct eh2sframe_error error;
	size_t n = 0, n_again = 0;
	bool ok;
	int now;

	read_file(file);
	call_status(
	    eh2sframe_file_dump(file, ignore_text, NULL, &error), &error, "dumping");
	result = eh2sframe_convert(file, NULL, &error);
	now = call_status(result != NULL, &error, "converting");
	if (!result)
		return now;
	read_all(result);
	report_all(result);
	call_status(eh2sframe_result_section(result, 0, &bare, &n, &error), &error,
	    "the section");
	eh2sframe_free(bare);
	ok = eh2sframe_result_write_memory(result, &bytes, &n, &error);
	now = call_status(ok, &error, "writing");
	FUZZ_ASSERT(!ok || scene_file_is(scene.out, bytes, n), "%zu other bytes", n);
	ok = eh2sframe_result_write_memory(result, &again, &n_again, &error);
	FUZZ_ASSERT(call_status(ok, &error, "writing again") == now, "not %d again", now);
	FUZZ_ASSERT(!ok || (n == n_again && !memcmp(bytes, again, n)),
	    "%zu other bytes again", n_again);
	read_all(result);
	eh2sframe_result_free(result);
	eh2sframe_free(bytes);
	eh2sframe_free(again);
	return now;
}

/*
 * The library must write what the command wrote, or fail with its status. It gets a block
 * of just the file's size, so that a read past its end is seen.
 */
static void in_memory(const uint8_t *data, size_t size, int status)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_result *at_once;
	struct eh2sframe_error error;
	struct eh2sframe_file *file;
	int now;

	FUZZ_ASSERT(options && eh2sframe_options_set(options, "format", "2", &error),
	    "no %s", "options");
	file = eh2sframe_open_memory(data, size, "memory", options, &error);
	eh2sframe_options_free(options);
	if (!file) {
		now = call_status(false, &error, "opening");
		FUZZ_ASSERT(now == status, "status %d, in memory %d", status, now);
		return;
	}
	now = in_memory_file(file);
	/* The obstacle to writing may be found before the obstacle to converting. */
	if (now != status) {
		FUZZ_ASSERT(
		    now != 0 && status != 0, "status %d, in memory %d", status, now);
		at_once = eh2sframe_convert(file, scene.back, &error);
		now = call_status(at_once != NULL, &error, "converting at once");
		FUZZ_ASSERT(now == status, "status %d, in memory %d", status, now);
	}
	eh2sframe_close(file);
}

/* Tries what only objects have: sections for each part of the code. */
static void as_object(const char *words, const uint8_t *data, size_t size)
{
	if (scene_writes(words, scene.in, scene.out) != 0)
		return;
	FUZZ_ASSERT(
	    scene_command("verify -q", scene.out, NULL) == 0, "%s: not proven", words);
	FUZZ_ASSERT(
	    scene_writes("remove", scene.out, scene.back) == 0, "%s: no way back", words);
	FUZZ_ASSERT(scene_file_is(scene.back, data, size), "%s: not the way back", words);
}

/* ---- any options ---- */

/* Appends one of the words, by a part of the choice, which is used up. Returns the word. */
static const char *choose(
    char line[300], uint32_t *choice, const char *const words[], uint32_t n)
{
	const char *word = words[*choice % n];
	size_t used = strlen(line);

	*choice /= n;
	snprintf(line + used, 300 - used, "%s%s", *word ? " " : "", word);
	return word;
}
#define CHOOSE(line, choice, ...)                                                        \
	choose(line, choice, (const char *const[]){__VA_ARGS__},                         \
	    sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* The output by these options must be right, and can be undone. */
static void chosen_is_right(
    const char *proof, const char *lint, bool undone, const uint8_t *data, size_t size)
{
	if (*lint)
		FUZZ_ASSERT(scene_command(lint, scene.out, NULL) == 0,
		    "%s: rules of the reader are broken", lint);
	FUZZ_ASSERT(scene_command(proof, scene.out, NULL) == 0, "%s: not proven", proof);
	if (!undone)
		return;
	FUZZ_ASSERT(
	    scene_writes("remove", scene.out, scene.back) == 0, "%s: no way back", proof);
	FUZZ_ASSERT(scene_file_is(scene.back, data, size), "%s: not the way back", proof);
}

/* Its linker has to be named, and inserts the section. */
static bool is_object(const uint8_t *data)
{
	const bool big_endian = data[EI_DATA] == ELFDATA2MSB;

	return data[16 + big_endian] == ET_REL && data[17 - big_endian] == 0;
}

/*
 * Bytes 9 to 12, which ELF leaves open, choose the options of a conversion and of a report. So each line of the ledger
 * says its options, and a fuzzer learns which of them reach more.
 */
static void by_choice(const uint8_t *data, size_t size)
{
	char proof[300] = "verify -q", lint[300] = "", words[300] = "-q",
	     report[300] = "";
	const bool object = size > 17 && is_object(data);
	bool refresh, reads;
	uint32_t choice;

	if (size < EI_NIDENT)
		return;
	memcpy(&choice, data + EI_PAD, sizeof(choice));
	CHOOSE(proof, &choice, "", "--code=refuse", "--code=repair", "--derive",
	    "--code=repair --derive");
	CHOOSE(proof, &choice, "", "", "--source=eh_frame", "--source=debug_frame",
	    "--source=go,eh_frame", "--source=derived");
	strcat(words, proof + strlen("verify -q"));
	if (object) {
		CHOOSE(words, &choice, "", "--object-sections=group",
		    "--object-sections=text");
	} else {
		CHOOSE(words, &choice, "", "--method=slack", "--method=grow");
		CHOOSE(words, &choice, "", "--optimize=none", "--optimize=size",
		    "--optimize=share");
	}
	CHOOSE(words, &choice, "", "--exclude-symbol=*a* --allow-unmatched");
	refresh = *CHOOSE(words, &choice, "", "--refresh");
	reads = choice % 2;
	choice /= 2;
	if (reads) {
		snprintf(lint, sizeof(lint), "lint --for=%s",
		    CHOOSE(words, &choice, "--for=glibc", "--for=linux-user",
			"--for=linux-arm64", "--for=binutils-2.40", "--for=binutils-2.41",
			"--for=binutils-2.45", "--for=binutils-2.47") +
			strlen("--for="));
	} else {
		CHOOSE(words, &choice, "--format=2", "--format=1", "--format=3",
		    "--format=2 --no-pcrel");
	}
	CHOOSE(report, &choice, "report --functions -v", "report --html",
	    "report --functions --derive", "report --code=repair --source=go",
	    "report -q --min-coverage=99 --code=refuse", "check --html");
	scene_command(report, scene.in, NULL);
	if (scene_writes(words, scene.in, scene.out) == 0)
		chosen_is_right(proof, lint, !refresh, data, size);
}

/* Objects are told which version their linker reads, and the others have it anyway. The file is its own debug file, too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char words[300];
	int status;

	scene_open();
	scene_write(scene.in, data, size);
	scene_command("report -v", scene.in, NULL);
	scene_command("dump", scene.in, NULL);
	scene_command("verify", scene.in, NULL);
	scene_command("lint", scene.in, NULL);
	scene_command("check --json", scene.in, NULL);
	scene_command("verify --witness=code", scene.in, NULL);
	if (scene_writes("-q --format=2 --code=repair", scene.in, scene.out) == 0)
		FUZZ_ASSERT(
		    scene_command("verify -q --code=repair", scene.out, NULL) == 0, "%s",
		    "repaired and not proven");
	if (scene_writes("-q --format=3 --derive", scene.in, scene.out) == 0)
		FUZZ_ASSERT(scene_command("verify -q --derive", scene.out, NULL) == 0,
		    "%s", "derived and not proven");
	scene_writes("remove", scene.in, scene.out);
	scene_writes("section -q", scene.in, scene.out);
	snprintf(words, sizeof(words), "section -q --source=debug_frame --debug-file=%s",
	    scene.in);
	scene_writes(words, scene.in, scene.out);
	status = scene_writes("-q --format=2", scene.in, scene.out);
	in_memory(data, size, status);
	if (status == 0) {
		FUZZ_ASSERT(
		    scene_command("verify -q", scene.out, NULL) == 0, "not proven");
		FUZZ_ASSERT(
		    scene_writes("remove", scene.out, scene.back) == 0, "no way back");
		FUZZ_ASSERT(scene_file_is(scene.back, data, size), "not the way back");
	} else if (status == 6 &&
		   scene_writes("-q --refresh --format=2", scene.in, scene.out) == 0) {
		FUZZ_ASSERT(
		    scene_command("verify -q", scene.out, NULL) == 0, "not proven");
	}
	if (size > 17 && is_object(data)) {
		as_object("-q --format=3 --object-sections=group", data, size);
		as_object("-q --format=2 --no-pcrel --object-sections=text", data, size);
	}
	by_choice(data, size);
	FUZZ_ASSERT(scene_file_is(scene.in, data, size), "the input was changed");
	return 0;
}
