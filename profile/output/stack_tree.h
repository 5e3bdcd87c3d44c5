/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a profile as a tree of functions. Frames of one function are one node. Stacks without their outermost frame
 * are below a mark that says why. A node comes before its callees, and these in the order of their names, marks last. So nodes
 * with greater indices come later in every output.
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
	uint32_t function; /* as output_name has it; of node 0 nothing */
	uint32_t depth;	   /* functions from the outermost one; 0 for node 0 */
	uint64_t weight;   /* in it and in its callees */
};

/* Samples of one group (a thread, or threads of one name) that end in one node. */
struct tree_line {
	uint64_t group, node; /* first, for search_order_pairs */
	uint64_t weight;
};

/* Zeroed, then tree_make. */
struct tree {
	struct tree_node *nodes;
	size_t n_nodes;
	/* Ascending by group and node; no two have both equal. */
	struct tree_line *lines;
	size_t n_lines;
	bool weighted; /* as tree_is_weighted; otherwise each sample counts 1 */
};

/*
 * groups has a number for each thread; NULL: that of the thread itself. A frame is a node for each of its places. ERR_NOMEM, ERR_LIMIT.
 */
ATTR_MUST_CHECK bool tree_make(const struct profile *profile, const struct naming *naming,
    const uint32_t *groups, struct tree *tree, struct err *err);
void tree_free(struct tree *tree); /* accepts a zeroed one */

/* Samples have different weights. Those of damage, whose sum is no number, do not count. */
bool tree_is_weighted(const struct profile *profile);

/* How the stack of a sample ends; 0: it has its outermost frame. */
unsigned int tree_why(const struct profile_sample *sample);
/*
 * For each way in which stacks end, makes a list with 1 for each stack that a sample or its callers need, and 0 for the
 * others. The caller frees them, also on failure. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool tree_ends(
    const struct profile *profile, uint32_t *ends[PROFILE_N_WHYS], struct err *err);

#endif
