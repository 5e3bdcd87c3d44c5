/* SPDX-License-Identifier: MIT */
/*
 * The memory of a running process, or of one that left a core file: what is mapped where, and
 * the ELF images in it. An image in memory is laid out by addresses. memory_image_open makes a file of
 * it again.
 */
#ifndef GEN_MEMORY_MEMORY_H
#define GEN_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/elf/image.h"

/* A stretch of memory. */
struct memory_range {
	uint64_t start, end; /* addresses; end is exclusive */
	uint64_t have;	     /* bytes from start on that can be read */
	uint64_t at; /* where they are in the core, or in the file that is mapped */
	/* Of a process: that file. 0 and 0: there is none. */
	uint64_t device, inode;
	uint64_t before; /* what the ranges below weigh: see memory_weight.h */
	bool executable;
};

/* A stretch of a mapped file, or of [vdso]. */
struct memory_name {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	char *name;	 /* owned */
};

/* An ELF image. */
struct memory_image {
	/* Owned; "[0x7f0000000000]" where it is of no file. Where another image has the name already,
	 * "@0x7f0000000000" is behind it. */
	char *name;
	const char
	    *file;     /* the name of the mapping; NULL: none. In struct memory_name. */
	uint64_t base; /* address of its ELF header */
	/* What it is: the file as struct memory_range has it, and where that is not known a hash of its
	 * headers and notes. */
	uint64_t device, inode, hash;
};

struct memory {
	char *shown;	   /* "process 12" or "core FILE", for messages */
	char *root;	   /* where its files are, as seen from here; NULL: not known */
	int fd;		   /* of /proc/PID/mem; -1: a core */
	struct image core; /* the core file; zeroed: a process */
	/* Both ascend by address. Ranges do not overlap. */
	struct memory_range *ranges;
	size_t n_ranges, cap_ranges;
	uint64_t weight,
	    images_weight; /* of ranges, and of images: see memory_weight.h */
	struct memory_name *names;
	size_t n_names, cap_names;
	struct memory_image *images; /* in the order of addresses; each name once */
	size_t n_images, cap_images;
};

/* Opens the memory of a process, which goes on meanwhile. 0 is this process. ERR_IO says what
 * permission is missing, or that the process is gone. */
ATTR_MUST_CHECK bool memory_open_process(int pid, struct memory *memory, struct err *err);

/* Opens a core file (ET_CORE). What it has less than it claims is left out of have. */
ATTR_MUST_CHECK bool memory_open_core(
    const char *path, struct memory *memory, struct err *err);
/* The same of bytes, which are borrowed. */
ATTR_MUST_CHECK bool memory_open_core_bytes(const uint8_t *bytes, size_t size,
    const char *path, struct memory *memory, struct err *err);

void memory_close(struct memory *memory); /* accepts a zeroed struct */

/* How many bytes can be read from addr on, as far as ranges follow each other; at most size. */
uint64_t memory_have(const struct memory *memory, uint64_t addr, uint64_t size);
/* How many bytes from addr on cannot be read: up to the next that can, at most size. */
uint64_t memory_lack(const struct memory *memory, uint64_t addr, uint64_t size);
/* Reads bytes that memory_have counts. ERR_IO where the process has unmapped them since. */
ATTR_MUST_CHECK bool memory_read(const struct memory *memory, uint64_t addr, uint8_t *to,
    uint64_t size, struct err *err);
/* Whether the process has no memory any more, because it has ended. Then err says so (ERR_IO). */
ATTR_MUST_CHECK bool memory_ended(const struct memory *memory, struct err *err);
/* The range or name at an address, or NULL. */
const struct memory_range *memory_range_at(const struct memory *memory, uint64_t addr);
const struct memory_name *memory_name_at(const struct memory *memory, uint64_t addr);

/* For those that open: adds one; false without memory. The name is copied. */
ATTR_MUST_CHECK bool memory_add_range(
    struct memory *memory, const struct memory_range *range);
ATTR_MUST_CHECK bool memory_add_name(struct memory *memory, uint64_t start, uint64_t end,
    uint64_t offset, const char *name);
/* Sorts both, and finds the images. */
ATTR_MUST_CHECK bool memory_find_images(struct memory *memory, struct err *err);

/*
 * The image of that name: as /proc/PID/maps and NT_FILE have it, with or without " (deleted)", or
 * by a link to it, or the last part of it. "@0x7f0000000000" behind it chooses the one of that address,
 * and without it the lowest is meant. NULL with err set when there is none.
 */
const struct memory_image *memory_image_find(
    const struct memory *memory, const char *name, struct err *err);

/*
 * Opens an image as the file that it was loaded from, with the addresses of the file. name is for
 * messages. root is the folder that has the image's file by its name ("": this system), NULL: where
 * the process has it.
 *
 * Bytes come from memory. Where the file has the same build-id and the same headers, the rest comes from
 * it: section headers, symbols, and what is written to at run time. Where a core lacks bytes, the file
 * gives them if it has the same build-id. ERR_UNSUPPORTED when it has not. to->origin says all this.
 */
ATTR_MUST_CHECK bool memory_image_open(const struct memory *memory,
    const struct memory_image *of, const char *name, const char *root, struct image *to,
    struct err *err);

#endif
