/* SPDX-License-Identifier: MIT */
#include "profile/perfdata/write.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/newfile.h"
#include "profile/perfdata/format.h"

/* So much is kept before it is written. */
enum { WRITE_SIZE = 64 << 10 };
/* Frames of the kernel beyond this are left out: those of the program have to fit, too. */
enum { WRITE_MAX_KERNEL = 1024 };

static const bool WRITE_BIG_ENDIAN = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static bool write_flush(struct perfdata_writer *writer, struct err *err)
{
	struct wr *wr = &writer->wr;

	if (wr->failed)
		return err_set_nomem(err);
	if (!newfile_write_at(writer->fd, wr->data, wr->size, writer->written, err))
		return false;
	writer->written += wr->size;
	wr->size = 0;
	return true;
}

static bool write_header(struct perfdata_writer *writer, uint64_t data_size,
    const uint64_t features[4], struct err *err)
{
	const size_t attr_size = sizeof(writer->attr) + sizeof(struct perfdata_section);
	const struct perfdata_header header = {.magic = PERFDATA_MAGIC,
	    .size = sizeof(header),
	    .attr_size = attr_size,
	    .attrs = {sizeof(header), attr_size},
	    .data = {sizeof(header) + attr_size, data_size},
	    .features = {features[0], features[1], features[2], features[3]}};

	return newfile_write_at(writer->fd, &header, sizeof(header), 0, err);
}

