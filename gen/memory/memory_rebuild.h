/* SPDX-License-Identifier: MIT */
/* A file on its way from an image in memory. */
#ifndef GEN_MEMORY_MEMORY_REBUILD_H
#define GEN_MEMORY_MEMORY_REBUILD_H

#include "gen/memory/memory_headers.h"

struct memory_rebuild {
	const struct memory *memory;
	const struct memory_image *of;
	struct memory_headers headers;
	/* The file: a mapping, of which only what was written takes memory. */
	uint8_t *map;
	size_t size;
	/* What memory does not have; ascending. */
	struct memory_hole {
		uint64_t addr, size; /* the file's own address */
		uint64_t offset;     /* in the file */
	} * holes;
	size_t n_holes, cap_holes;
	uint64_t memory_bytes; /* what it had */
	uint64_t rest;	       /* bytes that are from the file */
	struct image disk;     /* the image's file, open; zeroed: none */
	bool whole;	       /* its headers are the same, so all else is */
	char *path;	       /* of it; owned; NULL: the image has no file */
	struct err why;	       /* why it is not used */
};

/* Opens the file of the image below root if it is of the same build. false without memory. */
ATTR_MUST_CHECK bool memory_disk_open(
    struct memory_rebuild *rebuild, const char *root, struct err *err);
/* Takes from the file what memory does not have. */
ATTR_MUST_CHECK bool memory_disk_fill(struct memory_rebuild *rebuild, struct err *err);
/* Puts the file in the place of map, with the bytes of memory that are not written to at run
 * time. */
ATTR_MUST_CHECK bool memory_disk_whole(struct memory_rebuild *rebuild, struct err *err);

#endif
