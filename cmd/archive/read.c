/* SPDX-License-Identifier: MIT */
/* Reads an archive, and opens its members. */
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
/* Of the name of BSD's table, which may go on with " SORTED". */
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

/* Names where GNU ar puts them, and where BSD's does: in the body. Returns what is wrong, or NULL. */
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

/* Reads size bytes from the start of the file. */
static bool archive_read(
    struct archive *archive, char *to, size_t size, struct eh2sframe_error *error)
{
	for (size_t at = 0; at < size;) {
		ssize_t n = pread(archive->input.fd, to + at, size - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cmd_fail_errno(error, "cannot read");
		if (n == 0)
			return cmd_fail(error, EH2SFRAME_IO,
			    "shrank while it was read; run again when no program changes "
			    "it");
		at += (size_t)n;
	}
	return true;
}

bool archive_open(
    int fd, const char *path, struct archive *archive, struct eh2sframe_error *error)
{
	struct newfile_input *input = &archive->input;
	char magic[MAGIC];

	*archive = (struct archive){.path = path};
	input->fd =
	    fd < 0 ? regular_open(path, &input->was) : regular_copy(fd, &input->was);
	if (input->fd < 0 || input->was.st_size < MAGIC ||
	    !archive_read(archive, magic, MAGIC, error))
		return true;
	archive->thin = !memcmp(magic, "!<thin>\n", MAGIC);
	if (!archive->thin && memcmp(magic, "!<arch>\n", MAGIC) != 0)
		return true;
	if (regular_is_hollow(input->fd, &input->was, fd < 0))
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "0x%jx " REGULAR_HOLLOW "; leave the file out",
		    (uintmax_t)input->was.st_size);
	archive->size = (size_t)input->was.st_size;
	archive->bytes = malloc(archive->size);
	input->path = fd < 0 ? realpath(path, NULL) : NULL;
	return archive->bytes
		   ? archive_read(archive, archive->bytes, archive->size, error) &&
			 archive_parse(archive, error)
		   : cmd_fail_nomem(error);
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
