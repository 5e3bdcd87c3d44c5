/* SPDX-License-Identifier: MIT */
/*
 * A file that appears complete or not at all: written under a temporary name in the
 * target's directory, given the input's mode, owner and extended attributes, synced, then
 * renamed.
 */
#ifndef BASE_NEWFILE_H
#define BASE_NEWFILE_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/err.h"

/*
 * Gets the path of a temporary file when the file begins to exist and when it is gone.
 * A program can then remove the file in its signal handler: nothing here handles
 * signals. All signals are blocked in the calling thread during the first of the two
 * calls.
 */
struct newfile_watch {
	void (*changed)(void *context, const char *path, bool exists); /* or NULL */
	void *context;
};

/* Message for a file converted in place that another program has changed meanwhile. */
#define NEWFILE_CHANGED "changed while it was converted; left as it is, run again"

/* All names of a file that is replaced in its place, whatever has that by now: they stay links of each other. */
struct newfile_names {
	/* The first one is the path that the new file is made for, without links. */
	uint32_t n;
	/* Opens the directory of name k, which is closed after use, and gives the name in it. -1 with *err. NULL: there is one name. */
	int (*open)(void *context, uint32_t k, const char **base, struct err *err);
	void *context;
};

/* The file that a new one replaces or derives from: the new one keeps its mode, owner and attributes. */
struct newfile_input {
	int fd;		 /* -1: none */
	struct stat was; /* before it was read; after it was replaced, the new file */
	char *path;	 /* where it was opened, without links; NULL: not by a path */
	struct newfile_names names; /* n 0: those of the path alone */
};

struct newfile {
	char *target;  /* the final path, symlinks resolved; NULL in memory */
	char *temp;    /* the temporary path; NULL when none exists */
	int dirfd;     /* of the directory of both, whatever its name is by now; or -1 */
	int fd;	       /* of the temporary file, read-write; -1 when closed */
	bool memory;   /* a file that no directory has */
	bool in_place; /* the target is the input */
	uint32_t n_links;	     /* temporary names besides the first */
	struct newfile_input *input; /* borrowed; NULL: none */
	struct newfile_watch watch;
};

/*
 * Creates the temporary file (O_EXCL, mode 0600). A path that is an existing symlink is
 * resolved, so the link stays. A name without a slash is of the directory where the process is,
 * also when others rename that meanwhile. ERR_UNSUPPORTED when the target exists and is not a
 * regular file, or is the input (rewriting in place) and has hard links besides its names,
 * which a rename would detach. ERR_IO. watch and input may be NULL.
 */
ATTR_MUST_CHECK bool newfile_begin(const char *path, struct newfile_input *input,
    const struct newfile_watch *watch, struct newfile *output, struct err *err);

/* The temporary name beside name k of the input, from the first temporary name and k. */
#define NEWFILE_LINK "%s.%" PRIu32

/* As newfile_begin, but for a file in memory. End it with newfile_take or
 * newfile_abort. */
ATTR_MUST_CHECK bool newfile_begin_memory(struct newfile *output, struct err *err);

/* True if path is the file that is there now, and that a commit would replace. */
bool newfile_replaces(const struct newfile *output, const char *path);

/* Returns in *bytes the contents of a file in memory, as a block that the caller frees. ERR_IO, ERR_NOMEM. */
ATTR_MUST_CHECK bool newfile_take(
    struct newfile *output, void **bytes, size_t *size, struct err *err);

/* Writes all data at off into a file such as output->fd. ERR_IO; errno is kept. */
ATTR_MUST_CHECK bool newfile_write_at(
    int fd, const void *data, size_t size, uint64_t off, struct err *err);

/* Tells the kernel that bytes are written, so that the disk can start while others are made or proven. */
void newfile_written(const struct newfile *output);

/*
 * Gives the file mode, owner (where permitted), times not, and extended attributes of
 * the input, syncs it and renames it onto the target, or onto all names of the input. Where owner or a
 * security attribute of a setuid, setgid or capability-carrying file cannot be kept this
 * is ERR_IO, not a quiet loss; so is another file in the input's place by now, or any change of it
 * since it was opened. Afterwards nothing is left to abort. Without an input it is a plain new file, mode 0666
 * less the umask.
 */
ATTR_MUST_CHECK bool newfile_commit(struct newfile *output, struct err *err);

/* Removes the temporary file and frees; accepts a zeroed or committed struct. */
void newfile_abort(struct newfile *output);

#endif
