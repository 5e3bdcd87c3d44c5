/* SPDX-License-Identifier: MIT */
/* perf.data, and the profile that its samples are added to. All bytes of a file can be hostile. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/perfdata/read.h"
#include "profile/perfdata/write.h"
#include "profile/profile.h"
#include "tests/unit/unit.h"

static struct err err;
static uint8_t record[EVENT_MAX_SIZE];

enum { SAMPLES = 60, MOST = 1 << 16 };

static const struct perf_event_attr ATTR = {.size = sizeof(ATTR),
    .type = PERF_TYPE_SOFTWARE,
    .freq = 1,
    .sample_freq = 99,
    .sample_type = EVENT_SAMPLE_TYPE,
    .sample_regs_user = 0xff0fff,
    .sample_id_all = 1};

static int file_of(const void *bytes, size_t size)
{
	int fd = memfd_create("recording", 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	return fd;
}

/* A process that maps a file and has samples, later ones first in the file. */
static int file_written(void)
{
	static const uint8_t id[20] = {1, 2, 3};
	char name[] = "x", option[] = "--y", *words[] = {name, option, NULL};
	const struct perfdata_about about = {
	    "host", "6.1", "x86_64", "cpu-clock", words, 77};
	uint64_t chain[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xffffffff81000010};
	uint64_t pcs[] = {0x1010, 0x1020, 0x9000};
	uint8_t flags[] = {1, 0, 2};
	const struct perfdata_walked walked = {pcs, flags, 3, PROFILE_NO_MODULE};
	struct event event = {.pid = 7, .tid = 7, .text = "comm"};
	struct perfdata_writer writer;
	int fd = memfd_create("recording", 0);

	ck_assert(perfdata_begin(&writer, fd, &ATTR, true, &err));
	ck_assert(perfdata_put(&writer, record, event_make_comm(record, &event), &err));
	event.text = "/nowhere/program";
	event.start = 0x1000;
	event.size = 0x1000;
	ck_assert(perfdata_put(&writer, record, event_make_map(record, &event), &err));
	event.chain = (const uint8_t *)chain;
	event.n_chain = 2;
	event.cpu_mode = PERF_RECORD_MISC_USER;
	event.weight = 3;
	for (uint64_t i = 0; i < SAMPLES; i++) {
		event.time = i % 2 ? i : 1000 + i;
		ck_assert(perfdata_put_walked(&writer, &event, &walked, &err));
	}
	perfdata_put_build_id(&writer, "/nowhere/program", id, sizeof(id));
	ck_assert(perfdata_put_name(&writer, 7, 0x9000, "made at run time"));
	ck_assert(perfdata_put_name(&writer, 8, 0x1010, "of another process"));
	ck_assert(perfdata_end(&writer, &about, &err));
	perfdata_writer_free(&writer);
	return fd;
}

static size_t bytes_written(uint8_t *bytes)
{
	int fd = file_written();
	ssize_t size = pread(fd, bytes, MOST, 0);

	ck_assert(size > 0 && size < MOST);
	close(fd);
	return (size_t)size;
}

UNIT(perfdata_round_trip)
{
	int fd = file_written();
	struct perfdata perfdata;
	struct profile profile;
	const struct profile_sample *sample;
	const struct profile_frame *frame;

	ck_assert(perfdata_open(&perfdata, fd, &err));
	ck_assert_uint_eq(perfdata.clock, 77);
	perfdata_free(&perfdata);
	ck_assert(profile_init(&profile, &err));
	ck_assert_msg(profile_load(&profile, fd, true, &err), "%s", err.text);
	ck_assert_uint_eq(profile.n_samples, SAMPLES);
	ck_assert(!profile.info.cut_off);
	ck_assert_str_eq(profile.info.command, "x --y");
	ck_assert_str_eq(profile.info.host, "host");
	ck_assert_str_eq(profile.info.unit, "ns");
	ck_assert_uint_eq(profile.info.frequency, 99);
	ck_assert_uint_eq(profile.samples[0].time, 1);
	ck_assert_uint_eq(profile.samples[SAMPLES - 1].time, 1000 + SAMPLES - 2);
	for (size_t i = 1; i < SAMPLES; i++)
		ck_assert_uint_lt(profile.samples[i - 1].time, profile.samples[i].time);
	sample = &profile.samples[0];
	ck_assert_uint_eq(sample->weight, 3);
	ck_assert_uint_eq(sample->why, PROFILE_NO_MODULE);
	ck_assert_str_eq(profile.threads[sample->thread].comm, "comm");
	/* The kernel's frame is the first one, and the one that was made at run time the last before those without an address. */
	frame = &profile.frames[profile.stacks[sample->stack].frame];
	ck_assert_uint_eq(frame->kind, PROFILE_FRAME_KERNEL);
	frame = &profile.frames[profile.stacks[1].frame];
	ck_assert_uint_eq(frame->kind, PROFILE_FRAME_THREAD);
	ck_assert_str_eq(frame->name, "comm");
	frame = &profile.frames[profile.stacks[2].frame];
	ck_assert_uint_eq(frame->kind, PROFILE_FRAME_MARK);
	ck_assert_str_eq(frame->name, "address in no file");
	frame = &profile.frames[profile.stacks[3].frame];
	ck_assert_uint_eq(frame->kind, PROFILE_FRAME_JIT);
	ck_assert_uint_eq(frame->flags, PROFILE_FRAME_GUESSED);
	ck_assert_str_eq(frame->name, "made at run time");
	frame = &profile.frames[profile.stacks[5].frame];
	ck_assert_uint_eq(frame->kind, PROFILE_FRAME_FILE);
	ck_assert_uint_eq(frame->flags, PROFILE_FRAME_EXACT);
	ck_assert_uint_eq(frame->address, 0x10);
	ck_assert_ptr_null(frame->name);
	ck_assert_str_eq(profile.modules[frame->module].path, "/nowhere/program");
	ck_assert_uint_eq(profile.modules[frame->module].build_id_size, 20);
	profile_free(&profile);
	close(fd);
}

