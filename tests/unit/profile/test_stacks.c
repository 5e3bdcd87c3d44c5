/* SPDX-License-Identifier: MIT */
/* profile/stacks/: records of the kernel, and mappings.
 * All of them can be hostile. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/names/lines.h"
#include "profile/perfdata/event.h"
#include "profile/stacks/space.h"
#include "profile/stacks/unwinder.h"
#include "tests/unit/unit.h"

static struct err err;
static uint8_t record[EVENT_MAX_SIZE], other[EVENT_MAX_SIZE];

/* The registers of a sample of x86-64. */
enum { STACKS_REGISTERS = 20 };
static const struct event_layout LAYOUT = {
    .sample_type = EVENT_SAMPLE_TYPE, .registers = 0xff0fff, .id_all = true};

static size_t stacks_put(size_t at, uint64_t value)
{
	memcpy(record + at, &value, sizeof(value));
	return at + sizeof(value);
}

/* A sample with n_chain addresses and a stack of size bytes of which copied are right. */
static size_t stacks_sample(size_t n_chain, uint64_t size, uint64_t copied)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE};
	size_t at = sizeof(header);

	at = stacks_put(at, 0x1234);
	at = stacks_put(at, 7 | UINT64_C(8) << 32);
	at = stacks_put(at, 1000);
	at = stacks_put(at, 3);
	at = stacks_put(at, 5);
	at = stacks_put(at, n_chain);
	for (size_t i = 0; i < n_chain; i++)
		at = stacks_put(at, 100 + i);
	at = stacks_put(at, PERF_SAMPLE_REGS_ABI_64);
	for (uint64_t i = 0; i < STACKS_REGISTERS; i++)
		at = stacks_put(at, i);
	at = stacks_put(at, size);
	for (uint64_t i = 0; i < size / 8; i++)
		at = stacks_put(at, i);
	if (size)
		at = stacks_put(at, copied);
	header.size = (uint16_t)at;
	memcpy(record, &header, sizeof(header));
	return at;
}

UNIT(event_samples)
{
	size_t size = stacks_sample(2, 64, 40);
	struct event event;

	ck_assert(event_read(record, size, &LAYOUT, &event));
	ck_assert_int_eq(event.kind, EVENT_SAMPLE);
	ck_assert_uint_eq(event.pid, 7);
	ck_assert_uint_eq(event.tid, 8);
	ck_assert_uint_eq(event.time, 1000);
	ck_assert_uint_eq(event_time(record, size, &LAYOUT), 1000);
	ck_assert_uint_eq(event.cpu, 3);
	ck_assert_uint_eq(event.weight, 5);
	ck_assert_uint_eq(event.n_chain, 2);
	ck_assert_uint_eq(event.stack_size, 40);
	/* A copy leaves out what the kernel could not read. */
	ck_assert_uint_eq(event_copy(other, record, size, &LAYOUT), size - 24);
	ck_assert(event_read(other, size - 24, &LAYOUT, &event));
	ck_assert_uint_eq(event.stack_size, 40);
	ck_assert_uint_eq(event.stack[32], 4);
	/* No part may be missing. */
	for (size_t cut = 8; cut < size; cut++)
		ck_assert(!event_read(record, cut, &LAYOUT, &event));
	size = stacks_sample(0, 16, 17);
	ck_assert(!event_read(record, size, &LAYOUT, &event));
	size = stacks_sample(0, 16, 0);
	ck_assert_uint_eq(event_copy(other, record, size, &LAYOUT), size);
}

