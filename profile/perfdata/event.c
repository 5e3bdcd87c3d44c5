/* SPDX-License-Identifier: MIT */
#include "profile/perfdata/event.h"

#include <string.h>
#include <time.h>

#include "base/rd.h"

enum { EVENT_HEADER_SIZE = 8 };

/* The members of 8 bytes in front of the time and of the identifier, at the start of a sample; and
 * behind them, at the end of another record. */
#define EVENT_BEFORE_TIME (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID)
#define EVENT_BEFORE_ID                                                                  \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR)
#define EVENT_AFTER_ID (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)
#define EVENT_AFTER_TIME                                                                 \
	(PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |                      \
	    PERF_SAMPLE_IDENTIFIER)

struct event_layout event_layout(const struct perf_event_attr *attr)
{
	return (struct event_layout){.sample_type = attr->sample_type,
	    .read_format = attr->read_format,
	    .branches = attr->branch_sample_type,
	    .registers = attr->sample_regs_user,
	    .id_all = attr->sample_id_all};
}

static size_t event_size_of(const struct event_layout *layout, uint64_t members)
{
	return 8 * (size_t)__builtin_popcountll(layout->sample_type & members);
}

/* Bytes at the end of a record that is no sample. */
static size_t event_id_size(const struct event_layout *layout)
{
	return layout->id_all ? event_size_of(layout,
				    EVENT_AFTER_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
			      : 0;
}

static void event_init_rd(struct rd *rd, const uint8_t *bytes, size_t size)
{
	rd_init(rd, bytes, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	rd_seek(rd, EVENT_HEADER_SIZE);
}

/* n things of size bytes. */
static const uint8_t *event_skip(struct rd *rd, uint64_t n, size_t size)
{
	return rd_skip(rd, n > rd->size ? UINT64_MAX : n * size);
}

/* Values of counters: PERF_SAMPLE_READ. */
static void event_skip_read(struct rd *rd, uint64_t format)
{
	const uint64_t times =
	    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	/* PERF_FORMAT_LOST, which Linux 6.0 added. */
	const uint64_t each = PERF_FORMAT_ID | UINT64_C(1) << 4;
	size_t n_times = (size_t)__builtin_popcountll(format & times);
	size_t n_each = 1 + (size_t)__builtin_popcountll(format & each);
	uint64_t n = format & PERF_FORMAT_GROUP ? rd_u64(rd) : 1;

	event_skip(rd, n_times, 8);
	event_skip(rd, n, 8 * n_each);
}

static void event_skip_branches(struct rd *rd, uint64_t branches)
{
	/* PERF_SAMPLE_BRANCH_HW_INDEX puts a word before them; each has three, and with PERF_SAMPLE_BRANCH_COUNTERS of Linux 6.8 one
	 * more behind all. */
	uint64_t n = rd_u64(rd);

	if (branches & UINT64_C(1) << 17)
		rd_u64(rd);
	event_skip(rd, n, 24);
	event_skip(rd, branches & UINT64_C(1) << 19 ? n : 0, 8);
}

/* The members up to the chain have a fixed size each. */
static void event_read_fixed(
    struct rd *rd, const struct event_layout *layout, struct event *event)
{
	const uint64_t has = layout->sample_type;

	rd_skip(rd, has & PERF_SAMPLE_IDENTIFIER ? 8 : 0);
	event->ip = has & PERF_SAMPLE_IP ? rd_u64(rd) : 0;
	event->pid = has & PERF_SAMPLE_TID ? rd_u32(rd) : 0;
	event->tid = has & PERF_SAMPLE_TID ? rd_u32(rd) : 0;
	event->time = has & PERF_SAMPLE_TIME ? rd_u64(rd) : 0;
	rd_skip(rd, event_size_of(layout,
			PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID));
	event->cpu = has & PERF_SAMPLE_CPU ? rd_u32(rd) : 0;
	rd_skip(rd, has & PERF_SAMPLE_CPU ? 4 : 0);
	event->weight = has & PERF_SAMPLE_PERIOD ? rd_u64(rd) : 0;
}

static bool event_read_sample(const uint8_t *bytes, size_t size,
    const struct event_layout *layout, struct event *event)
{
	const uint64_t has = layout->sample_type;
	uint64_t room = 0;
	struct rd rd;

	event_init_rd(&rd, bytes, size);
	event->kind = EVENT_SAMPLE;
	event_read_fixed(&rd, layout, event);
	if (has & PERF_SAMPLE_READ)
		event_skip_read(&rd, layout->read_format);
	if (has & PERF_SAMPLE_CALLCHAIN) {
		event->n_chain = rd_u64(&rd);
		event->chain = event_skip(&rd, event->n_chain, 8);
	}
	if (has & PERF_SAMPLE_RAW) {
		event->raw_size = rd_u32(&rd);
		event->raw = rd_skip(&rd, event->raw_size);
	}
	if (has & PERF_SAMPLE_BRANCH_STACK)
		event_skip_branches(&rd, layout->branches);
	if (has & PERF_SAMPLE_REGS_USER)
		event->abi = rd_u64(&rd);
	if (event->abi != PERF_SAMPLE_REGS_ABI_NONE) {
		event->register_mask = layout->registers;
		event->registers =
		    event_skip(&rd, (uint64_t)__builtin_popcountll(layout->registers), 8);
	}
	if (has & PERF_SAMPLE_STACK_USER) {
		event->stack_at = rd.pos;
		room = rd_u64(&rd);
		event->stack = rd_skip(&rd, room);
		event->stack_size = room ? rd_u64(&rd) : 0;
	}
	return !rd.failed && event->stack_size <= room;
}

static bool event_read_map(
    struct rd *rd, const struct perf_event_header *header, struct event *event)
{
	event->kind = EVENT_MAP;
	event->data = header->misc & PERF_RECORD_MISC_MMAP_DATA;
	event->pid = rd_u32(rd);
	event->tid = rd_u32(rd);
	event->start = rd_u64(rd);
	event->size = rd_u64(rd);
	event->offset = rd_u64(rd);
	if (header->type == PERF_RECORD_MMAP) {
		/* The kernel's own; perf makes them. */
	} else if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		event->build_id_size = rd_u8(rd);
		rd_skip(rd, 3);
		event->build_id = rd_skip(rd, EVENT_MAX_BUILD_ID);
		event->build_id_known = true;
		if (event->build_id_size > EVENT_MAX_BUILD_ID)
			return false;
	} else {
		event->major = rd_u32(rd);
		event->minor = rd_u32(rd);
		event->inode = rd_u64(rd);
		event->generation = rd_u64(rd);
	}
	if (header->type == PERF_RECORD_MMAP2)
		rd_u64(rd); /* protection and flags */
	event->text = rd_cstr(rd);
	return !rd->failed && event->size <= UINT64_MAX - event->start;
}

bool event_read(const uint8_t *bytes, size_t size, const struct event_layout *layout,
    struct event *event)
{
	const size_t id_size = event_id_size(layout);
	struct perf_event_header header;
	struct rd rd;

	memset(event, 0, sizeof(*event));
	if (size < EVENT_HEADER_SIZE)
		return false;
	memcpy(&header, bytes, sizeof(header));
	event->cpu_mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (header.type == PERF_RECORD_SAMPLE)
		return event_read_sample(bytes, size, layout, event);
	/* perf's own records have no such end. */
	if (size < EVENT_HEADER_SIZE + id_size)
		return header.type != PERF_RECORD_MMAP2;
	event->time = event_time(bytes, size, layout);
	event_init_rd(&rd, bytes, size - id_size);
	switch (header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return event_read_map(&rd, &header, event);
	case PERF_RECORD_COMM:
		event->kind = EVENT_COMM;
		event->pid = rd_u32(&rd);
		event->tid = rd_u32(&rd);
		event->exec = header.misc & PERF_RECORD_MISC_COMM_EXEC;
		event->text = rd_cstr(&rd);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		event->kind = header.type == PERF_RECORD_FORK ? EVENT_FORK : EVENT_EXIT;
		event->pid = rd_u32(&rd);
		event->parent = rd_u32(&rd);
		event->tid = rd_u32(&rd);
		event->parent_tid = rd_u32(&rd);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		event->kind = EVENT_LOST;
		if (header.type == PERF_RECORD_LOST)
			rd_u64(&rd); /* the number of the event */
		event->lost = rd_u64(&rd);
		break;
	default:
		break;
	}
	return !rd.failed;
}

/* A word of a record: before the members in front of it in a sample, and after those behind it in
 * another record. false: it has none. */
static bool event_word(const uint8_t *bytes, size_t size,
    const struct event_layout *layout, uint64_t before, uint64_t after, uint64_t *word)
{
	struct perf_event_header header;
	size_t at = EVENT_HEADER_SIZE + event_size_of(layout, before);

	if (size < EVENT_HEADER_SIZE + event_id_size(layout))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE) {
		if (!layout->id_all)
			return false;
		at = size - sizeof(*word) - event_size_of(layout, after);
	}
	if (at > size - sizeof(*word))
		return false;
	memcpy(word, bytes + at, sizeof(*word));
	return true;
}

