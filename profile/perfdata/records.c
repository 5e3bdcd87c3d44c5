/* SPDX-License-Identifier: MIT */
/* The records of perf.data in the order of time: first their places are sorted, then they are read. */
#include <stdlib.h>
#include <string.h>

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

static bool records_note(struct perfdata *perfdata, uint64_t offset,
    const struct perf_event_header *header, const uint8_t *bytes, struct err *err)
{
	const bool sample = header->type == PERF_RECORD_SAMPLE;
	const struct perfdata_attr *attr = records_attr(perfdata, header, bytes);

	if (sample && attr != &perfdata->attrs[perfdata->first]) {
		perfdata->n_others++;
		return true;
	}
	if (!vec_reserve(
		&perfdata->records, &perfdata->cap_records, perfdata->n_records + 1))
		return err_set_nomem(err);
	perfdata->records[perfdata->n_records++] = (struct perfdata_record){
	    event_time(bytes, header->size, &attr->layout), offset};
	return true;
}

/* Gives a whole record; NULL at the end of what is there. */
static const uint8_t *records_at(struct perfdata *perfdata, uint64_t offset,
    struct perf_event_header *header, struct err *err)
{
	const uint8_t *bytes;

	if (offset >= perfdata->data_end)
		return NULL;
	bytes = perfdata_bytes(perfdata, offset, sizeof(*header), err);
	if (!bytes)
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
	return perfdata_bytes(perfdata, offset, header->size, err);
}

static bool records_sort(struct perfdata *perfdata, struct err *err)
{
	uint64_t offset = perfdata->data, behind;
	struct perf_event_header header;
	const uint8_t *bytes;
	bool ascend = true;

	while ((bytes = records_at(perfdata, offset, &header, err))) {
		if (header.type == PERFDATA_RECORD_COMPRESSED ||
		    header.type == PERFDATA_RECORD_COMPRESSED2)
			return err_set(err, ERR_UNSUPPORTED,
			    "its records are compressed; record without -z");
		if (records_is_known(header.type) &&
		    !records_note(perfdata, offset, &header, bytes, err))
			return false;
		behind = 0;
		if (header.type == PERFDATA_RECORD_AUXTRACE && header.size >= 16)
			memcpy(&behind, bytes + 8, sizeof(behind));
		offset += header.size;
		if (behind > perfdata->size - offset)
			break;
		offset += behind;
	}
	if (err->kind != ERR_NONE)
		return false;
	perfdata->cut_off |= offset < perfdata->data_end;
	for (size_t i = 1; i < perfdata->n_records; i++)
		ascend &= perfdata->records[i - 1].time <= perfdata->records[i].time;
	if (!ascend)
		qsort(perfdata->records, perfdata->n_records, sizeof(*perfdata->records),
		    search_order_pairs);
	return true;
}

bool perfdata_each(
    struct perfdata *perfdata, perfdata_fn *take, void *context, struct err *err)
{
	if (!records_sort(perfdata, err))
		return false;
	for (size_t i = 0; i < perfdata->n_records; i++) {
		struct perf_event_header header;
		const uint8_t *bytes =
		    records_at(perfdata, perfdata->records[i].offset, &header, err);
		const struct perfdata_attr *attr;
		struct event event;

		if (!bytes && err->kind != ERR_NONE)
			return false;
		/* It changed meanwhile, or is damaged: it is left out. */
		if (!bytes || !records_is_known(header.type))
			continue;
		attr = records_attr(perfdata, &header, bytes);
		if (!attr || !event_read(bytes, header.size, &attr->layout, &event)) {
			perfdata->n_damaged += header.type == PERF_RECORD_SAMPLE;
			continue;
		}
		if (!event.weight)
			event.weight = attr->attr.freq ? 1 : attr->attr.sample_period;
		perfdata_identify(perfdata, &event);
		if (!take(context, &event, err))
			return false;
	}
	return true;
}
