/* SPDX-License-Identifier: MIT */
#include "profile/record/tree.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

/* PID_MAX_LIMIT of the kernel. */
enum { TREE_PIDS = 1 << 22 };

static bool tree_has(const struct tree *tree, uint32_t pid)
{
	return pid < TREE_PIDS && tree->bits[pid / 64] >> pid % 64 & 1;
}

static void tree_set(struct tree *tree, uint32_t pid, bool belongs)
{
	uint64_t bit = UINT64_C(1) << pid % 64;

	if (pid >= TREE_PIDS)
		return;
	if (belongs)
		tree->bits[pid / 64] |= bit;
	else
		tree->bits[pid / 64] &= ~bit;
}

bool tree_begin(struct tree *tree, uint32_t pid, bool on_exec)
{
	/* Pages without a process take no memory. */
	tree->bits = calloc(TREE_PIDS / 64, sizeof(*tree->bits));
	if (!tree->bits)
		return false;
	if (on_exec)
		tree->first = pid;
	else
		tree_set(tree, pid, true);
	return true;
}

bool tree_has_record(struct tree *tree, const uint8_t *bytes)
{
	struct perf_event_header header;
	uint32_t words[4]; /* pid, parent, tid; or IP, pid; or pid */

	if (!tree->bits)
		return true;
	memcpy(&header, bytes, sizeof(header));
	memcpy(words, bytes + sizeof(header), sizeof(words));
	switch (header.type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return true;
	case PERF_RECORD_SAMPLE:
		return tree_has(tree, words[2]);
	case PERF_RECORD_FORK:
		/*
		 * An end takes nobody out: there are samples after it. The number is another
		 * process's when that begins.
		 */
		if (words[0] == words[2])
			tree_set(tree, words[0], tree_has(tree, words[1]));
		break;
	case PERF_RECORD_COMM:
		if (tree->first && words[0] == tree->first &&
		    header.misc & PERF_RECORD_MISC_COMM_EXEC) {
			tree_set(tree, words[0], true);
			tree->first = 0;
		}
		break;
	default:
		break;
	}
	return tree_has(tree, words[0]);
}

void tree_free(struct tree *tree)
{
	free(tree->bits);
	tree->bits = NULL;
}
