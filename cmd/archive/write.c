/* SPDX-License-Identifier: MIT */
/* Writes an archive again, with other bodies for some members. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/program/fail.h"
#include "cmd/archive/archive.h"

enum { HEADER = 60, SIZE_AT = 48, SIZE_SIZE = 10 };

/* Puts bytes of the new archive at off. */
static bool archive_put(struct archive_writer *writer, const void *bytes, size_t size,
    size_t off, struct eh2sframe_error *error)
{
	struct err err = {0};

	if (!newfile_write_at(writer->output.fd, bytes, size, off, &err))
		return cmd_fail(error, EH2SFRAME_IO, "%s", err.text);
	writer->at = off + size > writer->at ? off + size : writer->at;
	return true;
}

bool archive_write_begin(struct archive_writer *writer, struct archive *in,
    const char *out, const struct newfile_watch *watch, struct eh2sframe_error *error)
{
	struct err err = {0};

	*writer = (struct archive_writer){.in = in};
	if (newfile_begin(out, &in->input, watch, &writer->output, &err))
		return archive_put(writer, "!<arch>\n", 8, 0, error);
	return cmd_fail(error,
	    err.kind == ERR_NOMEM	  ? EH2SFRAME_NO_MEMORY
	    : err.kind == ERR_UNSUPPORTED ? EH2SFRAME_INPUT
					  : EH2SFRAME_IO,
	    "%s", err.text);
}

bool archive_write_member(struct archive_writer *writer, size_t i, const void *bytes,
    size_t size, struct eh2sframe_error *error)
{
	struct archive_member *member = &writer->in->members[i];
	char *header = writer->in->bytes + member->at, number[32];
	const size_t head = member->body - member->at;

	member->moved = writer->at;
	if (!bytes)
		return archive_put(
		    writer, header, member->next - member->at, writer->at, error);
	/* A name at the start of the body counts. */
	if (snprintf(number, sizeof(number), "%-*zu", SIZE_SIZE, head - HEADER + size) !=
	    SIZE_SIZE)
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "a new member has more bytes than an archive can say; leave the file "
		    "out");
	memcpy(header + SIZE_AT, number, SIZE_SIZE);
	return archive_put(writer, header, head, writer->at, error) &&
	       archive_put(writer, bytes, size, writer->at, error) &&
	       (!((head + size) & 1) || archive_put(writer, "\n", 1, writer->at, error));
}

static int archive_order(const void *key, const void *member)
{
	const size_t at = *(const size_t *)key,
		     other = ((const struct archive_member *)member)->at;

	return at < other ? -1 : at > other;
}

/* Reads a number of the table of symbols, as wide as all of it are. */
static size_t archive_get(const char *from, size_t width)
{
	uint64_t wide;
	uint32_t narrow;

	if (width == sizeof(wide)) {
		memcpy(&wide, from, width);
		return be64toh(wide);
	}
	memcpy(&narrow, from, width);
	return be32toh(narrow);
}

/* Writes one. False: it does not fit. */
static bool archive_set(char *to, size_t width, size_t number)
{
	uint64_t wide = htobe64(number);

	memcpy(to, (char *)&wide + sizeof(wide) - width, width);
	return archive_get(to, width) == number;
}

/* Puts the new offsets into a table of symbols. */
static bool archive_move(struct archive_writer *writer,
    const struct archive_member *table, size_t width, struct eh2sframe_error *error)
{
	const struct archive *in = writer->in;
	char *to = in->bytes + table->body;
	const size_t size = table->end - table->body;
	size_t n = size < width ? SIZE_MAX : archive_get(to, width);

	if (n > size / width - 1)
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "archive: the table of symbols at offset 0x%zx is cut off; run "
		    "ranlib",
		    table->at);
	while (n--) {
		const size_t at = archive_get(to += width, width);
		const struct archive_member *found =
		    bsearch(&at, in->members, in->n, sizeof(*in->members), archive_order);

		if (!found)
			return cmd_fail(error, EH2SFRAME_INPUT,
			    "archive: no member is at offset 0x%zx, which the table of "
			    "symbols names; run ranlib",
			    at);
		if (!archive_set(to, width, found->moved))
			return cmd_fail(error, EH2SFRAME_INPUT,
			    "the new archive has more than 4 GiB, but its table of "
			    "symbols has offsets of 4 bytes; split the archive");
	}
	return archive_put(
	    writer, in->bytes + table->body, size, table->moved + HEADER, error);
}

bool archive_write_end(struct archive_writer *writer, struct eh2sframe_error *error)
{
	const struct archive *in = writer->in;
	struct err err = {0};

	for (size_t i = 0; i < in->n; i++) {
		const enum archive_kind kind = in->members[i].kind;

		if (kind == ARCHIVE_SYMBOLS_BSD)
			return cmd_fail(error, EH2SFRAME_INPUT,
			    "archive: its table of symbols is in BSD's form; make the "
			    "archive again with GNU ar");
		if ((kind == ARCHIVE_SYMBOLS || kind == ARCHIVE_SYMBOLS_64) &&
		    !archive_move(writer, &in->members[i],
			kind == ARCHIVE_SYMBOLS ? sizeof(uint32_t) : sizeof(uint64_t),
			error))
			return false;
	}
	return newfile_commit(&writer->output, &err) ||
	       cmd_fail(error, EH2SFRAME_IO, "%s", err.text);
}
