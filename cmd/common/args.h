/* SPDX-License-Identifier: MIT */
/* The command line as a value. Its contract is docs/eh2sframe.1.scd, and for each option the page that explains it. */
#ifndef CMD_COMMON_ARGS_H
#define CMD_COMMON_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/common/options.h"
#include "cmd/common/patterns.h"
#include "include/eh2sframe-command.h"

/* --sandbox (base/sandbox/sandbox.h). auto is for the processes of a tree, as far as possible. */
enum args_sandbox { ARGS_SANDBOX_AUTO, ARGS_SANDBOX_ON, ARGS_SANDBOX_OFF };

/* The values of an option that can be repeated. */
struct args_list {
	const char **values; /* owned; the strings are not */
	size_t n, cap;
};

/* Strings are borrowed from argv, unless they are owned. */
struct args {
	enum verb verb;
	bool tree; /* the verb is for all files below the paths */
	/* VERB_HELP: what it is of; NULL: of all, or with tree of those for trees. */
	const struct args_use *help;
	struct eh2sframe_options *options; /* owned: the library's options */
	/* Options of the library that were given, in their order. */
	struct args_given {
		const struct args_option *option;
		char *value; /* owned; NULL: none */
	} * given;
	size_t n_given, cap_given;
	int verbosity;		   /* -1 quiet, 0, 1 */
	bool judge;		   /* --min-coverage or --max-size was given */
	struct patterns *patterns; /* owned */
	unsigned int jobs;	   /* threads or processes at most */
	const char *reader;	   /* --for=READER, or NULL */
	uint64_t address;	   /* --address */
	const char *debug_file;	   /* --debug-file=FILE, or NULL */
	const char *debug_dir;	   /* --debug-dir=DIR, or NULL */
	const char *cfi_path;	   /* --cfi=FILE, or NULL */
	const char *report_path;   /* -o FILE, or NULL for standard output */
	const char *json_path;	   /* --report-file=FILE, or NULL */
	bool json;		   /* --json */
	bool html;		   /* --html */
	bool functions;		   /* --functions */
	const char *baseline;	   /* --baseline=FILE, or NULL */
	enum args_sandbox sandbox;
	struct args_list include, exclude; /* globs */
	bool modules; /* tree: the version is one that was chosen for modules, too */
	/* Rows are made of the code, which objects do not have complete. */
	bool linked_only;
	bool objects;	      /* --objects */
	bool drop_signatures; /* --drop-signatures */
	bool dry_run;	      /* --dry-run */
	char **paths;	      /* in argv */
	size_t n_paths;
};

/* Where debug files are without --debug-dir. */
#define ARGS_DEBUG_DIR "/usr/lib/debug"

/* Fills args from argv; EH2SFRAME_USAGE names what is wrong. Freed with args_deinit. */
bool args_parse(int argc, char **argv, struct args *args, struct eh2sframe_error *error);
void args_deinit(struct args *args);

/* Makes the library's options once more, to replace a section with this many threads; limits: with the
 * limits that were given. The caller frees them. NULL: EH2SFRAME_NO_MEMORY. */
struct eh2sframe_options *args_again(const struct args *args, bool limits,
    unsigned int threads, struct eh2sframe_error *error);
/* Sets the number of threads. */
bool args_set_threads(struct eh2sframe_options *options, unsigned int threads,
    struct eh2sframe_error *error);

/* A value of --include or --exclude. */
bool args_add_glob(struct args_list *list, const char *option, const char *glob,
    struct eh2sframe_error *error);
/* Sets the name of a file, the value of an option. False: EH2SFRAME_USAGE. */
bool args_set_path(const char *option, const char *value, const char **path,
    struct eh2sframe_error *error);
/* The value of --address. */
bool args_set_address(const char *text, uint64_t *out, struct eh2sframe_error *error);
/* The value of --sandbox, NULL without one. */
bool args_set_sandbox(
    struct args *args, const char *value, struct eh2sframe_error *error);
/* Returns the path of a directory from anywhere, also of one that does not exist; the caller frees it. NULL
 * and errno: without memory, or below a directory that has no path. */
char *args_absolute(const char *name);

/* True if a report has a line for each file, and no text of its own. */
bool args_has_table(const struct args *args);

/* Prints the text of --help. */
void args_print_help(const struct args *args, FILE *out);

#endif
