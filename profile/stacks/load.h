/* SPDX-License-Identifier: MIT */
/* A recording on its way into a profile. */
#ifndef PROFILE_STACKS_LOAD_H
#define PROFILE_STACKS_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/perfdata/read.h"
#include "profile/profile.h"
#include "profile/stacks/unwinder.h"

struct load {
	struct profile *profile; /* borrowed */
	struct perfdata perfdata;
	struct unwinder unwinder;
	/* The stack of a sample: indices of frames, the first frame first. */
	uint32_t frames[UNWINDER_MAX_FRAMES + UNWINDER_MAX_KERNEL];
	size_t n;
};

/* load_sample.c: adds a sample, after a walk of its stack where the recording has a copy.
 * ERR_NOMEM, ERR_LIMIT. */
ATTR_MUST_CHECK bool load_sample(
    struct load *load, const struct event *event, struct err *err);

#endif
