/* SPDX-License-Identifier: MIT */
/*
 * A stdio stream that passes its text to a function of the caller. While it is open,
 * the thread prints numbers as in the C locale, whatever the program's locale is.
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
	bool stopped; /* write returned false */
	locale_t c, before;
};

/* Opens the stream, which must not move until stream_end. ERR_NOMEM. */
ATTR_MUST_CHECK bool stream_begin(struct stream *stream,
    bool (*write)(void *context, const char *text, size_t size), void *context,
    struct err *err);

/* Passes on what is left. ok: all calls until now succeeded; otherwise err has the reason
 * already. ERR_IO when write returned false. */
ATTR_MUST_CHECK bool stream_end(struct stream *stream, bool ok, struct err *err);

/* Numbers as the C locale has them, for this thread. ERR_NOMEM. */
ATTR_MUST_CHECK bool stream_locale_begin(struct stream *stream, struct err *err);
void stream_locale_end(struct stream *stream);

#endif
