/* SPDX-License-Identifier: MIT */
/* Tells which of the mapped files can never be unmapped. */
#ifndef WALK_NEVER_UNMAPPED_H
#define WALK_NEVER_UNMAPPED_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A mapped file, as dl_iterate_phdr tells. */
struct walk_file {
	const char *path;
	uint64_t bias;
	const Elf64_Phdr *headers;
	size_t n_headers;
	bool stays, followed;
};

/* Returns the address of the dynamic section, or 0. */
uint64_t walk_file_dynamic(const struct walk_file *file);

/*
 * Sets stays for each file that a file with stays needs, and so on, and for those that say
 * of themselves that they are never unmapped.
 */
void walk_files_follow(struct walk_file *files, size_t n);

#endif
