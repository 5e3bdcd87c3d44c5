/* SPDX-License-Identifier: MIT */
/* Names and values to options. The table of names is the only place that lists them. */
#include "gen/options/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stream.h"
#include "base/task.h"
#include "base/vec.h"

enum { OPTIONS_MAX_JOBS = 1024 };

/* Per cent; a section of a tiny file can be many times as large as the file. */
#define OPTIONS_MAX_GROWTH 1000000.0

enum option_id {
	OPTION_FORMAT,
	OPTION_FOR,
	OPTION_METHOD,
	OPTION_OPTIMIZE,
	OPTION_OBJECT_SECTIONS,
	OPTION_WITNESS,
	OPTION_CODE,
	OPTION_DERIVE,
	OPTION_NO_PCREL,
	OPTION_REFRESH,
	OPTION_NO_VERIFY,
	OPTION_QUIET,
	OPTION_VERBOSE,
	OPTION_EXCLUDE_SECTION,
	OPTION_EXCLUDE_SYMBOL,
	OPTION_ALLOW_UNMATCHED,
	OPTION_MIN_COVERAGE,
	OPTION_MIN_COVERAGE_OF,
	OPTION_MAX_GROWTH,
	OPTION_MAX_SIZE,
	OPTION_JOBS,
	OPTION_SOURCE,
	OPTION_DEBUG_FILE,
	OPTION_DEBUG_DIR,
};

static const struct {
	const char *name;
	enum option_id id;
	bool value;	       /* takes one */
	const char *choice[6]; /* the words that the value can be; none: anything */
} table[] = {
    {"format", OPTION_FORMAT, true, {"1", "2", "3"}},
    {"for", OPTION_FOR, true, {NULL}},
    {"method", OPTION_METHOD, true, {"auto", "slack", "grow"}},
    {"optimize", OPTION_OPTIMIZE, true, {"none", "share", "size"}},
    {"object-sections", OPTION_OBJECT_SECTIONS, true, {"one", "group", "text"}},
    {"witness", OPTION_WITNESS, true, {"own", "libdwarf", "code"}},
    {"code", OPTION_CODE, true, {"ignore", "refuse", "repair"}},
    {"derive", OPTION_DERIVE, false, {NULL}},
    {"no-pcrel", OPTION_NO_PCREL, false, {NULL}},
    {"refresh", OPTION_REFRESH, false, {NULL}},
    {"no-verify", OPTION_NO_VERIFY, false, {NULL}},
    {"quiet", OPTION_QUIET, false, {NULL}},
    {"verbose", OPTION_VERBOSE, false, {NULL}},
    {"exclude-section", OPTION_EXCLUDE_SECTION, true, {NULL}},
    {"exclude-symbol", OPTION_EXCLUDE_SYMBOL, true, {NULL}},
    {"allow-unmatched", OPTION_ALLOW_UNMATCHED, false, {NULL}},
    {"min-coverage", OPTION_MIN_COVERAGE, true, {NULL}},
    {"min-coverage-of", OPTION_MIN_COVERAGE_OF, true, {"cfi", "text"}},
    {"max-growth", OPTION_MAX_GROWTH, true, {NULL}},
    {"max-size", OPTION_MAX_SIZE, true, {NULL}},
    {"jobs", OPTION_JOBS, true, {NULL}},
    {"source", OPTION_SOURCE, true, {NULL}},
    {"debug-file", OPTION_DEBUG_FILE, true, {NULL}},
    {"debug-dir", OPTION_DEBUG_DIR, true, {NULL}},
};

enum { N_TABLE = sizeof(table) / sizeof(table[0]) };

static bool options_glob(struct glob_list *globs, const char *pattern, struct err *err)
{
	char *copy;

	if (!vec_reserve(&globs->list, &globs->cap, globs->n + 1))
		return err_set_nomem(err);
	copy = strdup(pattern);
	if (!copy)
		return err_set_nomem(err);
	globs->list[globs->n++] = copy;
	return true;
}

/* Reads a number from 0 to max. A point is a point, whatever the program's locale has. */
static bool options_percent(
    const char *option, const char *text, double max, double *out, struct err *err)
{
	const char *digit = text + (*text == '.');
	struct stream stream;
	char *end;

	if (!stream_locale_begin(&stream, err))
		return false;
	errno = 0;
	*out = strtod(text, &end);
	stream_locale_end(&stream);
	/* Not "inf", nor a sign or a blank before the number. */
	if (errno || *digit < '0' || *digit > '9' || *end ||
	    !(*out >= 0.0 && *out <= max))
		return err_set(err, ERR_USAGE, "%s%s: give a number from 0 to %.0f",
		    option, text, max);
	return true;
}

/* Reads a whole number of an option, from min to max. */
static bool options_number(const char *option, const char *text, unsigned long min,
    unsigned long max, unsigned int *out, struct err *err)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || value < min || value > max)
		return err_set(err, ERR_USAGE, "%s%s: give a number from %lu to %lu",
		    option, text, min, max);
	*out = (unsigned int)value;
	return true;
}

