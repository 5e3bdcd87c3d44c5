/* SPDX-License-Identifier: MIT */
/* profile/record/: names of frames. No owner takes the room of all others. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profile/perfdata/read.h"
#include "profile/perfdata/write.h"
#include "profile/profile.h"
#include "profile/record/names.h"
#include "tests/unit/unit.h"

/* All of it, and what a frame with a name of one letter takes. */
enum { ROOM = 128 << 20, FRAME = 136 };

static struct err err;
static struct names names;

/* Notes frames of a process in one function of a file that is elsewhere. */
static void note(uint32_t pid, bool is_own, uint32_t place, uint64_t n, const char *name)
{
	struct symbol symbol = {
	    .addr = 0x1000, .size = 0x1000, .name = (char *)(uintptr_t)name};
	const struct owner owner = {.is_own = is_own, .place = place};
	const struct rows rows = {.symbols = {.list = &symbol, .n = 1}};

	for (uint64_t i = 0; i < n; i++) {
		names_note(&names, &owner, &rows, 0x1000,
		    &(struct names_seen){pid, false, 0x1000 + i, 0x1000 + i});
	}
}

UNIT(names_of_others)
{
	const struct perf_event_attr attr = {.size = sizeof(attr)};
	static char name[1 << 20];
	struct perfdata_writer writer;
	int fd = memfd_create("names", 0);

	memset(name, 'x', sizeof(name) - 1);
	ck_assert(perfdata_begin(&writer, fd, &attr, true, &err));
	names.writer = &writer;
	/* A quarter is for all others, and behind that an eighth for each, until they have half. */
	note(1, false, 1, ROOM / 4 / FRAME + 100, "f");
	ck_assert_uint_eq(names.n_left_out, 100);
	ck_assert_uint_eq(names.all, ROOM / 4 / FRAME * FRAME);
	/* A frame that has its name takes no room again. */
	note(1, false, 1, 1000, "f");
	ck_assert_uint_eq(names.n_left_out, 100);
	note(2, false, 2, ROOM / 8 / FRAME + 100, "f");
	ck_assert_uint_eq(names.n_left_out, 200);
	/* Names count, too. */
	note(3, false, 3, 10, name);
	ck_assert_uint_eq(names.n_left_out, 200 + 7);
	ck_assert_uint_le(names.others, ROOM / 2);
	/* The rest is for one's own. */
	note(4, true, 4, ROOM / 2 / FRAME, "f");
	ck_assert_uint_eq(names.n_left_out, 200 + 7);
	note(6, true, 4, ROOM / 4 / FRAME, "f");
	ck_assert_uint_gt(names.n_left_out, 200 + 7);
	ck_assert_uint_ge(names.all, ROOM - FRAME);
	names_free(&names);
	perfdata_writer_free(&writer);
	close(fd);
}

/* The process has written its names, which a process apart reads. */
UNIT(names_of_compilers)
{
	const struct perf_event_attr attr = {.size = sizeof(attr)};
	const uint32_t pid = (uint32_t)getpid();
	const struct owner owner = owner_of(pid);
	struct perfdata_writer writer;
	char path[64];
	int fd = memfd_create("names", 0);
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned int)pid);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("1000 10 one\n2000 10 two\n", file);
	fclose(file);
	ck_assert(perfdata_begin(&writer, fd, &attr, true, &err));
	names.writer = &writer;
	names_note(
	    &names, &owner, NULL, 0, &(struct names_seen){pid, false, 0x1000, 0x1000});
	names_note(
	    &names, &owner, NULL, 0, &(struct names_seen){pid, false, 0x1800, 0x1800});
	names_note(
	    &names, &owner, NULL, 0, &(struct names_seen){pid, true, 0x2010, 0x2010});
	names_note(
	    &names, &owner, NULL, 0, &(struct names_seen){pid, false, 0x1000, 0x1000});
	ck_assert_uint_eq(names.n, 3);
	ck_assert_uint_eq(names.all, 3 * 128 + ROOM / 512);
	names_of_process(&names, pid);
	unlink(path);
	ck_assert_uint_eq(names.n, 0);
	ck_assert_uint_eq(names.all, 3 * 128 + 4 * sizeof("one\0two"));
	ck_assert_uint_eq(writer.name_texts.size, 8);
	ck_assert(memcmp(writer.name_texts.data, "one\0two", 8) == 0);
	names_free(&names);
	perfdata_writer_free(&writer);
	close(fd);
}