uint64_t event_clock(void)
{
	struct timespec wall, now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	clock_gettime(CLOCK_REALTIME, &wall);
	return (uint64_t)(wall.tv_sec - now.tv_sec) * 1000000000 +
	       (uint64_t)(wall.tv_nsec - now.tv_nsec);
}

uint64_t event_time(const uint8_t *bytes, size_t size, const struct event_layout *layout)
{
	uint64_t time;

	return layout->sample_type & PERF_SAMPLE_TIME &&
		       event_word(bytes, size, layout, EVENT_BEFORE_TIME,
			   EVENT_AFTER_TIME, &time)
		   ? time
		   : 0;
}

bool event_id(
    const uint8_t *bytes, size_t size, const struct event_layout *layout, uint64_t *id)
{
	if (layout->sample_type & PERF_SAMPLE_IDENTIFIER)
		return event_word(bytes, size, layout, 0, 0, id);
	return layout->sample_type & PERF_SAMPLE_ID &&
	       event_word(bytes, size, layout, EVENT_BEFORE_ID, EVENT_AFTER_ID, id);
}

size_t event_copy(
    uint8_t *to, const uint8_t *bytes, size_t size, const struct event_layout *layout)
{
	struct perf_event_header header;
	struct event event;
	uint64_t kept;
	size_t n;

	memcpy(&header, bytes, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE ||
	    !event_read(bytes, size, layout, &event) || !event.stack_size) {
		memcpy(to, bytes, size);
		return size;
	}
	kept = event.stack_size & ~(uint64_t)7;
	n = event.stack_at;
	memcpy(to, bytes, n);
	memcpy(to + n, &kept, sizeof(kept));
	memcpy(to + n + 8, event.stack, kept);
	n += 8 + kept;
	if (kept) {
		memcpy(to + n, &kept, sizeof(kept));
		n += 8;
	}
	header.size = (uint16_t)n;
	memcpy(to, &header, sizeof(header));
	return n;
}