/* Reads a number of bytes, in decimal digits alone. */
static bool options_size(
    const char *option, const char *text, uint64_t *out, struct err *err)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end)
		return err_set(err, ERR_USAGE,
		    "%s%s: give a number of bytes, such as 4096", option, text);
	return true;
}

/* Fails for a value that is none of the words, and names these. */
static bool options_none_of(
    const char *option, const char *value, const char *const *words, struct err *err)
{
	char text[sizeof(err->text)] = "";
	size_t n = 0;

	for (size_t i = 0; words[i] && n < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
		    !i		   ? ""
		    : words[i + 1] ? ", "
				   : " or ",
		    words[i]);
	return err_set(err, ERR_USAGE, "--%s=%.200s: give %s", option, value, text);
}

static bool options_choice(
    size_t entry, const char *text, size_t *choice, struct err *err)
{
	for (size_t i = 0; table[entry].choice[i]; i++) {
		if (!strcmp(text, table[entry].choice[i])) {
			*choice = i;
			return true;
		}
	}
	return options_none_of(table[entry].name, text, table[entry].choice, err);
}

/* Copies the name of a file or of a directory. */
static bool options_path(
    const char *option, const char *value, char **path, struct err *err)
{
	char *copy;

	if (!*value)
		return err_set(
		    err, ERR_USAGE, "--%s has an empty name; give one", option);
	copy = strdup(value);
	if (!copy)
		return err_set_nomem(err);
	free(*path);
	*path = copy;
	return true;
}

static bool options_no_reader(const char *name, struct err *err)
{
	const char *names[READER_N_NAMES + 1] = {NULL};

	for (size_t i = 0; i < READER_N_NAMES; i++)
		names[i] = reader_names[i].name;
	return options_none_of("for", name, names, err);
}

/* Options that were set by themselves win, whether they come before "for" or after it. */
static bool options_for(struct options *options, const char *name, struct err *err)
{
	const struct reader *reader = reader_find(name);

	if (!strcmp(name, READER_EH_FRAME))
		return err_set(err, ERR_USAGE,
		    "--for=" READER_EH_FRAME ": this reader reads .eh_frame and no "
		    "SFrame, so nothing is written for it; lint and report judge it");
	if (!reader)
		return options_no_reader(name, err);
	options->reader = reader;
	if (!options->format_given)
		options->format = reader->format;
	return true;
}

/* Sets a limit that the result has to keep. */
static bool options_limit(struct options *options, enum option_id id, const char *value,
    size_t choice, struct err *err)
{
	if (id == OPTION_MIN_COVERAGE)
		return options_percent(
		    "--min-coverage=", value, 100.0, &options->min_coverage, err);
	if (id == OPTION_MAX_GROWTH)
		return options_percent("--max-growth=", value, OPTIONS_MAX_GROWTH,
		    &options->max_growth, err);
	if (id == OPTION_MAX_SIZE)
		return options_size("--max-size=", value, &options->max_size, err);
	options->coverage_of = choice ? COVERAGE_OF_TEXT : COVERAGE_OF_CFI;
	options->coverage_of_given = true;
	return true;
}

/* Sets an option that has words from the number of its word. */
static void options_choose(struct options *options, enum option_id id, size_t choice)
{
	static const enum method methods[] = {METHOD_AUTO, METHOD_SLACK, METHOD_GROW};

	if (id == OPTION_FORMAT) {
		options->format = (uint8_t)(choice + 1);
		options->format_given = true;
	} else if (id == OPTION_OPTIMIZE) {
		options->share = choice >= 1;
		options->optimize_size = choice == 2;
		options->optimize_given = true;
	} else if (id == OPTION_METHOD) {
		options->method = methods[choice];
	} else if (id == OPTION_OBJECT_SECTIONS) {
		options->object_sections = (enum object_sections)choice;
	} else if (id == OPTION_WITNESS) {
		options->witness = (enum witness)choice;
	} else {
		options->code = (enum code_policy)choice;
	}
}

static bool options_apply(struct options *options, enum option_id id, const char *value,
    size_t choice, struct err *err)
{
	switch (id) {
	case OPTION_FORMAT:
	case OPTION_METHOD:
	case OPTION_OPTIMIZE:
	case OPTION_OBJECT_SECTIONS:
	case OPTION_WITNESS:
	case OPTION_CODE:
		options_choose(options, id, choice);
		return true;
	case OPTION_FOR:
		return options_for(options, value, err);
	case OPTION_DERIVE:
		options->derive = true;
		return true;
	case OPTION_NO_PCREL:
		options->pcrel = false;
		return true;
	case OPTION_REFRESH:
		options->refresh = true;
		return true;
	case OPTION_NO_VERIFY:
		options->prove = false;
		return true;
	case OPTION_QUIET:
		options->verbosity = -1;
		return true;
	case OPTION_VERBOSE:
		options->verbosity = 1;
		return true;
	case OPTION_EXCLUDE_SECTION:
		return options_glob(&options->exclude_sections, value, err);
	case OPTION_EXCLUDE_SYMBOL:
		return options_glob(&options->exclude_symbols, value, err);
	case OPTION_MIN_COVERAGE:
	case OPTION_MIN_COVERAGE_OF:
	case OPTION_MAX_GROWTH:
	case OPTION_MAX_SIZE:
		return options_limit(options, id, value, choice, err);
	case OPTION_ALLOW_UNMATCHED:
		options->allow_unmatched = true;
		return true;
	case OPTION_JOBS:
		return options_number(
		    "-j ", value, 1, OPTIONS_MAX_JOBS, &options->jobs, err);
	case OPTION_SOURCE:
		return source_read(value, &options->sources, err);
	case OPTION_DEBUG_FILE:
		return options_path("debug-file", value, &options->debug_file, err);
	case OPTION_DEBUG_DIR:
		return options_path("debug-dir", value, &options->debug_dir, err);
	}
	return err_set(err, ERR_INTERNAL, "nothing reads option %d", (int)id);
}

