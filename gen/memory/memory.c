/* SPDX-License-Identifier: MIT */
/* Stretches of memory, and bytes of them. */
#include "gen/memory/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "base/vec.h"

bool memory_add_range(struct memory *memory, const struct memory_range *range)
{
	if (!vec_reserve(&memory->ranges, &memory->cap_ranges, memory->n_ranges + 1))
		return false;
	memory->ranges[memory->n_ranges++] = *range;
	return true;
}

bool memory_add_name(struct memory *memory, uint64_t start, uint64_t end, uint64_t offset,
    const char *name)
{
	char *copy;

	if (!vec_reserve(&memory->names, &memory->cap_names, memory->n_names + 1))
		return false;
	copy = strdup(name);
	if (!copy)
		return false;
	memory->names[memory->n_names++] = (struct memory_name){start, end, offset, copy};
	return true;
}

/* Both lists ascend, and nothing in them overlaps. */
const struct memory_range *memory_range_at(const struct memory *memory, uint64_t addr)
{
	size_t i = search_list_above(memory->ranges, memory->n_ranges, end, addr);

	return i < memory->n_ranges && memory->ranges[i].start <= addr
		   ? &memory->ranges[i]
		   : NULL;
}

const struct memory_name *memory_name_at(const struct memory *memory, uint64_t addr)
{
	size_t i = search_list_above(memory->names, memory->n_names, end, addr);

	return i < memory->n_names && memory->names[i].start <= addr ? &memory->names[i]
								     : NULL;
}

uint64_t memory_have(const struct memory *memory, uint64_t addr, uint64_t size)
{
	uint64_t n = 0;

	while (n < size && addr <= UINT64_MAX - n) {
		const struct memory_range *range = memory_range_at(memory, addr + n);
		uint64_t into = range ? addr + n - range->start : 0;

		if (!range || into >= range->have)
			break;
		n += range->have - into < size - n ? range->have - into : size - n;
	}
	return n;
}

uint64_t memory_lack(const struct memory *memory, uint64_t addr, uint64_t size)
{
	size_t i = search_list_above(memory->ranges, memory->n_ranges, end, addr);

	for (; i < memory->n_ranges; i++) {
		const struct memory_range *range = &memory->ranges[i];

		if (range->start > addr && range->start - addr >= size)
			break;
		if (range->have && range->start + range->have > addr)
			return range->start > addr ? range->start - addr : 0;
	}
	return size;
}

static bool memory_say_ended(struct err *err)
{
	return err_set(err, ERR_IO,
	    "the process has ended meanwhile; name one that runs, or a core file of it "
	    "with "
	    "--core");
}

/* Linux reads no bytes, and names no error, where a process had its memory. */
bool memory_ended(const struct memory *memory, struct err *err)
{
	uint8_t byte;

	return memory->fd >= 0 && memory->n_ranges &&
	       pread(memory->fd, &byte, 1, (off_t)memory->ranges[0].start) == 0 &&
	       !memory_say_ended(err);
}

static bool memory_pread(
    int fd, uint64_t addr, uint8_t *to, uint64_t size, struct err *err)
{
	while (size) {
		ssize_t n = pread(fd, to, size, (off_t)addr);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			return memory_say_ended(err);
		if (n < 0 && errno == EIO)
			return err_set(err, ERR_IO,
			    "memory at 0x%" PRIx64
			    " cannot be read: the process has unmapped it meanwhile, or "
			    "its file has become shorter",
			    addr);
		if (n < 0)
			return err_set_errno(
			    err, "cannot read memory at 0x%" PRIx64, addr);
		addr += (uint64_t)n;
		to += n;
		size -= (uint64_t)n;
	}
	return true;
}

bool memory_read(const struct memory *memory, uint64_t addr, uint8_t *to, uint64_t size,
    struct err *err)
{
	if (memory->fd >= 0)
		return memory_pread(memory->fd, addr, to, size, err);
	while (size) {
		const struct memory_range *range = memory_range_at(memory, addr);
		uint64_t into = range ? addr - range->start : 0, n;

		if (!range || into >= range->have)
			return err_set(err, ERR_INTERNAL,
			    "the core has no byte at 0x%" PRIx64, addr);
		n = range->have - into < size ? range->have - into : size;
		memcpy(to, memory->core.bytes + range->at + into, n);
		addr += n;
		to += n;
		size -= n;
	}
	return true;
}

void memory_close(struct memory *memory)
{
	if (memory->shown && memory->fd >= 0)
		close(memory->fd);
	image_unload(&memory->core);
	for (size_t i = 0; i < memory->n_names; i++)
		free(memory->names[i].name);
	for (size_t i = 0; i < memory->n_images; i++)
		free(memory->images[i].name);
	free(memory->names);
	free(memory->ranges);
	free(memory->images);
	free(memory->shown);
	free(memory->root);
	*memory = (struct memory){.fd = -1};
}
