/* SPDX-License-Identifier: MIT */
/* Functions of the kernel, from /proc/kallsyms. */
#ifndef PROFILE_RECORD_KERNEL_NAMES_H
#define PROFILE_RECORD_KERNEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_name {
	uint64_t address;
	const char *name, *module; /* in text */
};

/* Zeroed: it is read when the first address is looked up. */
struct kernel_names {
	bool tried;
	char *text;
	struct kernel_name *list;
	size_t n;
};

/* An unwinder_kernel_fn: context is a struct kernel_names. Without permission to see
 * addresses (kernel.kptr_restrict) names are NULL. */
void kernel_names_find(
    void *context, uint64_t address, const char **name, const char **module);
void kernel_names_free(struct kernel_names *names);

#endif
