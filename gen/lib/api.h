/* SPDX-License-Identifier: MIT */
/* Shared by the files of the public interface. */
#ifndef GEN_LIB_API_H
#define GEN_LIB_API_H

#include "gen/convert.h"
#include "gen/report/check_code.h"
#include "gen/report/json.h"
#include "base/stream.h"
#include "include/eh2sframe-command.h"

struct eh2sframe_options {
	struct options options;
};

struct eh2sframe_file {
	struct options options;
	struct image image;
	void *made; /* bytes of the image that are ours, or NULL */
	/* Changes when the file is converted in its place; NULL: not open yet. */
	struct newfile_input *input;
	struct eh2sframe_names names; /* n 0: none were set */
};

struct eh2sframe_result {
	const struct eh2sframe_file *file; /* borrowed */
	struct conversion conv;
	struct symbols symbols; /* for eh2sframe_result_symbol */
	bool symbols_read;
};

struct eh2sframe_check {
	struct report_check check;
	int verbosity;
};

/* Copies err to the caller, unless ok or error is NULL; returns ok. */
bool api_return(bool ok, const struct err *err, struct eh2sframe_error *error);

/* True if the caller gave every required pointer; else sets err. */
bool api_given(bool all_given, struct err *err);

/*
 * Copies a struct to one of the caller, except the first member, which is its size and stays: it is
 * shorter than ours when the caller was compiled against an earlier version, and can also be longer.
 * False when it has room for nothing, or a part of a member.
 */
bool api_give(void *to, size_t to_size, const void *from, size_t size);

/* Begins text for the caller. Sets err unless the caller gave every pointer. */
bool api_text_begin(bool all_given, struct stream *stream, eh2sframe_write_fn *write,
    void *context, struct err *err);

/* Lets an output replace the file, or all of its names; result is the one that it is made from, or NULL. */
void api_install(const struct eh2sframe_file *file, struct eh2sframe_result *result,
    struct install *install);

/* Gives the bytes of an output in memory to the caller, if ok; ends the output. */
bool api_take(
    bool ok, struct install *install, void **bytes, size_t *size, struct err *err);

#endif