UNIT(event_maps)
{
	static const uint8_t id[20] = {1, 2, 3};
	struct event made = {.pid = 4,
	    .tid = 4,
	    .text = "/usr/lib/x.so",
	    .start = 0x1000,
	    .size = 0x2000,
	    .offset = 0x3000,
	    .inode = 9,
	    .generation = 11};
	struct event event;
	size_t size = event_make_map(record, &made);

	ck_assert(event_read(record, size, &LAYOUT, &event));
	ck_assert_int_eq(event.kind, EVENT_MAP);
	ck_assert_str_eq(event.text, "/usr/lib/x.so");
	ck_assert_uint_eq(event.offset, 0x3000);
	ck_assert_uint_eq(event.inode, 9);
	ck_assert_uint_eq(event.generation, 11);
	ck_assert_uint_eq(event.time, 0);
	ck_assert(!event.build_id_known);
	made.build_id_known = true;
	made.build_id = id;
	made.build_id_size = 20;
	size = event_make_map(record, &made);
	ck_assert(event_read(record, size, &LAYOUT, &event));
	ck_assert_uint_eq(event.build_id_size, 20);
	ck_assert(memcmp(event.build_id, id, 20) == 0);
	made.start = UINT64_MAX - 5;
	size = event_make_map(record, &made);
	ck_assert(!event_read(record, size, &LAYOUT, &event));
	made.text = "name";
	size = event_make_comm(record, &made);
	ck_assert(event_read(record, size, &LAYOUT, &event));
	ck_assert_int_eq(event.kind, EVENT_COMM);
	ck_assert_str_eq(event.text, "name");
}

/* The files and offsets of pages, as an array has them. */
enum { SPACE_PAGES = 4000 };
struct space_pages {
	uint32_t file[SPACE_PAGES];
	uint64_t offset[SPACE_PAGES];
};

static void space_add(struct spaces *spaces, uint32_t pid, struct space_pages *pages,
    uint64_t start, uint64_t size)
{
	static uint32_t n;
	const struct space_map map = {.start = start,
	    .end = start + size,
	    .offset = UINT64_C(10000) * ++n,
	    .file = n};

	ck_assert(space_add_map(spaces, pid, &map, &err));
	for (uint64_t page = start; page < start + size; page++) {
		pages->file[page] = n;
		pages->offset[page] = map.offset + page - start;
	}
}

static void space_check(struct space *space, const struct space_pages *pages)
{
	const struct space_map *map;
	uint64_t end = 0;

	for (size_t i = 0; i < space->maps.n; i++) {
		map = space_maps_get(&space->maps, i);
		ck_assert_uint_le(end, map->start);
		ck_assert_uint_lt(map->start, map->end);
		end = map->end;
	}
	for (uint64_t page = SPACE_PAGES; page-- > 0;) {
		map = space_map_find(space, page);
		ck_assert_uint_eq(map ? map->file : 0, pages->file[page]);
		if (map)
			ck_assert_uint_eq(
			    page - map->start + map->offset, pages->offset[page]);
	}
}

/* Mappings over and in each other, in a process and in one that was forked from it. */
UNIT(space_as_pages)
{
	static struct space_pages parent, child;
	struct spaces spaces = {0};
	unsigned int seed = 3;

	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t start = (uint64_t)rand_r(&seed) % SPACE_PAGES;
		uint64_t most = i % 500 ? 6 : SPACE_PAGES;
		uint64_t size = (uint64_t)rand_r(&seed) % most;

		if (size > SPACE_PAGES - start)
			size = SPACE_PAGES - start;
		if (i % 100 == 50) {
			ck_assert(space_fork(&spaces, 6, 6, 5, 5, 0, &err));
			child = parent;
		}
		if (i % 100 < 50 || i % 2)
			space_add(&spaces, 5, &parent, start, size);
		else
			space_add(&spaces, 6, &child, start, size);
		if (i % 100 < 99)
			continue;
		space_check(space_find(&spaces, 5), &parent);
		space_check(space_find(&spaces, 6), &child);
		ck_assert_uint_eq(spaces.n_maps,
		    space_find(&spaces, 5)->maps.n + space_find(&spaces, 6)->maps.n);
	}
	spaces_free(&spaces);
}

