/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a profile as a tree of functions. Frames of one function are one node, and a frame is a node for each of its places.
 * A node comes before its callees, and these in the order of their names, marks last. So nodes with greater indices come later
 * in every output.
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
	uint32_t function; /* of the naming; of node 0 nothing */
	uint32_t depth;	   /* functions from the outermost one; 0 for node 0 */
	uint64_t self;	   /* weight of the samples that end in it */
	uint64_t weight;   /* in it and in its callees */
};

/* Zeroed, then tree_make. */
struct tree {
	struct tree_node *nodes;
	size_t n_nodes;
	uint32_t *of_stack; /* the node of each stack of the profile */
};

/* ERR_NOMEM, ERR_LIMIT. */
ATTR_MUST_CHECK bool tree_make(const struct profile *profile, const struct naming *naming,
    struct tree *tree, struct err *err);
void tree_free(struct tree *tree); /* accepts a zeroed one */

#endif
