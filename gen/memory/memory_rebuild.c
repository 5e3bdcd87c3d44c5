/* SPDX-License-Identifier: MIT */
/* Makes a file of an image in memory. */
#include "gen/memory/memory_rebuild.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/num.h"
#include "base/rd.h"
#include "base/vec.h"
#include "gen/input/input.h"
#include "gen/memory/memory_weight.h"

/* At once, through a buffer: pages of zeros then take no memory. */
enum { REBUILD_CHUNK = 65536, REBUILD_PAGE = 4096 };
/* The kernel's [vdso] has its section headers behind the segment, on the same pages. */
enum { REBUILD_MAX_TAIL = 65536 };
enum { EHDR_SIZE = 64, SHDR_SIZE = 64, EHDR_SHOFF = 40, EHDR_SHNUM = 60 };
/* Larger than any program; sparse until something is written to it. */
#define REBUILD_MAX_SIZE (UINT64_C(1) << 40)
/* No program has as many bytes. A process maps zeros for nothing, and they take time to read. */
#define REBUILD_MAX_BYTES (UINT64_C(1) << 34)

/* How many bytes behind a segment the section header table ends that is mapped with it. */
static uint64_t rebuild_tail(const struct memory_rebuild *rebuild, size_t i)
{
	const struct memory_headers *headers = &rebuild->headers;
	const GElf_Phdr *phdr = &headers->head.phdrs[i];
	const uint64_t end = headers->bias + phdr->p_vaddr + phdr->p_filesz;
	const uint64_t table = (uint64_t)headers->shnum * SHDR_SIZE;
	const struct memory_range *range;
	uint64_t tail;

	if (phdr->p_flags & PF_W || phdr->p_memsz != phdr->p_filesz ||
	    phdr->p_filesz == 0 || table == 0 || headers->shoff < phdr->p_offset ||
	    headers->shoff > UINT64_MAX - table ||
	    headers->shoff + table <= phdr->p_offset + phdr->p_filesz)
		return 0;
	tail = headers->shoff + table - (phdr->p_offset + phdr->p_filesz);
	range = memory_range_at(rebuild->memory, end - 1);
	return range && tail <= REBUILD_MAX_TAIL && end - range->start <= range->have &&
		       tail <= range->have - (end - range->start)
		   ? tail
		   : 0;
}

/* Whether segments, with their tails, have these bytes of the file. */
static bool rebuild_has(
    const struct memory_rebuild *rebuild, uint64_t offset, uint64_t size)
{
	const struct image *head = &rebuild->headers.head;

	for (size_t i = 0; i < head->n_phdrs; i++) {
		const GElf_Phdr *phdr = &head->phdrs[i];

		if (phdr->p_type == PT_LOAD && offset >= phdr->p_offset &&
		    num_range_inside(offset - phdr->p_offset, size,
			phdr->p_filesz + rebuild_tail(rebuild, i)))
			return true;
	}
	return false;
}

