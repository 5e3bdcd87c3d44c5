/* SPDX-License-Identifier: MIT */
/*
 * Files that dlclose can unmap. No table has them, because a table would be wrong from the
 * moment of an unmapping. Each walk asks the loader, without a lock, for the file that has a
 * PC, and reads its headers in memory.
 */
#include <elf.h>
#include <string.h>

#include "walk/never_unmapped.h"
#include "walk/opened.h"
#include "walk/process.h"
#include "walk/stack.h"

/* The beginning of glibc's struct dl_find_object, with room for what it adds. */
struct found {
	unsigned long long flags;
	void *start, *end;
	void *rest[24];
};

/* glibc from 2.35 on; the loader's list of 2 tables and a version. */
int walk_find_object(void *pc, struct found *found) __asm__("_dl_find_object")
    __attribute__((weak));

/* A header table is never longer than this. */
enum { MOST_HEADERS = 64 };

struct image {
	uint64_t start, end; /* all of the file in memory */
	uint64_t bias;
	const Elf64_Phdr *headers;
	size_t n_headers;
};

/*
 * The program headers. Their place in memory follows from that in the file only where the
 * first segment has them; other files are found again after a refresh keeps them.
 */
static bool read_headers(struct image *image)
{
	const Elf64_Ehdr *elf = (const Elf64_Ehdr *)(uintptr_t)image->start;
	const Elf64_Phdr *load = NULL;
	uint64_t size = image->end - image->start;

	if (size < sizeof(*elf) ||
	    !walk_stack_readable_range(image->start, sizeof(*elf)) ||
	    memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
	    elf->e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->e_phentsize != sizeof(Elf64_Phdr) || elf->e_phnum == 0 ||
	    elf->e_phnum > MOST_HEADERS || elf->e_phoff >= size ||
	    elf->e_phnum * sizeof(Elf64_Phdr) > size - elf->e_phoff ||
	    elf->e_phoff % _Alignof(Elf64_Phdr) != 0)
		return false;
	image->n_headers = elf->e_phnum;
	if (!walk_stack_readable_range(
		image->start + elf->e_phoff, image->n_headers * sizeof(Elf64_Phdr)))
		return false;
	image->headers = (const Elf64_Phdr *)(uintptr_t)(image->start + elf->e_phoff);
	for (size_t i = 0; i < image->n_headers && !load; i++)
		if (image->headers[i].p_type == PT_LOAD)
			load = &image->headers[i];
	if (!load || load->p_offset != 0)
		return false;
	image->bias = image->start - load->p_vaddr;
	return true;
}

/* True if the header's bytes are in the file's memory; sets where. */
static bool walk_place_of(
    const struct image *image, const Elf64_Phdr *header, uint64_t *start, uint64_t *end)
{
	*start = image->bias + header->p_vaddr;
	*end = *start + header->p_memsz;
	return *start >= image->start && *end >= *start && *end <= image->end;
}

enum eh2sframe_walk_why walk_loaded_find(struct walk_range *code, uint64_t pc)
{
	struct found found;
	struct image image;
	const Elf64_Phdr *own = NULL;
	uint64_t start, end, code_start = 0, code_end = 0;

	if (!walk_find_object || walk_find_object((void *)(uintptr_t)pc, &found) != 0)
		return EH2SFRAME_WALK_WHY_NO_MODULE;
	image.start = (uintptr_t)found.start;
	image.end = (uintptr_t)found.end;
	if (!read_headers(&image))
		return EH2SFRAME_WALK_WHY_NO_ROW;
	for (size_t i = 0; i < image.n_headers; i++) {
		const Elf64_Phdr *header = &image.headers[i];

		if (header->p_type == PT_GNU_SFRAME)
			own = header;
		else if (header->p_type == PT_LOAD && (header->p_flags & PF_X) &&
			 walk_place_of(&image, header, &start, &end) && pc >= start &&
			 pc < end) {
			code_start = start;
			code_end = end;
		}
	}
	if (!own || !code_end || !walk_place_of(&image, own, &start, &end) ||
	    !walk_is_readable(image.headers, image.n_headers, own) ||
	    !walk_open(code->section, (const void *)(uintptr_t)start, own->p_filesz,
		start, code_start, code_end, true))
		return EH2SFRAME_WALK_WHY_NO_ROW;
	walk_opening(code->section)->id =
	    0; /* no rule in the cache: this code can go away */
	code->start = code_start;
	code->end = code_end;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}
