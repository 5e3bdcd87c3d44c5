/* SPDX-License-Identifier: MIT */
/* A line for each stack of the threads of one name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/output/output.h"
#include "profile/output/stack_tree.h"

/* At most so many bytes stand behind the functions of a line. */
enum { FOLDED_NUMBER = 32 };

/* The size of all lines, before the first is written. */
static bool folded_fits(
    const struct tree *tree, const struct naming *naming, struct err *err)
{
	uint64_t *sizes = calloc(tree->n_nodes, sizeof(*sizes)), sum = 0;

	if (!sizes)
		return err_set_nomem(err);
	/* No sum can wrap: each number is below 2^48. */
	for (size_t i = 1; i < tree->n_nodes && sum <= OUTPUT_MAX_SIZE; i++) {
		const struct tree_node *node = &tree->nodes[i];

		sizes[i] = sizes[node->parent] + 1 +
			   strlen(naming->functions[node->function].name);
		sum += node->self ? sizes[i] + FOLDED_NUMBER : 0;
	}
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

static void folded_line(const struct tree *tree, const struct naming *naming,
    uint32_t node, uint32_t *path, FILE *out)
{
	const struct tree_node *nodes = tree->nodes;
	const uint32_t depth = nodes[node].depth;

	for (uint32_t at = node, i = depth; i > 0; at = nodes[at].parent)
		path[--i] = nodes[at].function;
	for (uint32_t i = 0; i < depth; i++) {
		if (i)
			putc_unlocked(';', out);
		folded_name(naming->functions[path[i]].name, out);
	}
	fprintf(out, " %" PRIu64 "\n", nodes[node].self);
}

bool output_folded(const struct profile *profile, const struct naming *naming, FILE *out,
    struct err *err)
{
	struct tree tree = {0};
	uint32_t *path = NULL;
	bool ok =
	    tree_make(profile, naming, &tree, err) && folded_fits(&tree, naming, err);

	if (ok) {
		/* No stack is deeper than there are nodes. */
		path = calloc(tree.n_nodes, sizeof(*path));
		ok = path || err_set_nomem(err);
	}
	for (uint32_t i = 1; ok && i < tree.n_nodes && !ferror(out); i++)
		if (tree.nodes[i].self)
			folded_line(&tree, naming, i, path, out);
	tree_free(&tree);
	free(path);
	return ok;
}
