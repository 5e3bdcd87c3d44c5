/* SPDX-License-Identifier: MIT */
/*
 * Several sections of one kind as one, as a linker joins those of its inputs: function
 * descriptors and rows as they are, but for where they lead.
 */
#ifndef SFRAME_JOIN_H
#define SFRAME_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "sframe/decode.h"

/* A zeroed struct is an empty one. */
struct sf_join {
	struct sf_view kind; /* the first section's header */
	struct wr funcs, rows;
	uint64_t *starts; /* of the functions; owned */
	size_t n_funcs, cap_starts;
	uint64_t n_rows;
	bool begun;
};

/*
 * Adds the section, less the functions i for which gone[i]; gone may be NULL.
 * ERR_UNSUPPORTED when it is of another kind (version, ABI, flags, fixed offsets) than
 * those before it, ERR_MALFORMED when a function is damaged.
 */
ATTR_MUST_CHECK bool sf_join_add(
    struct sf_join *join, const struct sf_view *view, const bool *gone, struct err *err);

/* The whole, to be loaded at addr, into out (initialised by the caller, empty). Functions
 * are in the order they came in; SORTED is not set. */
ATTR_MUST_CHECK bool sf_join_finish(
    const struct sf_join *join, uint64_t addr, struct wr *out, struct err *err);

void sf_join_deinit(struct sf_join *join);

#endif