/* A recorder that has walked a file which became shorter folds its recording in the place of that file. */
UNIT(perfdata_lost_before)
{
	const off_t size = (off_t)1 << 36;
	int fd = file_written();
	struct perfdata perfdata;
	struct profile profile;

	ck_assert_int_eq(ftruncate(fd, size), 0);
	ck_assert(perfdata_open(&perfdata, fd, &err));
	profile_lost = perfdata.bytes + size / 2;
	perfdata_free(&perfdata);
	ck_assert(profile_init(&profile, &err));
	ck_assert_msg(profile_load(&profile, fd, true, &err), "%s", err.text);
	profile_free(&profile);
	/* No bytes of it are lost where there is no room for any. */
	ck_assert_int_eq(ftruncate(fd, (off_t)1 << 60), 0);
	ck_assert(profile_init(&profile, &err));
	ck_assert(!profile_load(&profile, fd, true, &err) && err.kind == ERR_NOMEM);
	profile_free(&profile);
	close(fd);
}

static void check_indices(const struct profile *profile)
{
	for (size_t i = 1; i < profile->n_stacks; i++) {
		ck_assert_uint_lt(profile->stacks[i].caller, i);
		ck_assert_uint_lt(profile->stacks[i].frame, profile->n_frames);
	}
	for (size_t i = 0; i < profile->n_frames; i++)
		ck_assert(profile->frames[i].kind > PROFILE_FRAME_KERNEL ||
			  profile->frames[i].module < profile->n_modules);
	for (size_t i = 0; i < profile->n_samples; i++) {
		ck_assert_uint_lt(profile->samples[i].thread, profile->n_threads);
		ck_assert_uint_lt(profile->samples[i].stack, profile->n_stacks);
	}
}

UNIT(perfdata_damaged)
{
	static uint8_t bytes[MOST], bad[MOST];
	size_t size = bytes_written(bytes);
	unsigned int refused = 0, whole = 0, seed = 1;

	for (unsigned int i = 0; i < 3000; i++) {
		size_t kept = i % 8 ? size : (size_t)rand_r(&seed) % (size + 1);
		/* Headers are a small part of the file. */
		size_t range = i % 2 ? 400 : size;
		struct profile profile;
		int fd;

		memcpy(bad, bytes, size);
		for (unsigned int j = 0; j <= i % 3; j++)
			bad[(size_t)rand_r(&seed) % range] = (uint8_t)rand_r(&seed);
		fd = file_of(bad, kept);
		ck_assert(profile_init(&profile, &err));
		if (!profile_load(&profile, fd, true, &err)) {
			ck_assert_msg(
			    err.kind == ERR_MALFORMED || err.kind == ERR_UNSUPPORTED,
			    "%s", err.text);
			refused++;
		}
		whole += profile.n_samples == SAMPLES;
		check_indices(&profile);
		profile_free(&profile);
		close(fd);
	}
	ck_assert_uint_gt(refused, 300);
	ck_assert_uint_gt(whole, 300);
}

