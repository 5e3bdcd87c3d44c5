/* SPDX-License-Identifier: MIT */
/* Core files: program headers say what memory was, the notes NT_FILE and NT_AUXV what is called what. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "base/search.h"
#include "gen/memory/memory.h"

enum { CORE_NT_FILE = 0x46494c45, CORE_AT_SYSINFO_EHDR = 33 };

static bool core_segment(struct memory *memory, size_t i, struct err *err)
{
	const GElf_Phdr *phdr = &memory->core.phdrs[i];
	struct memory_range range = {.start = phdr->p_vaddr,
	    .end = phdr->p_vaddr + phdr->p_memsz,
	    .at = phdr->p_offset,
	    .executable = phdr->p_flags & PF_X};

	if (phdr->p_type != PT_LOAD || phdr->p_memsz == 0)
		return true;
	if (phdr->p_memsz > UINT64_MAX - phdr->p_vaddr || phdr->p_filesz > phdr->p_memsz)
		return err_set(err, ERR_MALFORMED,
		    "program header %zu: 0x%" PRIx64 " bytes at 0x%" PRIx64 ", 0x%" PRIx64
		    " of them in the file: not possible",
		    i, phdr->p_memsz, phdr->p_vaddr, phdr->p_filesz);
	/* A limit, or a full disk, has cut off the end. */
	if (phdr->p_offset < memory->core.size)
		range.have = memory->core.size - phdr->p_offset < phdr->p_filesz
				 ? memory->core.size - phdr->p_offset
				 : phdr->p_filesz;
	return memory_add_range(memory, &range) || err_set_nomem(err);
}

/* Images are no more than the ranges, so the ranges must be no more than the file. */
static bool core_in_file(const struct memory *memory, struct err *err)
{
	uint64_t left = memory->core.size;

	for (size_t i = 0; i < memory->n_ranges; i++) {
		if (memory->ranges[i].have > left)
			return err_set(err, ERR_MALFORMED,
			    "program headers: the segments have more bytes than the file "
			    "(0x%zx), so several have the same bytes",
			    memory->core.size);
		left -= memory->ranges[i].have;
	}
	return true;
}

static bool core_segments(struct memory *memory, struct err *err)
{
	for (size_t i = 0; i < memory->core.n_phdrs; i++)
		if (!core_segment(memory, i, err))
			return false;
	if (memory->n_ranges == 0)
		return err_set(err, ERR_MALFORMED,
		    "%zu program headers, and no memory in them (PT_LOAD)",
		    memory->core.n_phdrs);
	qsort(memory->ranges, memory->n_ranges, sizeof(*memory->ranges), search_order);
	for (size_t i = 1; i < memory->n_ranges; i++)
		if (memory->ranges[i].start < memory->ranges[i - 1].end)
			return err_set(err, ERR_MALFORMED,
			    "program headers: two segments have the address 0x%" PRIx64,
			    memory->ranges[i].start);
	return core_in_file(memory, err);
}

/* One mapping of NT_FILE: its numbers are next in rd, its name in names. */
static bool core_mapping(struct memory *memory, struct rd *rd, struct rd *names,
    uint64_t page, struct err *err)
{
	uint64_t start = rd_u64(rd), end = rd_u64(rd), pages = rd_u64(rd), offset;
	const char *name = rd_cstr(names);

	if (!name)
		return err_set(err, ERR_MALFORMED, "it ends in the middle of a name");
	if (start >= end || __builtin_mul_overflow(pages, page, &offset))
		return err_set(err, ERR_MALFORMED,
		    "0x%" PRIx64 " to 0x%" PRIx64 ", page %" PRIu64
		    " of a file: a mapping must have bytes, and an offset that fits",
		    start, end, pages);
	return memory_add_name(memory, start, end, offset, name) || err_set_nomem(err);
}

/* The number of mappings, the size of a page, three numbers for each, and then the names. */
static bool core_files(
    struct memory *memory, const struct image_note *note, struct err *err)
{
	uint64_t n, page;
	struct rd rd, names;

	rd_init(&rd, note->desc, note->size, memory->core.big_endian);
	n = rd_u64(&rd);
	page = rd_u64(&rd);
	names = rd;
	if (rd.failed || n > (note->size - rd.pos) / 24)
		return err_set(err, ERR_MALFORMED,
		    "%" PRIu64 " mappings do not fit in its 0x%zx bytes", n, note->size);
	rd_skip(&names, n * 24);
	for (uint64_t i = 0; i < n; i++)
		if (!core_mapping(memory, &rd, &names, page, err))
			return err->kind == ERR_NOMEM
				   ? false
				   : err_prefix(err, "mapping %" PRIu64, i);
	return true;
}

