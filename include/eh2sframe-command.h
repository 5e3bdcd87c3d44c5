/* SPDX-License-Identifier: MIT */
/*
 * Functions of libeh2sframe for the command alone: texts for people, and a check of the code. This header is
 * not installed and the shared library does not export these functions, so that they can change in any
 * release; the command is linked with the library's parts. The rules of eh2sframe.h hold here, too.
 */
#ifndef EH2SFRAME_COMMAND_H
#define EH2SFRAME_COMMAND_H

#include "eh2sframe.h"

#define EH2SFRAME_MUST_CHECK __attribute__((warn_unused_result))

/* Returns what the library was built with, of what a build can leave out: words separated by
 * spaces. "zydis": it decodes x86-64 code. "zstd": it reads what zstd compressed. */
const char *eh2sframe_features(void);

/* Writes names and versions of the libraries that it uses, as snprintf(3) would. */
size_t eh2sframe_libraries(char *text, size_t size);

/* All names of a file that is converted in its place. */
struct eh2sframe_names {
	uint32_t n;
	/* Opens the directory of name i, which the library closes, and gives the name in it,
	 * which lives as long as the file is open. -1 with *error. */
	int (*open)(
	    void *context, uint32_t i, const char **name, struct eh2sframe_error *error);
	/* Is called when the new file is proven, and before it gets the names. result is NULL
	 * where no conversion made it. False with *error: it does not get them. */
	bool (*ready)(void *context, struct eh2sframe_result *result,
	    struct eh2sframe_error *error);
	void *context;
};

/*
 * Sets the names of a file, which are copied. Calls that write to a path then take it for
 * the first of these, in the directory of the process, and replace all of them. They stay
 * links of each other.
 */
void eh2sframe_file_set_names(
    struct eh2sframe_file *file, const struct eh2sframe_names *names);

/* The section that a file had when it was opened. */

/* Prints the section, as the verb dump does. EH2SFRAME_NOTHING without one. */
EH2SFRAME_MUST_CHECK bool eh2sframe_file_dump(const struct eh2sframe_file *file,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);

/*
 * Compares the section with the CFI of the file cfi, or of file itself when cfi is NULL.
 * Prints the differences, then a summary. EH2SFRAME_PROOF when there are differences,
 * EH2SFRAME_INPUT when the build-ids differ.
 */
EH2SFRAME_MUST_CHECK bool eh2sframe_file_verify(const struct eh2sframe_file *file,
    const struct eh2sframe_file *cfi, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error);

/*
 * Checks the section against the rules of a reader, by its name under READERS in
 * eh2sframe-sframe(7), or of "all". Prints the rules that it breaks, then a summary.
 * EH2SFRAME_INPUT when it breaks any.
 */
EH2SFRAME_MUST_CHECK bool eh2sframe_file_lint(const struct eh2sframe_file *file,
    const char *reader, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error);

/* The CFI of a file against the instructions that it describes: eh2sframe-check(1). */
struct eh2sframe_check;

/* Makes the check. NULL after a failure: EH2SFRAME_NOTHING without CFI, EH2SFRAME_INPUT when
 * this build cannot decode the machine's code. Free it before the file. */
EH2SFRAME_MUST_CHECK struct eh2sframe_check *eh2sframe_check_file(
    const struct eh2sframe_file *file, struct eh2sframe_error *error);
void eh2sframe_check_free(struct eh2sframe_check *check); /* accepts NULL */

/* Fails with EH2SFRAME_PROOF when rows contradict the code, and counts their functions. */
EH2SFRAME_MUST_CHECK bool eh2sframe_check_judge(
    const struct eh2sframe_check *check, struct eh2sframe_error *error);

/* Prints the rows that contradict the code, then a summary. */
EH2SFRAME_MUST_CHECK bool eh2sframe_check_print(const struct eh2sframe_check *check,
    eh2sframe_write_fn *write, void *context, struct eh2sframe_error *error);

/*
 * Writes a check as eh2sframe_result_json writes a result. lists: also each place that is
 * not confirmed, not only how many there are.
 */
EH2SFRAME_MUST_CHECK bool eh2sframe_check_json(const struct eh2sframe_check *check,
    bool lists, enum eh2sframe_status status, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error);

/* Texts about a result. */
enum eh2sframe_text {
	EH2SFRAME_TEXT_SUMMARY = 0, /* the line of a conversion */
	/* Says what the verb report does; "verbose": also every gap. */
	EH2SFRAME_TEXT_REPORT = 1,
	EH2SFRAME_TEXT_GAPS = 2,   /* a line each */
	EH2SFRAME_TEXT_METHOD = 3, /* how the section got in; nothing if not written */
	EH2SFRAME_TEXT_DAMAGE = 4, /* a line for each damaged record and each drawback */
	/* As --functions: what has gaps or no CFI; needs eh2sframe_result_add_details. */
	EH2SFRAME_TEXT_FUNCTIONS = 5,
};

/* Prints one of these texts, as the options "quiet" and "verbose" of the file say. */
EH2SFRAME_MUST_CHECK bool eh2sframe_result_print(const struct eh2sframe_result *result,
    enum eh2sframe_text what, eh2sframe_write_fn *write, void *context,
    struct eh2sframe_error *error);

/*
 * Adds to the result what only a report tells: what the file is, its sections, the rule of
 * each gap, and code without CFI. It reads the CFI and the symbols again. The text of a
 * report has it; eh2sframe_result_json adds it where it is wanted.
 */
EH2SFRAME_MUST_CHECK bool eh2sframe_result_add_details(
    struct eh2sframe_result *result, struct eh2sframe_error *error);

#endif
