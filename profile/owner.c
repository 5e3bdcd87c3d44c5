/* SPDX-License-Identifier: MIT */
#include "profile/owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/names/lines.h"

/* Debian's larger files take a second each, so a container's first minute is within it. */
#define SPENT_FREE (UINT64_C(20) * 1000000000)

/* The mounts that a process sees, as the kernel names them; empty where that is not told. */
static void owner_mounts(const char *process, char mounts[64])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
	n = readlink(path, mounts, 63);
	mounts[n > 0 ? n : 0] = '\0';
}

/* The real, effective, saved and file system's user. */
static bool owner_users(uint32_t pid, unsigned int users[4])
{
	char path[64], *text;
	const char *line = NULL;
	struct err ignored;
	size_t size;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%u/status", (unsigned int)pid);
	if (lines_read(path, &text, &size, &ignored) && text)
		line = strstr(text, "\nUid:");
	ok = line && sscanf(line, "\nUid: %u %u %u %u", &users[0], &users[1], &users[2],
			 &users[3]) == 4;
	free(text);
	return ok;
}

struct owner owner_of(uint32_t pid)
{
	struct owner owner = {.user = geteuid()};
	char process[16], mounts[64], own[64];
	unsigned int users[4];

	if (!owner_users(pid, users))
		return owner;
	owner.user = users[1];
	owner.is_own = true;
	for (size_t i = 0; i < 4; i++)
		owner.is_own &= users[i] == 0 || users[i] == geteuid();
	snprintf(process, sizeof(process), "%u", (unsigned int)pid);
	owner_mounts(process, mounts);
	owner_mounts("self", own);
	owner.is_own &= *own && strcmp(mounts, own) == 0;
	/*
	 * Users of a container are 65,536 in a row, and all of them are one who can have that many (subuid(5)). Where they are those of the
	 * host, as root is, containers differ by their mounts.
	 */
	if (users[0] == 0)
		owner.place =
		    hash_fold(hash_bytes((const uint8_t *)mounts, strlen(mounts)));
	else
		owner.place = users[0] < 65536 ? users[0] : (users[0] >> 16) * 37;
	owner.place %= OWNERS;
	return owner;
}

uint64_t spent_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool spent_may(struct spent *spent, const struct owner *owner)
{
	uint64_t now = spent_now();

	if (!spent->since)
		spent->since = now;
	return spent->ns[owner->place] < SPENT_FREE + (now - spent->since) / 20;
}

void spent_add(
    struct spent *spent, const struct owner *owner, uint64_t start, bool for_nothing)
{
	spent->ns[owner->place] += (spent_now() - start) * (for_nothing ? 8 : 1);
}
