/* SPDX-License-Identifier: MIT */
/* The filter of system calls (filter.c made it), for this process. */
#include "base/sandbox/sandbox.h"

#include "config.h"

#if EH2SFRAME_SECCOMP

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/sandbox/filter.h"

static const struct sock_filter filter[] = {
#include "sandbox_filter.inc"
};
enum { FILTER_SIZE = sizeof(filter) / sizeof(filter[0]) };

int sandbox_limit_calls(void)
{
	struct sock_filter own[FILTER_SIZE];
	const struct sock_fprog program = {FILTER_SIZE, own};

	memcpy(own, filter, sizeof(own));
	for (size_t i = 0; i < FILTER_SIZE; i++)
		if (own[i].k == SANDBOX_OWN_PID)
			own[i].k = (uint32_t)getpid();
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? errno : 0;
}

#else

int sandbox_limit_calls(void)
{
	return SANDBOX_NOT_BUILT;
}

#endif