bool perfdata_begin(struct perfdata_writer *writer, int fd,
    const struct perf_event_attr *attr, bool walked, struct err *err)
{
	const struct perfdata_section ids = {0};
	const uint64_t none[4] = {0};

	*writer = (struct perfdata_writer){.fd = fd, .attr = *attr};
	wr_init(&writer->wr, WRITE_BIG_ENDIAN);
	wr_init(&writer->build_ids, WRITE_BIG_ENDIAN);
	wr_init(&writer->names, WRITE_BIG_ENDIAN);
	wr_init(&writer->name_texts, WRITE_BIG_ENDIAN);
	if (walked) {
		writer->attr.sample_type &=
		    ~(uint64_t)(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
		writer->attr.sample_type |= PERF_SAMPLE_RAW;
		writer->attr.sample_regs_user = 0;
		writer->attr.sample_stack_user = 0;
		writer->attr.exclude_callchain_user = 0;
	}
	writer->written = sizeof(struct perfdata_header);
	wr_bytes(&writer->wr, &writer->attr, sizeof(writer->attr));
	wr_bytes(&writer->wr, &ids, sizeof(ids));
	return write_header(writer, 0, none, err) && write_flush(writer, err);
}

bool perfdata_put(
    struct perfdata_writer *writer, const uint8_t *bytes, size_t size, struct err *err)
{
	wr_bytes(&writer->wr, bytes, size);
	return writer->wr.size < WRITE_SIZE || write_flush(writer, err);
}

/* Why the walk ended, and what kind of frame each is: format.h. */
static void write_how(struct wr *wr, const struct perfdata_walked *walked, size_t n)
{
	/* A word of 4 bytes stands before it, and what follows is at a multiple of 8. */
	size_t size = PERFDATA_WALKED_SIZE + (n + 3) / 4;
	size_t padded = ((size + 4 + 7) & ~(size_t)7) - 4;

	wr_u32(wr, (uint32_t)padded);
	wr_u32(wr, PERFDATA_WALKED);
	wr_u8(wr, walked->why);
	wr_zeros(wr, padded - 5);
	for (size_t i = 0; i < n && !wr->failed; i++)
		wr->data[wr->size - padded + PERFDATA_WALKED_SIZE + i / 4] |=
		    (uint8_t)(walked->flags[i] << 2 * (i % 4));
}

bool perfdata_put_walked(struct perfdata_writer *writer, const struct event *event,
    const struct perfdata_walked *walked, struct err *err)
{
	struct perf_event_header header = {
	    .type = PERF_RECORD_SAMPLE, .misc = (uint16_t)event->cpu_mode};
	struct wr *wr = &writer->wr;
	const size_t start = wr->size;
	/* The program's callers are not among them: perf_begin excludes them. */
	const size_t n_kernel =
	    event->n_chain < WRITE_MAX_KERNEL ? event->n_chain : WRITE_MAX_KERNEL;
	/* A record has at most 64 KiB. */
	size_t most = EVENT_MAX_SIZE / 9 - n_kernel - 16;
	size_t n = walked->n < most ? walked->n : most;

	wr_bytes(wr, &header, sizeof(header));
	wr_u64(wr, event->ip);
	wr_u32(wr, event->pid);
	wr_u32(wr, event->tid);
	wr_u64(wr, event->time);
	wr_u32(wr, event->cpu);
	wr_u32(wr, 0);
	wr_u64(wr, event->weight);
	wr_u64(wr, n_kernel + (n ? n + 1 : 0));
	wr_bytes(wr, event->chain, 8 * n_kernel);
	if (n) {
		wr_u64(wr, (uint64_t)PERF_CONTEXT_USER);
		wr_bytes(wr, walked->pcs, 8 * n);
	}
	write_how(wr, walked, n);
	header.size = (uint16_t)(wr->size - start);
	if (!wr->failed)
		memcpy(wr->data + start, &header, sizeof(header));
	return wr->size < WRITE_SIZE || write_flush(writer, err);
}

/* A text with its size, as perf pads it. */
static void write_text(struct wr *wr, const char *text)
{
	size_t size = strlen(text) + 1, padded = (size + 63) & ~(size_t)63;

	wr_u32(wr, (uint32_t)padded);
	wr_bytes(wr, text, size);
	wr_zeros(wr, padded - size);
}

void perfdata_put_build_id(struct perfdata_writer *writer, const char *path,
    const uint8_t *build_id, uint32_t size)
{
	size_t n = strlen(path) + 1, padded = (n + 7) & ~(size_t)7;
	const struct perf_event_header header = {
	    .type = 67, /* PERF_RECORD_HEADER_BUILD_ID */
	    .misc = PERF_RECORD_MISC_USER | PERFDATA_MISC_BUILD_ID_SIZE,
	    .size = (uint16_t)(sizeof(header) + 28 + padded)};
	struct wr *wr = &writer->build_ids;
	uint8_t id[EVENT_MAX_BUILD_ID + 4] = {[EVENT_MAX_BUILD_ID] = (uint8_t)size};

	if (size > EVENT_MAX_BUILD_ID || padded > 8192)
		return;
	memcpy(id, build_id, size);
	wr_bytes(wr, &header, sizeof(header));
	wr_u32(wr, UINT32_MAX);
	wr_bytes(wr, id, sizeof(id));
	wr_bytes(wr, path, n);
	wr_zeros(wr, padded - n);
}

bool perfdata_put_name(
    struct perfdata_writer *writer, uint32_t pid, uint64_t pc, const char *name)
{
	const struct perfdata_names_entry entry = {
	    pc, pid, (uint32_t)writer->name_texts.size};

	if (writer->name_texts.size > PERFDATA_FEATURE_MAX / 2 ||
	    writer->names.size > PERFDATA_FEATURE_MAX / 4)
		return false;
	wr_bytes(&writer->names, &entry, sizeof(entry));
	wr_bytes(&writer->name_texts, name, strnlen(name, EVENT_MAX_SIZE));
	wr_u8(&writer->name_texts, 0);
	return true;
}

static void write_feature(struct perfdata_writer *writer, unsigned int feature,
    const struct perfdata_about *about)
{
	struct wr *wr = &writer->wr;
	uint32_t n = 0;

	switch (feature) {
	case PERFDATA_BUILD_ID:
		wr_bytes(wr, writer->build_ids.data, writer->build_ids.size);
		wr->failed |= writer->build_ids.failed;
		break;
	case PERFDATA_HOSTNAME:
		write_text(wr, about->host);
		break;
	case PERFDATA_OSRELEASE:
		write_text(wr, about->release);
		break;
	case PERFDATA_ARCH:
		write_text(wr, about->machine);
		break;
	case PERFDATA_NRCPUS:
		wr_u32(wr, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
		wr_u32(wr, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
		break;
	case PERFDATA_CMDLINE:
		while (about->command[n])
			n++;
		wr_u32(wr, n);
		for (uint32_t i = 0; i < n; i++)
			write_text(wr, about->command[i]);
		break;
	case PERFDATA_CLOCK_DATA:
		wr_u32(wr, 1);
		wr_u32(wr, CLOCK_MONOTONIC);
		wr_u64(wr, about->clock);
		wr_u64(wr, 0);
		break;
	case PERFDATA_NAMES:
		wr_u64(wr, writer->names.size / sizeof(struct perfdata_names_entry));
		wr_bytes(wr, writer->names.data, writer->names.size);
		wr_bytes(wr, writer->name_texts.data, writer->name_texts.size);
		wr->failed |= writer->names.failed || writer->name_texts.failed;
		break;
	default:
		wr_u32(wr, 1);
		wr_u32(wr, sizeof(writer->attr));
		wr_bytes(wr, &writer->attr, sizeof(writer->attr));
		wr_u32(wr, 0);
		write_text(wr, about->event);
		break;
	}
}

bool perfdata_end(
    struct perfdata_writer *writer, const struct perfdata_about *about, struct err *err)
{
	static const uint8_t FEATURES[] = {PERFDATA_BUILD_ID, PERFDATA_HOSTNAME,
	    PERFDATA_OSRELEASE, PERFDATA_ARCH, PERFDATA_NRCPUS, PERFDATA_CMDLINE,
	    PERFDATA_EVENT_DESC, PERFDATA_CLOCK_DATA, PERFDATA_NAMES};
	enum { N = sizeof(FEATURES) };
	const uint64_t data = sizeof(struct perfdata_header) + sizeof(writer->attr) +
			      sizeof(struct perfdata_section);
	struct perfdata_section sections[N];
	uint64_t data_size, bits[4] = {0};
	struct wr *wr = &writer->wr;

	if (!write_flush(writer, err))
		return false;
	data_size = writer->written - data;
	wr_zeros(wr, sizeof(sections));
	for (size_t i = 0; i < N; i++) {
		size_t start = wr->size;

		bits[FEATURES[i] / 64] |= UINT64_C(1) << FEATURES[i] % 64;
		write_feature(writer, FEATURES[i], about);
		sections[i] =
		    (struct perfdata_section){writer->written + start, wr->size - start};
	}
	if (wr->failed)
		return err_set_nomem(err);
	memcpy(wr->data, sections, sizeof(sections));
	return write_flush(writer, err) && write_header(writer, data_size, bits, err);
}

void perfdata_writer_free(struct perfdata_writer *writer)
{
	wr_deinit(&writer->wr);
	wr_deinit(&writer->build_ids);
	wr_deinit(&writer->names);
	wr_deinit(&writer->name_texts);
}
