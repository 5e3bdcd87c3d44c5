/* SPDX-License-Identifier: MIT */
/*
 * A hook for eh2sframe_walk_on_module that makes rows by libeh2sframe, so that no file has to
 * be converted. A program that includes this links both libraries:
 *
 *     eh2sframe_walk_on_module(eh2sframe_walk_rows, NULL);
 *     eh2sframe_walk_init(memory, sizeof(memory));
 *
 * The conversion of a file takes milliseconds, and of the largest libraries a second. The rows
 * stay in memory until the process ends.
 */
#ifndef EH2SFRAME_WALK_ROWS_H
#define EH2SFRAME_WALK_ROWS_H

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eh2sframe-walk.h"
#include "eh2sframe.h"

/* The numbers of places are the same in both headers. */
static inline struct eh2sframe_walk_location eh2sframe_walk_rows_location(
    const struct eh2sframe_location *location)
{
	struct eh2sframe_walk_location made;

	made.place = (uint8_t)location->place;
	made.reg = (uint8_t)location->reg;
	made.offset = (int32_t)location->offset;
	return made;
}

/* What CFI says and version 3 cannot. false: the module has no room for it. */
static inline bool eh2sframe_walk_rows_extra(
    const struct eh2sframe_result *result, struct eh2sframe_walk_module *module)
{
	struct eh2sframe_walk_extra *extra;
	struct eh2sframe_rule rule;
	size_t n = 0, i;

	rule.struct_size = sizeof(rule);
	while (eh2sframe_result_rule(result, n, &rule))
		n++;
	extra = n > 0 ? (struct eh2sframe_walk_extra *)calloc(n, sizeof(*extra)) : NULL;
	if (!extra)
		return n == 0;
	for (i = 0; i < n && eh2sframe_result_rule(result, i, &rule); i++) {
		extra[i].start = rule.start;
		extra[i].end = rule.end;
		extra[i].rule.cfa = eh2sframe_walk_rows_location(&rule.cfa);
		extra[i].rule.cfa_add = rule.cfa_add;
		extra[i].rule.cfa_index = (uint8_t)rule.index;
		extra[i].rule.cfa_shift = (uint8_t)rule.shift;
		if (rule.flags & EH2SFRAME_RULE_INDEXED)
			extra[i].rule.cfa.place = EH2SFRAME_WALK_AT_SUM;
		extra[i].rule.ra = eh2sframe_walk_rows_location(&rule.ra);
		extra[i].rule.fp = eh2sframe_walk_rows_location(&rule.fp);
		if (rule.flags & EH2SFRAME_RULE_OUTERMOST)
			extra[i].rule.flags |= EH2SFRAME_WALK_RULE_OUTERMOST;
		if (rule.flags & EH2SFRAME_RULE_SIGNAL_FRAME)
			extra[i].rule.flags |= EH2SFRAME_WALK_RULE_SIGNAL;
		if (rule.flags & EH2SFRAME_RULE_SIGNED)
			extra[i].rule.flags |= EH2SFRAME_WALK_RULE_SIGNED;
		if (rule.flags & EH2SFRAME_RULE_KEY_B)
			extra[i].rule.flags |= EH2SFRAME_WALK_RULE_KEY_B;
	}
	module->extra = extra;
	module->n_extra = i;
	return true;
}

/* Converts the bytes of a file, in version 3: it can say more than the others. */
static inline bool eh2sframe_walk_rows_convert(
    const void *elf, size_t size, struct eh2sframe_walk_module *module)
{
	struct eh2sframe_options *options = eh2sframe_options_new();
	struct eh2sframe_file *file = NULL;
	struct eh2sframe_result *result = NULL;
	void *bytes = NULL;

	if (options && eh2sframe_options_set(options, "format", "3", NULL))
		file = eh2sframe_open_memory(elf, size, module->path, options, NULL);
	if (file)
		result = eh2sframe_convert(file, NULL);
	/* Version 3 reaches code from any address. */
	if (result && eh2sframe_walk_rows_extra(result, module) &&
	    eh2sframe_result_section(result, 0, &bytes, &module->size, NULL)) {
		module->bytes = bytes;
		module->address = 0;
	}
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	eh2sframe_options_free(options);
	return bytes != NULL;
}

/* Whether the file is still the one that is mapped, and was not replaced since: its headers
 * are the same, and its notes, which have a hash of all of it. */
static inline bool eh2sframe_walk_rows_is_mapped(
    const void *elf, size_t size, const struct eh2sframe_walk_module *module)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)module->header;
	const Elf64_Phdr *note;
	size_t n, i;

	if (size < sizeof(*header) || memcmp(elf, header, sizeof(*header)) != 0)
		return false;
	n = header->e_phnum * sizeof(*note);
	if (header->e_phoff > size || n > size - header->e_phoff)
		return false;
	note = (const Elf64_Phdr *)((const char *)elf + header->e_phoff);
	if (memcmp(note, module->headers, n) != 0)
		return false;
	for (i = 0; i < header->e_phnum; i++, note++)
		if (note->p_type == PT_NOTE &&
		    (note->p_offset > size || note->p_filesz > size - note->p_offset ||
			memcmp((const char *)elf + note->p_offset,
			    (const char *)(uintptr_t)(module->bias + note->p_vaddr),
			    note->p_filesz) != 0))
			return false;
	return true;
}

static inline bool eh2sframe_walk_rows(
    void *context, struct eh2sframe_walk_module *module)
{
	const char *path = *module->path ? module->path : "/proc/self/exe";
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)module->header;
	struct stat status;
	void *elf;
	bool made = false;
	int fd;

	(void)context;
	if (!strchr(path, '/')) /* the vDSO: no file has it, and all of it is in memory */
		return eh2sframe_walk_rows_convert(header,
		    header->e_shoff + (size_t)header->e_shnum * header->e_shentsize,
		    module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		elf = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (elf != MAP_FAILED) {
			made = eh2sframe_walk_rows_is_mapped(
				   elf, (size_t)status.st_size, module) &&
			       eh2sframe_walk_rows_convert(
				   elf, (size_t)status.st_size, module);
			munmap(elf, (size_t)status.st_size);
		}
	}
	close(fd);
	return made;
}

#endif
