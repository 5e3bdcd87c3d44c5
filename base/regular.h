/* SPDX-License-Identifier: MIT */
/* Opens files whose names others chose. */
#ifndef BASE_REGULAR_H
#define BASE_REGULAR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/attr.h"

/*
 * Opens a regular file for reading, and fills st. Anything else is looked at and not opened, because
 * a device acts when it is opened. -1: errno says why; 0 there says that it is not a regular file.
 */
ATTR_MUST_CHECK int regular_open(const char *path, struct stat *st);
/*
 * Opens a path below a folder without reading, and without waiting where resolve (RESOLVE_*, openat2(2)) has RESOLVE_CACHED. Linux 5.6
 * has this call, and 5.12 RESOLVE_CACHED; before, all is resolved but what asks for that. -1: errno.
 */
ATTR_MUST_CHECK int regular_path(int at, const char *path, uint64_t resolve);
/* As regular_open, for an open descriptor, which stays the caller's. */
ATTR_MUST_CHECK int regular_copy(int fd, struct stat *st);

/*
 * Returns O_NOFOLLOW for a path that is written to, or 0 if it is the name of an open descriptor, such as /dev/stdout,
 * because that is a link itself. Without O_NOFOLLOW, a link that another user has put into a shared folder could lead to
 * any file of this one.
 */
ATTR_MUST_CHECK int regular_no_link(const char *path);

/* Reads size bytes at off, without the position. Returns how many there are before the end of the file; -1: errno. */
ATTR_MUST_CHECK ssize_t regular_read(int fd, void *to, size_t size, uint64_t off);

/*
 * True if more than 63 in 64 bytes of a large file are holes. The kernel's count of blocks settles most files. Because
 * it is low for files that are compressed or have just been written, those are searched for holes; that moves the
 * position of the descriptor, so it needs may_move.
 */
ATTR_MUST_CHECK bool regular_is_hollow(int fd, const struct stat *st, bool may_move);
#define REGULAR_HOLLOW                                                                   \
	"bytes of which more than 63 in 64 are holes, as a truncated or damaged copy "   \
	"has; copy the file again or leave it out"

/* True if holes are the larger half of a file that is read into memory. Small ones, and linkers that align segments to large pages,
 * may have them. The position of the descriptor moves. */
ATTR_MUST_CHECK bool regular_is_sparse(int fd, const struct stat *st);

/* True if nothing has been written to a file, and no other is in its place. */
ATTR_MUST_CHECK bool regular_is_same(const struct stat *was, const struct stat *is);

#endif
