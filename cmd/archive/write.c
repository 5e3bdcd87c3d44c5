/* SPDX-License-Identifier: MIT */
/* Writes an archive again, with other bodies for some members. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/program/fail.h"
#include "base/rd.h"
#include "base/regular.h"
#include "base/wr.h"
#include "cmd/archive/archive.h"

enum { COPY_SIZE = 64 << 10, SIZE_AT = 48, SIZE_SIZE = 10 };

/* Always false. */
static bool archive_failed(const struct err *err, struct eh2sframe_error *error)
{
	return cmd_fail(error,
	    err->kind == ERR_NOMEM	   ? EH2SFRAME_NO_MEMORY
	    : err->kind == ERR_UNSUPPORTED ? EH2SFRAME_INPUT
					   : EH2SFRAME_IO,
	    "%s", err->text);
}

/* What ar writes, and linkers read. */
static bool archive_can_write(const struct archive *in, struct eh2sframe_error *error)
{
	bool tables[ARCHIVE_TABLE + 1] = {false};

	for (size_t i = 0; i < in->n; i++) {
		const enum archive_kind kind = in->members[i].kind;

		if (kind == ARCHIVE_SYMBOLS_BSD ||
		    (tables[kind] &&
			(kind == ARCHIVE_SYMBOLS || kind == ARCHIVE_SYMBOLS_64)))
			return cmd_fail(error, EH2SFRAME_INPUT,
			    "archive: the table of symbols at offset 0x%" PRIx64
			    " is not in the form of GNU ar; make the archive again with "
			    "it",
			    in->members[i].at);
		tables[kind] = true;
	}
	return true;
}

bool archive_write_begin(struct archive_writer *writer, const struct archive *in,
    const char *out, const struct newfile_names *names, const struct newfile_watch *watch,
    struct eh2sframe_error *error)
{
	struct err err = {0};

	*writer = (struct archive_writer){.in = in, .at = ARCHIVE_MAGIC};
	if (!archive_can_write(in, error))
		return false;
	writer->input = (struct newfile_input){
	    .fd = in->fd, .was = in->was, .path = realpath(in->path, NULL)};
	if (names)
		writer->input.names = *names;
	writer->moved = calloc(in->n + 1, sizeof(*writer->moved));
	if (!writer->moved)
		return cmd_fail_nomem(error);
	return (newfile_begin(out, &writer->input, watch, &writer->output, &err) &&
		   newfile_write_at(
		       writer->output.fd, "!<arch>\n", ARCHIVE_MAGIC, 0, &err)) ||
	       archive_failed(&err, error);
}

static bool archive_put(struct archive_writer *writer, const void *bytes, size_t size,
    struct eh2sframe_error *error)
{
	struct err err = {0};

	if (!newfile_write_at(writer->output.fd, bytes, size, writer->at, &err))
		return archive_failed(&err, error);
	writer->at += size;
	return true;
}

/* Bytes of the old archive, up to end. */
static bool archive_copy(struct archive_writer *writer, uint64_t off, uint64_t end,
    struct eh2sframe_error *error)
{
	char bytes[COPY_SIZE];

	while (off < end) {
		size_t n = end - off < COPY_SIZE ? (size_t)(end - off) : COPY_SIZE;

		if (!archive_read(writer->in, bytes, off, n, error) ||
		    !archive_put(writer, bytes, n, error))
			return false;
		off += n;
	}
	return true;
}

bool archive_write_member(struct archive_writer *writer, size_t i, const void *bytes,
    size_t size, struct eh2sframe_error *error)
{
	const struct archive_member *member = &writer->in->members[i];
	char header[ARCHIVE_HEADER + 1], number[32];
	int n;

	writer->moved[i] = writer->at;
	memcpy(header, member->header, ARCHIVE_HEADER);
	if (!bytes)
		return archive_put(writer, header, ARCHIVE_HEADER, error) &&
		       archive_copy(
			   writer, member->at + ARCHIVE_HEADER, member->next, error);
	n = snprintf(
	    number, sizeof(number), "%-*ju", SIZE_SIZE, (uintmax_t)member->named + size);
	if (n != SIZE_SIZE)
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "a new member has more bytes than an archive can say; leave the file "
		    "out");
	memcpy(header + SIZE_AT, number, SIZE_SIZE);
	return archive_put(writer, header, ARCHIVE_HEADER, error) &&
	       archive_copy(writer, member->body - member->named, member->body, error) &&
	       archive_put(writer, bytes, size, error) &&
	       (!((member->named + size) & 1) || archive_put(writer, "\n", 1, error));
}

