/* SPDX-License-Identifier: MIT */
/* The command line as a value (docs/eh2sframe.1.scd is its contract). */
#ifndef CMD_COMMON_ARGS_H
#define CMD_COMMON_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/common/patterns.h"
#include "include/eh2sframe.h"

enum command {
	COMMAND_CONVERT,
	COMMAND_SECTION_ONLY,
	COMMAND_REPORT,
	COMMAND_DUMP,
	COMMAND_VERIFY,
	COMMAND_LINT,
	COMMAND_CHECK_CODE,
	COMMAND_REMOVE,
	COMMAND_HELP,
	COMMAND_VERSION,
};

/* --sandbox (cmd/sandbox/sandbox.h). auto is for the processes of --batch, as far as possible. */
enum args_sandbox { ARGS_SANDBOX_AUTO, ARGS_SANDBOX_ON, ARGS_SANDBOX_OFF };

/* The values of an option that can be repeated. */
struct args_list {
	const char **values; /* owned; the strings are not */
	size_t n, cap;
};

/* Strings are borrowed from argv. */
struct args {
	enum command command;
	bool batch; /* --batch: the command is for all files below the paths */
	struct eh2sframe_options *options; /* owned: the library's options */
	/* The same and "refresh", for what --batch finds converted already. */
	struct eh2sframe_options *again;
	/* These without limits. */
	struct eh2sframe_options *unlimited;
	int verbosity;		   /* -1 quiet, 0, 1 */
	bool judge;		   /* --min-coverage or --max-size was given */
	bool max_growth;	   /* was given */
	struct patterns *patterns; /* owned */
	bool refresh;		   /* --refresh was given */
	bool merge;		   /* --merge: IN are reports */
	unsigned int jobs;	   /* threads or processes at most */
	const char *lint;	   /* --lint: the consumer */
	uint64_t section_addr;	   /* --section-only: where the section will be loaded */
	const char *debug_file;	   /* --debug-file=FILE, or NULL */
	const char *debug_dir;	   /* --debug-dir=DIR, or NULL */
	const char *cfi_path;	   /* --verify --cfi=FILE, or NULL */
	const char *report_path;   /* --report -o FILE, or NULL for standard output */
	const char *json_path;	   /* --report-file=FILE, or NULL */
	bool report_json;	   /* --report=json or html */
	bool report_html;	   /* the second */
	bool functions;		   /* --functions */
	size_t top;		   /* --top=N; 0: all */
	bool diff;		   /* --report-diff: IN are two reports */
	const char *baseline;	   /* --baseline=FILE, or NULL */
	enum args_sandbox sandbox; /* --sandbox */
	struct args_list include, exclude; /* --batch: globs */
	bool modules; /* --batch: the version is one that was chosen for modules, too */
	/* Rows are made of the code, which objects do not have complete. */
	bool linked_only;
	/* The last option that means nothing where the arguments are reports, or NULL. */
	const char *of_program;
	bool drop_signatures; /* --drop-signatures */
	char **paths;	      /* in argv */
	size_t n_paths;
};

/* Where debug files are without --debug-dir. */
#define ARGS_DEBUG_DIR "/usr/lib/debug"

/* Fills args from argv; EH2SFRAME_USAGE names what is wrong. Freed with args_deinit. */
bool args_parse(int argc, char **argv, struct args *args, struct eh2sframe_error *error);
void args_deinit(struct args *args);
/* Checks the number of paths, and options that make sense with one command only. For
 * args_parse. */
bool args_consistent(const struct args *args, struct eh2sframe_error *error);
/* A value of --include or --exclude. */
bool args_add_glob(struct args_list *list, const char *option, const char *glob,
    struct eh2sframe_error *error);
/* The name of a file. */
bool args_set_path(const char *option, const char *value, const char **path,
    struct eh2sframe_error *error);
/* The value of --section-address. */
bool args_set_address(const char *text, uint64_t *out, struct eh2sframe_error *error);
/* The value of --top. */
bool args_set_top(const char *text, size_t *top, struct eh2sframe_error *error);
/* The path of a directory from anywhere, also of one that does not exist. The caller frees it. NULL and errno:
 * without memory, or below a directory that has no path. */
char *args_absolute(const char *name);
/* The value of --sandbox, NULL without one. */
bool args_set_sandbox(
    struct args *args, const char *value, struct eh2sframe_error *error);

/* The parts of the text of --help, and NULL. */
extern const char *const args_help[];

#endif
