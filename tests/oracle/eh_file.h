/* SPDX-License-Identifier: MIT */
/* For tests: the CFI section of an ELF file, found with libelf, and what its machine is.
 */
#ifndef TESTS_ORACLE_EH_FILE_H
#define TESTS_ORACLE_EH_FILE_H

#include <stdbool.h>

#include "cfi/interp.h"
#include "cfi/section.h"

struct eh_file {
	struct cfi_section section; /* borrows from elf */
	struct cfi_machine machine;
	int e_machine; /* EM_* */
	void *elf;     /* libelf's handle */
	int fd;
};

/*
 * Opens path; the section is .cfi_bytes (vectors that no linker may touch) or .eh_frame.
 * False, silently, when path is no 64-bit ELF file of a known machine with such a
 * section.
 */
bool eh_file_open(const char *path, struct eh_file *file);
void eh_file_close(struct eh_file *file);

/* The machine called name ("x86-64", "aarch64", "s390x"); false for others. */
bool eh_machine(const char *name, struct cfi_machine *machine);

#endif