static int archive_order(const void *key, const void *member)
{
	const uint64_t at = *(const uint64_t *)key,
		       other = ((const struct archive_member *)member)->at;

	return at < other ? -1 : at > other;
}

/* Puts the new offsets into a table of symbols; width is that of each. */
static bool archive_move(const struct archive_writer *writer, unsigned int width,
    struct rd *rd, struct wr *wr, struct eh2sframe_error *error)
{
	const struct archive *in = writer->in;
	uint64_t n = width == 8 ? rd_u64(rd) : rd_u32(rd);

	if (rd->failed || n > (rd->size - width) / width)
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "archive: its table of symbols has no room for %" PRIu64
		    " offsets; run ranlib",
		    n);
	(width == 8 ? wr_u64(wr, n) : wr_u32(wr, (uint32_t)n));
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t at = width == 8 ? rd_u64(rd) : rd_u32(rd);
		const struct archive_member *found =
		    bsearch(&at, in->members, in->n, sizeof(*in->members), archive_order);
		uint64_t to = found ? writer->moved[found - in->members] : 0;
		uint32_t to_32 = 0;

		if (!found)
			return cmd_fail(error, EH2SFRAME_INPUT,
			    "archive: no member is at offset 0x%" PRIx64
			    ", which its table of symbols names; run ranlib",
			    at);
		if (width == 4 && !num_u32(to, &to_32))
			return cmd_fail(error, EH2SFRAME_INPUT,
			    "the new archive has more than 4 GiB, which its table of "
			    "symbols has no room for; make the archive again with larger "
			    "ones");
		(width == 8 ? wr_u64(wr, to) : wr_u32(wr, to_32));
	}
	return true;
}

static bool archive_write_symbols(const struct archive_writer *writer, size_t i,
    unsigned int width, struct eh2sframe_error *error)
{
	const struct archive_member *member = &writer->in->members[i];
	uint8_t *old = malloc((size_t)member->size + 1);
	struct err err = {0};
	struct wr wr;
	struct rd rd;
	bool ok;

	wr_init(&wr, true);
	ok = old ? archive_read(writer->in, old, member->body, member->size, error)
		 : cmd_fail_nomem(error);
	if (ok) {
		rd_init(&rd, old, (size_t)member->size, true);
		ok = archive_move(writer, width, &rd, &wr, error);
	}
	if (ok && wr.failed)
		ok = cmd_fail_nomem(error);
	ok = ok && (newfile_write_at(writer->output.fd, wr.data, wr.size,
			writer->moved[i] + ARCHIVE_HEADER, &err) ||
		       archive_failed(&err, error));
	wr_deinit(&wr);
	free(old);
	return ok;
}

bool archive_write_end(struct archive_writer *writer, struct eh2sframe_error *error)
{
	const struct archive *in = writer->in;
	struct err err = {0};
	struct stat is;

	for (size_t i = 0; i < in->n; i++) {
		const enum archive_kind kind = in->members[i].kind;

		if ((kind == ARCHIVE_SYMBOLS || kind == ARCHIVE_SYMBOLS_64) &&
		    !archive_write_symbols(
			writer, i, kind == ARCHIVE_SYMBOLS ? 4 : 8, error))
			return false;
	}
	/* Bodies were read later than headers. */
	if (fstat(in->fd, &is) < 0 || !regular_is_same(&in->was, &is))
		return cmd_fail(error, EH2SFRAME_IO, NEWFILE_CHANGED);
	return newfile_commit(&writer->output, &err) || archive_failed(&err, error);
}

void archive_write_free(struct archive_writer *writer)
{
	newfile_abort(&writer->output);
	free(writer->moved);
	free(writer->input.path);
}
