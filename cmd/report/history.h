/* SPDX-License-Identifier: MIT */
/*
 * Functions of a report that lack rows, or whose CFI the code contradicts, in a form to compare:
 * all files of a distribution fit into memory. And the changes from one report to another.
 */
#ifndef CMD_REPORT_HISTORY_H
#define CMD_REPORT_HISTORY_H

#include "cmd/report/report.h"

/* Faults of functions. */
enum report_function_class {
	REPORT_UNCOVERED,    /* no CFI describes it */
	REPORT_REFUSED,	     /* it has CFI, and a gap */
	REPORT_CONTRADICTED, /* the code contradicts its CFI */
	REPORT_N_CLASSES,
};

/* Functions of one name, or the one at an address. */
struct report_function {
	/* "n" and the symbol, or "a" and the address or the place in the file. */
	char *key;
	char *name;	  /* for people */
	char *reason;	  /* the first one; "" without CFI */
	json_int_t n;	  /* of them */
	json_int_t bytes; /* without rows, or contradicted */
	enum report_function_class of;
};

/* A file of a report. */
struct report_state {
	char *path;
	size_t seq; /* order of arrival, for equal paths */
	int status;
	bool counted;	    /* it has counts of code */
	bool has_functions; /* the report lists those that lack rows */
	bool has_faults;    /* the report lists those that the code contradicts */
	struct report_code code;
	json_int_t sframe; /* bytes */
	/* By key, then by class, the last class first. */
	struct report_function *list;
	size_t n, cap;
};

/* Fills state from the object of a file. Freed with report_state_deinit, also after a
 * failure. EH2SFRAME_INPUT, EH2SFRAME_NO_MEMORY. */
ATTR_MUST_CHECK bool report_state_read(
    struct report_state *state, const json_t *file, struct eh2sframe_error *err);
void report_state_deinit(struct report_state *state);

struct report_history {
	struct report_state *list; /* by path */
	size_t n, cap;
};

/* Reads a JSON report. Freed with report_history_deinit, also after a failure. */
ATTR_MUST_CHECK bool report_history_read(
    struct report_history *history, const char *path, struct eh2sframe_error *err);
void report_history_deinit(struct report_history *history);
/* Returns the state of the file at a path. The only file of a report is also the file
 * alone at another path. NULL when there is none. */
struct report_state *report_history_find(
    const struct report_history *history, const char *path, bool alone);
/* True if no other file of the report has its path. */
bool report_history_is_only(
    const struct report_history *history, const struct report_state *state);

/*
 * Returns the changes from old to now: {"worse": [...], "better": [...]}, of objects with
 * "what", "name", "reason" and "bytes"; the caller owns it. NULL when memory runs out.
 *
 * A function whose gap grew has not changed. Outermost frames do not count.
 */
json_t *report_changes(const struct report_state *old, const struct report_state *now);

/* Prints "newly refused: main, cfa-memory, 12 bytes", without a line end. */
void report_change_print(const json_t *change, FILE *out);

/* Returns the bytes of executable code without rows. */
json_int_t report_code_uncovered(const struct report_code *code);

/* The verb diff (diff.c): prints what changed between two JSON reports; returns the exit status. */
int report_diff(const struct args *args);

#endif