bool options_set(
    struct options *options, const char *name, const char *value, struct err *err)
{
	size_t i = 0, choice = 0;

	while (i < N_TABLE && strcmp(table[i].name, name) != 0)
		i++;
	if (i == N_TABLE)
		return err_set(err, ERR_USAGE, "unknown option --%s", name);
	if (table[i].value != (value != NULL))
		return err_set(err, ERR_USAGE, "--%s takes %s value", name,
		    table[i].value ? "a" : "no");
	if (table[i].choice[0] && !options_choice(i, value, &choice, err))
		return false;
	return options_apply(options, table[i].id, value, choice, err);
}

bool options_pcrel(const struct options *options)
{
	if (options->format != 2)
		return options->format > 2;
	return options->pcrel && (!options->reader || options->reader->pcrel);
}

/* True if the reader reads the version, be it on one machine only. */
static bool options_reader(const struct options *options, struct err *err)
{
	uint8_t abi = 0;

	while (abi <= SFRAME_ABI_S390X_ENDIAN_BIG &&
	       !reader_reads(options->reader->bit, options->format, abi))
		abi++;
	if (abi <= SFRAME_ABI_S390X_ENDIAN_BIG)
		return true;
	return err_set(err, ERR_USAGE,
	    "--format=%u: %s does not read this version; leave --format out",
	    options->format, options->reader->name);
}

bool options_check(const struct options *options, struct err *err)
{
	if (options->reader && !options_reader(options, err))
		return false;
	if (!options->pcrel && options->format != 2)
		return err_set(err, ERR_USAGE, "--no-pcrel goes with --format=2");
	if (!options->prove && options->witness != WITNESS_OWN)
		return err_set(err, ERR_USAGE,
		    "--witness says what a proof compares with, and --no-verify leaves "
		    "the proof out; give one of them");
	if (options->coverage_of_given && options->min_coverage < 0.0)
		return err_set(
		    err, ERR_USAGE, "--min-coverage-of goes with --min-coverage");
	if ((options->debug_file || options->debug_dir) &&
	    !(options->sources & SOURCE_BIT(SOURCE_DEBUG_FRAME)))
		return err_set(err, ERR_USAGE,
		    "--%s goes with --source=debug_frame, which --source does not name",
		    options->debug_file ? "debug-file" : "debug-dir");
	return true;
}

void options_init(struct options *options)
{
	*options = (struct options){.format = 2,
	    .pcrel = true,
	    .method = METHOD_AUTO,
	    .share = true,
	    .sources = SOURCE_DEFAULT,
	    .prove = true,
	    .jobs = task_processors(),
	    .min_coverage = -1.0,
	    .max_growth = -1.0,
	    .max_size = UINT64_MAX};
}

static void options_free_globs(struct glob_list *globs)
{
	for (size_t i = 0; i < globs->n; i++)
		free(globs->list[i]);
	free(globs->list);
}

void options_deinit(struct options *options)
{
	options_free_globs(&options->exclude_sections);
	options_free_globs(&options->exclude_symbols);
	free(options->debug_file);
	free(options->debug_dir);
	*options = (struct options){0};
}

static bool options_copy_globs(
    const struct glob_list *globs, struct glob_list *copy, struct err *err)
{
	*copy = (struct glob_list){0};
	for (size_t i = 0; i < globs->n; i++)
		if (!options_glob(copy, globs->list[i], err))
			return false;
	return true;
}

bool options_copy(const struct options *options, struct options *copy, struct err *err)
{
	*copy = *options;
	copy->exclude_symbols = (struct glob_list){0};
	copy->debug_file = copy->debug_dir = NULL;
	if (options_copy_globs(
		&options->exclude_sections, &copy->exclude_sections, err) &&
	    options_copy_globs(&options->exclude_symbols, &copy->exclude_symbols, err) &&
	    (!options->debug_file ||
		options_path("", options->debug_file, &copy->debug_file, err)) &&
	    (!options->debug_dir ||
		options_path("", options->debug_dir, &copy->debug_dir, err)))
		return true;
	options_deinit(copy);
	return false;
}
