/* SPDX-License-Identifier: MIT */
/* Reads an archive, opens its members, and writes it again with other bodies for some of them. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/program/fail.h"
#include "base/regular.h"
#include "base/vec.h"
#include "cmd/archive/archive.h"

/* A header, and where its fields are. */
enum { HEADER = 60, NAME_SIZE = 16, SIZE_AT = 48, SIZE_SIZE = 10, MARK_AT = 58 };
/* No file has a longer name. */
enum { MAGIC = 8, MAX_NAME = 4096 };
/* BSD's table has this name, which may go on with " SORTED". */
#define SYMDEF "__.SYMDEF"

/* A number in decimal, with blanks behind it. At most 15 digits, so it fits. */
static bool archive_number(const char *text, size_t n, size_t *number)
{
	size_t i = 0;

	for (*number = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		*number = *number * 10 + (size_t)(text[i] - '0');
	return i && strspn(text + i, " ") >= n - i;
}

/* Finds a name, up to what ends it: long names have a slash before that, which short ones have alone. */
static void archive_set_name(struct archive_member *member, const char *name, size_t n)
{
	const char *end = name;

	while (end < name + n && end < name + MAX_NAME && *end && *end != '\n')
		end++;
	while (end > name && end[-1] == ' ')
		end--;
	member->name = name;
	member->name_size = (size_t)(end - name) - (end > name && end[-1] == '/');
}

/* Finds names where GNU ar puts them, and where BSD's does: in the body. Returns what is wrong, or NULL. */
static const char *archive_classify(
    struct archive *archive, struct archive_member *member)
{
	const char *name = archive->bytes + member->at, *colon;
	size_t at = 0, digits;

	archive_set_name(member, name, NAME_SIZE);
	if (!memcmp(name, "/ ", 2)) {
		member->kind = ARCHIVE_SYMBOLS;
	} else if (!memcmp(name, "/SYM64/ ", 8)) {
		member->kind = ARCHIVE_SYMBOLS_64;
	} else if (name[0] == '/' && (name[1] < '0' || name[1] > '9')) {
		member->kind = ARCHIVE_TABLE;
	} else if (name[0] == '/') {
		/* In thin archives, an offset follows where the file is an archive itself. */
		colon = memchr(name, ':', NAME_SIZE);
		digits = colon ? (size_t)(colon - name) - 1 : NAME_SIZE - 1;
		if (!archive_number(name + 1, digits, &at) || at >= archive->names_size)
			return "has a name outside of the table of long names";
		archive_set_name(member, archive->names + at, archive->names_size - at);
	} else if (!memcmp(name, "#1/", 3)) {
		if (!archive_number(name + 3, NAME_SIZE - 3, &at) || archive->thin ||
		    at > member->end - member->body)
			return "has a name that is longer than its member";
		archive_set_name(member, archive->bytes + member->body, at);
		member->body += at;
	}
	if (member->name_size >= sizeof(SYMDEF) - 1 &&
	    !memcmp(member->name, SYMDEF, sizeof(SYMDEF) - 1))
		member->kind = ARCHIVE_SYMBOLS_BSD;
	return NULL;
}

/* Checks the header at member->at. Returns what is wrong, or NULL. */
static const char *archive_check(struct archive *archive, struct archive_member *member)
{
	const char *header = archive->bytes + member->at;
	size_t size;
	bool file;

	if (!num_range_inside(member->at, HEADER, archive->size))
		return "is cut off";
	if (memcmp(header + MARK_AT, "`\n", 2) != 0)
		return "does not end as one";
	if (!archive_number(header + SIZE_AT, SIZE_SIZE, &size))
		return "has a size that is no number";
	member->body = member->at + HEADER;
	file = header[0] != '/' || (header[1] >= '0' && header[1] <= '9');
	/* The file of a thin archive's member is elsewhere. */
	size = archive->thin && file ? 0 : size;
	if (!num_range_inside(member->body, size, archive->size))
		return "has a size that reaches past the end of the file";
	member->end = member->body + size;
	/* Some programs leave out the filler behind the last one. */
	member->next = member->end + (size & 1 && member->end < archive->size);
	if (!memcmp(header, "// ", 3)) {
		if (archive->names)
			return "is that of a second table of long names";
		archive->names = archive->bytes + member->body;
		archive->names_size = size;
	}
	return archive_classify(archive, member);
}

static bool archive_parse(struct archive *archive, struct eh2sframe_error *error)
{
	struct archive_member member;

	for (size_t at = MAGIC; at < archive->size; at = member.next) {
		const char *wrong;

		member = (struct archive_member){.at = at};
		wrong = archive_check(archive, &member);
		if (wrong)
			return cmd_fail(error, EH2SFRAME_INPUT,
			    "archive: the member header at offset 0x%zx %s; make the "
			    "archive again with ar",
			    at, wrong);
		if (!vec_reserve(&archive->members, &archive->cap, archive->n + 1))
			return cmd_fail_nomem(error);
		archive->members[archive->n++] = member;
	}
	return true;
}

bool archive_open(
    int fd, const char *path, struct archive *archive, struct eh2sframe_error *error)
{
	struct newfile_input *input = &archive->input;
	char magic[MAGIC];
	ssize_t n;

	*archive = (struct archive){.path = path};
	input->fd =
	    fd < 0 ? regular_open(path, &input->was) : regular_copy(fd, &input->was);
	/* A name that leads nowhere, or to no file, is refused where files are opened. */
	if (input->fd < 0)
		return (errno != EIO && errno != ENOSPC) ||
		       cmd_fail_errno(error, "cannot open");
	n = regular_read(input->fd, magic, MAGIC, 0);
	if (n < 0)
		return cmd_fail_errno(error, "cannot read");
	if (n != MAGIC)
		return true;
	archive->thin = !memcmp(magic, "!<thin>\n", MAGIC);
	if (!archive->thin && memcmp(magic, "!<arch>\n", MAGIC) != 0)
		return true;
	if (regular_is_hollow(input->fd, &input->was, fd < 0))
		return cmd_fail(error, EH2SFRAME_INPUT, "0x%jx " REGULAR_HOLLOW,
		    (uintmax_t)input->was.st_size);
	archive->size = (size_t)input->was.st_size;
	archive->bytes = malloc(archive->size);
	input->path = fd < 0 ? realpath(path, NULL) : NULL;
	if (!archive->bytes)
		return cmd_fail_nomem(error);
	n = regular_read(input->fd, archive->bytes, archive->size, 0);
	if (n < 0)
		return cmd_fail_errno(error, "cannot read");
	if ((size_t)n < archive->size)
		return cmd_fail(error, EH2SFRAME_IO,
		    "shrank while it was read; run again when no program changes it");
	return archive_parse(archive, error);
}

void archive_close(struct archive *archive)
{
	if (archive->input.fd >= 0)
		close(archive->input.fd);
	free(archive->input.path);
	free(archive->members);
	free(archive->bytes);
}

char *archive_name(const struct archive *archive, size_t i)
{
	const struct archive_member *member = &archive->members[i];
	char *text;

	return asprintf(&text, "%s(%.*s)", archive->path, (int)member->name_size,
		   member->name) < 0
		   ? NULL
		   : text;
}

enum eh2sframe_kind archive_kind(const struct archive *archive, size_t i)
{
	const struct archive_member *member = &archive->members[i];

	if (member->kind != ARCHIVE_FILE)
		return EH2SFRAME_KIND_NOT_ELF;
	return archive->thin ? EH2SFRAME_KIND_RELOCATABLE
			     : eh2sframe_kind(archive->bytes + member->body,
				   member->end - member->body);
}

struct eh2sframe_file *archive_member_open(const struct archive *archive, size_t i,
    const char *name, const struct eh2sframe_options *options,
    struct eh2sframe_error *error)
{
	const struct archive_member *member = &archive->members[i];
	const char *slash = strrchr(archive->path, '/');
	int dir = slash && *member->name != '/' ? (int)(slash - archive->path) + 1 : 0;
	struct eh2sframe_file *file = NULL;
	char *path;

	if (!archive->thin)
		return eh2sframe_open_memory(archive->bytes + member->body,
		    member->end - member->body, name, options, error);
	if (asprintf(&path, "%.*s%.*s", dir, archive->path, (int)member->name_size,
		member->name) < 0)
		path = NULL;
	if (path)
		file = eh2sframe_open_path(path, options, error);
	else
		cmd_fail_nomem(error);
	free(path);
	return file;
}

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
		    "a new member has more bytes than an archive can count; leave the "
		    "file out");
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
	size_t number = 0;

	while (width--)
		number = number << 8 | (uint8_t)*from++;
	return number;
}

/* Writes a number. False: it does not fit. */
static bool archive_set(char *to, size_t width, size_t number)
{
	for (; width--; number >>= 8)
		to[width] = (char)number;
	return !number;
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
