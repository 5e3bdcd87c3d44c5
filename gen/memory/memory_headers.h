/* SPDX-License-Identifier: MIT */
/* The headers of an image in memory. */
#ifndef GEN_MEMORY_MEMORY_HEADERS_H
#define GEN_MEMORY_MEMORY_HEADERS_H

#include "base/wr.h"
#include "gen/elf/image.h"
#include "gen/memory/memory.h"

struct memory_headers {
	/* The ELF header and the program headers behind it, as a file of their own; owned. The
	 * fields that the file has otherwise are here. */
	struct wr bytes;
	uint64_t phoff, shoff;
	uint16_t shnum, shstrndx;
	struct image head; /* what bytes are */
	uint64_t bias;	   /* address in memory less the file's own address */
};

/*
 * Reads them. ERR_UNSUPPORTED and ERR_MALFORMED are as of image_load, and where the image cannot
 * have been loaded here: segments that do not ascend, or are at other addresses.
 */
ATTR_MUST_CHECK bool memory_headers_read(const struct memory *memory, uint64_t base,
    struct memory_headers *headers, struct err *err);
void memory_headers_deinit(struct memory_headers *headers); /* accepts a zeroed struct */

#endif
