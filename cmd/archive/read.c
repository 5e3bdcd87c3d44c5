/* SPDX-License-Identifier: MIT */
/* Reads the headers of an archive, and opens members. */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/program/fail.h"
#include "base/regular.h"
#include "base/vec.h"
#include "cmd/archive/archive.h"

/* Where the fields of a header are. */
enum { NAME_SIZE = 16, SIZE_AT = 48, SIZE_SIZE = 10, MARK_AT = 58 };
/* No file has a longer name. */
enum { MAX_NAME = 4096 };
/* Of the name of BSD's table, which may go on with " SORTED". */
#define SYMDEF "__.SYMDEF"

bool archive_read(const struct archive *archive, void *to, uint64_t off, uint64_t size,
    struct eh2sframe_error *error)
{
	char *at = to;

	while (size) {
		ssize_t n = pread(archive->fd, at, (size_t)size, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return cmd_fail_errno(error, "cannot read");
		if (n == 0)
			return cmd_fail(error, EH2SFRAME_IO,
			    "shrank while it was read; run again when no program changes "
			    "it");
		at += n;
		off += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return true;
}

/* Always false. */
static bool archive_bad(
    const struct archive_member *member, const char *what, struct eh2sframe_error *error)
{
	return cmd_fail(error, EH2SFRAME_INPUT,
	    "archive: the member header at offset 0x%" PRIx64
	    " %s; make the archive again with ar",
	    member->at, what);
}

/* A number in decimal, with blanks behind it. At most 15 digits, so it fits. */
static bool archive_number(const char *text, size_t n, uint64_t *number)
{
	size_t i = 0;

	for (*number = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		*number = *number * 10 + (uint64_t)(text[i] - '0');
	if (!i)
		return false;
	while (i < n && text[i] == ' ')
		i++;
	return i == n;
}

/* Finds what the name says that it is. */
static bool archive_classify(struct archive_member *member, struct eh2sframe_error *error)
{
	const char *name = member->header;
	const bool slash = name[0] == '/';
	/* In thin archives, an offset follows where the file is an archive itself. */
	const char *colon = memchr(name, ':', NAME_SIZE);
	const size_t digits = colon ? (size_t)(colon - name) : NAME_SIZE;

	member->name = UINT64_MAX;
	if (!memcmp(name, "/ ", 2))
		member->kind = ARCHIVE_SYMBOLS;
	else if (!memcmp(name, "/SYM64/ ", 8))
		member->kind = ARCHIVE_SYMBOLS_64;
	else if (!memcmp(name, SYMDEF, sizeof(SYMDEF) - 1))
		member->kind = ARCHIVE_SYMBOLS_BSD;
	else if (slash && (name[1] < '0' || name[1] > '9'))
		member->kind = ARCHIVE_TABLE;
	else if (slash && !archive_number(name + 1, digits - 1, &member->name))
		return archive_bad(
		    member, "has a name that is no offset of the table", error);
	else if (!memcmp(name, "#1/", 3) &&
		 !archive_number(name + 3, NAME_SIZE - 3, &member->named))
		return archive_bad(member, "has no length of its name", error);
	return true;
}

/* Checks what stands behind the header. */
static bool archive_bound(
    struct archive *archive, struct archive_member *member, struct eh2sframe_error *error)
{
	const uint64_t end = (uint64_t)archive->was.st_size;
	char name[sizeof(SYMDEF) - 1];

	member->body = member->at + ARCHIVE_HEADER;
	if (archive->thin && member->kind == ARCHIVE_FILE) {
		member->next = member->body;
		return !member->named ||
		       archive_bad(member, "has a BSD name in a thin archive", error);
	}
	if (!num_range_inside(member->body, member->size, end))
		return archive_bad(
		    member, "has a size that reaches past the end of the file", error);
	if (member->named > member->size)
		return archive_bad(member, "has a name that is longer than it", error);
	/* Some programs leave out the filler behind the last one. */
	member->next = member->body + member->size;
	member->next += member->size & 1 && member->next < end;
	if (member->named >= sizeof(name)) {
		if (!archive_read(archive, name, member->body, sizeof(name), error))
			return false;
		if (!memcmp(name, SYMDEF, sizeof(name)))
			member->kind = ARCHIVE_SYMBOLS_BSD;
	}
	member->body += member->named;
	member->size -= member->named;
	return true;
}

/* Keeps the table of long names. */
static bool archive_keep_names(struct archive *archive,
    const struct archive_member *member, struct eh2sframe_error *error)
{
	if (archive->names)
		return archive_bad(
		    member, "is that of a second table of long names", error);
	archive->names = malloc((size_t)member->size + 1);
	archive->names_size = (size_t)member->size;
	return archive->names ? archive_read(archive, archive->names, member->body,
				    member->size, error)
			      : cmd_fail_nomem(error);
}

static bool archive_next(
    struct archive *archive, uint64_t *at, struct eh2sframe_error *error)
{
	struct archive_member member = {.at = *at};

	if (!num_range_inside(*at, ARCHIVE_HEADER, (uint64_t)archive->was.st_size))
		return archive_bad(&member, "is cut off", error);
	if (!archive_read(archive, member.header, *at, ARCHIVE_HEADER, error))
		return false;
	if (memcmp(member.header + MARK_AT, "`\n", 2) != 0)
		return archive_bad(&member, "does not end as one", error);
	if (!archive_number(member.header + SIZE_AT, SIZE_SIZE, &member.size))
		return archive_bad(&member, "has a size that is no number", error);
	if (!archive_classify(&member, error) || !archive_bound(archive, &member, error))
		return false;
	if (!memcmp(member.header, "// ", 3) &&
	    !archive_keep_names(archive, &member, error))
		return false;
	if (member.name != UINT64_MAX && member.name >= archive->names_size)
		return archive_bad(
		    &member, "has a name outside of the table of long names", error);
	if (!vec_reserve(&archive->members, &archive->cap, archive->n + 1))
		return cmd_fail_nomem(error);
	archive->members[archive->n++] = member;
	*at = member.next;
	return true;
}

/* Looks whether it is one. */
static bool archive_start(struct archive *archive, int fd)
{
	char magic[ARCHIVE_MAGIC];
	struct eh2sframe_error ignored;

	archive->fd = fd < 0 ? regular_open(archive->path, &archive->was)
			     : regular_copy(fd, &archive->was);
	if (archive->fd < 0)
		return false;
	if (archive->was.st_size >= ARCHIVE_MAGIC &&
	    archive_read(archive, magic, 0, ARCHIVE_MAGIC, &ignored)) {
		archive->thin = !memcmp(magic, "!<thin>\n", ARCHIVE_MAGIC);
		if (archive->thin || !memcmp(magic, "!<arch>\n", ARCHIVE_MAGIC))
			return true;
	}
	close(archive->fd);
	archive->fd = -1;
	return false;
}

bool archive_open(
    int fd, const char *path, struct archive *archive, struct eh2sframe_error *error)
{
	uint64_t at = ARCHIVE_MAGIC;

	*archive = (struct archive){.path = path};
	if (!archive_start(archive, fd))
		return true;
	if (regular_is_hollow(archive->fd, &archive->was, fd < 0))
		return cmd_fail(error, EH2SFRAME_INPUT,
		    "0x%jx " REGULAR_HOLLOW "; leave the file out",
		    (uintmax_t)archive->was.st_size);
	while (at < (uint64_t)archive->was.st_size)
		if (!archive_next(archive, &at, error))
			return false;
	return true;
}

void archive_close(struct archive *archive)
{
	if (archive->fd >= 0)
		close(archive->fd);
	free(archive->members);
	free(archive->names);
	free(archive->bytes);
	*archive = (struct archive){.fd = -1};
}

/* The name as it is there, with what ends it. Returns how long it is. */
static size_t archive_name_copy(
    const struct archive *archive, const struct archive_member *member, char *to)
{
	struct eh2sframe_error ignored;
	const char *from = member->header;
	size_t n = NAME_SIZE, end;

	if (member->named) {
		n = member->named < MAX_NAME ? (size_t)member->named : MAX_NAME;
		if (!archive_read(archive, to, member->body - member->named, n, &ignored))
			n = 0;
		return strnlen(to, n);
	}
	if (member->name != UINT64_MAX) {
		from = archive->names + member->name;
		n = archive->names_size - (size_t)member->name;
		n = n < MAX_NAME ? n : MAX_NAME;
	}
	for (end = 0; end < n && from[end] && from[end] != '\n'; end++)
		continue;
	while (from == member->header && end && from[end - 1] == ' ')
		end--;
	end -= end && from[end - 1] == '/';
	memcpy(to, from, end);
	return end;
}

char *archive_name(const struct archive *archive, size_t i)
{
	char name[MAX_NAME], *text;
	int n = (int)archive_name_copy(archive, &archive->members[i], name);

	return asprintf(&text, "%s(%.*s)", archive->path, n, name) < 0 ? NULL : text;
}

/* The file of a thin archive's member, whose name is relative to the archive. */
static struct eh2sframe_file *archive_file_open(const struct archive *archive, size_t i,
    const struct eh2sframe_options *options, struct eh2sframe_error *error)
{
	char name[MAX_NAME], *path;
	int n = (int)archive_name_copy(archive, &archive->members[i], name);
	const char *slash = strrchr(archive->path, '/');
	int dir = slash && name[0] != '/' ? (int)(slash - archive->path) + 1 : 0;
	struct eh2sframe_file *file;

	if (asprintf(&path, "%.*s%.*s", dir, archive->path, n, name) < 0) {
		cmd_fail_nomem(error);
		return NULL;
	}
	file = eh2sframe_open_path(path, options, error);
	free(path);
	return file;
}

bool archive_member_kind(const struct archive *archive, size_t i,
    enum eh2sframe_kind *kind, struct eh2sframe_error *error)
{
	const struct archive_member *member = &archive->members[i];
	unsigned char start[sizeof(Elf64_Ehdr)];

	*kind = EH2SFRAME_KIND_NOT_ELF;
	if (member->kind != ARCHIVE_FILE)
		return true;
	if (archive->thin) {
		*kind = EH2SFRAME_KIND_RELOCATABLE;
		return true;
	}
	if (member->size < sizeof(start))
		return true;
	if (!archive_read(archive, start, member->body, sizeof(start), error))
		return false;
	*kind = eh2sframe_kind(start, sizeof(start));
	return true;
}

struct eh2sframe_file *archive_member_open(struct archive *archive, size_t i,
    const char *name, const struct eh2sframe_options *options,
    struct eh2sframe_error *error)
{
	const struct archive_member *member = &archive->members[i];

	if (archive->thin)
		return archive_file_open(archive, i, options, error);
	free(archive->bytes);
	archive->bytes = malloc((size_t)member->size);
	if (!archive->bytes)
		cmd_fail_nomem(error);
	else if (archive_read(archive, archive->bytes, member->body, member->size, error))
		return eh2sframe_open_memory(
		    archive->bytes, (size_t)member->size, name, options, error);
	return NULL;
}
