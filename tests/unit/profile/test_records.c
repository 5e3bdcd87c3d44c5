/* SPDX-License-Identifier: MIT */
/* Records of perf.data in the order of time, also while the file changes. */
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/perfdata/read.h"
#include "profile/profile.h"
#include "tests/unit/unit.h"

static struct err err;

struct seen {
	size_t n;
	uint64_t last;
};

static bool see(void *context, const struct event *event, struct err *unused)
{
	struct seen *seen = context;

	(void)unused;
	for (size_t i = 0; i < event->raw_size; i++)
		ck_assert(!event->raw[i]);
	ck_assert_uint_ge(event->time, seen->last);
	seen->last = event->time;
	seen->n++;
	return true;
}

/* Two events, whose records are told apart by identifiers: the first gives the samples. */
UNIT(records_events)
{
	const size_t attr_size = sizeof(struct perf_event_attr) + 16;
	struct perfdata_header file = {.magic = PERFDATA_MAGIC,
	    .size = sizeof(file),
	    .attr_size = attr_size,
	    .attrs = {sizeof(file), 2 * attr_size}};
	struct perf_event_attr attrs[2] = {
	    {.size = sizeof(*attrs),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME},
	    {.size = sizeof(*attrs),
		.sample_type =
		    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME}};
	const uint64_t ids[] = {100, 200};
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE};
	struct perfdata perfdata;
	struct seen seen = {0};
	int fd = memfd_create("recording", 0);
	off_t at = (off_t)(sizeof(file) + 2 * attr_size);

	ck_assert_int_eq(pwrite(fd, ids, 16, at), 16);
	for (size_t i = 0; i < 2; i++) {
		struct perfdata_section section = {(uint64_t)at + 8 * i, 8};
		off_t to = (off_t)(sizeof(file) + i * attr_size);

		ck_assert_int_eq(
		    pwrite(fd, &attrs[i], sizeof(*attrs), to), sizeof(*attrs));
		ck_assert_int_eq(
		    pwrite(fd, &section, 16, to + (off_t)sizeof(*attrs)), 16);
	}
	at += 16;
	file.data.offset = (uint64_t)at;
	for (uint64_t i = 0; i < 30; i++) {
		const bool second = i % 3 == 0;
		const uint64_t words[] = {
		    second ? 200 : 100, second ? 0x1000 : 1000 - i, 1000 - i};
		const ssize_t size = second ? 24 : 16;

		header.size = (uint16_t)(8 + size);
		ck_assert_int_eq(pwrite(fd, &header, 8, at), 8);
		ck_assert_int_eq(pwrite(fd, words, (size_t)size, at + 8), size);
		at += 8 + size;
	}
	file.data.size = (uint64_t)at - file.data.offset;
	ck_assert_int_eq(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	ck_assert_msg(perfdata_open(&perfdata, fd, &err), "%s", err.text);
	ck_assert(perfdata_each(&perfdata, see, &seen, &err));
	ck_assert_uint_eq(seen.n, 20);
	ck_assert_uint_eq(perfdata.n_others, 10);
	ck_assert_uint_eq(seen.last, 999);
	perfdata_free(&perfdata);
	close(fd);
}