/* A recorder that was killed has not written where its records end. */
UNIT(perfdata_cut)
{
	static uint8_t bytes[MOST];
	size_t size = bytes_written(bytes), last = 0;

	/* The size of the data, and the features. */
	memset(bytes + 48, 0, 8);
	memset(bytes + 72, 0, 32);
	for (size_t kept = 400; kept < size; kept += 7) {
		struct profile profile;
		int fd = file_of(bytes, kept);

		/* A file system that was not written to the end may give zeros. */
		ck_assert_int_eq(ftruncate(fd, (off_t)kept + (kept % 2 ? 64 : 0)), 0);
		ck_assert(profile_init(&profile, &err));
		ck_assert_msg(profile_load(&profile, fd, true, &err), "%s", err.text);
		ck_assert(profile.info.cut_off);
		/* A record that was cut off can be a sample with zeros behind it. */
		ck_assert_uint_ge(profile.n_samples + kept % 2, last);
		if (kept % 2 == 0)
			last = profile.n_samples;
		profile_free(&profile);
		close(fd);
	}
	ck_assert_uint_eq(last, SAMPLES);
}

/* A record's size has 16 bits: what does not fit is left out, and the next record is whole. */
UNIT(perfdata_long_stack)
{
	enum { KERNEL = 8000, FRAMES = 4096 };
	static uint64_t chain[KERNEL], pcs[FRAMES];
	static uint8_t flags[FRAMES];
	char name[] = "x", *words[] = {name, NULL};
	const struct perfdata_about about = {"", "", "x86_64", "cpu-clock", words, 0};
	const struct perfdata_walked walked = {pcs, flags, FRAMES, PROFILE_NO_MODULE};
	const struct event event = {.pid = 7,
	    .tid = 7,
	    .chain = (const uint8_t *)chain,
	    .n_chain = KERNEL,
	    .weight = 1};
	struct perfdata_writer writer;
	struct profile profile;
	int fd = memfd_create("recording", 0);

	chain[0] = (uint64_t)PERF_CONTEXT_KERNEL;
	ck_assert(perfdata_begin(&writer, fd, &ATTR, true, &err));
	ck_assert(perfdata_put_walked(&writer, &event, &walked, &err));
	ck_assert(perfdata_put_walked(&writer, &event, &walked, &err));
	ck_assert(perfdata_end(&writer, &about, &err));
	perfdata_writer_free(&writer);
	ck_assert(profile_init(&profile, &err));
	ck_assert_msg(profile_load(&profile, fd, true, &err), "%s", err.text);
	ck_assert_uint_eq(profile.n_samples, 2);
	ck_assert_uint_gt(profile.n_stacks, FRAMES);
	ck_assert_uint_eq(profile.samples[1].why, PROFILE_NO_MODULE);
	profile_free(&profile);
	close(fd);
}

/* One PC in many processes: what takes the square of their number runs into the time limit. */
UNIT(perfdata_names_of_one_pc)
{
	enum { N = 400000 };
	char name[] = "x", *words[] = {name, NULL};
	const struct perfdata_about about = {"", "", "x86_64", "cpu-clock", words, 0};
	struct perfdata_writer writer;
	struct perfdata perfdata;
	int fd = memfd_create("recording", 0);

	ck_assert(perfdata_begin(&writer, fd, &ATTR, true, &err));
	for (uint32_t i = N; i > 0; i--)
		ck_assert(perfdata_put_name(&writer, i, 0x9000, i % 2 ? "odd" : "even"));
	ck_assert(perfdata_end(&writer, &about, &err));
	perfdata_writer_free(&writer);
	ck_assert_msg(perfdata_open(&perfdata, fd, &err), "%s", err.text);
	for (uint32_t i = 1; i <= N; i++)
		ck_assert_str_eq(
		    perfdata_name(&perfdata, i, 0x9000), i % 2 ? "odd" : "even");
	ck_assert_ptr_null(perfdata_name(&perfdata, N + 1, 0x9000));
	ck_assert_ptr_null(perfdata_name(&perfdata, 1, 0x9001));
	perfdata_free(&perfdata);
	close(fd);
}

/* Many events with the same list of identifiers: it would be in memory for each of them. */
UNIT(perfdata_shared_identifiers)
{
	enum { ATTRS = 4000, SIZE = PERF_ATTR_SIZE_VER0 + 16 };
	const struct perfdata_header file = {.magic = PERFDATA_MAGIC,
	    .size = sizeof(file),
	    .attr_size = SIZE,
	    .attrs = {sizeof(file), ATTRS * SIZE},
	    .data = {sizeof(file), 0},
	    .features = {1}};
	const struct perfdata_section section = {sizeof(file), 4096};
	struct perfdata perfdata;
	int fd = file_of(&file, sizeof(file));

	ck_assert_int_eq(ftruncate(fd, sizeof(file) + ATTRS * SIZE), 0);
	for (off_t i = 1; i <= ATTRS; i++)
		ck_assert_int_eq(pwrite(fd, &section, sizeof(section),
				     (off_t)sizeof(file) + SIZE * i - 16),
		    sizeof(section));
	ck_assert(!perfdata_open(&perfdata, fd, &err));
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	ck_assert_uint_le(perfdata.n_ids, perfdata.size / 8);
	perfdata_free(&perfdata);
	close(fd);
}

