/* SPDX-License-Identifier: MIT */
/*
 * Archives of ar: 8 bytes, then members, each a header of text, a body, and a byte of filler behind an odd one. Tables
 * of the archive itself look like members: symbols, with the offset of the header of the member that defines each, and
 * long names. Others may write to the file meanwhile, so all of it is read once, into memory.
 */
#ifndef CMD_ARCHIVE_ARCHIVE_H
#define CMD_ARCHIVE_ARCHIVE_H

#include "base/attr.h"
#include "base/newfile.h"
#include "include/eh2sframe-command.h"

struct archive {
	const char *path;	    /* borrowed */
	struct newfile_input input; /* the file */
	char *bytes;		    /* NULL: it is no archive */
	size_t size;
	bool thin; /* it has the names of its members' files alone */
	struct archive_member {
		enum archive_kind {
			ARCHIVE_FILE,
			ARCHIVE_SYMBOLS,     /* of GNU ar: offsets of 4 bytes */
			ARCHIVE_SYMBOLS_64,  /* of 8 */
			ARCHIVE_SYMBOLS_BSD, /* another form */
			ARCHIVE_TABLE,	     /* any other */
		} kind;
		/* Offsets of its header, its body, the end of that, and the header behind it. */
		size_t at, body, end, next;
		const char *name; /* in bytes */
		size_t name_size;
		size_t moved; /* where its header is in a new archive */
	} * members;
	size_t n, cap;
	const char *names; /* the table of long names, in bytes; or NULL */
	size_t names_size;
};

/*
 * Reads an archive. fd is duplicated; -1: path is opened. A file that cannot be opened or is something else is no
 * failure: bytes stays NULL. Closed with archive_close in any case. EH2SFRAME_INPUT, EH2SFRAME_IO.
 */
ATTR_MUST_CHECK bool archive_open(
    int fd, const char *path, struct archive *archive, struct eh2sframe_error *error);
void archive_close(struct archive *archive);

/* Returns "lib.a(member.o)", for people; the caller frees it. NULL: memory ran out. */
char *archive_name(const struct archive *archive, size_t i);
/* Tells a member by its first bytes. One of a thin archive is taken for an object. */
enum eh2sframe_kind archive_kind(const struct archive *archive, size_t i);
/* Opens a member that is an object under this name, before the archive is closed; in a thin archive the member's file,
 * whose name is relative to it. */
struct eh2sframe_file *archive_member_open(const struct archive *archive, size_t i,
    const char *name, const struct eh2sframe_options *options,
    struct eh2sframe_error *error);

/* A new archive on its way, with other bodies for some members. */
struct archive_writer {
	struct archive *in; /* borrowed */
	struct newfile output;
	size_t at; /* bytes so far */
};

/* Begins the archive as the file out. Freed with newfile_abort of the output, which removes it unless it was put in its
 * place. */
ATTR_MUST_CHECK bool archive_write_begin(struct archive_writer *writer,
    struct archive *in, const char *out, const struct newfile_watch *watch,
    struct eh2sframe_error *error);
/* Adds the next member, i, with these bytes, or as it is where they are NULL. */
ATTR_MUST_CHECK bool archive_write_member(struct archive_writer *writer, size_t i,
    const void *bytes, size_t size, struct eh2sframe_error *error);
/* Writes the offsets of the symbols, and puts the file in its place. */
ATTR_MUST_CHECK bool archive_write_end(
    struct archive_writer *writer, struct eh2sframe_error *error);

#endif
