/* SPDX-License-Identifier: MIT */
/* The rows of a mapped file, made by libeh2sframe in memory. */
#ifndef PROFILE_STACKS_FILE_ROWS_H
#define PROFILE_STACKS_FILE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/names/symbols.h"
#include "base/sandbox/apart.h"
#include "include/eh2sframe-walk.h"
#include "profile/profile.h"
#include "profile/perfdata/event.h"
#include "profile/stacks/spent.h"

/* More parts with code are not kept. */
enum { FACTS_MAX_PARTS = 64 };

/* A loaded part of a file that has code. */
struct facts_part {
	uint64_t offset, size, address; /* in the file; before relocation */
};

/* Where the code of an ELF file is, and its build-id, by its headers. */
struct facts {
	struct facts_part parts[FACTS_MAX_PARTS];
	size_t n_parts;
	uint64_t entry; /* 0: none */
	uint64_t end;	/* the end of the highest loaded part */
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	uint32_t build_id_size;
};

/* The address before relocation of an offset in the file; false when no part has it. */
bool facts_address(const struct facts *facts, uint64_t offset, uint64_t *address);

/* A mapped file, as the kernel's record of the mapping has it. */
struct rows_file {
	const char *path; /* as the kernel names it */
	uint32_t pid;	  /* of a process that maps it, at start */
	uint64_t start, end;
	uint8_t build_id[EVENT_MAX_BUILD_ID];
	uint32_t build_id_size; /* 0: not known */
	/* Where no build-id does: tell the file from another one that gets its name. */
	uint32_t major, minor;
	uint64_t inode;	 /* 0: not known */
	struct stat was; /* when the mapping was read */
	bool was_seen;
	const uint8_t *image; /* the file's bytes, or NULL */
	size_t image_size;
	/* Its process runs: then a file of others is converted apart (apart.h), and has its names in the
	 * rows where it is elsewhere. */
	bool live;
	bool facts_only; /* stacks are known, and no rows are made */
};

struct rows {
	struct facts facts;
	uint8_t *section; /* owned; NULL: the file has no CFI */
	size_t size;
	uint64_t address;	       /* the section's, before relocation */
	struct eh2sframe_extra *extra; /* owned; from address 0 */
	size_t n_extra;
	bool is_elsewhere; /* its path leads to another file here, or to none */
	struct symbols symbols;
	char *names; /* owned; what the symbols point to */
	size_t n_names;
};

/* Counts the work. */
struct rows_made {
	size_t n;	    /* files that were converted */
	uint64_t ns;	    /* of time */
	struct spent apart; /* by files of other users */
};

/* Looks at the file that a process has under a name now. false: it cannot be seen, or is not the one that was mapped. */
ATTR_MUST_CHECK bool rows_look(const struct rows_file *file, struct stat *st);

/*
 * Makes the rows of a file. false: it is gone, is not the one that was mapped, or is no ELF file.
 */
ATTR_MUST_CHECK bool rows_make(struct rows_made *made, const struct rows_file *file,
    struct rows *rows, struct err *err);
/* Reads an open file and makes its rows, and with names its symbols, in this process. */
ATTR_MUST_CHECK bool rows_make_here(
    int fd, const char *path, bool names, struct rows *rows, struct err *err);
/*
 * rows_apart.c: the same in a process of its own, in the sandbox, with limits of memory and time, for files that anybody can write. What it
 * answers is checked as the bytes of a stranger are. ERR_LIMIT: it took too much; ERR_UNSUPPORTED, ERR_IO, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool rows_make_apart(int fd, const char *path, bool names,
    const struct apart_limits *limits, struct rows *rows, struct err *err);
void rows_free(struct rows *rows); /* accepts a zeroed one */

#endif
