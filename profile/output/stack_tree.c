/* SPDX-License-Identifier: MIT */
#include "profile/output/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

struct tree_maker {
	const struct profile *profile;
	const struct naming *naming;
	struct profile nodes; /* whose stacks are of functions */
	uint32_t *ranks;      /* of each function */
	uint32_t *places;     /* of each node in the tree */
};

/* Compares by name, then as naming has them. Marks are last. */
static int tree_compare_names(const void *left, const void *right)
{
	const struct naming_function *const *a = left, *const *b = right;
	int order =
	    ((*a)->kind == PROFILE_FRAME_MARK) - ((*b)->kind == PROFILE_FRAME_MARK);

	if (!order)
		order = strcmp((*a)->name, (*b)->name);
	return order ? order : *a < *b ? -1 : *a > *b;
}

static bool tree_rank(struct tree_maker *maker, struct err *err)
{
	const struct naming *naming = maker->naming;
	const size_t n = naming->n_functions;
	const struct naming_function **named = calloc(n + 1, sizeof(*named));

	maker->ranks = calloc(n + 1, sizeof(*maker->ranks));
	if (!named || !maker->ranks) {
		free(named);
		return err_set_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		named[i] = &naming->functions[i];
	qsort(named, n, sizeof(*named), tree_compare_names);
	for (size_t i = 0; i < n; i++)
		maker->ranks[named[i] - naming->functions] = (uint32_t)i;
	free(named);
	return true;
}

/* Makes the nodes of all stacks. A caller's stack comes before, so one pass is enough. */
static bool tree_nodes(struct tree_maker *maker, uint32_t *nodes, struct err *err)
{
	const struct profile *profile = maker->profile;
	const struct naming *naming = maker->naming;

	if (!profile_init(&maker->nodes, err))
		return false;
	for (size_t i = 1; i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		const struct naming_chain *chain = &naming->of_frame[stack->frame];

		nodes[i] = nodes[stack->caller];
		for (uint32_t k = 0; k < chain->n; k++)
			if (!profile_add_stack(&maker->nodes, nodes[i],
				naming->places[chain->first + k].function, &nodes[i],
				err))
				return false;
	}
	return true;
}

/* Gives the nodes their places: each before its callees, and these by rank. */
static bool tree_order(struct tree_maker *maker, struct tree *tree, struct err *err)
{
	const struct profile_stack *raw = maker->nodes.stacks;
	const size_t n = maker->nodes.n_stacks;
	/* The first callee of each, and the next one of its caller. */
	uint32_t *first = calloc(n, sizeof(*first)), *next = calloc(n, sizeof(*next));
	/* Each with its rank above its number; the last one is the next that gets a place. */
	uint64_t *waiting = calloc(n, sizeof(*waiting));
	size_t n_waiting;

	tree->nodes = calloc(n, sizeof(*tree->nodes));
	maker->places = calloc(n, sizeof(*maker->places));
	n_waiting = first && next && waiting && tree->nodes && maker->places;
	for (uint32_t i = (uint32_t)n; n_waiting && --i > 0;) {
		next[i] = first[raw[i].caller];
		first[raw[i].caller] = i;
	}
	while (n_waiting) {
		const uint32_t at = (uint32_t)waiting[--n_waiting];
		struct tree_node *node = &tree->nodes[tree->n_nodes];
		const size_t begin = n_waiting;

		maker->places[at] = (uint32_t)tree->n_nodes++;
		node->function = raw[at].frame;
		node->parent = maker->places[raw[at].caller];
		node->depth = at ? tree->nodes[node->parent].depth + 1 : 0;
		for (uint32_t i = first[at]; i; i = next[i])
			waiting[n_waiting++] =
			    ~(uint64_t)maker->ranks[raw[i].frame] << 32 | i;
		if (n_waiting - begin > 1)
			qsort(waiting + begin, n_waiting - begin, sizeof(*waiting),
			    search_order);
	}
	free(first);
	free(next);
	free(waiting);
	return tree->n_nodes > 0 || err_set_nomem(err);
}

static void tree_weigh(const struct profile *profile, struct tree *tree)
{
	struct tree_node *nodes = tree->nodes;

	for (size_t i = 0; i < profile->n_samples; i++)
		nodes[tree->of_stack[profile->samples[i].stack]].self +=
		    profile->samples[i].weight;
	for (size_t i = tree->n_nodes; i-- > 0;) {
		nodes[i].weight += nodes[i].self;
		if (i)
			nodes[nodes[i].parent].weight += nodes[i].weight;
	}
}

bool tree_make(const struct profile *profile, const struct naming *naming,
    struct tree *tree, struct err *err)
{
	struct tree_maker maker = {.profile = profile, .naming = naming};
	bool ok;

	tree->of_stack = calloc(profile->n_stacks, sizeof(*tree->of_stack));
	ok = (tree->of_stack || err_set_nomem(err)) && tree_rank(&maker, err) &&
	     tree_nodes(&maker, tree->of_stack, err) && tree_order(&maker, tree, err);
	for (size_t i = 0; ok && i < profile->n_stacks; i++)
		tree->of_stack[i] = maker.places[tree->of_stack[i]];
	if (ok)
		tree_weigh(profile, tree);
	profile_free(&maker.nodes);
	free(maker.ranks);
	free(maker.places);
	return ok;
}

void tree_free(struct tree *tree)
{
	free(tree->nodes);
	free(tree->of_stack);
	*tree = (struct tree){0};
}
