/* SPDX-License-Identifier: MIT */
#include "profile/output/stack_tree.h"

#include <stdlib.h>
#include <string.h>

/* A node that is put into its order. */
struct tree_raw {
	uint32_t parent, function;
	uint32_t rank; /* of the function, by its name */
	uint32_t self; /* its index in nodes */
};

struct tree_maker {
	const struct profile *profile;
	const struct naming *naming;
	struct profile nodes; /* whose stacks are of functions */
	struct tree_raw *raw;
	uint32_t *of_stack; /* the node of each stack */
	uint32_t *ranks;    /* of each function */
};

struct tree_named {
	const char *name, *path;
	uint32_t kind, index;
};

/* By name first; then by what tells functions of one name apart. */
static int tree_compare_names(const void *left, const void *right)
{
	const struct tree_named *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (!order)
		order = strcmp(a->path, b->path);
	if (!order)
		order = a->kind < b->kind ? -1 : a->kind > b->kind;
	return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

static bool tree_rank(struct tree_maker *maker, struct err *err)
{
	const struct naming *naming = maker->naming;
	struct tree_named *named = calloc(naming->n_functions + 1, sizeof(*named));

	maker->ranks = calloc(naming->n_functions + 1, sizeof(*maker->ranks));
	if (!named || !maker->ranks) {
		free(named);
		return err_set_nomem(err);
	}
	for (size_t i = 0; i < naming->n_functions; i++) {
		const struct naming_function *function = &naming->functions[i];
		bool file = function->kind == PROFILE_FRAME_FILE ||
			    function->kind == PROFILE_FRAME_KERNEL;

		named[i] = (struct tree_named){function->name,
		    file ? maker->profile->modules[function->module].path : "",
		    function->kind, (uint32_t)i};
	}
	qsort(named, naming->n_functions, sizeof(*named), tree_compare_names);
	for (size_t i = 0; i < naming->n_functions; i++)
		maker->ranks[named[i].index] = (uint32_t)i;
	free(named);
	return true;
}

/* A caller's stack comes before, so one pass is enough. */
static bool tree_nodes(struct tree_maker *maker, struct err *err)
{
	const struct profile *profile = maker->profile;

	maker->of_stack = calloc(profile->n_stacks + 1, sizeof(*maker->of_stack));
	if (!maker->of_stack)
		return err_set_nomem(err);
	if (!profile_init(&maker->nodes, err))
		return false;
	for (size_t i = 1; i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		uint32_t node = maker->of_stack[stack->caller], n;
		const struct naming_place *places =
		    naming_places(maker->naming, stack->frame, &n);

		for (uint32_t k = 0; k < n; k++)
			if (!profile_add_stack(
				&maker->nodes, node, places[k].function, &node, err))
				return false;
		maker->of_stack[i] = node;
	}
	return true;
}

static int tree_compare_raw(const void *left, const void *right)
{
	const struct tree_raw *a = left, *b = right;

	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Where the children of each node begin in the sorted list; node 0 comes first. */
static uint32_t *tree_firsts(const struct tree_maker *maker)
{
	const size_t n = maker->nodes.n_stacks;
	uint32_t *firsts = calloc(n + 2, sizeof(*firsts));

	for (size_t i = 1; firsts && i < n; i++)
		firsts[maker->nodes.stacks[i].caller + 1]++;
	if (firsts)
		firsts[0] = 1;
	for (size_t i = 0; firsts && i < n; i++)
		firsts[i + 1] += firsts[i];
	return firsts;
}

/* Lets the children of a node stand together, in the order of their names. */
static bool tree_sort(struct tree_maker *maker, const uint32_t *firsts, struct err *err)
{
	const size_t n = maker->nodes.n_stacks;
	uint32_t *next = calloc(n, sizeof(*next));

	maker->raw = calloc(n, sizeof(*maker->raw));
	if (!maker->raw || !next) {
		free(next);
		return err_set_nomem(err);
	}
	memcpy(next, firsts, n * sizeof(*next));
	for (size_t i = 1; i < n; i++) {
		const struct profile_stack *node = &maker->nodes.stacks[i];

		maker->raw[next[node->caller]++] = (struct tree_raw){
		    node->caller, node->frame, maker->ranks[node->frame], (uint32_t)i};
	}
	for (size_t i = 0; i < n; i++)
		if (firsts[i + 1] - firsts[i] > 1)
			qsort(maker->raw + firsts[i], firsts[i + 1] - firsts[i],
			    sizeof(*maker->raw), tree_compare_raw);
	free(next);
	return true;
}

/*
 * Gives the nodes other numbers: each before its callees. places gets the new number of each, and
 * stack has room for all.
 */
static void tree_number(const struct tree_maker *maker, const uint32_t *firsts,
    uint32_t *places, uint32_t *stack, struct tree *tree)
{
	size_t n = 1;

	stack[0] = 0;
	while (n) {
		const struct tree_raw *raw = &maker->raw[stack[--n]];
		struct tree_node *node = &tree->nodes[tree->n_nodes];

		places[raw->self] = (uint32_t)tree->n_nodes++;
		node->function = raw->function;
		node->parent = places[raw->parent];
		if (raw->self)
			node->depth = tree->nodes[node->parent].depth + 1;
		for (uint32_t i = firsts[raw->self + 1]; i > firsts[raw->self]; i--)
			stack[n++] = i - 1;
	}
}

static bool tree_order(struct tree_maker *maker, struct tree *tree, struct err *err)
{
	size_t n = maker->nodes.n_stacks;
	uint32_t *firsts = tree_firsts(maker), *places = calloc(n, sizeof(*places));
	uint32_t *stack = calloc(n, sizeof(*stack));

	tree->nodes = calloc(n, sizeof(*tree->nodes));
	if (firsts && places && stack && tree->nodes && tree_sort(maker, firsts, err)) {
		tree_number(maker, firsts, places, stack, tree);
		for (size_t i = 0; i < maker->profile->n_stacks; i++)
			maker->of_stack[i] = places[maker->of_stack[i]];
	}
	free(firsts);
	free(places);
	free(stack);
	return tree->n_nodes > 0 || err_set_nomem(err);
}

static int tree_compare_lines(const void *left, const void *right)
{
	const struct tree_line *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->why != b->why)
		return a->why < b->why ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
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
		uint32_t node = maker->of_stack[sample->stack];
		uint64_t weight = tree->weighted ? sample->weight : 1;

		tree->lines[i] = (struct tree_line){groups[sample->thread],
		    profile_why_outermost(sample->why) ? 0 : sample->why, node, weight};
		tree->nodes[node].weight += weight;
	}
	for (size_t i = tree->n_nodes - 1; i > 0; i--)
		tree->nodes[tree->nodes[i].parent].weight += tree->nodes[i].weight;
	qsort(tree->lines, profile->n_samples, sizeof(*tree->lines), tree_compare_lines);
	for (size_t i = 0; i < profile->n_samples; i++) {
		if (n && !tree_compare_lines(&tree->lines[n - 1], &tree->lines[i]))
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

	free(maker.raw);
	profile_free(&maker.nodes);
	free(maker.of_stack);
	free(maker.ranks);
	return ok;
}

void tree_free(struct tree *tree)
{
	free(tree->nodes);
	free(tree->lines);
	*tree = (struct tree){0};
}

struct tree_comm {
	const char *name;
	uint32_t thread;
};

static int tree_compare_comms(const void *left, const void *right)
{
	const struct tree_comm *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : a->thread < b->thread ? -1 : a->thread > b->thread;
}

bool tree_group_names(const struct profile *profile, uint32_t **groups,
    const char ***names, struct err *err)
{
	size_t n = profile->n_threads, used = 0;
	struct tree_comm *comms = calloc(n + 1, sizeof(*comms));

	*groups = calloc(n + 1, sizeof(**groups));
	*names = calloc(n + 1, sizeof(**names));
	if (!comms || !*groups || !*names) {
		free(comms);
		return err_set_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		comms[i] = (struct tree_comm){profile->threads[i].comm, (uint32_t)i};
	qsort(comms, n, sizeof(*comms), tree_compare_comms);
	for (size_t i = 0; i < n; i++) {
		if (!used || strcmp((*names)[used - 1], comms[i].name) != 0)
			(*names)[used++] = comms[i].name;
		(*groups)[comms[i].thread] = (uint32_t)(used - 1);
	}
	free(comms);
	return true;
}
