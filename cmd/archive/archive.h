/* SPDX-License-Identifier: MIT */
/*
 * Archives of ar: 8 bytes, then members, each a header of text, a body, and a byte of filler behind an odd one. Tables
 * of the archive itself look like members: symbols with the offsets of the headers that define them, and long names.
 *
 * Others may write to the file meanwhile. Headers and the table of names are kept as they were checked, and a body is
 * read once, into memory.
 */
#ifndef CMD_ARCHIVE_ARCHIVE_H
#define CMD_ARCHIVE_ARCHIVE_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/newfile.h"
#include "include/eh2sframe-command.h"

enum { ARCHIVE_MAGIC = 8, ARCHIVE_HEADER = 60 };

struct archive_member {
	enum archive_kind {
		ARCHIVE_FILE,
		ARCHIVE_SYMBOLS,     /* offsets of 4 bytes */
		ARCHIVE_SYMBOLS_64,  /* of 8 */
		ARCHIVE_SYMBOLS_BSD, /* __.SYMDEF, in a form of its own */
		ARCHIVE_TABLE,	     /* any other */
	} kind;
	uint64_t at, next; /* where its header is, and that of the member behind it */
	uint64_t body;
	uint64_t size;	/* of the body; of a thin archive's file: not in the archive */
	uint64_t named; /* bytes of its name at the start of the body (BSD) */
	uint64_t name;	/* where its name is in the table; UINT64_MAX: in the header */
	char header[ARCHIVE_HEADER];
};

struct archive {
	int fd;		  /* -1: the file is no archive */
	const char *path; /* borrowed */
	struct stat was;
	bool thin; /* it has the names of its members' files alone */
	struct archive_member *members;
	size_t n, cap;
	char *names; /* the table of long names, or NULL */
	size_t names_size;
	void *bytes; /* of the member that is open */
};

/*
 * Reads the headers of an archive. fd is duplicated; -1: path is opened. What cannot be opened or is something else is
 * no failure, and no archive. Closed with archive_close in any case. EH2SFRAME_INPUT, EH2SFRAME_IO.
 */
ATTR_MUST_CHECK bool archive_open(
    int fd, const char *path, struct archive *archive, struct eh2sframe_error *error);
void archive_close(struct archive *archive);

/* "lib.a(member.o)", for people; the caller frees it. NULL: memory ran out. */
char *archive_name(const struct archive *archive, size_t i);

/* Finds what the bytes of a member are. That of a thin archive is taken for an object. */
ATTR_MUST_CHECK bool archive_member_kind(const struct archive *archive, size_t i,
    enum eh2sframe_kind *kind, struct eh2sframe_error *error);

/*
 * Opens an object, or a thin archive's file, until the next is opened; the caller closes it. NULL after a
 * failure.
 */
struct eh2sframe_file *archive_member_open(struct archive *archive, size_t i,
    const char *name, const struct eh2sframe_options *options,
    struct eh2sframe_error *error);

/* A new archive on its way, with other bodies for some members. */
struct archive_writer {
	const struct archive *in; /* borrowed */
	struct newfile_input input;
	struct newfile output;
	uint64_t at;	 /* bytes so far */
	uint64_t *moved; /* where each member's header is now */
};

/* Begins it as the file out, or as all names of the archive where they are given. Freed with archive_write_free, which takes away what was not put in its place. */
ATTR_MUST_CHECK bool archive_write_begin(struct archive_writer *writer,
    const struct archive *in, const char *out, const struct newfile_names *names,
    const struct newfile_watch *watch, struct eh2sframe_error *error);
/* Adds the next member, i, with these bytes, or as it is where they are NULL. */
ATTR_MUST_CHECK bool archive_write_member(struct archive_writer *writer, size_t i,
    const void *bytes, size_t size, struct eh2sframe_error *error);
/* Writes the offsets of the symbols, and puts the file in its place. */
ATTR_MUST_CHECK bool archive_write_end(
    struct archive_writer *writer, struct eh2sframe_error *error);
void archive_write_free(struct archive_writer *writer);

/* Reads bytes of the archive. */
ATTR_MUST_CHECK bool archive_read(const struct archive *archive, void *to, uint64_t off,
    uint64_t size, struct eh2sframe_error *error);

#endif
