/* SPDX-License-Identifier: MIT */
#include "profile/output/stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

struct tree_maker {
	const struct profile *profile;
	const struct naming *naming;
	struct profile nodes; /* whose stacks are of functions */
	/* Begins as tree_ends makes it; then the node of each stack that ends so. */
	uint32_t *ends[PROFILE_N_WHYS];
	uint32_t *ranks;  /* of each function, by its name, and of marks behind them */
	uint32_t *places; /* of each node in the tree */
};

/* By name, then as naming has them. */
static int tree_compare_names(const void *left, const void *right)
{
	const struct naming_function *const *a = left, *const *b = right;
	int order = strcmp((*a)->name, (*b)->name);

	return order ? order : *a < *b ? -1 : *a > *b;
}

static bool tree_rank(struct tree_maker *maker, struct err *err)
{
	const struct naming *naming = maker->naming;
	const size_t n = naming->n_functions + PROFILE_N_WHYS;
	const struct naming_function **named = calloc(n, sizeof(*named));

	maker->ranks = calloc(n, sizeof(*maker->ranks));
	if (!named || !maker->ranks) {
		free(named);
		return err_set_nomem(err);
	}
	for (size_t i = 0; i < naming->n_functions; i++)
		named[i] = &naming->functions[i];
	qsort(named, naming->n_functions, sizeof(*named), tree_compare_names);
	for (size_t i = 0; i < n; i++)
		maker->ranks[i] = (uint32_t)i;
	for (size_t i = 0; i < naming->n_functions; i++)
		maker->ranks[named[i] - naming->functions] = (uint32_t)i;
	free(named);
	return true;
}

unsigned int tree_why(const struct profile_sample *sample)
{
	return profile_why_outermost(sample->why) ? 0 : sample->why;
}

bool tree_ends(
    const struct profile *profile, uint32_t *ends[PROFILE_N_WHYS], struct err *err)
{
	for (size_t i = 0; i < profile->n_samples; i++) {
		uint32_t **list = &ends[tree_why(&profile->samples[i])];

		if (!*list)
			*list = calloc(profile->n_stacks, sizeof(**list));
		if (!*list)
			return err_set_nomem(err);
		(*list)[profile->samples[i].stack] = 1;
	}
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++)
		for (size_t i = profile->n_stacks; ends[why] && --i > 0;)
			/* Memory that is not written to takes no room. */
			if (ends[why][i])
				ends[why][profile->stacks[i].caller] = 1;
	return true;
}

/* Makes the nodes of the stacks that end so. A caller's stack comes before, so one pass is enough. */
static bool tree_nodes_of(struct tree_maker *maker, unsigned int why, struct err *err)
{
	const struct profile *profile = maker->profile;
	const struct naming *naming = maker->naming;
	uint32_t *nodes = maker->ends[why];

	nodes[0] = 0;
	if (why && !profile_add_stack(&maker->nodes, 0,
		       (uint32_t)naming->n_functions + why, &nodes[0], err))
		return false;
	for (size_t i = 1; i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		const struct naming_chain *chain = &naming->of_frame[stack->frame];

		if (!nodes[i])
			continue;
		nodes[i] = nodes[stack->caller];
		for (uint32_t k = 0; k < chain->n; k++)
			if (!profile_add_stack(&maker->nodes, nodes[i],
				naming->places[chain->first + k].function, &nodes[i],
				err))
				return false;
	}
	return true;
}

static bool tree_nodes(struct tree_maker *maker, struct err *err)
{
	bool ok = profile_init(&maker->nodes, err) &&
		  tree_ends(maker->profile, maker->ends, err);

	for (unsigned int why = 0; ok && why < PROFILE_N_WHYS; why++)
		ok = !maker->ends[why] || tree_nodes_of(maker, why, err);
	return ok;
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

bool tree_is_weighted(const struct profile *profile)
{
	uint64_t sum = 0;
	bool differ = false;

	for (size_t i = 0; i < profile->n_samples; i++) {
		uint64_t weight = profile->samples[i].weight;

		if (weight > INT64_MAX - sum)
			return false;
		sum += weight;
		differ |= weight != profile->samples[0].weight;
	}
	return differ;
}

static bool tree_lines(const struct tree_maker *maker, const uint32_t *groups,
    struct tree *tree, struct err *err)
{
	const struct profile *profile = maker->profile;
	size_t n = 0;

	tree->lines = calloc(profile->n_samples + 1, sizeof(*tree->lines));
	if (!tree->lines)
		return err_set_nomem(err);
	tree->weighted = tree_is_weighted(profile);
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		uint32_t node =
		    maker->places[maker->ends[tree_why(sample)][sample->stack]];
		uint64_t weight = tree->weighted ? sample->weight : 1;

		tree->lines[i] = (struct tree_line){
		    groups ? groups[sample->thread] : sample->thread, node, weight};
		tree->nodes[node].weight += weight;
	}
	for (size_t i = tree->n_nodes - 1; i > 0; i--)
		tree->nodes[tree->nodes[i].parent].weight += tree->nodes[i].weight;
	qsort(tree->lines, profile->n_samples, sizeof(*tree->lines), search_order_pairs);
	for (size_t i = 0; i < profile->n_samples; i++) {
		if (n && !search_order_pairs(&tree->lines[n - 1], &tree->lines[i]))
			tree->lines[n - 1].weight += tree->lines[i].weight;
		else
			tree->lines[n++] = tree->lines[i];
	}
	tree->n_lines = n;
	return true;
}

bool tree_make(const struct profile *profile, const struct naming *naming,
    const uint32_t *groups, struct tree *tree, struct err *err)
{
	struct tree_maker maker = {.profile = profile, .naming = naming};
	bool ok = tree_rank(&maker, err) && tree_nodes(&maker, err) &&
		  tree_order(&maker, tree, err) && tree_lines(&maker, groups, tree, err);

	profile_free(&maker.nodes);
	for (unsigned int why = 0; why < PROFILE_N_WHYS; why++)
		free(maker.ends[why]);
	free(maker.ranks);
	free(maker.places);
	return ok;
}

void tree_free(struct tree *tree)
{
	free(tree->nodes);
	free(tree->lines);
	*tree = (struct tree){0};
}
