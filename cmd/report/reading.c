/* SPDX-License-Identifier: MIT */
/*
 * Reads a JSON report file by file: as values, all files of a distribution would take
 * gigabytes. Between the values this reads the few signs of the outer object itself.
 */
#include "cmd/report/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd/report/report.h"

/* A pipe has no end that is known before. */
enum { READER_MAX_STREAM = 1 << 30 };

struct reader {
	char *text;
	size_t size, cap, at;
	bool is_mapped; /* text is, else allocated */
	bool is_ours;	/* "tool" is "eh2sframe" */
	bool has_files;
	size_t n_files;
	json_t *names; /* of the members so far */
	const struct report_reading *to;
};

static bool reader_fail(const struct reader *in, struct eh2sframe_error *err)
{
	return cmd_fail(
	    err, EH2SFRAME_INPUT, "not a JSON report: damaged at byte %zu", in->at);
}

/* Returns the next sign that is not a blank; 0 at the end. */
static char reader_peek(struct reader *in)
{
	while (
	    in->at < in->size && strchr(" \t\r\n", in->text[in->at]) && in->text[in->at])
		in->at++;
	return in->at < in->size ? in->text[in->at] : '\0';
}

/* Reads the sign if it is the next one. */
static bool reader_take(struct reader *in, char sign)
{
	if (reader_peek(in) != sign)
		return false;
	in->at++;
	return true;
}

/* Reads the next value, which the caller owns. Repeated members are refused: programs
 * read them differently. */
static json_t *reader_value(struct reader *in, struct eh2sframe_error *err)
{
	json_error_t why;
	json_t *value = json_loadb(in->text + in->at, in->size - in->at,
	    JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &why);

	/* The position is the end of the value, or of the fault in it. */
	if (value || why.position > 0)
		in->at += (size_t)why.position;
	if (value)
		return value;
	if (json_error_code(&why) == json_error_out_of_memory)
		cmd_fail_nomem(err);
	else
		reader_fail(in, err);
	return NULL;
}

static bool reader_file(struct reader *in, struct eh2sframe_error *err)
{
	json_t *file = reader_value(in, err);
	bool ok = file && (in->to->file(in->to->context, file, err) ||
			      cmd_fail(err, err->status, "files[%zu]: %.400s",
				  in->n_files, err->text));

	json_decref(file);
	in->n_files++;
	return ok;
}

static bool reader_files(struct reader *in, struct eh2sframe_error *err)
{
	in->has_files = true;
	if (!reader_take(in, '['))
		return reader_fail(in, err);
	if (reader_take(in, ']'))
		return true;
	for (;;) {
		if (!reader_file(in, err))
			return false;
		if (reader_take(in, ']'))
			return true;
		if (!reader_take(in, ','))
			return reader_fail(in, err);
	}
}

/* Says what to do about a report that cannot be read, where the error does not yet. Always false. */
static bool reader_blame(struct eh2sframe_error *err)
{
	if (err->status == EH2SFRAME_INPUT && !strstr(err->text, "; "))
		cmd_fail(err, err->status, "%.450s; make the report again", err->text);
	return false;
}

/* Tells if this version knows a report's member "schema", or there is none: what a later schema
 * changes may be what this version would read. */
static bool reader_schema(const json_t *value, struct eh2sframe_error *err)
{
	return !value || json_integer_value(value) == REPORT_SCHEMA ||
	       cmd_fail(err, EH2SFRAME_INPUT,
		   "its member \"schema\" is not %d: the report is of another version "
		   "of this program; read it with that version",
		   REPORT_SCHEMA);
}

/* Reads the value of a member that is not "files". */
static bool reader_other(struct reader *in, const char *name, struct eh2sframe_error *err)
{
	json_t *value = reader_value(in, err);
	bool ok = value != NULL;

	if (ok && !strcmp(name, "tool"))
		in->is_ours = json_is_string(value) &&
			      !strcmp(json_string_value(value), "eh2sframe");
	else if (ok && !strcmp(name, "schema"))
		ok = reader_schema(value, err);
	else if (ok && !strcmp(name, "summary") && in->to->summary)
		ok = in->to->summary(in->to->context, value, err);
	json_decref(value);
	return ok;
}

/* Reads a member of the outer object. */
static bool reader_member(struct reader *in, struct eh2sframe_error *err)
{
	const size_t at = in->at;
	const char *name;
	bool ok = false;
	json_t *key;

	if (reader_peek(in) != '"')
		return reader_fail(in, err);
	key = reader_value(in, err);
	if (!key)
		return false;
	name = json_string_value(key);
	if (json_object_get(in->names, name)) {
		in->at = at;
		reader_fail(in, err);
	} else if (json_object_set_new(in->names, name, json_true()) < 0) {
		cmd_fail_nomem(err);
	} else if (!reader_take(in, ':')) {
		reader_fail(in, err);
	} else {
		ok = !strcmp(name, "files") ? reader_files(in, err)
					    : reader_other(in, name, err);
	}
	json_decref(key);
	return ok;
}

static bool reader_document(struct reader *in, struct eh2sframe_error *err)
{
	if (!reader_take(in, '{'))
		return reader_fail(in, err);
	if (!reader_take(in, '}')) {
		do
			if (!reader_member(in, err))
				return false;
		while (reader_take(in, ','));
		if (!reader_take(in, '}'))
			return reader_fail(in, err);
	}
	if (reader_peek(in) || in->at < in->size)
		return reader_fail(in, err);
	if (in->is_ours && in->has_files)
		return true;
	return cmd_fail(err, EH2SFRAME_INPUT,
	    "not a report of this program: it lacks the tool \"eh2sframe\", or files");
}

/* Reads a file that cannot be mapped: a pipe, for one. */
static bool reader_stream(struct reader *in, int fd, struct eh2sframe_error *err)
{
	ssize_t n;

	do {
		if (in->size > READER_MAX_STREAM)
			return cmd_fail(err, EH2SFRAME_INPUT,
			    "longer than 1 GiB; give a regular file");
		if (!vec_reserve(&in->text, &in->cap, in->size + 65536))
			return cmd_fail_nomem(err);
		n = read(fd, in->text + in->size, in->cap - in->size);
		if (n < 0 && errno != EINTR)
			return cmd_fail_errno(err, "cannot read");
		in->size += n > 0 ? (size_t)n : 0;
	} while (n);
	return true;
}

static bool reader_open(struct reader *in, const char *path, struct eh2sframe_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;
	bool ok = true;

	if (fd < 0)
		return cmd_fail_errno(err, "cannot open");
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	in->is_mapped = map != MAP_FAILED;
	if (in->is_mapped) {
		in->text = map;
		in->size = (size_t)st.st_size;
	} else {
		ok = reader_stream(in, fd, err);
	}
	close(fd);
	return ok;
}

static void reader_deinit(struct reader *in)
{
	json_decref(in->names);
	if (in->is_mapped)
		munmap(in->text, in->size);
	else
		free(in->text);
}

bool report_read(
    const char *path, const struct report_reading *to, struct eh2sframe_error *err)
{
	struct reader in = {.to = to, .names = json_object()};
	bool ok;

	ok = (in.names || cmd_fail_nomem(err)) && reader_open(&in, path, err) &&
	     reader_document(&in, err);
	reader_deinit(&in);
	return ok || reader_blame(err);
}
