/* SPDX-License-Identifier: MIT */
/* profile/stacks/: the rows of a mapped file. It can be replaced, and kept rows can be damaged. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/eh2sframe-walk.h"
#include "include/eh2sframe.h"
#include "profile/mapped.h"
#include "profile/stacks/event.h"
#include "profile/stacks/file_rows.h"
#include "profile/stacks/unwinder.h"
#include "tests/unit/unit.h"

static struct err err;

/* Each file at a path counts, and from some number on the others together. */
UNIT(files_versions)
{
	struct profile profile = {0};
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
	ck_assert(profile_init(&profile, &err));
	ck_assert(unwinder_begin(&unwinder, &profile, "", &err));
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
	profile_free(&profile);
	close(fd);
	unlink(path);
}

static bool functions_count(void *context, const struct eh2sframe_symbol *symbol)
{
	*(size_t *)context += symbol->size > 0;
	return true;
}

/* A file that becomes shorter while it is open has what was parsed of it, and zeros instead of code. */
UNIT(file_cut_off)
{
	char path[] = "/tmp/shorter-XXXXXX", command[64];
	int fd = mkstemp(path);
	struct eh2sframe_file *file;
	struct eh2sframe_error why;
	struct eh2sframe_result *result;
	size_t n = 0, before;

	ck_assert_int_ge(fd, 0);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), path);
	ck_assert_int_eq(system(command), 0);
	profile_survive_truncation();
	file = eh2sframe_open_path(path, NULL, NULL);
	ck_assert_ptr_nonnull(file);
	ck_assert(eh2sframe_file_functions(
	    file, EH2SFRAME_ORIGIN_EH_FRAME, functions_count, &n, NULL));
	ck_assert_uint_gt(n, 10);
	before = n;
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	n = 0;
	ck_assert(eh2sframe_file_functions(
	    file, EH2SFRAME_ORIGIN_EH_FRAME, functions_count, &n, NULL));
	ck_assert_uint_eq(n, before);
	result = eh2sframe_convert(file, NULL, &why);
	ck_assert(result || why.status == EH2SFRAME_INPUT);
	eh2sframe_result_free(result);
	eh2sframe_close(file);
	close(fd);
	unlink(path);
}

/* The rows of this program. */
static void stacks_rows(struct rows *rows)
{
	struct rows_store store;
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct rows_file file = {.path = path, .pid = (uint32_t)getpid()};

	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	ck_assert(rows_open(&store, "", &err));
	ck_assert_msg(rows_make(&store, &file, rows, &err), "%s", err.text);
	ck_assert_uint_eq(store.n_made, 1);
	ck_assert_ptr_nonnull(rows->section);
}

/* A linker can put the end of one part and the beginning of the next one into one page of the file. */
UNIT(parts_in_one_page)
{
	const struct facts facts = {
	    .n_parts = 2, .parts = {{0x60c, 0x195, 0x40160c}, {0x7b0, 0x850, 0x6017b0}}};
	uint64_t address;

	ck_assert(facts_address(&facts, 0x7c0, &address) && address == 0x6017c0);
	ck_assert(facts_address(&facts, 0x7a0, &address) && address == 0x4017a0);
	/* The beginning of a mapping. */
	ck_assert(facts_address(&facts, 0, &address) && address == 0x401000);
	ck_assert(facts_address(&facts, 0xfff, &address) && address == 0x601fff);
	ck_assert(!facts_address(&facts, 0x1000, &address));
}

/* Without a build-id, a file that was written to since it was mapped gives no rows. */
UNIT(rows_replaced)
{
	struct rows_store store;
	struct stat was;
	struct rows_file file = {
	    .path = "/proc/self/exe", .pid = (uint32_t)getpid(), .was = &was};
	struct rows rows;

	ck_assert(rows_look(file.pid, file.path, &was));
	ck_assert(rows_open(&store, "", &err));
	ck_assert_msg(rows_make(&store, &file, &rows, &err), "%s", err.text);
	rows_free(&rows);
	was.st_mtim.tv_nsec ^= 1;
	ck_assert(!rows_make(&store, &file, &rows, &err));
	rows_free(&rows);
	rows_close(&store);
}