/* Frames are counted whose owner has had his time. */
UNIT(names_out_of_time)
{
	const struct owner owner = {.is_known = true, .place = 1};
	const struct spent_work work = {.ns = UINT64_C(1) << 40};
	const uint32_t pid = (uint32_t)getpid();

	for (uint64_t pc = 1; pc <= 3; pc++)
		names_note(
		    &names, &owner, NULL, 0, &(struct names_seen){pid, false, pc, pc});
	spent_add(&names.spent, &owner, &work);
	names_of_process(&names, pid);
	ck_assert_uint_eq(names.n_left_out, 3);
	names_free(&names);
}

static const struct perf_event_attr ATTR = {.size = sizeof(ATTR),
    .type = PERF_TYPE_SOFTWARE,
    .sample_type = EVENT_SAMPLE_TYPE,
    .sample_id_all = 1};

/* A long name of the kernel: comparing it for each frame of each sample takes 40 s of processor time, and 0.1 s when it is done once. */
UNIT(perfdata_long_name_of_the_kernel)
{
	enum { N = 8000, FRAMES = 250 };
	const uint64_t pc = 0xffffffff81000010;
	static char text[EVENT_MAX_SIZE];
	static uint64_t chain[1 + FRAMES];
	char name[] = "x", *words[] = {name, NULL};
	const struct perfdata_about about = {"", "", "x86_64", "cpu-clock", words, 0};
	const struct perfdata_walked walked = {.why = PROFILE_NO_STACK};
	struct event event = {.pid = 7,
	    .tid = 7,
	    .chain = (const uint8_t *)chain,
	    .n_chain = 1 + FRAMES,
	    .cpu_mode = PERF_RECORD_MISC_KERNEL};
	struct perfdata_writer writer;
	const struct rlimit limit = {20, 40};
	struct profile profile;
	int fd = memfd_create("recording", 0);

	ck_assert_int_eq(setrlimit(RLIMIT_CPU, &limit), 0);
	memset(text, 'k', sizeof(text) - 1);
	chain[0] = (uint64_t)PERF_CONTEXT_KERNEL;
	for (size_t i = 1; i <= FRAMES; i++)
		chain[i] = pc;
	ck_assert(perfdata_begin(&writer, fd, &ATTR, true, &err));
	ck_assert(perfdata_put_name(&writer, UINT32_MAX, pc, text));
	for (size_t i = 0; i < N; i++)
		ck_assert(perfdata_put_walked(&writer, &event, &walked, &err));
	ck_assert(perfdata_end(&writer, &about, &err));
	perfdata_writer_free(&writer);
	ck_assert(profile_init(&profile, &err));
	ck_assert_msg(profile_load(&profile, fd, true, &err), "%s", err.text);
	ck_assert_uint_eq(profile.n_samples, N);
	/* That of the thread, where the kernel was, and those that it returns to. */
	ck_assert_uint_eq(profile.n_frames, 3);
	ck_assert_str_eq(profile.frames[1].name, text);
	profile_free(&profile);
	close(fd);
}

/* Names that have no end of their own, so each is as long as all behind it. */
UNIT(perfdata_names_without_an_end)
{
	static char text[EVENT_MAX_SIZE], bytes[4 * EVENT_MAX_SIZE];
	char name[] = "x", *words[] = {name, NULL}, *at;
	const struct perfdata_about about = {"", "", "x86_64", "cpu-clock", words, 0};
	struct perfdata_writer writer;
	struct perfdata perfdata;
	int fd = memfd_create("recording", 0);
	ssize_t size;

	memset(text, 'j', sizeof(text) - 1);
	ck_assert(perfdata_begin(&writer, fd, &ATTR, true, &err));
	ck_assert(perfdata_put_name(&writer, 7, 0x9000, text));
	ck_assert(perfdata_put_name(&writer, 7, 0x9001, text));
	ck_assert(perfdata_end(&writer, &about, &err));
	perfdata_writer_free(&writer);
	size = pread(fd, bytes, sizeof(bytes), 0);
	ck_assert(size > 0 && size < (ssize_t)sizeof(bytes));
	at = memmem(bytes, (size_t)size, "j\0j", 3);
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(pwrite(fd, "j", 1, at + 1 - bytes), 1);
	ck_assert_msg(perfdata_open(&perfdata, fd, &err), "%s", err.text);
	ck_assert_ptr_null(perfdata_name(&perfdata, 7, 0x9000));
	ck_assert_str_eq(perfdata_name(&perfdata, 7, 0x9001), text);
	perfdata_free(&perfdata);
	close(fd);
}
