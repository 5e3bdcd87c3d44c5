/* SPDX-License-Identifier: MIT */
#include "profile/stacks/spent.h"

#include <time.h>

/* Debian's larger files take a second each, so a container's first minute is within it. */
#define SPENT_FREE (UINT64_C(20) * 1000000000)

uint64_t spent_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Users of a container are 65,536 in a row, and all of them are one who can have that many (subuid(5)). */
static uint64_t *spent_place(struct spent *spent, uid_t user)
{
	uint32_t owner = user < 65536 ? user : (user >> 16) * 37;

	return &spent->ns[owner % SPENT_OWNERS];
}

bool spent_may(struct spent *spent, uid_t user)
{
	uint64_t now = spent_now();

	if (!spent->since)
		spent->since = now;
	return *spent_place(spent, user) < SPENT_FREE + (now - spent->since) / 20;
}

void spent_add(struct spent *spent, uid_t user, uint64_t start)
{
	*spent_place(spent, user) += spent_now() - start;
}
