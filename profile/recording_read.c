/* SPDX-License-Identifier: MIT */
/* Reads recordings. The file is hostile: each entry is read by a bounded reader, and the
 * functions of the model check the indices. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "base/rd.h"
#include "base/vec.h"
#include "profile/recording.h"

enum { READ_SIZE = 256 << 10 };

/* The index in the profile of each element of the file. */
struct read_map {
	uint32_t *list;
	size_t n, cap;
};

struct reading {
	struct profile *profile;
	recording_event_fn *event;
	void *context;
	struct read_map modules, frames, stacks, threads;
	bool info, ended;
	/* The bytes from at to size of buffer are not used yet. */
	int fd;
	uint8_t *buffer;
	size_t at, size, cap;
	uint64_t passed; /* bytes of the file before buffer */
	/* The strings of an entry, with a zero at their ends. */
	char *text;
	size_t cap_text;
};

/* Sees to it that n bytes are there. *there: false at the end of the file. */
static bool read_need(struct reading *reading, size_t n, bool *there, struct err *err)
{
	*there = true;
	if (reading->size - reading->at >= n)
		return true;
	/* At first the buffer is NULL. */
	if (reading->at > 0)
		memmove(reading->buffer, reading->buffer + reading->at,
		    reading->size - reading->at);
	reading->passed += reading->at;
	reading->size -= reading->at;
	reading->at = 0;
	if (!vec_reserve(&reading->buffer, &reading->cap, n > READ_SIZE ? n : READ_SIZE))
		return err_set_nomem(err);
	while (reading->size < n) {
		ssize_t got = read(reading->fd, reading->buffer + reading->size,
		    reading->cap - reading->size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set_errno(err, "reading the recording failed");
		if (got == 0) {
			*there = false;
			return true;
		}
		reading->size += (size_t)got;
	}
	return true;
}

/* The next text of an entry; "" when the reader fails. */
static char *read_text(struct reading *reading, struct rd *rd, size_t *used)
{
	uint64_t size = rd_uleb(rd);
	const uint8_t *bytes = rd_skip(rd, size);
	char *text = reading->text + *used;

	if (!bytes)
		size = 0;
	/* The texts of an entry with their zeros are shorter than the entry and 8 bytes. */
	if (size)
		memcpy(text, bytes, size);
	text[size] = '\0';
	*used += size + 1;
	return text;
}

static bool read_index(
    const struct read_map *map, uint64_t number, uint32_t *index, struct err *err)
{
	if (number >= map->n)
		return err_set(err, ERR_MALFORMED, "number %llu of %zu",
		    (unsigned long long)number, map->n);
	*index = map->list[number];
	return true;
}

static bool read_mapped(struct read_map *map, uint32_t index, struct err *err)
{
	if (!vec_reserve(&map->list, &map->cap, map->n + 1))
		return err_set_nomem(err);
	map->list[map->n++] = index;
	return true;
}

static bool read_info(struct reading *reading, struct rd *rd, struct err *err)
{
	struct profile_info *info = &reading->profile->info;
	char **const texts[] = {
	    &info->event, &info->unit, &info->command, &info->host, &info->release};
	size_t used = 0;
	uint64_t machine = rd_uleb(rd), frequency = rd_uleb(rd);

	info->start = rd_uleb(rd);
	info->monotonic = rd_uleb(rd);
	info->raw = rd_uleb(rd) != 0;
	if (!num_u32(machine, &info->machine) || !num_u32(frequency, &info->frequency))
		return err_set(err, ERR_MALFORMED, "a number is too large");
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!profile_set_text(texts[i], read_text(reading, rd, &used), err))
			return false;
	reading->info = true;
	return true;
}

static bool read_module(struct reading *reading, struct rd *rd, struct err *err)
{
	struct profile_module module = {0};
	uint64_t flags = rd_uleb(rd), size = rd_uleb(rd);
	const uint8_t *id = rd_skip(rd, size);
	size_t used = 0;
	uint32_t index = 0;

	if (!id || size > PROFILE_BUILD_ID_MAX || !num_u32(flags, &module.flags))
		return err_set(err, ERR_MALFORMED, "the module's build-id is too long");
	memcpy(module.build_id, id, size);
	module.build_id_size = (uint32_t)size;
	module.path = read_text(reading, rd, &used);
	size = rd_uleb(rd);
	id = rd_skip(rd, size);
	if (id && size) {
		module.image = (uint8_t *)(uintptr_t)id;
		module.image_size = size;
	}
	return profile_add_module(reading->profile, &module, &index, err) &&
	       read_mapped(&reading->modules, index, err);
}

