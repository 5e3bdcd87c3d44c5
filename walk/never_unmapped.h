/* SPDX-License-Identifier: MIT */
/* Tells which of the mapped files can never be unmapped. */
#ifndef WALK_NEVER_UNMAPPED_H
#define WALK_NEVER_UNMAPPED_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554
#endif

/* True if a segment that can be read has all bytes of an entry. */
static inline bool walk_is_readable(
    const Elf64_Phdr *headers, size_t n, const Elf64_Phdr *own)
{
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *load = &headers[i];
		uint64_t offset = own->p_vaddr - load->p_vaddr;

		if (load->p_type == PT_LOAD && load->p_flags & PF_R &&
		    offset <= load->p_filesz && own->p_filesz <= load->p_filesz - offset)
			return true;
	}
	return false;
}

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
 * Sets stays for each file that a file with stays needs, and so on.
 */
void walk_files_follow(struct walk_file *files, size_t n);

#endif