/* The kernel maps downwards, and compilers upwards. What takes the square of the number of mappings runs into the time limit. */
UNIT(space_many)
{
	struct spaces spaces = {0};
	struct space_map map = {.file = 1};

	for (uint64_t i = 1; i < 1 << 20; i++) {
		map.start = i / 4 % 2 ? 2 * i : (UINT64_C(1) << 32) - 2 * i;
		map.end = map.start + 1;
		ck_assert(space_add_map(&spaces, 5 + (uint32_t)i / 4 % 2, &map, &err));
		ck_assert(space_map_find(
		    space_find(&spaces, 5 + (uint32_t)i / 4 % 2), map.start));
	}
	spaces_free(&spaces);
}

/* Those processes and threads stay that were seen last, where their ends were lost. */
UNIT(space_forgets)
{
	struct spaces spaces = {0};
	const struct space_map map = {.start = 0x1000, .end = 0x2000, .file = 1};

	ck_assert(space_comm(&spaces, 1, 1, "seen", false, &err));
	ck_assert(space_add_map(&spaces, 1, &map, &err));
	for (uint32_t i = 2; i < 3 * SPACE_MAX; i++) {
		ck_assert(space_fork(&spaces, i % 4 ? i : 1, i, 1, 1, 0, &err));
		ck_assert_uint_le(spaces.n, SPACE_MAX);
		ck_assert_uint_le(spaces.n_threads, SPACE_MAX);
		if (i % 1000 == 0)
			ck_assert_str_eq(
			    space_thread_get(&spaces, 1, 1, &err)->comm, "seen");
	}
	ck_assert(space_map_find(space_find(&spaces, 1), 0x1000));
	ck_assert(space_map_find(space_find(&spaces, 3 * SPACE_MAX - 1), 0x1000));
	ck_assert(!space_find(&spaces, 2));
	ck_assert_uint_gt(spaces.n_forgotten, SPACE_MAX);
	spaces_free(&spaces);
}

/* Forks of a process with many mappings have them, until all processes together have too many. */
UNIT(space_forks)
{
	struct spaces spaces = {0};
	struct space_map map = {.start = 0x1000, .end = 0x2000, .file = 1};
	const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	const uint32_t parent = 5000;

	ck_assert(space_add_map(&spaces, 1, &map, &err));
	for (uint32_t i = 0; i < SPACE_MAX_MAPS; i++) {
		map.start += 0x2000;
		map.end += 0x2000;
		ck_assert(space_add_map(&spaces, parent, &map, &err));
	}
	for (uint32_t i = 3; i < 2000; i++) {
		ck_assert(space_fork(&spaces, i, i, parent, parent, 0, &err));
		ck_assert_uint_le(spaces.n_maps, SPACE_MAX_ALL_MAPS);
		ck_assert_uint_eq(space_find(&spaces, i)->maps.n, SPACE_MAX_MAPS);
	}
	ck_assert(space_map_find(space_find(&spaces, 1), 0x1000));
	ck_assert_uint_gt(spaces.n_forgotten, SPACE_MAX_ALL_MAPS / 4);
	ck_assert_uint_lt(mallinfo2().uordblks + mallinfo2().hblkhd,
	    before + (SPACE_MAX_ALL_MAPS + 2 * SPACE_MAX_MAPS) * sizeof(map));
	spaces_free(&spaces);
}

