/* SPDX-License-Identifier: MIT */
/* Shared by the filter and the program that makes it. */
#ifndef BASE_SANDBOX_FILTER_H
#define BASE_SANDBOX_FILTER_H

/* Stands in the filter for the number of the process. No process has it: it is above the kernel's largest. */
#define SANDBOX_OWN_PID 0x5eaf00d5

#endif