/* The auxiliary vector says where [vdso] is. */
static bool core_vdso(
    struct memory *memory, const struct image_note *note, struct err *err)
{
	struct rd rd;

	rd_init(&rd, note->desc, note->size, memory->core.big_endian);
	while (!rd_at_end(&rd)) {
		uint64_t type = rd_u64(&rd), value = rd_u64(&rd);
		const struct memory_range *range;

		if (rd.failed || type == AT_NULL)
			break;
		range =
		    type == CORE_AT_SYSINFO_EHDR ? memory_range_at(memory, value) : NULL;
		if (range && range->start == value)
			return memory_add_name(
				   memory, range->start, range->end, 0, "[vdso]") ||
			       err_set_nomem(err);
	}
	return true;
}

static bool core_notes(struct memory *memory, size_t i, struct err *err)
{
	const GElf_Phdr *phdr = &memory->core.phdrs[i];
	struct image_note note;
	struct rd rd;

	if (!num_range_inside(phdr->p_offset, phdr->p_filesz, memory->core.size))
		return err_set(err, ERR_MALFORMED,
		    "PT_NOTE (program header %zu, 0x%" PRIx64
		    " bytes at offset 0x%" PRIx64
		    ") reaches past the end of the file (0x%zx): truncated or damaged",
		    i, phdr->p_filesz, phdr->p_offset, memory->core.size);
	rd_init(&rd, memory->core.bytes + phdr->p_offset, (size_t)phdr->p_filesz,
	    memory->core.big_endian);
	while (image_note_next(&rd, &note)) {
		if (image_note_is(&note, "CORE", CORE_NT_FILE) &&
		    !core_files(memory, &note, err))
			return err->kind == ERR_NOMEM
				   ? false
				   : err_prefix(err, "NT_FILE at offset 0x%" PRIx64,
					 phdr->p_offset + note.off);
		if (image_note_is(&note, "CORE", NT_AUXV) &&
		    !core_vdso(memory, &note, err))
			return false;
	}
	return !rd.failed ||
	       err_set(err, ERR_MALFORMED,
		   "PT_NOTE (program header %zu): the note at offset 0x%" PRIx64
		   " reaches past the end",
		   i, phdr->p_offset + rd.fail_off);
}

static bool core_names(struct memory *memory, struct err *err)
{
	for (size_t i = 0; i < memory->core.n_phdrs; i++)
		if (memory->core.phdrs[i].p_type == PT_NOTE &&
		    !core_notes(memory, i, err))
			return false;
	if (memory->n_names)
		qsort(
		    memory->names, memory->n_names, sizeof(*memory->names), search_order);
	for (size_t i = 1; i < memory->n_names; i++)
		if (memory->names[i].start < memory->names[i - 1].end)
			return err_set(err, ERR_MALFORMED,
			    "NT_FILE: two mappings have the address 0x%" PRIx64,
			    memory->names[i].start);
	return true;
}

static bool core_open(
    const struct image_from *from, struct memory *memory, struct err *err)
{
	*memory = (struct memory){.fd = -1, .core = {.fd = -1}};
	if (asprintf(&memory->shown, "core %s", from->name) < 0) {
		memory->shown = NULL;
		return err_set_nomem(err);
	}
	if (image_load(from, &memory->core, err) && core_segments(memory, err) &&
	    core_names(memory, err) && memory_find_images(memory, err))
		return true;
	memory_close(memory);
	return false;
}

bool memory_open_core(const char *path, struct memory *memory, struct err *err)
{
	const struct image_from from = {.name = path, .fd = -1, .core = true};

	if (!core_open(&from, memory, err))
		return false;
	memory->root = strdup("");
	if (memory->root)
		return true;
	memory_close(memory);
	return err_set_nomem(err);
}

bool memory_open_core_bytes(const uint8_t *bytes, size_t size, const char *path,
    struct memory *memory, struct err *err)
{
	const struct image_from from = {
	    .name = path, .fd = -1, .core = true, .bytes = bytes, .size = size};

	/* No bytes would be a file of that name. */
	if (size == 0)
		return err_set(err, ERR_UNSUPPORTED, "not an ELF file: no bytes");
	return core_open(&from, memory, err);
}