static bool read_frame(struct reading *reading, struct rd *rd, struct err *err)
{
	struct profile_frame frame = {.kind = rd_u8(rd), .flags = rd_u8(rd)};
	uint64_t module = rd_uleb(rd), pid = rd_uleb(rd);
	size_t used = 0;
	uint32_t index = 0;
	char *name;

	frame.address = rd_uleb(rd);
	name = read_text(reading, rd, &used);
	if (*name)
		frame.name = name;
	if (!num_u32(pid, &frame.pid))
		return err_set(err, ERR_MALFORMED, "a number is too large");
	if (frame.kind <= PROFILE_FRAME_KERNEL &&
	    !read_index(&reading->modules, module, &frame.module, err))
		return false;
	return profile_add_frame(reading->profile, &frame, &index, err) &&
	       read_mapped(&reading->frames, index, err);
}

static bool read_stack(struct reading *reading, struct rd *rd, struct err *err)
{
	uint64_t caller = rd_uleb(rd), frame = rd_uleb(rd);
	uint32_t index = 0, caller_index = 0, frame_index = 0;

	return read_index(&reading->stacks, caller, &caller_index, err) &&
	       read_index(&reading->frames, frame, &frame_index, err) &&
	       profile_add_stack(
		   reading->profile, caller_index, frame_index, &index, err) &&
	       read_mapped(&reading->stacks, index, err);
}

static bool read_thread(struct reading *reading, struct rd *rd, struct err *err)
{
	uint64_t pid = rd_uleb(rd), tid = rd_uleb(rd);
	size_t used = 0;
	const char *comm = read_text(reading, rd, &used);
	uint32_t index, narrow_pid, narrow_tid;

	if (!num_u32(pid, &narrow_pid) || !num_u32(tid, &narrow_tid))
		return err_set(err, ERR_MALFORMED, "a number is too large");
	return profile_add_thread(
		   reading->profile, narrow_pid, narrow_tid, comm, &index, err) &&
	       read_mapped(&reading->threads, index, err);
}

static bool read_sample(struct reading *reading, struct rd *rd, struct err *err)
{
	struct profile_sample sample = {.time = rd_uleb(rd), .weight = rd_uleb(rd)};
	uint64_t cpu = rd_uleb(rd), thread = rd_uleb(rd), stack = rd_uleb(rd);

	sample.why = rd_u8(rd);
	if (!num_u32(cpu, &sample.cpu))
		return err_set(err, ERR_MALFORMED, "a number is too large");
	return read_index(&reading->threads, thread, &sample.thread, err) &&
	       read_index(&reading->stacks, stack, &sample.stack, err) &&
	       profile_add_sample(reading->profile, &sample, err);
}

static bool read_name(struct reading *reading, struct rd *rd, struct err *err)
{
	uint64_t frame = rd_uleb(rd);
	size_t used = 0;
	const char *name = read_text(reading, rd, &used);
	uint32_t index = 0;

	return read_index(&reading->frames, frame, &index, err) &&
	       profile_name_frame(reading->profile, index, name, err);
}

static bool read_end(struct reading *reading, struct rd *rd)
{
	reading->profile->info.end = rd_uleb(rd);
	reading->profile->info.lost = rd_uleb(rd);
	reading->ended = true;
	return true;
}

