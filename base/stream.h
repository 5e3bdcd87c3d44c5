/* SPDX-License-Identifier: MIT */
/*
 * A stdio stream whose text goes to a function of the caller. While it is open the thread
 * prints numbers as the C locale has them, whatever the program's locale is.
 */
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include <locale.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"

struct stream {
	FILE *file;
	bool (*write)(void *context, const char *text, size_t size);
	void *context;
	bool stopped; /* write wanted no more */
	locale_t c, before;
};

/* The stream must not move until its end. ERR_NOMEM. */
ATTR_MUST_CHECK bool stream_begin(struct stream *stream,
    bool (*write)(void *context, const char *text, size_t size), void *context,
    struct err *err);

/* Gives away what is left. ok: whether all went well until now, else err has it already;
 * ERR_IO when write wanted no more. */
ATTR_MUST_CHECK bool stream_end(struct stream *stream, bool ok, struct err *err);

/* Numbers as the C locale has them, for this thread. ERR_NOMEM. */
ATTR_MUST_CHECK bool stream_locale_begin(struct stream *stream, struct err *err);
void stream_locale_end(struct stream *stream);

#endif
