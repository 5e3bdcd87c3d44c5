/* SPDX-License-Identifier: MIT */
/* A line for each stack of the threads of one name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain.h"
#include "profile/output/output.h"
#include "profile/output/stack_tree.h"

struct folded {
	const struct tree *tree;
	const struct naming *naming;
	const char **names; /* of the groups */
	uint32_t *path;	    /* room for the deepest stack */
	FILE *out;
};

void output_mark(unsigned int why, char mark[OUTPUT_MARK_SIZE])
{
	snprintf(mark, OUTPUT_MARK_SIZE, "[incomplete: %s]", profile_why_text(why));
}

/* The size of all lines, before the first is written. */
static bool folded_fits(const struct folded *folded, struct err *err)
{
	const struct tree *tree = folded->tree;
	uint64_t *sizes = calloc(tree->n_nodes, sizeof(*sizes)), sum = 0;

	if (!sizes)
		return err_set_nomem(err);
	for (size_t i = 1; i < tree->n_nodes; i++) {
		const struct tree_node *node = &tree->nodes[i];

		sizes[i] = sizes[node->parent] + 1 +
			   strlen(folded->naming->functions[node->function].name);
	}
	/* No sum can wrap: each number is below 2^48. */
	for (size_t i = 0; i < tree->n_lines && sum <= OUTPUT_MAX_SIZE; i++)
		sum += sizes[tree->lines[i].node] + OUTPUT_MARK_SIZE;
	free(sizes);
	return sum <= OUTPUT_MAX_SIZE ||
	       err_set(err, ERR_LIMIT,
		   "as text the stacks take more than %" PRIu64
		   " GiB, because they are deep; use --format=html",
		   OUTPUT_MAX_SIZE >> 30);
}

/* Semicolons stand between functions. */
static void folded_name(const char *name, FILE *out)
{
	for (const char *end; (end = strchr(name, ';')); name = end + 1) {
		fwrite_unlocked(name, 1, (size_t)(end - name), out);
		putc_unlocked(':', out);
	}
	fputs_unlocked(name, out);
}

static void folded_line(const struct folded *folded, const struct tree_line *line)
{
	const struct tree_node *nodes = folded->tree->nodes;
	uint32_t depth = nodes[line->node].depth;
	char mark[OUTPUT_MARK_SIZE], *comm = plain_dup(folded->names[line->group]);

	for (uint32_t at = line->node, i = depth; i > 0; at = nodes[at].parent)
		folded->path[--i] = nodes[at].function;
	folded_name(comm ? comm : "?", folded->out);
	free(comm);
	if (line->why) {
		output_mark(line->why, mark);
		fprintf(folded->out, ";%s", mark);
	}
	for (uint32_t i = 0; i < depth; i++) {
		putc_unlocked(';', folded->out);
		folded_name(folded->naming->functions[folded->path[i]].name, folded->out);
	}
	fprintf(folded->out, " %" PRIu64 "\n", line->weight);
}

static bool folded_write(struct folded *folded, struct err *err)
{
	const struct tree *tree = folded->tree;
	uint32_t deepest = 0;

	if (!folded_fits(folded, err))
		return false;
	for (size_t i = 0; i < tree->n_nodes; i++)
		if (tree->nodes[i].depth > deepest)
			deepest = tree->nodes[i].depth;
	folded->path = calloc((size_t)deepest + 1, sizeof(*folded->path));
	if (!folded->path)
		return err_set_nomem(err);
	for (size_t i = 0; i < tree->n_lines && !ferror(folded->out); i++)
		folded_line(folded, &tree->lines[i]);
	return true;
}

bool output_folded(const struct profile *profile, const struct naming *naming, FILE *out,
    struct err *err)
{
	struct folded folded = {.naming = naming, .out = out};
	uint32_t *groups = NULL;
	struct tree tree = {0};
	bool ok;

	ok = tree_group_names(profile, &groups, &folded.names, err) &&
	     tree_make(profile, naming, groups, &tree, err);
	folded.tree = &tree;
	ok = ok && folded_write(&folded, err);
	tree_free(&tree);
	free(groups);
	free(folded.names);
	free(folded.path);
	return ok;
}
