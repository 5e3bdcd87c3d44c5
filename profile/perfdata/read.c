/* SPDX-License-Identifier: MIT */
#include "profile/perfdata/read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/num.h"
#include "base/search.h"
#include "base/vec.h"
#include "profile/perfdata/format.h"

/* Limits of one recording: its events, and their identifiers, one for each processor or thread. */
enum { READ_MAX_ATTRS = 4096, READ_MAX_IDS = 1 << 24 };

const uint8_t *perfdata_bytes(
    const struct perfdata *perfdata, uint64_t offset, uint64_t n)
{
	return num_range_inside(offset, n, perfdata->size) ? perfdata->bytes + offset
							   : NULL;
}

static bool read_damaged(struct err *err, const char *what, uint64_t offset)
{
	return err_set(err, ERR_MALFORMED, "%s at %#llx is damaged", what,
	    (unsigned long long)offset);
}

/* The identifiers of an event. */
static bool read_ids(struct perfdata *perfdata, const struct perfdata_section *section,
    size_t attr, struct err *err)
{
	const uint8_t *bytes = perfdata_bytes(perfdata, section->offset, section->size);
	uint64_t n = section->size / 8;

	if ((n && !bytes) || section->size % 8 || n > READ_MAX_IDS - perfdata->n_ids ||
	    /* Events that share a list would make more memory of it than the file has. */
	    n > perfdata->size / 8 - perfdata->n_ids)
		return read_damaged(err, "the list of identifiers", section->offset);
	if (!vec_reserve(&perfdata->ids, &perfdata->cap_ids, perfdata->n_ids + n))
		return err_set_nomem(err);
	for (uint64_t i = 0; i < n; i++) {
		struct perfdata_id *id = &perfdata->ids[perfdata->n_ids++];

		memcpy(&id->id, bytes + 8 * i, 8);
		id->attr = attr;
	}
	return true;
}

static bool read_attrs(
    struct perfdata *perfdata, const struct perfdata_header *header, struct err *err)
{
	const struct perfdata_section *all = &header->attrs;
	const uint64_t size = header->attr_size;
	const size_t ids = sizeof(struct perfdata_section);
	uint64_t n = size ? all->size / size : 0;

	if (size < PERF_ATTR_SIZE_VER0 + ids || size > 4096 || n == 0 ||
	    n > READ_MAX_ATTRS || all->size % size)
		return read_damaged(err, "the list of events", all->offset);
	perfdata->attrs = calloc(n, sizeof(*perfdata->attrs));
	if (!perfdata->attrs)
		return err_set_nomem(err);
	for (perfdata->n_attrs = 0; perfdata->n_attrs < n; perfdata->n_attrs++) {
		struct perfdata_attr *attr = &perfdata->attrs[perfdata->n_attrs];
		uint64_t at = all->offset + size * perfdata->n_attrs;
		const uint8_t *bytes = perfdata_bytes(perfdata, at, size);
		struct perfdata_section section;

		if (!bytes)
			return read_damaged(err, "an event", at);
		memcpy(&attr->attr, bytes,
		    size - ids < sizeof(attr->attr) ? size - ids : sizeof(attr->attr));
		memcpy(&section, bytes + size - ids, ids);
		attr->layout = event_layout(&attr->attr);
		if (!read_ids(perfdata, &section, perfdata->n_attrs, err))
			return false;
	}
	if (perfdata->n_ids)
		qsort(perfdata->ids, perfdata->n_ids, sizeof(*perfdata->ids),
		    search_order_pairs);
	return true;
}

/* How a record says whose it is has to be the same for all. */
static bool read_check_attrs(struct perfdata *perfdata, struct err *err)
{
	const struct event_layout *first = &perfdata->attrs[0].layout;

	for (size_t i = 1; i < perfdata->n_attrs; i++) {
		const struct event_layout *other = &perfdata->attrs[i].layout;

		if (first->sample_type & other->sample_type & PERF_SAMPLE_IDENTIFIER)
			continue;
		if (memcmp(first, other, sizeof(*first)) != 0)
			return err_set(err, ERR_UNSUPPORTED,
			    "the records of %zu events cannot be told apart; record one "
			    "event only",
			    perfdata->n_attrs);
	}
	while (perfdata->first + 1 < perfdata->n_attrs &&
	       perfdata->attrs[perfdata->first].attr.type == PERF_TYPE_SOFTWARE &&
	       perfdata->attrs[perfdata->first].attr.config == PERF_COUNT_SW_DUMMY)
		perfdata->first++;
	return true;
}

static bool read_header(
    struct perfdata *perfdata, struct perfdata_header *header, struct err *err)
{
	const uint8_t *bytes = perfdata_bytes(perfdata, 0, sizeof(*header));
	uint64_t first = 0;

	if (bytes && memcmp(bytes, PERFDATA_MAGIC_SWAPPED, 8) == 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "it was recorded on a machine of the other byte order; read it on "
		    "one of the same");
	if (!bytes || memcmp(bytes, PERFDATA_MAGIC, 8) != 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "it is no recording of eh2sframe-record or perf record");
	memcpy(header, bytes, sizeof(*header));
	if (header->size < sizeof(*header))
		return err_set(err, ERR_UNSUPPORTED,
		    "it was written to a pipe; record with perf record -o FILE");
	perfdata->data = header->data.offset;
	perfdata->data_end = header->data.offset + header->data.size;
	if (perfdata->data > perfdata->size || perfdata->data_end < perfdata->data)
		return read_damaged(err, "the place of the records", 40);
	/* perf writes the size and the features when it ends, and the bits of these before. Then records are where the places of features should be. */
	bytes = header->data.size ? NULL : perfdata_bytes(perfdata, perfdata->data, 8);
	if (bytes)
		memcpy(&first, bytes, sizeof(first));
	perfdata->cut_off = (header->data.size == 0 &&
				(!header->features[0] || first > perfdata->size)) ||
			    perfdata->data_end > perfdata->size;
	if (perfdata->cut_off)
		perfdata->data_end = perfdata->size;
	return true;
}

bool perfdata_open(struct perfdata *perfdata, int fd, struct err *err)
{
	struct perfdata_header header;
	struct stat st;
	void *bytes;

	/* The kind tells the end of the records from an error. */
	*err = (struct err){0};
	*perfdata = (struct perfdata){
	    .host = "", .release = "", .machine = "", .command = "", .event = ""};
	if (fstat(fd, &st) != 0)
		return err_set_errno(err, "cannot read the recording");
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED,
		    "it is not a regular file, but its records have to be sorted; name a "
		    "file");
	perfdata->fd = fd;
	perfdata->size = (uint64_t)st.st_size;
	perfdata->has_holes = (uint64_t)st.st_blocks * 512 < perfdata->size;
	perfdata->modified =
	    (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	bytes = mmap(NULL, perfdata->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED && perfdata->size)
		return err_set_errno(err, "cannot read the recording");
	perfdata->bytes = bytes;
	return read_header(perfdata, &header, err) &&
	       read_attrs(perfdata, &header, err) && read_check_attrs(perfdata, err) &&
	       (perfdata->cut_off || perfdata_features(perfdata, header.features, err));
}

void perfdata_free(struct perfdata *perfdata)
{
	for (size_t i = 0; i < perfdata->n_features; i++)
		free(perfdata->features[i]);
	free(perfdata->build_ids);
	free(perfdata->records);
	free(perfdata->attrs);
	free(perfdata->ids);
	if (perfdata->bytes)
		munmap((void *)(uintptr_t)perfdata->bytes, perfdata->size);
	*perfdata = (struct perfdata){0};
}
