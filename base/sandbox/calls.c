/* SPDX-License-Identifier: MIT */
/* The filter of system calls (filter.c made it), for this process. */
#include "base/sandbox/sandbox.h"

#include "config.h"

#if EH2SFRAME_SECCOMP

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "base/sandbox/filter.h"

static const struct sock_filter all[] = {
#include "sandbox_filter.inc"
};
static const struct sock_filter changing[] = {
#include "sandbox_filter_reads.inc"
};
enum {
	SIZE = sizeof(all) / sizeof(*all),
	SIZE_CHANGING = sizeof(changing) / sizeof(*changing)
};

static int calls_limit(const struct sock_filter *filter, unsigned short n)
{
	const struct sock_fprog program = {n, (struct sock_filter *)(uintptr_t)filter};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? errno : 0;
}

int sandbox_limit_calls(bool reads)
{
	struct sock_filter own[SIZE];
	int why = reads ? calls_limit(changing, SIZE_CHANGING) : 0;

	memcpy(own, all, sizeof(own));
	for (size_t i = 0; i < SIZE; i++)
		if (own[i].k == SANDBOX_OWN_PID)
			own[i].k = (uint32_t)getpid();
	return why ? why : calls_limit(own, SIZE);
}

#else

int sandbox_limit_calls(bool reads)
{
	(void)reads;
	return SANDBOX_NOT_BUILT;
}

#endif