UNIT(space_processes)
{
	struct spaces spaces = {0};
	const struct space_map map = {.start = 0x1000, .end = 0x2000, .file = 1};

	ck_assert(space_comm(&spaces, 10, 10, "parent", false, &err));
	ck_assert(space_add_map(&spaces, 10, &map, &err));
	ck_assert(space_fork(&spaces, 10, 11, 10, 10, 0, &err));
	ck_assert(space_fork(&spaces, 20, 20, 10, 11, 0, &err));
	ck_assert(space_map_find(space_find(&spaces, 20), 0x1fff));
	ck_assert_str_eq(space_thread_get(&spaces, 20, 20, &err)->comm, "parent");
	ck_assert_uint_ne(
	    space_find(&spaces, 10)->generation, space_find(&spaces, 20)->generation);
	/* Another program in the child. */
	ck_assert_uint_eq(space_name_key(space_find(&spaces, 20), 0x1000), 0x1000);
	ck_assert(space_comm(&spaces, 20, 20, "child", true, &err));
	/* Another program can have other code there, and so can those that it makes. */
	ck_assert_uint_ne(space_name_key(space_find(&spaces, 20), 0x1000), 0x1000);
	ck_assert(space_fork(&spaces, 30, 30, 20, 20, 5 << 10, &err));
	ck_assert_uint_eq(
	    space_name_key(space_find(&spaces, 30), 0x1000), UINT64_C(5) << 56 ^ 0x1000);
	space_remove(&spaces, 30);
	ck_assert(!space_map_find(space_find(&spaces, 20), 0x1000));
	ck_assert(space_map_find(space_find(&spaces, 10), 0x1000));
	/* The end of thread 11 was lost, and its number is another process's. */
	ck_assert(space_fork(&spaces, 10, 12, 10, 10, 0, &err));
	ck_assert(space_thread_get(&spaces, 30, 12, &err));
	space_remove(&spaces, 30);
	/* A process ends with its last thread. */
	ck_assert(!space_exit(&spaces, 10, 10));
	ck_assert(space_exit(&spaces, 10, 11));
	space_remove(&spaces, 10);
	ck_assert(!space_find(&spaces, 10));
	ck_assert_uint_eq(spaces.n_maps, 0);
	ck_assert_uint_eq(spaces.n_threads, 1);
	spaces_free(&spaces);
}

/* A name is what is in front of a tab. */
UNIT(stacks_kernel_names)
{
	char named[] = "ffffffffc0000000 t first\t[ext4]",
	     bare[] = "ffffffff81000000 T _stext";
	char nameless[] = "ffffffffc0000000 t \t[ext4]", empty[] = "ffffffff81000000 T ";
	struct line_function function;

	ck_assert(lines_kernel(named, &function));
	ck_assert_str_eq(function.name, "first");
	ck_assert(lines_kernel(bare, &function));
	ck_assert_str_eq(function.name, "_stext");
	ck_assert(!lines_kernel(nameless, &function));
	ck_assert(!lines_kernel(empty, &function));
}

/* A sample of this process, whose stack is made of random words: a walk ends, with a reason. */
UNIT(unwinder_random)
{
	struct perfdata_walked walked;
	unsigned int n = 0;
	struct unwinder unwinder;
	struct event map = {
	    .pid = 7, .tid = 7, .start = 0x100000, .size = 0x100000, .text = unit_path()};
	struct event event;
	unsigned int seed = 11;
	size_t size;

	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
	for (unsigned int i = 0; i < 20000; i++) {
		size = event_make_map(record, &map);
		if (i % 100 == 0)
			ck_assert(event_read(record, size, &LAYOUT, &event) &&
				  unwinder_take(&unwinder, &event, &err));
		size = stacks_sample(i % 5, 8 * ((uint64_t)rand_r(&seed) % 100), 8);
		/* Registers and stack are words near the code and near the stack. */
		for (size_t at = 56; at + 8 <= size && i % 3; at += 8)
			stacks_put(at,
			    i % 4 ? 0x100000 + (uint64_t)rand_r(&seed) % 0x80000 : at);
		if (i % 2)
			record[8 + (size_t)rand_r(&seed) % (size - 8)] =
			    (uint8_t)rand_r(&seed);
		if (!event_read(record, size, &LAYOUT, &event) ||
		    event.kind != EVENT_SAMPLE)
			continue;
		ck_assert(unwinder_walk(&unwinder,
		    space_find(&unwinder.spaces, event.pid), &event, &walked, &err));
		ck_assert(walked.why > 0 && walked.why < PROFILE_N_WHYS);
		n++;
	}
	ck_assert_uint_gt(n, 1000);
	unwinder_free(&unwinder);
}

