/* SPDX-License-Identifier: MIT */
/* profile/stacks/: which mapped files are one, and how many are kept. */
#include <stdlib.h>
#include <unistd.h>

#include "profile/perfdata/event.h"
#include "profile/stacks/unwinder.h"
#include "tests/unit/unit.h"

static struct err err;

/* Each file at a path counts, and from some number on the others together. */
UNIT(files_versions)
{
	struct unwinder unwinder;
	char path[] = "/tmp/versions-XXXXXX";
	struct event event = {.kind = EVENT_MAP,
	    .pid = (uint32_t)getpid(),
	    .start = 4096,
	    .size = 4096,
	    .text = path};
	uint32_t index = 0, again = 0;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
	for (uint32_t i = 0; i < UNWINDER_VERSIONS + 10; i++) {
		ck_assert_int_eq(ftruncate(fd, i), 0);
		ck_assert(unwinder_file_get(&unwinder, &event, &index, &err));
		ck_assert_uint_eq(index, i < UNWINDER_VERSIONS ? i : UNWINDER_VERSIONS);
		ck_assert(unwinder_file_get(&unwinder, &event, &again, &err));
		ck_assert_uint_eq(again, index);
	}
	ck_assert(unwinder_file_open(&unwinder, index, &err));
	ck_assert(unwinder.files[index]->failed);
	unwinder_free(&unwinder);
	close(fd);
	unlink(path);
}

/* A build-id is what a file says of itself: whoever maps a file has it for his own processes. */
UNIT(files_of_owners)
{
	static const uint8_t build_id[20] = {1};
	struct unwinder unwinder;
	char path[] = "/tmp/same-XXXXXX";
	struct event event = {.kind = EVENT_MAP,
	    .pid = (uint32_t)getpid(),
	    .start = 4096,
	    .size = 4096,
	    .build_id = build_id,
	    .build_id_size = sizeof(build_id),
	    .text = path};
	uint32_t index = 0, again = 0;
	struct space *space;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
	ck_assert(unwinder_file_get(&unwinder, &event, &index, &err));
	ck_assert_uint_eq(index, 0);
	/* By its path here this user wrote it. */
	event.pid = UINT32_MAX - 1;
	ck_assert(unwinder_file_get(&unwinder, &event, &again, &err));
	ck_assert_uint_eq(again, 0);
	ck_assert_uint_eq(unwinder.files[0]->mapped.pid, (uint32_t)getpid());
	/* A file at a path that nobody knows is its owner's alone, of whom there may be several. */
	event.text = "/nowhere";
	for (uint32_t i = 0; i < 6; i++) {
		event.pid = UINT32_MAX - 2 - i;
		space = space_get(&unwinder.spaces, event.pid, &err);
		ck_assert_ptr_nonnull(space);
		space->owner =
		    (struct owner){.is_known = true, .id = 2 + i % 3, .place = 1 + i % 3};
		ck_assert(unwinder_file_get(&unwinder, &event, &again, &err));
		ck_assert_uint_eq(again, 1 + i % 3);
	}
	/* A child that is gone has the owner of its parent. */
	ck_assert(space_fork(&unwinder.spaces, 5, 5, event.pid, event.pid, 0, &err));
	ck_assert_uint_eq(space_find(&unwinder.spaces, 5)->owner.place, 3);
	/* It is no ELF file. Whoever maps it next is asked, but not for ever. */
	event.pid = (uint32_t)getpid();
	event.text = path;
	for (uint32_t i = 0; i < UNWINDER_TRIES + 2; i++) {
		ck_assert(unwinder_file_get(&unwinder, &event, &again, &err));
		ck_assert_uint_eq(unwinder.files[index]->opened, i >= UNWINDER_TRIES);
		ck_assert(unwinder_file_open(&unwinder, index, &err));
		ck_assert(unwinder.files[index]->failed);
		ck_assert_uint_eq(unwinder.n_failed, 1);
	}
	unwinder_free(&unwinder);
	close(fd);
	unlink(path);
}

/* The number of an inode is used again: what had it before the file at the path was made is not that file. */
UNIT(files_of_one_inode)
{
	struct unwinder unwinder;
	char path[] = "/tmp/inode-XXXXXX";
	struct event event = {
	    .kind = EVENT_MAP, .pid = 7, .start = 4096, .size = 4096, .text = path};
	uint32_t index;
	struct stat st;
	int fd = mkstemp(path);

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
	unwinder.live = false;
	unwinder.clock = event_clock();
	for (uint32_t i = 0; i < 4 * UNWINDER_VERSIONS_HERE; i++) {
		event.inode = st.st_ino + (i % 8 == 4 ? i : 0);
		event.generation = i % 4 == 3;
		event.time = i % 4 == 1 ? 1 : spent_now() + i;
		ck_assert(unwinder_file_get(&unwinder, &event, &index, &err));
		ck_assert_uint_eq(index, i % 4 == 3 ? 2 : i % 4 == 1 || i % 8 == 4);
	}
	unwinder_free(&unwinder);
	close(fd);
	unlink(path);
}

