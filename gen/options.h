/* SPDX-License-Identifier: MIT */
/* The command line as a value (docs/eh2sframe.1.scd is its contract). */
#ifndef GEN_OPTIONS_H
#define GEN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/method.h"

enum command {
	COMMAND_CONVERT,
	COMMAND_SECTION_ONLY,
	COMMAND_REPORT,
	COMMAND_DUMP,
	COMMAND_VERIFY,
	COMMAND_LINT,
	COMMAND_REMOVE,
	COMMAND_HELP,
	COMMAND_VERSION,
};

enum witness {
	WITNESS_OWN,
	WITNESS_LIBDWARF,
};

/* Patterns for fnmatch(3); borrowed from argv. */
struct glob_list {
	const char **list;
	size_t n, cap;
};

struct options {
	enum command command;
	uint8_t format; /* SFrame version */
	bool pcrel;	/* less --no-pcrel; version 1 never is */
	bool share;	/* --optimize=share, and what includes it */
	bool fuse;	/* --optimize=size */
	bool optimize_given;
	uint32_t max_rows; /* --optimize=size: of an FDE */
	enum method method;
	bool refresh;
	bool prove; /* less --no-verify */
	enum witness witness;
	unsigned int jobs;	 /* threads at most; at least 1 */
	int verbosity;		 /* -1 quiet, 0, 1 */
	unsigned int lint;	 /* --lint: LINT_* of gen/lint.h */
	double min_coverage;	 /* per cent; below 0: off */
	uint64_t section_addr;	 /* --section-only: where the section will be loaded */
	const char *cfi_path;	 /* --verify --cfi=FILE, or NULL */
	const char *report_path; /* --report -o FILE, or NULL for standard output */
	const char *json_path;	 /* --report-file=FILE, or NULL */
	bool report_json;	 /* --report=json */
	struct glob_list exclude_sections, exclude_symbols;
	const char **paths; /* the strings are borrowed from argv */
	size_t n_paths, cap_paths;
};

/* Fills options from argv; ERR_USAGE names what is wrong. Freed with options_deinit. */
ATTR_MUST_CHECK bool options_parse(
	int argc, char **argv, struct options *options, struct err *err);
void options_deinit(struct options *options);

/* The text of --help. */
extern const char options_help[];

#endif
