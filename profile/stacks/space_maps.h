/* SPDX-License-Identifier: MIT */
/*
 * The mappings of a process. They ascend and do not overlap. They are in blocks, so a new one moves few others:
 * the kernel maps downwards, so each is in front of those before. A copy shares the blocks that neither changes.
 */
#ifndef PROFILE_STACKS_SPACE_MAPS_H
#define PROFILE_STACKS_SPACE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct space_map {
	uint64_t start, end; /* start is below end */
	uint64_t offset;     /* in the file */
	uint32_t file;	     /* the caller's number */
	uint32_t added;	     /* the caller's clock */
};

/* Mappings in a block at most. */
enum { SPACE_MAPS_BLOCK = 128 };

struct space_maps_block {
	uint32_t users; /* lists that have it; one with several does not change */
	uint32_t n, cap;
	struct space_map maps[]; /* ascend; one at least */
};

/* A block, and where its first mapping starts. */
struct space_maps_place {
	uint64_t start;
	struct space_maps_block *block;
};

/* Zeroed, then in use. */
struct space_maps {
	struct space_maps_place *places; /* ascend */
	size_t n_places, cap_places;
	size_t n; /* mappings */
};

/* Accepts a zeroed one, and leaves one. */
void space_maps_free(struct space_maps *maps);

/* The first mapping that ends above address, or NULL. It is valid until the list changes. */
const struct space_map *space_maps_from(const struct space_maps *maps, uint64_t address);

/* Adds a mapping. What it covers of others goes. false: no memory; some of that may be gone then. */
ATTR_MUST_CHECK bool space_maps_add(struct space_maps *maps, const struct space_map *map);

/* Forgets those that were added n steps before now, or earlier. The clock may wrap. false: no memory, and nothing has changed. */
ATTR_MUST_CHECK bool space_maps_forget(struct space_maps *maps, uint32_t now, uint32_t n);

/* Copies from to a zeroed list. false: no memory. */
ATTR_MUST_CHECK bool space_maps_copy(
    struct space_maps *to, const struct space_maps *from);

#endif