static bool rebuild_make_room(struct memory_rebuild *rebuild, struct err *err)
{
	const struct memory_headers *headers = &rebuild->headers;
	const struct image *head = &headers->head;
	uint64_t size = headers->phoff + head->n_phdrs * sizeof(Elf64_Phdr), bytes = 0;
	void *map;

	for (size_t i = 0; i < head->n_phdrs; i++) {
		const GElf_Phdr *phdr = &head->phdrs[i];
		uint64_t end = phdr->p_offset + phdr->p_filesz;

		if (phdr->p_type != PT_LOAD)
			continue;
		if (end + rebuild_tail(rebuild, i) > size)
			size = end + rebuild_tail(rebuild, i);
		bytes += phdr->p_filesz;
	}
	if (size < EHDR_SIZE)
		size = EHDR_SIZE;
	if (size > REBUILD_MAX_SIZE || !num_size(size, &rebuild->size))
		return err_set(err, ERR_LIMIT,
		    "its program headers ask for a file of 0x%" PRIx64 " bytes", size);
	if (bytes > REBUILD_MAX_BYTES)
		return err_set(err, ERR_LIMIT,
		    "its segments have 0x%" PRIx64 " bytes, and no program has as many",
		    bytes);
	map = mmap(NULL, rebuild->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return err_set_errno(err, "cannot map 0x%zx bytes", rebuild->size);
	rebuild->map = map;
	return true;
}

static bool rebuild_hole(struct memory_rebuild *rebuild, const struct memory_hole *hole)
{
	if (!vec_reserve(&rebuild->holes, &rebuild->cap_holes, rebuild->n_holes + 1))
		return false;
	rebuild->holes[rebuild->n_holes++] = *hole;
	return true;
}

/* Reads bytes that are there. */
static bool rebuild_read(struct memory_rebuild *rebuild, uint64_t addr, uint64_t size,
    uint64_t offset, struct err *err)
{
	static const uint8_t zeros[REBUILD_PAGE];
	uint8_t *buffer = malloc(REBUILD_CHUNK);
	bool ok = buffer || err_set_nomem(err);

	while (ok && size) {
		size_t n = size < REBUILD_CHUNK ? (size_t)size : REBUILD_CHUNK;

		ok = memory_read(rebuild->memory, addr, buffer, n, err);
		for (size_t at = 0; ok && at < n; at += REBUILD_PAGE) {
			size_t some = n - at < REBUILD_PAGE ? n - at : REBUILD_PAGE;

			if (memcmp(buffer + at, zeros, some) != 0)
				memcpy(rebuild->map + offset + at, buffer + at, some);
		}
		addr += n;
		offset += n;
		size -= n;
	}
	free(buffer);
	return ok;
}

/* One segment: what memory has, and what it has not. */
static bool rebuild_segment(struct memory_rebuild *rebuild, size_t i, struct err *err)
{
	const GElf_Phdr *phdr = &rebuild->headers.head.phdrs[i];
	const uint64_t start = rebuild->headers.bias + phdr->p_vaddr;
	const uint64_t size = phdr->p_filesz + rebuild_tail(rebuild, i);

	for (uint64_t at = 0; at < size;) {
		uint64_t n = memory_have(rebuild->memory, start + at, size - at);

		if (!rebuild_read(rebuild, start + at, n, phdr->p_offset + at, err))
			return false;
		rebuild->memory_bytes += n;
		at += n;
		n = memory_lack(rebuild->memory, start + at, size - at);
		if (n && !rebuild_hole(rebuild, &(struct memory_hole){phdr->p_vaddr + at,
						    n, phdr->p_offset + at}))
			return err_set_nomem(err);
		at += n;
	}
	return true;
}

/* Headers first: no segment need have them. Section headers only where they are, with names. */
static bool rebuild_headers(struct memory_rebuild *rebuild, struct err *err)
{
	const struct memory_headers *headers = &rebuild->headers;
	const size_t table = headers->head.n_phdrs * sizeof(Elf64_Phdr);
	const uint64_t names = headers->shoff + (uint64_t)headers->shstrndx * SHDR_SIZE;
	Elf64_Shdr shdr;
	struct rd rd;

	if (!memory_read(
		rebuild->memory, rebuild->of->base, rebuild->map, EHDR_SIZE, err))
		return false;
	memcpy(rebuild->map + headers->phoff, headers->bytes.data + EHDR_SIZE, table);
	if (headers->shnum && headers->shstrndx < headers->shnum &&
	    rebuild_has(rebuild, headers->shoff, (uint64_t)headers->shnum * SHDR_SIZE)) {
		rd_init(&rd, rebuild->map + names, SHDR_SIZE, headers->head.big_endian);
		rd.pos = offsetof(Elf64_Shdr, sh_offset);
		shdr.sh_offset = rd_u64(&rd);
		shdr.sh_size = rd_u64(&rd);
		if (rebuild_has(rebuild, shdr.sh_offset, shdr.sh_size))
			return true;
	}
	memset(rebuild->map + EHDR_SHOFF, 0, 8);
	memset(rebuild->map + EHDR_SHNUM, 0, 4);
	return true;
}

/* Tags with an address of the image, which loaders move. */
static bool rebuild_is_pointer(int64_t tag)
{
	switch (tag) {
	case DT_PLTGOT:
	case DT_HASH:
	case DT_STRTAB:
	case DT_SYMTAB:
	case DT_RELA:
	case DT_REL:
	case DT_JMPREL:
	case DT_GNU_HASH:
	case DT_VERSYM:
		return true;
	default:
		return false;
	}
}

/* glibc moves the addresses in the dynamic section, where it can be written to. Moves them back. */
static void rebuild_dynamic(struct memory_rebuild *rebuild, uint64_t end)
{
	const struct image *head = &rebuild->headers.head;
	const GElf_Phdr *phdr = image_segment_find(head, PT_DYNAMIC);
	const uint64_t bias = rebuild->headers.bias;
	struct wr wr = {
	    .data = rebuild->map, .size = rebuild->size, .big_endian = head->big_endian};
	struct rd rd;

	if (!phdr || !bias || !rebuild_has(rebuild, phdr->p_offset, phdr->p_filesz))
		return;
	rd_init(
	    &rd, rebuild->map + phdr->p_offset, (size_t)phdr->p_filesz, head->big_endian);
	while (!rd_at_end(&rd)) {
		int64_t tag = rd_s64(&rd);
		uint64_t value = rd_u64(&rd);

		if (rd.failed || tag == DT_NULL)
			return;
		if (rebuild_is_pointer(tag) && value >= end && value - bias < end)
			wr_patch_u64(
			    &wr, (size_t)phdr->p_offset + rd.pos - 8, value - bias);
	}
}

/* What memory has. */
static bool rebuild_from_memory(struct memory_rebuild *rebuild, struct err *err)
{
	const struct image *head = &rebuild->headers.head;
	uint64_t end = 0;

	if (!memory_check_shared(rebuild->memory, &rebuild->headers, err) ||
	    !rebuild_make_room(rebuild, err))
		return false;
	for (size_t i = 0; i < head->n_phdrs; i++) {
		if (head->phdrs[i].p_type != PT_LOAD)
			continue;
		if (!rebuild_segment(rebuild, i, err))
			return false;
		end = head->phdrs[i].p_vaddr + head->phdrs[i].p_memsz;
	}
	if (!rebuild_headers(rebuild, err))
		return false;
	rebuild_dynamic(rebuild, end);
	return true;
}

static struct image_origin *rebuild_origin(const struct memory_rebuild *rebuild)
{
	struct image_origin *origin = calloc(1, sizeof(*origin));
	bool ok = origin;

	if (!ok)
		return NULL;
	origin->of = strdup(rebuild->memory->shown);
	origin->address = rebuild->of->base;
	origin->memory = rebuild->memory_bytes;
	ok = origin->of;
	if (rebuild->path) {
		origin->path = strdup(rebuild->path);
		ok = ok && origin->path;
	}
	if (rebuild->path && rebuild->why.kind) {
		origin->why_not = strdup(rebuild->why.text);
		ok = ok && origin->why_not;
	}
	origin->rest = rebuild->rest;
	if (ok)
		return origin;
	image_origin_free(origin);
	return NULL;
}

static bool rebuild_open(
    struct memory_rebuild *rebuild, const char *name, struct image *to, struct err *err)
{
	struct image_origin *origin = rebuild_origin(rebuild);
	void *map = rebuild->map;

	if (!origin || mprotect(map, rebuild->size, PROT_READ) < 0) {
		image_origin_free(origin);
		return err_set_nomem(err);
	}
	rebuild->map = NULL;
	if (!image_open_mapping(map, rebuild->size, name, to, err)) {
		image_origin_free(origin);
		return false;
	}
	to->origin = origin;
	return true;
}

bool memory_image_open(const struct memory *memory, const struct memory_image *of,
    const char *name, const char *root, struct image *to, struct err *err)
{
	struct memory_rebuild rebuild = {.memory = memory, .of = of, .disk = {.fd = -1}};
	bool ok = memory_headers_read(memory, of->base, &rebuild.headers, err) &&
		  rebuild_from_memory(&rebuild, err) &&
		  memory_disk_open(&rebuild, root ? root : memory->root, err) &&
		  memory_disk_fill(&rebuild, err) &&
		  (!rebuild.whole || memory_disk_whole(&rebuild, err)) &&
		  rebuild_open(&rebuild, name, to, err);

	if (rebuild.map)
		munmap(rebuild.map, rebuild.size);
	image_unload(&rebuild.disk);
	memory_headers_deinit(&rebuild.headers);
	free(rebuild.holes);
	free(rebuild.path);
	return ok;
}
