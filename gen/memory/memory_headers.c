/* SPDX-License-Identifier: MIT */
#include "gen/memory/memory_headers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rd.h"

/* Offsets in the ELF header. */
enum {
	EHDR_SIZE = 64,
	EHDR_PHOFF = 32,
	EHDR_SHOFF = 40,
	EHDR_PHNUM = 56,
	EHDR_SHNUM = 60,
	EHDR_SHSTRNDX = 62,
	PHDR_SIZE = 56,
};

/* No loader maps pages that are larger. */
enum { HEADERS_MAX_PAGE = 65536 };
/* Linux loads no program with more. */
enum { HEADERS_MAX_TABLE = 65536 };

/* The number of program headers. The fields that lead out of these bytes become 0. */
static uint16_t headers_detach(struct memory_headers *headers, uint8_t *ehdr)
{
	const bool big = ehdr[EI_DATA] == ELFDATA2MSB;
	struct rd rd;
	uint16_t phnum;

	rd_init(&rd, ehdr, EHDR_SIZE, big);
	rd.pos = EHDR_PHOFF;
	headers->phoff = rd_u64(&rd);
	headers->shoff = rd_u64(&rd);
	rd.pos = EHDR_PHNUM;
	phnum = rd_u16(&rd);
	rd.pos = EHDR_SHNUM;
	headers->shnum = rd_u16(&rd);
	headers->shstrndx = rd_u16(&rd);
	memset(ehdr + EHDR_PHOFF, 0, 16);
	ehdr[EHDR_PHOFF + (big ? 7 : 0)] = EHDR_SIZE;
	memset(ehdr + EHDR_SHNUM, 0, 4);
	return phnum;
}

static bool headers_bytes(const struct memory *memory, uint64_t base,
    struct memory_headers *headers, struct err *err)
{
	struct wr *bytes = &headers->bytes;
	uint16_t phnum = 0;
	uint64_t size;
	uint8_t *at;

	if (memory_have(memory, base, EHDR_SIZE) < EHDR_SIZE)
		return err_set(err, ERR_UNSUPPORTED,
		    "%.300s has no bytes at 0x%" PRIx64
		    ", where the ELF header was; name the file itself, or set bit 4 "
		    "of coredump_filter (core(5)) before a core file is written",
		    memory->shown, base);
	at = wr_expect(bytes, EHDR_SIZE + HEADERS_MAX_TABLE);
	if (!at)
		return err_set_nomem(err);
	if (!memory_read(memory, base, at, EHDR_SIZE, err))
		return false;
	if (memcmp(at, ELFMAG, SELFMAG) == 0 && at[EI_CLASS] == ELFCLASS64)
		phnum = headers_detach(headers, at);
	size = (uint64_t)phnum * PHDR_SIZE;
	if (size > HEADERS_MAX_TABLE)
		return err_set(err, ERR_LIMIT,
		    "%u program headers at 0x%" PRIx64 " are more than Linux loads",
		    phnum, base);
	if (size && (headers->phoff > UINT64_MAX - base ||
			memory_have(memory, base + headers->phoff, size) < size))
		return err_set(err, ERR_MALFORMED,
		    "the program header table (%u entries at 0x%" PRIx64 " + 0x%" PRIx64
		    ") cannot be read",
		    phnum, base, headers->phoff);
	if (!memory_read(memory, base + headers->phoff, at + EHDR_SIZE, size, err))
		return false;
	wr_end(bytes, at + EHDR_SIZE + size);
	return true;
}

/* Loaders rely on this order. It also bounds the sum of the segments by what is mapped. The same byte of a
 * file can be mapped often: see memory_weight.h. */
static bool headers_ascend(const struct image *head, struct err *err)
{
	uint64_t end = 0;
	size_t last = 0;

	for (size_t i = 0; i < head->n_phdrs; i++) {
		const GElf_Phdr *phdr = &head->phdrs[i];

		if (phdr->p_type != PT_LOAD)
			continue;
		if (phdr->p_filesz > phdr->p_memsz ||
		    phdr->p_memsz > UINT64_MAX - phdr->p_vaddr ||
		    phdr->p_filesz > UINT64_MAX - phdr->p_offset)
			return err_set(err, ERR_MALFORMED,
			    "program header %zu: 0x%" PRIx64 " bytes at 0x%" PRIx64
			    ", 0x%" PRIx64 " of them at offset 0x%" PRIx64
			    " of the file: not possible",
			    i, phdr->p_memsz, phdr->p_vaddr, phdr->p_filesz,
			    phdr->p_offset);
		if (phdr->p_vaddr < end)
			return err_set(err, ERR_MALFORMED,
			    "program header %zu: its address 0x%" PRIx64
			    " is not behind the end of segment %zu (0x%" PRIx64 ")",
			    i, phdr->p_vaddr, last, end);
		end = phdr->p_vaddr + phdr->p_memsz;
		last = i;
	}
	return true;
}

/* The segment that has the ELF header says how far the image was moved. */
static bool headers_place(struct memory_headers *headers, uint64_t base, struct err *err)
{
	const struct image *head = &headers->head;
	const GElf_Phdr *first = NULL;

	if (head->ehdr.e_type == ET_REL)
		return err_set(err, ERR_UNSUPPORTED,
		    "a relocatable object at 0x%" PRIx64 " is not what a loader maps",
		    base);
	for (size_t i = 0; i < head->n_phdrs; i++)
		if (head->phdrs[i].p_type == PT_LOAD &&
		    (!first || head->phdrs[i].p_offset < first->p_offset))
			first = &head->phdrs[i];
	if (!first || first->p_offset >= HEADERS_MAX_PAGE)
		return err_set(err, ERR_UNSUPPORTED,
		    "no segment has the ELF header, so its place in memory is not known");
	headers->bias = base - (first->p_vaddr - first->p_offset);
	return (head->ehdr.e_type != ET_EXEC || headers->bias == 0) ||
	       err_set(err, ERR_UNSUPPORTED,
		   "mapped at 0x%" PRIx64 ", and not at its address 0x%" PRIx64, base,
		   first->p_vaddr - first->p_offset);
}

bool memory_headers_read(const struct memory *memory, uint64_t base,
    struct memory_headers *headers, struct err *err)
{
	struct image_from from = {.name = memory->shown, .fd = -1};

	*headers = (struct memory_headers){.head = {.fd = -1}};
	if (headers_bytes(memory, base, headers, err)) {
		from.bytes = headers->bytes.data;
		from.size = headers->bytes.size;
		if (image_load(&from, &headers->head, err) &&
		    headers_ascend(&headers->head, err) &&
		    headers_place(headers, base, err))
			return true;
	}
	memory_headers_deinit(headers);
	return false;
}

void memory_headers_deinit(struct memory_headers *headers)
{
	image_unload(&headers->head);
	wr_deinit(&headers->bytes);
	*headers = (struct memory_headers){.head = {.fd = -1}};
}