/* A recording is read for long enough that a file is written to. */
UNIT(files_written)
{
	struct unwinder unwinder;
	char path[] = "/tmp/written-XXXXXX", later[64];
	struct event event = {
	    .kind = EVENT_MAP, .pid = 7, .start = 4096, .size = 4096, .text = path};
	uint32_t index, other;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	snprintf(later, sizeof(later), "%s-later", path);
	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
	unwinder.live = false;
	/* One that was not here is not looked for again: a file system can take long to say so. */
	event.text = later;
	ck_assert(unwinder_file_get(&unwinder, &event, &index, &err));
	ck_assert_int_eq(link(path, later), 0);
	ck_assert(unwinder_file_get(&unwinder, &event, &other, &err));
	ck_assert_uint_eq(other, index);
	unlink(later);
	event.text = path;
	for (uint32_t i = 0; i < 2 * UNWINDER_VERSIONS; i++) {
		ck_assert_int_eq(ftruncate(fd, i), 0);
		ck_assert(unwinder_file_get(&unwinder, &event, &index, &err));
		ck_assert_uint_le(index, UNWINDER_VERSIONS);
	}
	unwinder_free(&unwinder);
	close(fd);
	unlink(path);
}

/* A recording can call one file by any number of names; it is read once. */
UNIT(files_names)
{
	static const char *const NAMES[] = {
	    "/proc/self/exe", "/proc/../proc/self/exe", "/proc/self/../self/exe"};
	struct event event = {.kind = EVENT_MAP, .pid = 7, .start = 4096, .size = 4096};
	uint8_t build_id[20] = {0};
	struct unwinder unwinder;
	uint32_t index, other;

	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
	unwinder.live = false;
	for (size_t i = 0; i < 3; i++) {
		event.text = NAMES[i];
		ck_assert(unwinder_file_get(&unwinder, &event, &index, &err));
		ck_assert_uint_eq(index, 0);
	}
	/* With another build-id, it may have been another file. */
	event.build_id = build_id;
	event.build_id_size = sizeof(build_id);
	for (uint32_t i = 1; i < UNWINDER_VERSIONS_HERE + 10; i++) {
		build_id[0] = (uint8_t)i;
		ck_assert(unwinder_file_get(&unwinder, &event, &other, &err));
		ck_assert_uint_eq(
		    other, i < UNWINDER_VERSIONS_HERE ? i : UNWINDER_VERSIONS_HERE);
		ck_assert(
		    unwinder.files[other]->is_many == (i >= UNWINDER_VERSIONS_HERE));
	}
	event.text = "/nowhere";
	ck_assert(unwinder_file_get(&unwinder, &event, &other, &err));
	ck_assert_uint_eq(other, UNWINDER_VERSIONS_HERE + 1);
	unwinder_free(&unwinder);
}

/* Own programs that have run and are removed are forgotten, those that are mapped stay. */
UNIT(files_own)
{
	const uint32_t n = 3 * UNWINDER_ROWS / (64 << 10);
	struct unwinder unwinder;
	char path[] = "/tmp/own-XXXXXX", other[64], command[128];
	struct event event = {.kind = EVENT_MAP,
	    .pid = (uint32_t)getpid(),
	    .start = 4096,
	    .size = 4096,
	    .text = other};
	uint64_t all = 0;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	snprintf(command, sizeof(command), "cat /proc/%u/exe >%s", event.pid, path);
	ck_assert_int_eq(system(command), 0);
	ck_assert(unwinder_begin(&unwinder, unwinder_machine(""), &err));
	for (uint32_t i = 0; i < n && all < 3 * UNWINDER_ROWS; i++) {
		const struct space_map *map;

		snprintf(other, sizeof(other), "%s-%u", path, i);
		ck_assert_int_eq(link(path, other), 0);
		event.start = i ? 8192 : 4096;
		ck_assert(unwinder_take(&unwinder, &event, &err));
		map =
		    space_map_find(space_find(&unwinder.spaces, event.pid), event.start);
		ck_assert_ptr_nonnull(map);
		ck_assert(unwinder_file_open(&unwinder, map->file, &err));
		ck_assert(!unwinder.files[map->file]->failed);
		all += unwinder.files[map->file]->rows->bytes;
		ck_assert_uint_ge(unwinder.files[map->file]->rows->bytes, 4096);
		ck_assert_uint_le(unwinder.rows.own, 2 * UNWINDER_ROWS);
		unlink(other);
	}
	ck_assert_ptr_nonnull(unwinder.files[0]);
	ck_assert_uint_lt(unwinder.rows.own, all / 2);
	unwinder_free(&unwinder);
	ck_assert_uint_eq(unwinder.rows.own, 0);
	close(fd);
	unlink(path);
}
