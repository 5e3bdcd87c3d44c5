/* SPDX-License-Identifier: MIT */
#include "profile/record/descendants.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* PID_MAX_LIMIT of the kernel. */
enum { DESCENDANTS_PIDS = 1 << 22 };

static bool descendants_has(const struct descendants *descendants, uint32_t pid)
{
	return pid < DESCENDANTS_PIDS && descendants->bits[pid / 64] >> pid % 64 & 1;
}

static void descendants_set(struct descendants *descendants, uint32_t pid, bool belongs)
{
	uint64_t bit = UINT64_C(1) << pid % 64;

	if (pid >= DESCENDANTS_PIDS)
		return;
	if (belongs)
		descendants->bits[pid / 64] |= bit;
	else
		descendants->bits[pid / 64] &= ~bit;
}

bool descendants_begin(struct descendants *descendants, uint32_t pid, bool on_exec)
{
	/* Pages without a process take no memory. */
	if (!descendants->bits)
		descendants->bits =
		    calloc(DESCENDANTS_PIDS / 64, sizeof(*descendants->bits));
	if (!descendants->bits)
		return false;
	if (on_exec)
		descendants->first = pid;
	else
		descendants_set(descendants, pid, true);
	return true;
}

bool descendants_have(struct descendants *descendants, const uint8_t *bytes)
{
	struct perf_event_header header;
	uint32_t words[4]; /* pid, parent, tid; or IP, pid; or pid */

	if (!descendants->bits)
		return true;
	memcpy(&header, bytes, sizeof(header));
	memcpy(words, bytes + sizeof(header), sizeof(words));
	switch (header.type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return true;
	case PERF_RECORD_SAMPLE:
		return descendants_has(descendants, words[2]);
	case PERF_RECORD_FORK:
		/*
		 * An end takes nobody out: there are samples after it. The number is another
		 * process's when that begins.
		 */
		if (words[0] == words[2])
			descendants_set(descendants, words[0],
			    descendants_has(descendants, words[1]));
		break;
	case PERF_RECORD_COMM:
		if (descendants->first && words[0] == descendants->first &&
		    header.misc & PERF_RECORD_MISC_COMM_EXEC) {
			descendants_set(descendants, words[0], true);
			descendants->first = 0;
		}
		break;
	default:
		break;
	}
	return descendants_has(descendants, words[0]);
}

void descendants_free(struct descendants *descendants)
{
	free(descendants->bits);
	descendants->bits = NULL;
}