/* Each member that may come before those that are read, in the order of perf_event_open(2). */
UNIT(perfdata_layouts)
{
	const struct event_layout all = {
	    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			   PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			   PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER,
	    .read_format =
		PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
	    .registers = 0x180};
	/* header; identifier, IP, who, time, address, identifiers, CPU, period; two counters; chain;
	 * raw; a branch; registers; stack. */
	static const uint64_t WORDS[] = {0, 1, 0x1234, 7 | UINT64_C(8) << 32, 1000, 2, 3,
	    4, 5, 6, 2, 11, 12, 13, 14, 15, 1, 0x77, 4 | UINT64_C(0x99) << 32, 1, 21, 22,
	    23, PERF_SAMPLE_REGS_ABI_64, 0x5b, 0x1b, 8, 0xabc, 8};
	enum { AFTER_BRANCHES = 24 };
	struct event_layout counted = all;
	struct perf_event_header header = {
	    .type = PERF_RECORD_SAMPLE, .size = sizeof(WORDS)};
	struct event event;
	uint64_t word;

	memcpy(record, WORDS, sizeof(WORDS));
	memcpy(record, &header, sizeof(header));
	ck_assert(event_read(record, sizeof(WORDS), &all, &event));
	ck_assert_uint_eq(event.ip, 0x1234);
	ck_assert_uint_eq(event.tid, 8);
	ck_assert_uint_eq(event.time, 1000);
	ck_assert_uint_eq(event_time(record, sizeof(WORDS), &all), 1000);
	ck_assert(event_id(record, sizeof(WORDS), &all, &word) && word == 1);
	ck_assert_uint_eq(event.cpu, 5);
	ck_assert_uint_eq(event.weight, 6);
	ck_assert_uint_eq(event.n_chain, 1);
	ck_assert_uint_eq(event.chain[0], 0x77);
	ck_assert_uint_eq(event.raw_size, 4);
	ck_assert_uint_eq(event.raw[0], 0x99);
	memcpy(&word, event.registers + 8, 8);
	ck_assert_uint_eq(word, 0x1b);
	ck_assert_uint_eq(event.stack_size, 8);
	for (size_t size = 8; size < sizeof(WORDS); size++)
		ck_assert(!event_read(record, size, &all, &event));
	/* Linux 6.8: a word for each branch behind all of them. */
	counted.branches = UINT64_C(1) << 19;
	header.size += 8;
	memcpy(record, &header, sizeof(header));
	memcpy(record + 8 * AFTER_BRANCHES, WORDS + AFTER_BRANCHES - 1,
	    sizeof(WORDS) - 8 * (AFTER_BRANCHES - 1));
	ck_assert(event_read(record, header.size, &counted, &event));
	memcpy(&word, event.registers + 8, 8);
	ck_assert_uint_eq(word, 0x1b);
}

/* The table at the end has two files with one path: only records tell which is which. */
UNIT(perfdata_two_build_ids)
{
	static const uint8_t ids[][20] = {{1}, {2}, {3}};
	char *words[] = {NULL};
	const struct perfdata_about about = {"", "", "", "", words, 0};
	struct event event = {.kind = EVENT_MAP};
	struct perfdata_writer writer;
	struct perfdata perfdata;
	int fd = memfd_create("recording", 0);

	ck_assert(perfdata_begin(&writer, fd, &ATTR, true, &err));
	for (size_t i = 0; i < 4; i++)
		perfdata_put_build_id(&writer, i < 3 ? "/two" : "/one", ids[i % 3], 20);
	ck_assert(perfdata_end(&writer, &about, &err));
	perfdata_writer_free(&writer);
	ck_assert_msg(perfdata_open(&perfdata, fd, &err), "%s", err.text);
	event.text = "/two";
	perfdata_identify(&perfdata, &event);
	ck_assert(!event.build_id_known);
	event.text = "/one";
	perfdata_identify(&perfdata, &event);
	ck_assert(event.build_id_known && event.build_id[0] == 1);
	perfdata_free(&perfdata);
	close(fd);
}