UNIT(rows_round_trip)
{
	struct eh2sframe_walk_section section;
	struct rows rows, copy;
	uint8_t *bytes, *bad;
	size_t size, refused = 0;
	unsigned int seed = 7;

	stacks_rows(&rows);
	rows.extra = calloc(1, sizeof(*rows.extra));
	rows.n_extra = 1;
	rows.extra[0].end = 5;
	rows.extra[0].rule.cfa_add = -8;
	rows.extra[0].rule.flags = 5;
	rows.extra[0].rule.cfa_index = 9;
	rows.extra[0].rule.cfa_shift = 3;
	ck_assert(rows_encode(&rows, &bytes, &size));
	ck_assert(rows_decode(bytes, size, &copy));
	ck_assert_uint_eq(copy.size, rows.size);
	ck_assert(memcmp(copy.section, rows.section, rows.size) == 0);
	ck_assert_int_eq(copy.extra[0].rule.cfa_add, -8);
	ck_assert_uint_eq(copy.extra[0].rule.flags, 5);
	ck_assert_uint_eq(copy.extra[0].rule.cfa_index, 9);
	ck_assert_uint_eq(copy.extra[0].rule.cfa_shift, 3);
	ck_assert_uint_eq(copy.facts.n_parts, rows.facts.n_parts);
	ck_assert(eh2sframe_walk_open(
	    &section, copy.section, copy.size, copy.address, 0, copy.facts.end));
	rows_free(&copy);
	/* The last byte of the magic is the version of the format. */
	bytes[7]++;
	ck_assert(!rows_decode(bytes, size, &copy));
	bytes[7]--;
	for (size_t kept = 0; kept < size; kept += 1 + kept / 8)
		ck_assert(!rows_decode(bytes, kept, &copy));
	bad = malloc(size);
	for (unsigned int i = 0; i < 300; i++) {
		memcpy(bad, bytes, size);
		bad[(size_t)rand_r(&seed) % (i < 200 ? 200 : size)] ^=
		    (uint8_t)(1 + i % 255);
		refused += !rows_decode(bad, size, &copy);
		rows_free(&copy);
	}
	ck_assert_uint_eq(refused, 300);
	free(bad);
	free(bytes);
	rows_free(&rows);
}

static size_t stacks_files(const char *dir)
{
	DIR *stream = opendir(dir);
	size_t n = 0;

	while (readdir(stream))
		n++;
	closedir(stream);
	return n - 2;
}

/* Makes each file of a directory a second older: the clock of a file system may stand still for longer than a case takes. */
static void grow_older(const char *dir)
{
	DIR *stream = opendir(dir);
	struct dirent *entry;
	struct stat st;

	while ((entry = readdir(stream))) {
		fstatat(dirfd(stream), entry->d_name, &st, 0);
		struct timespec times[] = {st.st_atim, st.st_mtim};
		times[1].tv_sec--;
		utimensat(dirfd(stream), entry->d_name, times, 0);
	}
	closedir(stream);
}

/* What is in the directory is used, replaced when it is damaged, and removed when it is much. */
UNIT(rows_directory)
{
	char dir[] = "/tmp/eh2sframe-rows-XXXXXX", path[512], command[64];
	struct rows rows, copy;
	struct stat st;
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY);
	stacks_rows(&rows);
	rows.facts.build_id_size = 2;
	rows.facts.build_id[0] = 0xab;
	rows.facts.build_id[1] = 0xcd;
	ck_assert(!rows_cache_read(fd, rows.facts.build_id, 2, &copy));
	rows_cache_write(fd, ROWS_LIMIT, &rows);
	ck_assert_uint_eq(stacks_files(dir), 1);
	ck_assert(rows_cache_read(fd, rows.facts.build_id, 2, &copy));
	rows_free(&copy);
	/* A file under the name of another build-id is not the one. */
	snprintf(path, sizeof(path), "%s/abcd.rows", dir);
	snprintf(command, sizeof(command), "%s/abce.rows", dir);
	ck_assert_int_eq(link(path, command), 0);
	rows.facts.build_id[1] = 0xce;
	ck_assert(!rows_cache_read(fd, rows.facts.build_id, 2, &copy));
	/* Cut off. */
	ck_assert_int_eq(truncate(path, 100), 0);
	rows.facts.build_id[1] = 0xcd;
	ck_assert(!rows_cache_read(fd, rows.facts.build_id, 2, &copy));
	rows_cache_write(fd, ROWS_LIMIT, &rows);
	ck_assert(rows_cache_read(fd, rows.facts.build_id, 2, &copy));
	rows_free(&copy);
	/* Room for two and a half; the one that was used last stays. */
	ck_assert_int_eq(stat(path, &st), 0);
	for (uint8_t i = 0; i < 6; i++) {
		grow_older(dir);
		ck_assert(rows_cache_read(fd, (const uint8_t *)"\xab\xcd", 2, &copy));
		rows_free(&copy);
		rows.facts.build_id[1] = i;
		grow_older(dir);
		rows_cache_write(fd, (uint64_t)st.st_size * 5 / 2, &rows);
	}
	ck_assert_uint_eq(stacks_files(dir), 2);
	ck_assert_int_eq(access(path, F_OK), 0);
	rows_free(&rows);
	close(fd);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}
