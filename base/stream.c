/* SPDX-License-Identifier: MIT */
/* Text for the caller, by the functions that print on a FILE. */
#include "base/stream.h"

static ssize_t stream_write(void *cookie, const char *text, size_t size)
{
	struct stream *stream = cookie;

	if (stream->stopped || !stream->write(stream->context, text, size)) {
		stream->stopped = true;
		return 0;
	}
	return (ssize_t)size;
}

bool stream_locale_begin(struct stream *stream, struct err *err)
{
	stream->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (stream->c == (locale_t)0)
		return err_set_nomem(err);
	stream->before = uselocale(stream->c);
	return true;
}

void stream_locale_end(struct stream *stream)
{
	uselocale(stream->before);
	freelocale(stream->c);
}

bool stream_begin(struct stream *stream,
    bool (*write)(void *context, const char *text, size_t size), void *context,
    struct err *err)
{
	*stream = (struct stream){.write = write, .context = context};
	stream->file =
	    fopencookie(stream, "w", (cookie_io_functions_t){.write = stream_write});
	if (!stream->file)
		return err_set_nomem(err);
	if (stream_locale_begin(stream, err))
		return true;
	fclose(stream->file);
	return false;
}

bool stream_end(struct stream *stream, bool ok, struct err *err)
{
	bool failed = ferror(stream->file) != 0;

	failed |= fclose(stream->file) != 0;
	stream_locale_end(stream);
	if (ok && (failed || stream->stopped))
		return err_set(err, ERR_IO, "cannot write the text");
	return ok;
}
