/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "profile/perfdata/event.h"

enum { MAKE_HEADER_SIZE = 8 };

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

/* Writes values one after the other. */
static size_t make_put(uint8_t *to, size_t at, const void *value, size_t size)
{
	memcpy(to + at, value, size);
	return at + size;
}

/* The text, in words of 8 bytes, and the end; then the header is complete. */
static size_t make_finish(
    uint8_t *to, size_t at, const struct event *event, struct perf_event_header header)
{
	const uint32_t cpu[2] = {0};
	size_t n = strnlen(event->text, EVENT_MAX_SIZE / 2);

	at = make_put(to, at, event->text, n);
	memset(to + at, 0, 8);
	at = (at + 8) & ~(size_t)7;
	at = make_put(to, at, &event->pid, 4);
	at = make_put(to, at, &event->tid, 4);
	at = make_put(to, at, &event->time, 8);
	at = make_put(to, at, cpu, 8);
	header.size = (uint16_t)at;
	memcpy(to, &header, sizeof(header));
	return at;
}

size_t event_make_map(uint8_t *to, const struct event *event)
{
	struct perf_event_header header = {
	    .type = PERF_RECORD_MMAP2, .misc = (uint16_t)event->cpu_mode};
	/* Read and execute, private. */
	const uint32_t protection[2] = {event->data ? 1 : 5, 2};
	uint8_t id[24] = {0};
	size_t at = MAKE_HEADER_SIZE;

	if (event->data)
		header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (event->build_id_known) {
		header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		id[0] = (uint8_t)event->build_id_size;
		memcpy(id + 4, event->build_id, event->build_id_size);
	} else {
		memcpy(id, &event->major, 4);
		memcpy(id + 4, &event->minor, 4);
		memcpy(id + 8, &event->inode, 8);
	}
	at = make_put(to, at, &event->pid, 4);
	at = make_put(to, at, &event->tid, 4);
	at = make_put(to, at, &event->start, 8);
	at = make_put(to, at, &event->size, 8);
	at = make_put(to, at, &event->offset, 8);
	at = make_put(to, at, id, sizeof(id));
	at = make_put(to, at, protection, 8);
	return make_finish(to, at, event, header);
}

size_t event_make_comm(uint8_t *to, const struct event *event)
{
	const struct perf_event_header header = {.type = PERF_RECORD_COMM,
	    .misc = event->exec ? PERF_RECORD_MISC_COMM_EXEC : 0};
	size_t at = MAKE_HEADER_SIZE;

	at = make_put(to, at, &event->pid, 4);
	at = make_put(to, at, &event->tid, 4);
	return make_finish(to, at, event, header);
}