/* Two halves, apart from each other, whose n samples of size bytes take turns in the order of time. */
static int two_halves(uint64_t n, size_t size, uint64_t apart)
{
	const size_t attr_size = sizeof(struct perf_event_attr) + 16;
	const struct perfdata_header file = {.magic = PERFDATA_MAGIC,
	    .size = sizeof(file),
	    .attr_size = attr_size,
	    .attrs = {sizeof(file), attr_size},
	    .data = {sizeof(file) + attr_size, n * size + 16 + apart}};
	const struct perf_event_attr attr = {.size = sizeof(attr),
	    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW};
	const struct perf_event_header sample = {PERF_RECORD_SAMPLE, 0, (uint16_t)size},
				       between = {PERFDATA_RECORD_AUXTRACE, 0, 16};
	/* An empty list is nowhere. */
	const struct perfdata_section ids = {UINT64_MAX, 0};
	off_t at = (off_t)file.data.offset;
	int fd = memfd_create("recording", 0);

	ck_assert_int_eq(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	ck_assert_int_eq(pwrite(fd, &attr, sizeof(attr), sizeof(file)), sizeof(attr));
	ck_assert_int_eq(pwrite(fd, &ids, 16, sizeof(file) + sizeof(attr)), 16);
	for (uint64_t i = 0; i < n; i++, at += (off_t)size) {
		const uint64_t time = 1 + i % (n / 2) * 2 + i / (n / 2);
		const uint32_t raw_size = (uint32_t)size - 28;

		if (i == n / 2) {
			ck_assert_int_eq(pwrite(fd, &between, 8, at), 8);
			ck_assert_int_eq(pwrite(fd, &apart, 8, at + 8), 8);
			at += 16 + (off_t)apart;
		}
		ck_assert_int_eq(pwrite(fd, &sample, 8, at), 8);
		ck_assert_int_eq(pwrite(fd, &time, 8, at + 16), 8);
		ck_assert_int_eq(pwrite(fd, &raw_size, 4, at + 24), 4);
	}
	ck_assert_int_eq(ftruncate(fd, at), 0);
	return fd;
}

struct changing {
	struct perfdata perfdata;
	size_t n;
	int fd;
};

/* Makes records that nobody knows of all others. */
static bool change(void *context, const struct event *event, struct err *unused)
{
	struct changing *changing = context;

	(void)event;
	(void)unused;
	for (size_t i = 1; i < changing->perfdata.n_records; i++)
		ck_assert_int_eq(pwrite(changing->fd, "", 1,
				     (off_t)changing->perfdata.records[i].offset),
		    1);
	return ++changing->n;
}

/* The list of records says what is no longer so. */
UNIT(records_changed)
{
	struct changing changing = {.fd = two_halves(100, 1000, 0)};

	ck_assert(perfdata_open(&changing.perfdata, changing.fd, &err));
	ck_assert(!perfdata_each(&changing.perfdata, change, &changing, &err));
	ck_assert(err.kind == ERR_IO && changing.n == 1);
	perfdata_free(&changing.perfdata);
	close(changing.fd);
}

/* Pages that are let go too early come again for each sample. */
UNIT(records_turns)
{
	const size_t n = 10000;
	struct perfdata perfdata;
	struct seen seen = {0};
	struct rusage before, after;
	int fd = two_halves(n, 1000, 128 << 20);

	ck_assert_msg(perfdata_open(&perfdata, fd, &err), "%s", err.text);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
	ck_assert(perfdata_each(&perfdata, see, &seen, &err));
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
	ck_assert(seen.n == n && seen.last == n);
	ck_assert_int_lt(after.ru_minflt - before.ru_minflt, n / 2);
	perfdata_free(&perfdata);
	close(fd);
}

/* More bytes than are kept, most of them in holes that stay holes. The file may lose its end at any time. */
UNIT(records_blocks)
{
	const size_t n = 3000;
	struct stat before, after;
	struct perfdata perfdata;
	struct seen seen = {0};
	int fd = two_halves(n, 60000, 0);

	ck_assert_msg(perfdata_open(&perfdata, fd, &err), "%s", err.text);
	ck_assert_int_eq(fstat(fd, &before), 0);
	ck_assert_msg(perfdata_each(&perfdata, see, &seen, &err), "%s", err.text);
	ck_assert(seen.n == n && seen.last == n);
	ck_assert_int_eq(fstat(fd, &after), 0);
	ck_assert_int_eq(before.st_blocks, after.st_blocks);
	profile_survive_truncation();
	ck_assert_int_eq(ftruncate(fd, (off_t)perfdata.size / 2 + 30000), 0);
	ck_assert(!perfdata_each(&perfdata, see, &seen, &err) &&
		  err.kind == ERR_MALFORMED && profile_lost);
	perfdata_free(&perfdata);
	close(fd);
}
