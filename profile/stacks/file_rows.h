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
#include "profile/owner.h"
#include "profile/profile.h"
#include "profile/perfdata/event.h"

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
	uint64_t entry;	     /* 0: none */
	uint64_t entry_size; /* of the function there, by its CFI; 0: not known */
	uint64_t end;	     /* the end of the highest loaded part */
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
	uint64_t inode;	     /* 0: not known */
	uint64_t generation; /* of the inode, whose number is used again; 0: not known */
	uint64_t time; /* of the mapping at the latest, in ns since 1970; 0: not known */
	struct stat was; /* when the mapping was read; st_ctim as in struct rows_place */
	bool was_seen;
	const uint8_t *image; /* the file's bytes, or NULL */
	size_t image_size;
	/* Its process runs: then a file of others is converted apart (apart.h), and has its names in the
	 * rows where it is elsewhere. */
	bool live;
	bool facts_only;    /* stacks are known, and no rows are made */
	struct owner owner; /* whose process maps it */
	/* One's own processes map it, or root or this user wrote it, at its path here. Whoever else maps a file has it for his processes alone,
	 * because a build-id is what a file says of itself. */
	bool is_own;
};

struct rows {
	struct facts facts;
	uint8_t *section; /* owned; NULL: the file has no CFI */
	size_t size;
	uint64_t address;	       /* the section's, before relocation */
	struct eh2sframe_extra *extra; /* owned; from address 0 */
	size_t n_extra;
	bool keeps_names; /* its path leads elsewhere here, or may soon */
	struct symbols symbols;
	char *names; /* owned; what the symbols point to */
	size_t n_names;
	uint32_t place; /* of the owner that it is counted for; OWNERS: one's own */
	uint64_t bytes; /* that are counted */
};

/* Counts the work. */
struct rows_made {
	size_t n;	    /* files that were converted */
	uint64_t ns;	    /* of time */
	struct spent apart; /* by files of other users */
	uint64_t own;	    /* bytes of one's own files that are kept */
	bool is_full;	    /* since the caller looked last, an owner had no room */
};

/* rows_find.c: where the file may be now. */
struct rows_place {
	int fd;		/* -1: it is not there */
	struct stat st; /* st_ctim: when it was made or, if that is later, written last */
	uint32_t generation; /* 0: its file system does not tell */
	bool by_mapping;     /* the link of the mapping led there */
	bool is_elsewhere;   /* its path leads to another file here, or to none */
};
enum { ROWS_PLACES = 3 };

/* Opens them. It can wait for ever where others than root serve files. */
void rows_places_open(
    const struct rows_file *file, struct rows_place places[ROWS_PLACES]);
/* Opens only what root or this process's user wrote at the path here, and waits for nobody. false: nothing, and none is open. */
ATTR_MUST_CHECK bool rows_places_open_own(
    const struct rows_file *file, struct rows_place places[ROWS_PLACES]);
void rows_places_close(struct rows_place places[ROWS_PLACES]);
/*
 * Reads them until one is the file, by its build-id, or without one by what the kernel knows, and fills in rows->facts and
 * keeps_names. ERR_IO: it is none of them; ERR_NOMEM.
 */
ATTR_MUST_CHECK struct eh2sframe_file *rows_find(const struct rows_file *file,
    const struct rows_place places[ROWS_PLACES], struct rows *rows, struct err *err);

/* True if a process's path leads to what root or this process's user wrote, as far as that is known without waiting. */
ATTR_MUST_CHECK bool rows_is_own(const struct rows_file *file);
/*
 * True if what was looked at can be the file that was mapped: it has its inode, and was not made or written since. The device alone tells
 * nothing: btrfs and overlayfs show one to stat() and another one in the event. Overlayfs can show another inode there, too. Then only the
 * link of the mapping itself leads to the file for sure. Times are of the clock that stamps files: where that was set back since, younger
 * files have no rows; where it was set forward, an inode's generation alone tells a file from a later one.
 */
ATTR_MUST_CHECK bool rows_may_be(
    const struct rows_file *file, const struct stat *st, bool by_mapping);
/* Looks at the file that a process has mapped, and waits for nobody. false: it cannot be seen, or is not the one that was mapped. */
ATTR_MUST_CHECK bool rows_look(const struct rows_file *file, struct stat *st);
/* Looks at the file at its path here, or at the copy that perf has. false: there is none. */
ATTR_MUST_CHECK bool rows_look_here(const struct rows_file *file, struct stat *st);

/*
 * Makes the rows of a file. false: it is gone, is not the one that was mapped, or is no ELF file.
 */
ATTR_MUST_CHECK bool rows_make(struct rows_made *made, const struct rows_file *file,
    struct rows *rows, struct err *err);
/* Makes them in this process; the names, too, where the file is elsewhere. */
ATTR_MUST_CHECK bool rows_make_here(const struct rows_file *file,
    const struct rows_place places[ROWS_PLACES], struct rows *rows, struct err *err);
/*
 * rows_apart.c: the same in a process of its own, in the sandbox, with limits of memory and time, for files that anybody can write. What it
 * answers is checked as the bytes of a stranger are. ERR_LIMIT: it took too much; ERR_UNSUPPORTED, ERR_IO, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool rows_make_apart(const struct rows_file *file,
    const struct apart_limits *limits, struct rows *rows, struct spent_work *work,
    struct err *err);
void rows_free(struct rows *rows); /* accepts a zeroed one */
/* Frees those that rows_make has counted. */
void rows_drop(struct rows_made *made, struct rows *rows);

#endif
