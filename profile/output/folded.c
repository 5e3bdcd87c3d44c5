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
	/* All, by their names: a group has the number of its first one. */
	const struct profile_thread **threads;
	uint32_t *path; /* room for the deepest stack */
	FILE *out;
};

const char *output_name(
    const struct naming *naming, size_t function, char mark[OUTPUT_MARK_SIZE])
{
	if (function < naming->n_functions)
		return naming->functions[function].name;
	snprintf(mark, OUTPUT_MARK_SIZE, "[incomplete: %s]",
	    profile_why_text((unsigned int)(function - naming->n_functions)));
	return mark;
}

/* The size of all lines, before the first is written. */
static bool folded_fits(const struct folded *folded, struct err *err)
{
	const struct tree *tree = folded->tree;
	uint64_t *sizes = calloc(tree->n_nodes, sizeof(*sizes)), sum = 0;
	char mark[OUTPUT_MARK_SIZE];

	if (!sizes)
		return err_set_nomem(err);
	for (size_t i = 1; i < tree->n_nodes; i++) {
		const struct tree_node *node = &tree->nodes[i];

		sizes[i] = sizes[node->parent] + 1 +
			   strlen(output_name(folded->naming, node->function, mark));
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
	char mark[OUTPUT_MARK_SIZE],
	    *comm = plain_dup(folded->threads[line->group]->comm);

	for (uint64_t at = line->node, i = depth; i > 0; at = nodes[at].parent)
		folded->path[--i] = nodes[at].function;
	folded_name(comm ? comm : "?", folded->out);
	free(comm);
	for (uint32_t i = 0; i < depth; i++) {
		putc_unlocked(';', folded->out);
		folded_name(
		    output_name(folded->naming, folded->path[i], mark), folded->out);
	}
	fprintf(folded->out, " %" PRIu64 "\n", line->weight);
}

static int folded_compare_names(const void *left, const void *right)
{
	const struct profile_thread *const *a = left, *const *b = right;

	return strcmp((*a)->comm, (*b)->comm);
}

/* Makes threads of one name one group. */
static void folded_group(
    const struct profile *profile, struct folded *folded, uint32_t *groups)
{
	const struct profile_thread **threads = folded->threads;
	uint32_t group = 0;

	for (size_t i = 0; i < profile->n_threads; i++)
		threads[i] = &profile->threads[i];
	qsort(threads, profile->n_threads, sizeof(*threads), folded_compare_names);
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		if (strcmp(threads[group]->comm, threads[i]->comm) != 0)
			group = i;
		groups[threads[i] - profile->threads] = group;
	}
}

bool output_folded(const struct profile *profile, const struct naming *naming, FILE *out,
    struct err *err)
{
	const size_t n = profile->n_threads + 1;
	struct folded folded = {.naming = naming, .out = out};
	uint32_t *groups = calloc(n, sizeof(*groups));
	struct tree tree = {0};
	bool ok;

	folded.tree = &tree;
	folded.threads = calloc(n, sizeof(*folded.threads));
	ok = (groups && folded.threads) || err_set_nomem(err);
	if (ok)
		folded_group(profile, &folded, groups);
	ok = ok && tree_make(profile, naming, groups, &tree, err) &&
	     folded_fits(&folded, err);
	if (ok) {
		/* No stack is deeper than there are nodes. */
		folded.path = calloc(tree.n_nodes, sizeof(*folded.path));
		ok = folded.path || err_set_nomem(err);
	}
	for (size_t i = 0; ok && i < tree.n_lines && !ferror(out); i++)
		folded_line(&folded, &tree.lines[i]);
	tree_free(&tree);
	free(groups);
	free(folded.threads);
	free(folded.path);
	return ok;
}
