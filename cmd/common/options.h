/* SPDX-License-Identifier: MIT */
/* The verbs of the command and its options, as two tables. */
#ifndef CMD_COMMON_OPTIONS_H
#define CMD_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum verb {
	VERB_CONVERT,
	VERB_SECTION,
	VERB_REMOVE,
	VERB_REPORT,
	VERB_MERGE,
	VERB_DIFF,
	VERB_DUMP,
	VERB_VERIFY,
	VERB_LINT,
	VERB_CHECK,
	VERB_HELP,
	VERB_VERSION,
};

/* A way to use the command. */
struct args_use {
	const char *name;     /* its verbs, with a blank between two */
	const char *operands; /* as its usage shows them */
	const char *needs;    /* for "give ..." when there are too few or too many */
	size_t min, max;      /* of them */
	enum verb verb;
	bool tree; /* for all files below the paths */
	const char *help;
};

/* In the order of the help; the last has no name. */
extern const struct args_use args_uses[];

/* Finds the use of a verb, alone or below tree. NULL when there is none. */
const struct args_use *args_find_use(bool tree, const char *verb);

enum option_id {
#define OPTION(id, ...) OPTION_##id,
#include "cmd/common/options.def"
#undef OPTION
	N_OPTIONS
};

struct args_option {
	const char *name;
	char letter; /* its short form; 0: none */
	/* The name of its value, in brackets where the value can be left out; "": it takes none. */
	const char *argument;
	const char *values; /* those that it can have, with | between them; "": any */
	bool of_library;    /* the library knows it by the same name */
	const char *verbs;  /* names of uses, with commas between them; "*": all */
	const char *help;
};

extern const struct args_option args_options[N_OPTIONS];

bool args_goes_with(const struct args_option *option, const struct args_use *use);

/* Finds the option of this name or letter. NULL when there is none. */
const struct args_option *args_find_option(const char *name);
const struct args_option *args_find_letter(int letter);

/* Finds the name of an option of a use, or of a verb, that is most like a word. NULL when none is. */
const char *args_like_option(const char *word, const struct args_use *use);
const char *args_like_verb(const char *word, bool tree);

/* Writes the uses that an option goes with, as people do: "report, merge and diff". */
enum { ARGS_LIST_SIZE = 256 };
const char *args_uses_text(const struct args_option *option, char text[ARGS_LIST_SIZE]);

#endif
