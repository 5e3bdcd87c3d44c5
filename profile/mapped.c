/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

const void *volatile profile_lost;
static uintptr_t page_size;

/* Puts a page of zeros there. mmap is a bare system call, which a signal handler may make on Linux. */
static void mapped_on_fault(int sig, siginfo_t *info, void *context)
{
	const uintptr_t page = (uintptr_t)info->si_addr & ~(page_size - 1);
	const int was = errno;

	(void)context;
	profile_lost = info->si_addr;
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)page, page_size, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(sig, SIG_DFL); /* The fault comes again, and ends the program. */
	errno = was;
}

void profile_survive_truncation(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO};

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	action.sa_sigaction = mapped_on_fault;
	sigaction(SIGBUS, &action, NULL);
}
