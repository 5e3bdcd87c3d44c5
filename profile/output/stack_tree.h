/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a profile as a tree of functions. Frames of one function are one node. A node
 * comes before its callees, and these in the order of their names. So nodes with greater
 * indices come later in every output.
 */
#ifndef PROFILE_OUTPUT_STACK_TREE_H
#define PROFILE_OUTPUT_STACK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/profile.h"
#include "profile/symbols/naming.h"

struct tree_node {
	uint32_t parent;   /* the caller, with a lower index; of node 0 itself */
	uint32_t function; /* index in naming; of node 0 nothing */
	uint32_t depth;	   /* functions from the outermost one; 0 for node 0 */
	uint64_t weight;   /* in it and in its callees */
};

/* Samples of one group (a thread, or threads of one name) that end in one node. */
struct tree_line {
	uint32_t group;
	uint32_t why; /* 0: the stack has its outermost frame */
	uint32_t node;
	uint64_t weight;
};

/* Zeroed, then tree_make. */
struct tree {
	struct tree_node *nodes;
	size_t n_nodes;
	/* Ascending by group, why and node; no two have all equal. */
	struct tree_line *lines;
	size_t n_lines;
	bool weighted; /* as tree_is_weighted; otherwise each sample counts 1 */
};

/*
 * groups has a number for each thread. A frame is a node for each of its places. ERR_NOMEM, ERR_LIMIT.
 */
ATTR_MUST_CHECK bool tree_make(const struct profile *profile, const struct naming *naming,
    const uint32_t *groups, struct tree *tree, struct err *err);
void tree_free(struct tree *tree); /* accepts a zeroed one */

/* Samples have different weights. Those of damage, whose sum is no number, do not count. */
bool tree_is_weighted(const struct profile *profile);

/* Numbers the names of threads in their order, for tree_make; the caller frees both.
 * names[n] is NULL. ERR_NOMEM. */
ATTR_MUST_CHECK bool tree_group_names(const struct profile *profile, uint32_t **groups,
    const char ***names, struct err *err);

#endif
