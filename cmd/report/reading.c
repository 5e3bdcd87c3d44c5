/* SPDX-License-Identifier: MIT */
/*
 * Reads a JSON report file by file: as values, all files of a distribution would take
 * gigabytes. Between the values this reads the few signs of the outer object itself.
 */
#include "cmd/report/reading.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/report/report.h"

struct reader {
	const char *text;
	size_t size, at;
	bool is_ours; /* "tool" is "eh2sframe" */
	bool has_files;
	report_read_fn *file;
	void *context;
};

static bool reader_fail(const struct reader *in, struct eh2sframe_error *err)
{
	return cmd_fail(err, EH2SFRAME_INPUT, "not a JSON report: byte %zu", in->at);
}

/* The next sign that is not a blank; 0 at the end. */
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

/* The next value, which the caller owns. Repeated members are refused: programs read them
 * differently. */
static json_t *reader_value(struct reader *in, struct eh2sframe_error *err)
{
	json_error_t why;
	json_t *value = json_loadb(in->text + in->at, in->size - in->at,
	    JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &why);

	if (value)
		in->at += (size_t)why.position;
	else if (json_error_code(&why) == json_error_out_of_memory)
		cmd_fail_nomem(err);
	else
		reader_fail(in, err);
	return value;
}

static bool reader_files(struct reader *in, struct eh2sframe_error *err)
{
	in->has_files = true;
	if (!reader_take(in, '['))
		return reader_fail(in, err);
	if (reader_take(in, ']'))
		return true;
	for (;;) {
		json_t *value = reader_value(in, err);
		bool ok = value && in->file(in->context, value, err);

		json_decref(value);
		if (!ok)
			return false;
		if (reader_take(in, ']'))
			return true;
		if (!reader_take(in, ','))
			return reader_fail(in, err);
	}
}

bool report_blame(struct eh2sframe_error *err)
{
	if (err->status == EH2SFRAME_INPUT && !strstr(err->text, "; "))
		cmd_fail(err, err->status, "%.450s; make the report again", err->text);
	return false;
}

bool report_read_schema(const json_t *value, struct eh2sframe_error *err)
{
	return !value || json_integer_value(value) == REPORT_SCHEMA ||
	       cmd_fail(err, EH2SFRAME_INPUT,
		   "its member \"schema\" is not %d: the report is of another version "
		   "of this program; read it by that version",
		   REPORT_SCHEMA);
}

/* A member of the outer object. */
static bool reader_member(struct reader *in, struct eh2sframe_error *err)
{
	json_t *name = reader_peek(in) == '"' ? reader_value(in, err) : NULL, *value;
	bool files = name && !strcmp(json_string_value(name), "files");
	bool tool = name && !strcmp(json_string_value(name), "tool");
	bool schema = name && !strcmp(json_string_value(name), "schema"), ok;

	json_decref(name);
	if (!name)
		return in->at < in->size && in->text[in->at] == '"'
			   ? false
			   : reader_fail(in, err);
	if (!reader_take(in, ':'))
		return reader_fail(in, err);
	if (files && !in->has_files)
		return reader_files(in, err);
	value = reader_value(in, err);
	if (tool && json_is_string(value))
		in->is_ours = !strcmp(json_string_value(value), "eh2sframe");
	ok = value && (!schema || report_read_schema(value, err));
	json_decref(value);
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
	    "not a report of this program: it needs the tool \"eh2sframe\" and files");
}

bool report_read_files(
    const char *path, report_read_fn *file, void *context, struct eh2sframe_error *err)
{
	struct reader in = {.file = file, .context = context};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map = MAP_FAILED;
	bool ok;

	if (fd < 0)
		return cmd_fail_errno(err, "cannot open");
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return cmd_fail(err, EH2SFRAME_INPUT,
		    "not a file with a JSON report; --report=json makes one");
	in.text = map;
	in.size = (size_t)st.st_size;
	ok = reader_document(&in, err);
	munmap(map, in.size);
	return ok || report_blame(err);
}
