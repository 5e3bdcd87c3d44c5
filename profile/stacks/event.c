/* SPDX-License-Identifier: MIT */
#include "profile/stacks/event.h"

#include <string.h>

#include "base/rd.h"

/* pid, tid; time; cpu, and 4 bytes that mean nothing: at the end of all but samples. */
enum { EVENT_ID_SIZE = 24, EVENT_HEADER_SIZE = 8 };

static uint64_t event_u64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static void event_init_rd(struct rd *rd, const uint8_t *bytes, size_t size)
{
	rd_init(rd, bytes, size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	rd_seek(rd, EVENT_HEADER_SIZE);
}

static bool event_read_sample(
    const uint8_t *bytes, size_t size, size_t n_registers, struct event *event)
{
	struct rd rd;
	uint64_t n;

	event_init_rd(&rd, bytes, size);
	event->kind = EVENT_SAMPLE;
	event->pid = rd_u32(&rd);
	event->tid = rd_u32(&rd);
	event->time = rd_u64(&rd);
	event->cpu = rd_u32(&rd);
	rd_u32(&rd);
	event->weight = rd_u64(&rd);
	n = rd_u64(&rd);
	event->n_chain = n;
	event->chain = rd_skip(&rd, n > size ? UINT64_MAX : n * 8);
	event->abi = rd_u64(&rd);
	if (event->abi != PERF_SAMPLE_REGS_ABI_NONE) {
		event->registers = rd_skip(&rd, n_registers * 8);
		event->n_registers = n_registers;
	}
	event->stack_at = rd.pos;
	n = rd_u64(&rd);
	event->stack = rd_skip(&rd, n);
	if (n) {
		event->stack_size = rd_u64(&rd);
		if (event->stack_size > n)
			return false;
	}
	return !rd.failed;
}

static bool event_read_map(struct rd *rd, bool build_id, struct event *event)
{
	event->kind = EVENT_MAP;
	event->pid = rd_u32(rd);
	event->tid = rd_u32(rd);
	event->start = rd_u64(rd);
	event->size = rd_u64(rd);
	event->offset = rd_u64(rd);
	if (build_id) {
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
		rd_u64(rd); /* the inode's generation */
	}
	rd_u64(rd); /* protection and flags */
	event->text = rd_cstr(rd);
	return !rd->failed && event->size <= UINT64_MAX - event->start;
}

/* The end of a record says who and when. */
static void event_read_id(const uint8_t *bytes, size_t size, struct event *event)
{
	struct rd rd;

	event_init_rd(&rd, bytes, size);
	rd_seek(&rd, size - EVENT_ID_SIZE + 8);
	event->time = rd_u64(&rd);
	event->cpu = rd_u32(&rd);
}

bool event_read(
    const uint8_t *bytes, size_t size, size_t n_registers, struct event *event)
{
	struct perf_event_header header;
	struct rd rd;

	memset(event, 0, sizeof(*event));
	if (size < EVENT_HEADER_SIZE)
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE)
		return event_read_sample(bytes, size, n_registers, event);
	if (size < EVENT_HEADER_SIZE + EVENT_ID_SIZE)
		return header.type != PERF_RECORD_MMAP2;
	event_read_id(bytes, size, event);
	event_init_rd(&rd, bytes, size - EVENT_ID_SIZE);
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return event_read_map(
		    &rd, header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID, event);
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
		event->kind = EVENT_LOST;
		rd_u64(&rd); /* the number of the event */
		event->lost = rd_u64(&rd);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		event->kind = EVENT_LOST;
		event->lost = rd_u64(&rd);
		break;
	default:
		break;
	}
	return !rd.failed;
}

uint64_t event_time(const uint8_t *bytes, size_t size)
{
	struct perf_event_header header;

	memcpy(&header, bytes, sizeof(header));
	if (size < EVENT_HEADER_SIZE + EVENT_ID_SIZE)
		return 0;
	return event_u64(header.type == PERF_RECORD_SAMPLE
			     ? bytes + EVENT_HEADER_SIZE + 8
			     : bytes + size - EVENT_ID_SIZE + 8);
}

size_t event_copy(uint8_t *to, const uint8_t *bytes, size_t size, size_t n_registers)
{
	struct perf_event_header header;
	struct event event;
	uint64_t kept;
	size_t n;

	memcpy(&header, bytes, sizeof(header));
	if (header.type != PERF_RECORD_SAMPLE ||
	    !event_read(bytes, size, n_registers, &event) || !event.stack_size) {
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

/* Writes values one after the other. */
static size_t event_put(uint8_t *to, size_t at, const void *value, size_t size)
{
	memcpy(to + at, value, size);
	return at + size;
}

/* The text, in words of 8 bytes, and the end; then the header is complete. */
static size_t event_finish(
    uint8_t *to, size_t at, const struct event *event, struct perf_event_header header)
{
	const uint32_t cpu[2] = {0};
	size_t n = strnlen(event->text, EVENT_MAX_SIZE / 2);

	at = event_put(to, at, event->text, n);
	memset(to + at, 0, 8);
	at = (at + 8) & ~(size_t)7;
	at = event_put(to, at, &event->pid, 4);
	at = event_put(to, at, &event->tid, 4);
	at = event_put(to, at, &event->time, 8);
	at = event_put(to, at, cpu, 8);
	header.size = (uint16_t)at;
	memcpy(to, &header, sizeof(header));
	return at;
}

size_t event_make_map(uint8_t *to, const struct event *event)
{
	struct perf_event_header header = {.type = PERF_RECORD_MMAP2};
	const uint32_t protection[2] = {5, 2}; /* read and execute, private */
	uint8_t id[24] = {0};
	size_t at = EVENT_HEADER_SIZE;

	if (event->build_id_known) {
		header.misc = PERF_RECORD_MISC_MMAP_BUILD_ID;
		id[0] = (uint8_t)event->build_id_size;
		memcpy(id + 4, event->build_id, event->build_id_size);
	} else {
		memcpy(id, &event->major, 4);
		memcpy(id + 4, &event->minor, 4);
		memcpy(id + 8, &event->inode, 8);
	}
	at = event_put(to, at, &event->pid, 4);
	at = event_put(to, at, &event->tid, 4);
	at = event_put(to, at, &event->start, 8);
	at = event_put(to, at, &event->size, 8);
	at = event_put(to, at, &event->offset, 8);
	at = event_put(to, at, id, sizeof(id));
	at = event_put(to, at, protection, 8);
	return event_finish(to, at, event, header);
}

size_t event_make_comm(uint8_t *to, const struct event *event)
{
	const struct perf_event_header header = {.type = PERF_RECORD_COMM,
	    .misc = event->exec ? PERF_RECORD_MISC_COMM_EXEC : 0};
	size_t at = EVENT_HEADER_SIZE;

	at = event_put(to, at, &event->pid, 4);
	at = event_put(to, at, &event->tid, 4);
	return event_finish(to, at, event, header);
}
