/* SPDX-License-Identifier: MIT */
/*
 * Processes and their descendants. An event of a task begins its period anew in each task that inherits it, so tasks
 * shorter than the period have no samples. Events of the whole system have all samples, and the records of other processes are
 * dropped by this.
 */
#ifndef PROFILE_RECORD_DESCENDANTS_H
#define PROFILE_RECORD_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Zeroed: all records belong to it. */
struct descendants {
	uint64_t *bits; /* a bit for each number that a process can have */
	uint32_t first; /* it belongs from the program on that it runs next; 0: none */
};

/* Adds a process. on_exec: it belongs when it runs another program. false: no memory. */
ATTR_MUST_CHECK bool descendants_begin(
    struct descendants *descendants, uint32_t pid, bool on_exec);
/* Takes in a record of the kernel's, in their order. false: it is another process's. */
bool descendants_have(struct descendants *descendants, const uint8_t *bytes);
void descendants_free(struct descendants *descendants);

#endif
