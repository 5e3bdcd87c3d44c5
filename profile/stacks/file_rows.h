/* SPDX-License-Identifier: MIT */
/*
 * The rows of a mapped file: made by libeh2sframe in memory, or taken from a directory with
 * those that were made before, by build-id.
 */
#ifndef PROFILE_STACKS_FILE_ROWS_H
#define PROFILE_STACKS_FILE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/err.h"
#include "include/eh2sframe-walk.h"
#include "profile/stacks/facts.h"

/* What is known of a mapped file. */
struct rows_file {
	const char *path; /* as the kernel names it */
	uint32_t pid;	  /* of a process that maps it, at start */
	uint64_t start, end;
	const uint8_t *build_id;
	uint32_t build_id_size; /* 0: not known */
	const struct stat *was; /* when the mapping was read; NULL: not known */
	const uint8_t *image;	/* the file's bytes, or NULL */
	size_t image_size;
	bool image_is_ours; /* of this system, and not of a recording */
};

struct rows {
	struct facts facts;
	uint8_t *section; /* owned; NULL: the file has no CFI */
	size_t size;
	uint64_t address;	       /* the section's, before relocation */
	struct eh2sframe_extra *extra; /* owned; from address 0 */
	size_t n_extra;
};

/* The directory, and what was done. Zeroed, then rows_open. */
struct rows_store {
	int dir;	       /* -1: none */
	uint64_t limit;	       /* bytes of all files in it */
	size_t n_made, n_kept; /* converted; taken from the directory */
	uint64_t made_ns;      /* time of conversions */
};

/* Bytes of all files in a directory. */
#define ROWS_LIMIT (UINT64_C(256) << 20)

/*
 * Opens the directory for rows, and makes it when it is missing. NULL: $XDG_CACHE_HOME/
 * eh2sframe or ~/.cache/eh2sframe; "": none. The default directory may fail: then no rows
 * are kept. ERR_IO for one that was named.
 */
ATTR_MUST_CHECK bool rows_open(
    struct rows_store *store, const char *dir, struct err *err);
void rows_close(struct rows_store *store);

/* Looks at the file that a process has under a name now. false: it cannot be seen. */
ATTR_MUST_CHECK bool rows_look(uint32_t pid, const char *path, struct stat *st);

/*
 * Finds or makes the rows of a file. false: it is gone, is not the one that was mapped, or is no ELF file.
 */
ATTR_MUST_CHECK bool rows_make(struct rows_store *store, const struct rows_file *file,
    struct rows *rows, struct err *err);
void rows_free(struct rows *rows); /* accepts a zeroed one */

/* rows_cache.c: one file in the directory. The bytes in it are hostile. */
ATTR_MUST_CHECK bool rows_cache_read(
    int dir, const uint8_t *build_id, uint32_t build_id_size, struct rows *rows);
/* Writes one, and removes the oldest until all are below limit. It may fail. */
void rows_cache_write(int dir, uint64_t limit, const struct rows *rows);

/* What rows_cache_write writes, apart for tests: ROWS_MAGIC, rows_sum of what follows, and that. */
#define ROWS_MAGIC "eh2srow\3"
uint64_t rows_sum(const uint8_t *bytes, size_t size);
ATTR_MUST_CHECK bool rows_encode(const struct rows *rows, uint8_t **bytes, size_t *size);
ATTR_MUST_CHECK bool rows_decode(const uint8_t *bytes, size_t size, struct rows *rows);

#endif