/* Puts the text behind the n bytes of a record that are there, n a multiple of 8, and the end behind that. Returns the size. */
static size_t event_finish(uint8_t *to, size_t n, const struct event *event)
{
	const struct {
		uint32_t pid, tid;
		uint64_t time, cpu;
	} end = {event->pid, event->tid, event->time, 0};
	const size_t length = strnlen(event->text, EVENT_MAX_SIZE / 2);
	const size_t padded = (length + sizeof(uint64_t)) & ~(sizeof(uint64_t) - 1);
	const uint16_t size = (uint16_t)(n + padded + sizeof(end));

	memset(to + n, 0, padded);
	memcpy(to + n, event->text, length);
	memcpy(to + n + padded, &end, sizeof(end));
	memcpy(to + offsetof(struct perf_event_header, size), &size, sizeof(size));
	return size;
}

size_t event_make_map(uint8_t *to, const struct event *event)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, size, offset;
		uint8_t id[24];
		uint32_t protection[2];
	} map = {{.type = PERF_RECORD_MMAP2, .misc = (uint16_t)event->cpu_mode},
	    event->pid, event->tid, event->start, event->size, event->offset, {0},
	    /* Read and execute, private. */
	    {event->data ? 1 : 5, 2}};

	if (event->data)
		map.header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (event->build_id_known) {
		map.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		map.id[0] = (uint8_t)event->build_id_size;
		memcpy(map.id + 4, event->build_id, event->build_id_size);
	} else {
		memcpy(map.id, &event->major, 4);
		memcpy(map.id + 4, &event->minor, 4);
		memcpy(map.id + 8, &event->inode, 8);
		memcpy(map.id + 16, &event->generation, 8);
	}
	memcpy(to, &map, sizeof(map));
	return event_finish(to, sizeof(map), event);
}

size_t event_make_comm(uint8_t *to, const struct event *event)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
	} comm = {{.type = PERF_RECORD_COMM}, event->pid, event->tid};

	memcpy(to, &comm, sizeof(comm));
	return event_finish(to, sizeof(comm), event);
}
