/* SPDX-License-Identifier: MIT */
/* The tables of verbs and options, and what is found in them. */
#include "cmd/common/options.h"

#include <stdio.h>
#include <string.h>

#define ANY ((size_t)-1)

const struct args_use args_uses[] = {
    {"convert", "IN OUT", "IN and OUT", 2, 2, VERB_CONVERT, false,
	"write OUT, which is IN plus .sframe; the word convert can be left out"},
    {"section", "IN OUT", "IN and OUT", 2, 2, VERB_SECTION, false,
	"write the bare bytes of the section to OUT"},
    {"remove", "IN OUT", "IN and OUT", 2, 2, VERB_REMOVE, false,
	"write IN without the .sframe that this program added"},
    {"report", "IN...", "at least one file", 1, ANY, VERB_REPORT, false,
	"show what a conversion would cover; change nothing"},
    {"merge", "JSON...", "at least one JSON report", 1, ANY, VERB_MERGE, false,
	"join JSON reports into one"},
    {"diff", "OLD NEW", "two JSON reports, the old one first", 2, 2, VERB_DIFF, false,
	"show what changed from one JSON report to another"},
    {"dump", "IN...", "at least one file", 1, ANY, VERB_DUMP, false,
	"print an existing .sframe"},
    {"verify", "IN...", "at least one file", 1, ANY, VERB_VERIFY, false,
	"prove an existing .sframe against the CFI"},
    {"lint", "IN...", "at least one file", 1, ANY, VERB_LINT, false,
	"check an existing .sframe against the rules of its readers"},
    {"check", "IN...", "at least one file", 1, ANY, VERB_CHECK, false,
	"check the CFI against the instructions that it describes"},
    {"tree convert", "PATH...", "at least one path", 1, ANY, VERB_CONVERT, true,
	"convert in place every ELF file below the paths"},
    {"tree remove", "PATH...", "at least one path", 1, ANY, VERB_REMOVE, true,
	"take out the .sframe that this program added"},
    {"tree report", "PATH...", "at least one path", 1, ANY, VERB_REPORT, true,
	"show what conversions would cover; change nothing"},
    {"tree verify", "PATH...", "at least one path", 1, ANY, VERB_VERIFY, true,
	"prove each .sframe against the CFI"},
    {"tree lint", "PATH...", "at least one path", 1, ANY, VERB_LINT, true,
	"check each .sframe against the rules of its readers"},
    {"tree check", "PATH...", "at least one path", 1, ANY, VERB_CHECK, true,
	"check the CFI of each file against its instructions"},
    {NULL},
};

#define LIBRARY true
#define COMMAND false
const struct args_option args_options[N_OPTIONS] = {
#define OPTION(id, name, letter, argument, values, owner, verbs, help)                   \
	[OPTION_##id] = {name, letter, argument, values, owner, verbs, help},
#include "cmd/common/options.def"
#undef OPTION
};

static const char tree_start[] = "tree ";
enum { TREE_SIZE = sizeof(tree_start) - 1 };

static const char *args_verb_name(const struct args_use *use)
{
	return use->name + (use->tree ? TREE_SIZE : 0);
}

const struct args_use *args_find_use(bool tree, const char *verb)
{
	for (const struct args_use *use = args_uses; use->name; use++)
		if (use->tree == tree && !strcmp(args_verb_name(use), verb))
			return use;
	return NULL;
}

bool args_goes_with(const struct args_option *option, const struct args_use *use)
{
	const size_t size = strlen(use->name);
	const char *at = option->verbs;

	if (!strcmp(at, "*"))
		return true;
	for (; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, use->name, size) && (!at[size] || at[size] == ','))
			return true;
	}
	return false;
}

const struct args_option *args_find_option(const char *name)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (!strcmp(args_options[i].name, name))
			return &args_options[i];
	return NULL;
}

const struct args_option *args_find_letter(int letter)
{
	for (size_t i = 0; letter && i < N_OPTIONS; i++)
		if (args_options[i].letter == letter)
			return &args_options[i];
	return NULL;
}

/* No name is longer. */
enum { LIKE_LENGTH = 31 };

/* The name that is most like a word, so far. */
struct like {
	const char *word, *name; /* NULL: none is */
	size_t distance;
};

static size_t like_less(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns how many characters have to be put in, taken out, replaced, or swapped with the
 * next, to make the name of the word. */
static size_t like_distance(
    const char *word, size_t n_word, const char *name, size_t n_name)
{
	/* The distance of the word's first i characters from the name's first k. */
	size_t at[LIKE_LENGTH + 1][LIKE_LENGTH + 1];

	for (size_t i = 0; i <= n_word; i++)
		at[i][0] = i;
	for (size_t k = 0; k <= n_name; k++)
		at[0][k] = k;
	for (size_t i = 1; i <= n_word; i++) {
		for (size_t k = 1; k <= n_name; k++) {
			const bool same = word[i - 1] == name[k - 1];

			at[i][k] = like_less(at[i - 1][k - 1] + !same,
			    like_less(at[i - 1][k], at[i][k - 1]) + 1);
			if (i > 1 && k > 1 && word[i - 1] == name[k - 2] &&
			    word[i - 2] == name[k - 1])
				at[i][k] = like_less(at[i][k], at[i - 2][k - 2] + 1);
		}
	}
	return at[n_word][n_name];
}

/* Takes a name if it is nearer than the one before. The beginning of a name is nearest of all. */
static void like_note(struct like *like, const char *name)
{
	const size_t length = strlen(like->word), n = strlen(name);
	const size_t allowed = length < 3 ? 0 : length < 6 ? 1 : 2;
	size_t distance;

	if (n > LIKE_LENGTH || length > LIKE_LENGTH || length < 2)
		return;
	distance = strncmp(like->word, name, length) != 0
		       ? like_distance(like->word, length, name, n)
		       : 0;
	if (distance > allowed || (like->name && distance >= like->distance))
		return;
	like->name = name;
	like->distance = distance;
}

const char *args_like_option(const char *word, const struct args_use *use)
{
	struct like like = {.word = word};

	for (size_t i = 0; i < N_OPTIONS; i++)
		if (args_goes_with(&args_options[i], use))
			like_note(&like, args_options[i].name);
	return like.name;
}

const char *args_like_verb(const char *word, bool tree)
{
	struct like like = {.word = word};

	for (const struct args_use *use = args_uses; use->name; use++)
		if (use->tree == tree)
			like_note(&like, args_verb_name(use));
	if (!tree) {
		like_note(&like, "tree");
		like_note(&like, "help");
	}
	return like.name;
}

const char *args_uses_text(const struct args_option *option, char text[ARGS_LIST_SIZE])
{
	size_t n = 0;

	for (const struct args_use *use = args_uses; use->name; use++) {
		const struct args_use *next = use + 1;

		if (!args_goes_with(option, use))
			continue;
		while (next->name && !args_goes_with(option, next))
			next++;
		n += (size_t)snprintf(text + n, ARGS_LIST_SIZE - n, "%s%s",
		    n && !next->name ? " and "
		    : n		     ? ", "
				     : "",
		    use->name);
	}
	return text;
}
