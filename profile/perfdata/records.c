/* SPDX-License-Identifier: MIT */
/* The records of perf.data in the order of time. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/regular.h"
#include "base/search.h"
#include "base/vec.h"
#include "profile/perfdata/format.h"
#include "profile/perfdata/read.h"

/* The event that a record is of. Others than samples can be of any where they do not say. */
static const struct perfdata_attr *records_attr(const struct perfdata *perfdata,
    const struct perf_event_header *header, const uint8_t *bytes)
{
	const bool sample = header->type == PERF_RECORD_SAMPLE;
	uint64_t id;
	size_t i;

	if (perfdata->n_attrs == 1 ||
	    !event_id(bytes, header->size, &perfdata->attrs[0].layout, &id))
		return &perfdata->attrs[sample ? perfdata->first : 0];
	i = search_list_from(perfdata->ids, perfdata->n_ids, id, id);
	if (i < perfdata->n_ids && perfdata->ids[i].id == id)
		return &perfdata->attrs[perfdata->ids[i].attr];
	return sample ? NULL : &perfdata->attrs[0];
}

/* True for the records that struct event knows. */
static bool records_is_known(uint32_t type)
{
	const uint32_t known = 1 << PERF_RECORD_MMAP | 1 << PERF_RECORD_MMAP2 |
			       1 << PERF_RECORD_COMM | 1 << PERF_RECORD_FORK |
			       1 << PERF_RECORD_EXIT | 1 << PERF_RECORD_LOST |
			       1 << PERF_RECORD_LOST_SAMPLES | 1 << PERF_RECORD_SAMPLE;

	return type < 32 && known >> type & 1;
}

/*
 * Bytes of a record that a walk reads mostly, and of a line of the processor's cache; and bytes of records after which those that were read
 * no longer count as memory of this program.
 */
enum { RECORDS_SOON = 3072, RECORDS_LINE = 64, RECORDS_KEPT = 64 << 20 };

/* Memory is slower than a walk, which reads the front of a copy for the most part. */
static void records_prefetch(const struct perfdata *perfdata, uint64_t offset)
{
	for (uint64_t i = offset; i < offset + RECORDS_SOON; i += RECORDS_LINE)
		if (i < perfdata->size)
			__builtin_prefetch(perfdata->bytes + i);
}

/* Gives a whole record; NULL at the end of what is there. */
static const uint8_t *records_at(struct perfdata *perfdata, uint64_t offset,
    struct perf_event_header *header, struct err *err)
{
	const uint8_t *bytes = perfdata_bytes(perfdata, offset, sizeof(*header));

	if (!bytes || offset >= perfdata->data_end)
		return NULL;
	memcpy(header, bytes, sizeof(*header));
	if (header->size < sizeof(*header)) {
		/* Zeros, as a crash leaves them, or the start of what is behind the records. */
		if (perfdata->cut_off)
			return NULL;
		err_set(err, ERR_MALFORMED,
		    "the record at %#llx has %u bytes, fewer than its header",
		    (unsigned long long)offset, header->size);
		return NULL;
	}
	/*
	 * Buffers of processors take turns in the order of time, so the next record can be far away, and the one behind it here again. All
	 * can be read again. Without a success, it is only more memory.
	 */
	perfdata->kept += header->size;
	if (perfdata->kept >= RECORDS_KEPT) {
		perfdata->kept = 0;
		madvise(
		    (void *)(uintptr_t)perfdata->bytes, perfdata->size, MADV_DONTNEED);
	}
	return perfdata_bytes(perfdata, offset, header->size);
}

/* Records from an offset on, one after the other. */
struct records {
	struct perfdata *perfdata; /* borrowed */
	uint64_t next;
	struct perf_event_header header;
	const uint8_t *bytes;
	struct perfdata_record place;
	const struct perfdata_attr *attr;
};

/* Goes on to the next record that struct event knows, if it is no sample of another event. false: there is none, or err is set. */
static bool records_next(struct records *records, struct err *err)
{
	struct perfdata *perfdata = records->perfdata;
	const struct perf_event_header *header = &records->header;

	while ((records->bytes =
		    records_at(perfdata, records->next, &records->header, err))) {
		uint64_t behind = 0;

		records->place.offset = records->next;
		if (header->type == PERFDATA_RECORD_COMPRESSED ||
		    header->type == PERFDATA_RECORD_COMPRESSED2)
			return err_set(err, ERR_UNSUPPORTED,
			    "its records are compressed; record without -z");
		if (header->type == PERFDATA_RECORD_AUXTRACE && header->size >= 16)
			memcpy(&behind, records->bytes + 8, sizeof(behind));
		records->next += header->size;
		if (behind > perfdata->size - records->next)
			break;
		records->next += behind;
		if (!records_is_known(header->type))
			continue;
		records->attr = records_attr(perfdata, header, records->bytes);
		if (header->type == PERF_RECORD_SAMPLE &&
		    records->attr != &perfdata->attrs[perfdata->first]) {
			perfdata->n_others++;
			continue;
		}
		records->place.time =
		    event_time(records->bytes, header->size, &records->attr->layout);
		return true;
	}
	perfdata->cut_off |= records->next < perfdata->data_end;
	return false;
}

static bool records_list(struct perfdata *perfdata, struct err *err)
{
	struct records at = {perfdata, .next = perfdata->data};

	while (records_next(&at, err)) {
		if (!vec_reserve(&perfdata->records, &perfdata->cap_records,
			perfdata->n_records + 1))
			return err_set_nomem(err);
		perfdata->records[perfdata->n_records++] = at.place;
	}
	if (perfdata->n_records)
		qsort(perfdata->records, perfdata->n_records, sizeof(*perfdata->records),
		    search_order_pairs);
	return err->kind == ERR_NONE;
}

static bool records_take(
    const struct records *at, perfdata_fn *take, void *context, struct err *err)
{
	struct perfdata *perfdata = at->perfdata;
	const bool sample = at->header.type == PERF_RECORD_SAMPLE;
	const uint8_t *bytes = at->bytes;
	struct event event;

	/* Texts have ends that must stay, and holes of tmpfs are filled where they are read through a mapping. */
	if (!sample || perfdata->has_holes) {
		bytes = perfdata->copy;
		if (regular_read(perfdata->fd, perfdata->copy, at->header.size,
			at->place.offset) != at->header.size)
			return false;
	}
	if (!event_read(bytes, at->header.size, &at->attr->layout, &event) ||
	    sample != (event.kind == EVENT_SAMPLE)) {
		perfdata->n_damaged += sample;
		return true;
	}
	if (!event.weight)
		event.weight = at->attr->attr.freq ? 1 : at->attr->attr.sample_period;
	perfdata_identify(perfdata, &event);
	return take(context, &event, err);
}

bool perfdata_each(
    struct perfdata *perfdata, perfdata_fn *take, void *context, struct err *err)
{
	struct records at = {.perfdata = perfdata};

	if (!records_list(perfdata, err))
		return false;
	for (size_t i = 0; i < perfdata->n_records; i++) {
		at.next = perfdata->records[i].offset;
		if (i + 1 < perfdata->n_records)
			records_prefetch(perfdata, perfdata->records[i + 1].offset);
		/* To search for the next one each time would take the square of their number. */
		if (!records_next(&at, err) ||
		    at.place.offset != perfdata->records[i].offset ||
		    !records_take(&at, take, context, err))
			return err->kind == ERR_NONE &&
			       err_set(err, ERR_IO,
				   "it changed while it was read; read a copy");
	}
	return true;
}