/* A mapping of another process. */
static void stacks_map(struct unwinder *unwinder, uint32_t i)
{
	char path[32];
	struct event map = {.kind = EVENT_MAP,
	    .pid = 5,
	    .tid = 5,
	    .start = UINT64_C(8192) * i,
	    .size = 4096,
	    .text = i % 2 ? path : "//anon",
	    .build_id_known = true,
	    .build_id = (const uint8_t *)path,
	    .build_id_size = 8};

	snprintf(path, sizeof(path), "/lib/%010u", i);
	ck_assert(unwinder_take(unwinder, &map, &err));
}

/* A process that maps without end ends no recording, and takes no more memory. The others have their stacks. */
UNIT(unwinder_many_maps)
{
	const uint32_t n = 1000000;
	struct unwinder unwinder;
	struct perfdata_walked walked;
	struct unwinder_place *place;
	struct event event;
	uint8_t whys[2] = {0};
	struct event own = {.kind = EVENT_MAP,
	    .pid = 7,
	    .tid = 7,
	    .start = 0x100000,
	    .size = 0x100000,
	    .text = unit_path()};
	size_t size = 0;
	/* Most memory in the first half and the second. */
	size_t most[2] = {0};

	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
	ck_assert(unwinder_take(&unwinder, &own, &err));
	for (uint32_t i = 1; i <= n; i++) {
		if (i == 1 || i == n) {
			size = stacks_sample(0, 8, 8);
			/* RIP. */
			stacks_put(128, 0x100040);
			ck_assert(event_read(record, size, &LAYOUT, &event));
			ck_assert(unwinder_walk(&unwinder,
			    space_find(&unwinder.spaces, 7), &event, &walked, &err));
			ck_assert_uint_eq(walked.pcs[0], 0x100040);
			whys[i == n] = walked.why;
		}
		stacks_map(&unwinder, i);
		if (i % 10000 == 0) {
			size_t now = mallinfo2().uordblks, *to = &most[i > n / 2];

			*to = now > *to ? now : *to;
		}
	}
	ck_assert_uint_le(most[1], most[0] + most[0] / 8);
	ck_assert_uint_le(unwinder.spaces.n_maps, SPACE_MAX_MAPS + 2);
	ck_assert_uint_le(unwinder.n_files, UNWINDER_MAX_FILES);
	ck_assert_uint_eq(unwinder.n_refused, 0);
	ck_assert_uint_gt(unwinder.spaces.n_forgotten, n / 2);
	ck_assert(space_map_find(space_find(&unwinder.spaces, 5), UINT64_C(8192) * n));
	ck_assert_uint_eq(whys[0], whys[1]);
	/* Its first frame is in a file. */
	ck_assert(unwinder_place_find(
	    &unwinder, space_find(&unwinder.spaces, 7), 0x100040, true, &place, &err));
	ck_assert_uint_ne(place->file, SPACE_NO_FILE);
	unwinder_free(&unwinder);
}

/* A process that is sampled stays with the thread that runs, also where its records are long ago. */
UNIT(unwinder_sampled_stays)
{
	struct unwinder unwinder;
	struct spaces *spaces = &unwinder.spaces;
	struct perfdata_walked walked;
	const size_t size = stacks_sample(0, 8, 8);
	struct event event;

	ck_assert(event_read(record, size, &LAYOUT, &event));
	ck_assert(unwinder_begin(&unwinder, PROFILE_X86_64, &err));
	ck_assert_ptr_nonnull(space_thread_get(spaces, 7, 8, &err));
	for (uint32_t i = 1000; i <= 1000 + SPACE_MAX; i++) {
		if (i % 1000 == 0)
			ck_assert(unwinder_walk(
			    &unwinder, space_find(spaces, 7), &event, &walked, &err));
		ck_assert_ptr_nonnull(space_thread_get(spaces, i, i, &err));
	}
	ck_assert_uint_gt(spaces->n_forgotten, 0);
	ck_assert_ptr_nonnull(space_find(spaces, 7));
	/* Without that thread, the end of another one would be that of the process. */
	ck_assert(space_fork(spaces, 7, 9, 7, 8, 0, &err));
	ck_assert(!space_exit(spaces, 7, 9));
	unwinder_free(&unwinder);
}
