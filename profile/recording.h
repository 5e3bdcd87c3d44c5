/* SPDX-License-Identifier: MIT */
/*
 * The file of a profile: a header of RECORDING_MAGIC, then entries. An entry is its kind (a byte), the size of
 * its content (LEB128) and its content. Numbers are unsigned LEB128, strings their size and
 * their bytes. docs/PROFILE.md has the members of each kind.
 */
#ifndef PROFILE_RECORDING_H
#define PROFILE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "profile/profile.h"

#define RECORDING_MAGIC "eh2sprf\1"
enum { RECORDING_MAGIC_SIZE = 8 };

enum recording_kind {
	RECORDING_INFO = 1,
	RECORDING_MODULE = 2,
	RECORDING_FRAME = 3,
	RECORDING_STACK = 4,
	RECORDING_THREAD = 5,
	RECORDING_SAMPLE = 6,
	RECORDING_NAME = 7,
	RECORDING_END = 8,
	RECORDING_EVENT = 9,  /* a record of perf_event_open, of a raw recording */
	RECORDING_AGAIN = 10, /* stacks are numbered from 1 again */
};

/* The largest content of an entry. */
enum { RECORDING_MAX_ENTRY = 1 << 20 };

/* Writes what is new in a profile, again and again, while it grows. Zeroed, then begun. */
struct recording_writer {
	int fd; /* borrowed */
	struct wr wr;
	struct wr entry; /* the one that is being made */
	size_t n_modules, n_frames, n_stacks, n_threads, n_samples; /* that are written */
};

/* Writes the header and what is known of the profile. ERR_IO, ERR_NOMEM. */
ATTR_MUST_CHECK bool recording_begin(struct recording_writer *writer, int fd,
    const struct profile *profile, struct err *err);
/* Writes what was added since. It may keep a part until the next call. */
ATTR_MUST_CHECK bool recording_more(
    struct recording_writer *writer, const struct profile *profile, struct err *err);
/* Writes a name that a frame got after it was written. */
ATTR_MUST_CHECK bool recording_name(struct recording_writer *writer,
    const struct profile *profile, uint32_t frame, struct err *err);
/* Writes a record of the kernel, of up to three parts. */
ATTR_MUST_CHECK bool recording_event(
    struct recording_writer *writer, const void *bytes, size_t size, struct err *err);
/* profile_forget was called, after recording_more. */
ATTR_MUST_CHECK bool recording_again(struct recording_writer *writer, struct err *err);
/* Writes all that is left and the end. */
ATTR_MUST_CHECK bool recording_end(
    struct recording_writer *writer, const struct profile *profile, struct err *err);
void recording_free(struct recording_writer *writer);

/* Gets each record of a raw recording, in its order; false ends the reading. */
typedef bool recording_event_fn(
    void *context, const uint8_t *bytes, size_t size, struct err *err);

/* profile_read, with a function for records. NULL ignores them. */
ATTR_MUST_CHECK bool recording_read(struct profile *profile, int fd, const char *name,
    recording_event_fn *event, void *context, struct err *err);

#endif