static bool read_content(
    struct reading *reading, unsigned int kind, struct rd *rd, struct err *err)
{
	if ((kind == RECORDING_INFO) == reading->info)
		return err_set(err, ERR_MALFORMED,
		    "an entry of kind %u is in the wrong place", kind);
	switch (kind) {
	case RECORDING_INFO:
		return read_info(reading, rd, err);
	case RECORDING_MODULE:
		return read_module(reading, rd, err);
	case RECORDING_FRAME:
		return read_frame(reading, rd, err);
	case RECORDING_STACK:
		return read_stack(reading, rd, err);
	case RECORDING_THREAD:
		return read_thread(reading, rd, err);
	case RECORDING_SAMPLE:
		return read_sample(reading, rd, err);
	case RECORDING_NAME:
		return read_name(reading, rd, err);
	case RECORDING_END:
		return read_end(reading, rd);
	case RECORDING_EVENT:
		if (!reading->event)
			return true;
		return reading->event(reading->context, rd->data, rd->size, err);
	case RECORDING_AGAIN:
		reading->stacks.n = 1;
		return true;
	default:
		return err_set(err, ERR_UNSUPPORTED,
		    "an entry is of kind %u, which this program does not know", kind);
	}
}

/* Reads one entry. *there: false at the end of the file. */
static bool read_entry(struct reading *reading, bool *there, struct err *err)
{
	uint64_t offset = reading->passed + reading->at, size;
	unsigned int kind;
	struct rd rd;
	size_t have;

	/* A kind and the longest size that counts. */
	if (!read_need(reading, 5, there, err))
		return false;
	have = reading->size - reading->at;
	*there = have > 0;
	if (!have)
		return true;
	rd_init(&rd, reading->buffer + reading->at, have, false);
	kind = rd_u8(&rd);
	size = rd_uleb(&rd);
	*there = !rd.failed;
	if (rd.failed)
		return true;
	if (size > RECORDING_MAX_ENTRY)
		return err_set(err, ERR_MALFORMED, "the entry at %#llx is too large",
		    (unsigned long long)offset);
	reading->at += rd.pos;
	if (!read_need(reading, size, there, err) || !*there)
		return !*there;
	if (!vec_reserve(&reading->text, &reading->cap_text, size + 8))
		return err_set_nomem(err);
	rd_init(&rd, reading->buffer + reading->at, size, false);
	if (!read_content(reading, kind, &rd, err) ||
	    (rd.failed && !err_set(err, ERR_MALFORMED, "it is too short")))
		return err->kind == ERR_IO ? false
					   : err_prefix(err, "the entry at %#llx",
						 (unsigned long long)offset);
	reading->at += size;
	return true;
}

/* The last byte of the magic is the version. */
static bool read_not_ours(const struct reading *reading, bool there, struct err *err)
{
	if (there && !memcmp(reading->buffer, RECORDING_MAGIC, RECORDING_MAGIC_SIZE - 1))
		return err_set(err, ERR_UNSUPPORTED,
		    "it is a recording of version %u, and this program reads version %u; "
		    "take the eh2sframe-fold of the eh2sframe-record that wrote it",
		    (unsigned int)(unsigned char)
			reading->buffer[RECORDING_MAGIC_SIZE - 1],
		    (unsigned int)RECORDING_MAGIC[RECORDING_MAGIC_SIZE - 1]);
	return err_set(err, ERR_UNSUPPORTED, "it is not a recording of eh2sframe-record");
}

static bool read_all(struct reading *reading, struct err *err)
{
	bool there;

	if (!read_need(reading, RECORDING_MAGIC_SIZE, &there, err))
		return false;
	if (!there || memcmp(reading->buffer, RECORDING_MAGIC, RECORDING_MAGIC_SIZE) != 0)
		return read_not_ours(reading, there, err);
	reading->at = RECORDING_MAGIC_SIZE;
	if (!read_mapped(&reading->stacks, 0, err))
		return false;
	while (!reading->ended) {
		if (!read_entry(reading, &there, err))
			return false;
		if (!there)
			break;
	}
	return reading->info || err_set(err, ERR_MALFORMED,
				    "the recording ends before it says what it is");
}

bool recording_read(struct profile *profile, int fd, const char *name,
    recording_event_fn *event, void *context, struct err *err)
{
	struct reading reading = {
	    .profile = profile, .event = event, .context = context, .fd = fd};
	bool ok = read_all(&reading, err);

	free(reading.modules.list);
	free(reading.frames.list);
	free(reading.stacks.list);
	free(reading.threads.list);
	free(reading.buffer);
	free(reading.text);
	return ok || (name && err_prefix(err, "%s", name));
}

bool profile_read(struct profile *profile, int fd, const char *name, struct err *err)
{
	return recording_read(profile, fd, name, NULL, NULL, err);
}
