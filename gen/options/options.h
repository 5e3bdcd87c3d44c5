/* SPDX-License-Identifier: MIT */
/* Options of a conversion, set by the names that the command line has. */
#ifndef GEN_OPTIONS_OPTIONS_H
#define GEN_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/options/method.h"
#include "gen/options/reader.h"
#include "gen/options/source.h"
#include "base/newfile.h"

enum witness {
	WITNESS_OWN,
	WITNESS_LIBDWARF,
	WITNESS_CODE,
};

/* Treatment of rows that the instructions contradict. */
enum code_policy {
	CODE_POLICY_IGNORE, /* they are written as the CFI has them */
	CODE_POLICY_REFUSE, /* they are left out */
	CODE_POLICY_REPAIR, /* the code's own row is written where it is known, else none */
};

/* Parts of an object that get an .sframe each. */
enum object_sections {
	OBJECT_SECTIONS_ONE,   /* all of its code */
	OBJECT_SECTIONS_GROUP, /* each group of sections, and all code that is in none */
	OBJECT_SECTIONS_TEXT,  /* each section of code */
};

/* The whole of which "min-coverage" is a share. */
enum coverage_of {
	COVERAGE_OF_CFI,  /* the code with CFI */
	COVERAGE_OF_TEXT, /* all executable code */
};

/* Patterns for fnmatch(3); owned. */
struct glob_list {
	char **list;
	size_t n, cap;
};

struct options {
	uint8_t format; /* SFrame version */
	bool format_given;
	const struct reader *reader; /* "for"; NULL: none is named */
	enum object_sections object_sections;
	bool pcrel;	    /* less "no-pcrel"; version 1 never is */
	bool share;	    /* "optimize": share, and what includes it */
	bool optimize_size; /* "optimize": size */
	bool optimize_given;
	enum method method;
	bool refresh;
	bool prove; /* less "no-verify" */
	enum witness witness;
	enum code_policy code;
	bool derive;	     /* rows for code without CFI; see options_derives */
	unsigned int jobs;   /* threads at most; at least 1 */
	int verbosity;	     /* -1 quiet, 0, 1 */
	bool names;	     /* of functions are wanted, verbose or not */
	double min_coverage; /* per cent; below 0: off */
	enum coverage_of coverage_of;
	bool coverage_of_given;
	double max_growth;    /* of the file, per cent; below 0: off */
	uint64_t max_size;    /* of the section, bytes; UINT64_MAX: off */
	bool allow_unmatched; /* patterns below may match nothing */
	struct glob_list exclude_sections, exclude_symbols;
	unsigned int sources; /* a set: enum source */
	char *debug_file;     /* owned; NULL: it is looked for below debug_dir */
	char *debug_dir;      /* owned; NULL: OPTIONS_DEBUG_DIR */
	struct newfile_watch watch;
};

/* Where distributions put debug files. */
#define OPTIONS_DEBUG_DIR "/usr/lib/debug"

/* True if code without CFI gets rows: "derive" adds to the sources, and "source" can name them. */
static inline bool options_derives(const struct options *options)
{
	return options->derive || options->sources & SOURCE_BIT(SOURCE_DERIVED);
}

/* Sets the defaults. Freed with options_deinit. */
void options_init(struct options *options);
void options_deinit(struct options *options); /* accepts a zeroed struct */

/* Sets an option by its name. value is NULL for an option that takes none, and is copied.
 * ERR_USAGE, ERR_NOMEM. */
ATTR_MUST_CHECK bool options_set(
    struct options *options, const char *name, const char *value, struct err *err);

/* True if the options can be combined; else ERR_USAGE. */
ATTR_MUST_CHECK bool options_check(const struct options *options, struct err *err);

/* True if function starts are relative to their own field. */
bool options_pcrel(const struct options *options);

/* Makes a deep copy. ERR_NOMEM; *copy is then zeroed. */
ATTR_MUST_CHECK bool options_copy(
    const struct options *options, struct options *copy, struct err *err);

#endif
