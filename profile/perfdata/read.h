/* SPDX-License-Identifier: MIT */
/*
 * Reads perf.data, the file of perf record and of eh2sframe-record
 * (linux/tools/perf/Documentation/perf.data-file-format.txt). Any bytes are safe: memory stays
 * below a multiple of the file's size, and bytes that change while they are read give records
 * that say something else, or an error. The file is mapped, because most of it are copies of stacks, and a walk
 * reads few words of one. So profile_survive_truncation comes first.
 */
#ifndef PROFILE_PERFDATA_READ_H
#define PROFILE_PERFDATA_READ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "profile/perfdata/event.h"
#include "profile/perfdata/format.h"

/* An event that was asked for. */
struct perfdata_attr {
	struct perf_event_attr attr;
	struct event_layout layout;
};

/* One of the numbers by which records name their event. */
struct perfdata_id {
	uint64_t id;
	uint64_t attr; /* index */
};

/* The build-id of a file that was mapped; perf writes them at the end. */
struct perfdata_build_id {
	const char *path;
	uint8_t id[EVENT_MAX_BUILD_ID];
	uint32_t size;
};

/* A record: when it was and where it is. */
struct perfdata_record {
	uint64_t time, offset;
};

/* Zeroed, then perfdata_open. The strings are "" where the file does not say. */
struct perfdata {
	const char *host, *release, *machine, *command, *event;
	bool cut_off; /* it was not finished */
	/* The event whose samples perfdata_each gives: the first that is not a dummy. */
	size_t first;
	uint64_t modified; /* ns since 1970: when the file was written last */
	uint64_t clock;	   /* what makes a record's time such a one; 0: not known */
	/* Samples of other events, and damaged ones: known after perfdata_each. */
	uint64_t n_others, n_damaged;
	/* The rest is its own. */
	int fd; /* borrowed */
	bool has_holes;
	const uint8_t *bytes; /* of the file, mapped */
	uint64_t size, data, data_end;
	size_t kept; /* bytes of records that are in memory since they were read */
	struct perfdata_attr *attrs;
	struct perfdata_id *ids;	     /* in their order */
	struct perfdata_build_id *build_ids; /* in the order of paths */
	struct perfdata_record *records;
	size_t n_attrs, n_ids, n_build_ids, n_records;
	size_t cap_ids, cap_build_ids, cap_records;
	const struct perfdata_names_entry *names; /* by PC, then by process */
	const char *name_texts;
	size_t n_names;
	uint8_t *features[8]; /* that texts, names and paths are in */
	size_t n_features;
	uint8_t copy[EVENT_MAX_SIZE]; /* of a record that is not read where it is */
};

/*
 * Reads what is not a record. The descriptor stays the caller's and is one of a file. ERR_UNSUPPORTED: not a
 * perf.data, compressed, of the other byte order; ERR_MALFORMED, ERR_IO, ERR_NOMEM.
 */
ATTR_MUST_CHECK bool perfdata_open(struct perfdata *perfdata, int fd, struct err *err);
void perfdata_free(struct perfdata *perfdata);

/* Gets a record; false, with err, ends the reading. The record stays until it returns. */
typedef bool perfdata_fn(void *context, const struct event *event, struct err *err);

/* Gives the records that struct event knows, in the order of time. */
ATTR_MUST_CHECK bool perfdata_each(
    struct perfdata *perfdata, perfdata_fn *take, void *context, struct err *err);

/* The name that the recording has for a frame by its PC in the sample; NULL: none. It lives as long as the
 * reader. */
const char *perfdata_name(const struct perfdata *perfdata, uint32_t pid, uint64_t pc);

/* Gives n bytes at an offset, which can change at any time. NULL: they are not there. */
const uint8_t *perfdata_bytes(
    const struct perfdata *perfdata, uint64_t offset, uint64_t n);

/* features.c: the strings and build-ids. What is damaged there is left out. */
ATTR_MUST_CHECK bool perfdata_features(
    struct perfdata *perfdata, const uint64_t bits[4], struct err *err);

/* Files that were mapped say who they are by the table at the end where the kernel did not. */
void perfdata_identify(const struct perfdata *perfdata, struct event *event);

#endif
