/* SPDX-License-Identifier: MIT */
/* Writes perf.data: read.h. */
#ifndef PROFILE_PERFDATA_WRITE_H
#define PROFILE_PERFDATA_WRITE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/wr.h"
#include "profile/perfdata/event.h"

/* A stack of a program. */
struct perfdata_walked {
	const uint64_t *pcs;  /* the first frame first */
	const uint8_t *flags; /* of each: PERFDATA_FRAME_EXACT, PERFDATA_FRAME_GUESSED */
	size_t n;
	uint8_t why; /* enum profile_why */
};

/* For the parts behind the records. */
struct perfdata_about {
	const char *host, *release, *machine; /* as uname(2) gives them */
	const char *event;		      /* the event's name */
	char *const *command;		      /* words, NULL behind the last one */
	uint64_t clock;			      /* event_clock(); 0: not known */
};

struct perfdata_writer {
	int fd; /* borrowed */
	struct perf_event_attr attr;
	struct wr wr;	     /* what is not written yet */
	struct wr build_ids; /* of files, as records */
	struct wr names, name_texts;
	uint64_t written; /* bytes of the file */
};

/*
 * Begins a file at the start of the descriptor, which is one of an empty regular file. walked: samples come by
 * perfdata_put_walked, and not with copies of stacks. ERR_IO, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool perfdata_begin(struct perfdata_writer *writer, int fd,
    const struct perf_event_attr *attr, bool walked, struct err *err);
/* Adds a record as the kernel gave it. */
ATTR_MUST_CHECK bool perfdata_put(
    struct perfdata_writer *writer, const uint8_t *bytes, size_t size, struct err *err);
/* Adds a sample with the kernel's frames of event->chain and those of a walk. */
ATTR_MUST_CHECK bool perfdata_put_walked(struct perfdata_writer *writer,
    const struct event *event, const struct perfdata_walked *walked, struct err *err);
/* Says which file was at a path. */
void perfdata_put_build_id(struct perfdata_writer *writer, const char *path,
    const uint8_t *build_id, uint32_t size);
/* Says what the function of a frame is called: its PC in the sample, and its process. false: there is no room. */
ATTR_MUST_CHECK bool perfdata_put_name(
    struct perfdata_writer *writer, uint32_t pid, uint64_t pc, const char *name);
/* Writes all that is left, and the file is whole. */
ATTR_MUST_CHECK bool perfdata_end(
    struct perfdata_writer *writer, const struct perfdata_about *about, struct err *err);
void perfdata_writer_free(struct perfdata_writer *writer); /* accepts a zeroed one */

#endif
