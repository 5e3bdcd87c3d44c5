/* SPDX-License-Identifier: MIT */
/* profile/stacks/: the rows of a mapped file. It can be replaced. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/sandbox/sandbox.h"
#include "include/eh2sframe-walk.h"
#include "include/eh2sframe.h"
#include "profile/profile.h"
#include "profile/stacks/file_rows.h"
#include "profile/stacks/unwinder.h"
#include "tests/unit/unit.h"

static struct err err;

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

/* Without a build-id, a file that was written to or replaced since it was mapped gives no rows. */
UNIT(rows_replaced)
{
	struct rows_made made = {0};
	struct rows_file file = {.path = unit_path(), .pid = (uint32_t)getpid()};
	struct rows_place places[ROWS_PLACES];
	struct rows rows;

	ck_assert(rows_look(&file, &file.was));
	file.was_seen = true;
	file.inode = file.was.st_ino;
	ck_assert_msg(rows_make(&made, &file, &rows, &err), "%s", err.text);
	ck_assert_uint_eq(made.n, 1);
	ck_assert_ptr_nonnull(rows.section);
	rows_free(&rows);
	/* The number of its inode may be another file's by now, or its bytes others. */
	file.time = (uint64_t)file.was.st_ctim.tv_sec * 1000000000 +
		    (uint64_t)file.was.st_ctim.tv_nsec;
	ck_assert(rows_make(&made, &file, &rows, &err));
	rows_free(&rows);
	file.time--;
	ck_assert(!rows_make(&made, &file, &rows, &err));
	rows_free(&rows);
	file.time = 0;
	rows_places_open(&file, places);
	file.generation = places[1].generation;
	ck_assert(rows_make(&made, &file, &rows, &err));
	rows_free(&rows);
	file.generation ^= 1;
	ck_assert(!places[1].generation || !rows_make(&made, &file, &rows, &err));
	rows_free(&rows);
	rows_places_close(places);
	file.generation = 0;
	file.was.st_mtim.tv_nsec ^= 1;
	ck_assert(!rows_make(&made, &file, &rows, &err));
	rows_free(&rows);
	file.was_seen = false;
	/* Also when its process is gone. */
	file.pid = UINT32_MAX;
	ck_assert(rows_look(&file, &file.was));
	file.inode++;
	ck_assert(!rows_look(&file, &file.was));
	ck_assert(!rows_make(&made, &file, &rows, &err));
	ck_assert(rows.keeps_names);
	rows_free(&rows);
}

/* Memory is in proportion to what rows are made of, whatever the size of the file. */
UNIT(rows_sparse)
{
	char path[] = "/var/tmp/sparse-XXXXXX", command[64];
	struct rows_made made = {0};
	struct rows_file file = {.path = path, .pid = (uint32_t)getpid()};
	struct rusage before, after;
	struct rows rows;
	int fd = mkstemp(path);
	bool ok = false;

	ck_assert_int_ge(fd, 0);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), path);
	ck_assert_int_eq(system(command), 0);
	ck_assert(rows_make(&made, &file, &rows, &err));
	rows_free(&rows);
	getrusage(RUSAGE_SELF, &before);
	for (off_t size = lseek(fd, 0, SEEK_END); size <= (off_t)1 << 42; size *= 4) {
		ck_assert_int_eq(ftruncate(fd, size), 0);
		ok = rows_make(&made, &file, &rows, &err);
		ck_assert_msg(ok || size > 64 << 20, "%s", err.text);
		rows_free(&rows);
	}
	ck_assert(!ok);
	ck_assert_msg(strstr(err.text, "gone"), "%s", err.text);
	getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_ADDRESS__ /* it keeps what is freed */
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 64 << 10);
#endif
	/* Nothing of another user's is opened; only root can give a file away. */
	file.live = true;
	ck_assert_int_eq(ftruncate(fd, 60 << 20), 0);
	ck_assert_msg(rows_make(&made, &file, &rows, &err), "%s", err.text);
	rows_free(&rows);
	if (geteuid() == 0) {
		ck_assert_int_eq(fchown(fd, 12345, 12345), 0);
		ck_assert(!rows_make(&made, &file, &rows, &err));
		rows_free(&rows);
	}
	close(fd);
	unlink(path);
}

/* The public name of two, which is what other tools show, too. */
int __file_rows_twice(int n);
int file_rows_twice(int n) __attribute__((alias("__file_rows_twice")));
__attribute__((noipa)) int __file_rows_twice(int n)
{
	return n * 2;
}

/* In a process of its own, a file has the same rows. The names come with them where it is elsewhere. */
UNIT(apart_as_here)
{
	const struct apart_limits limits = {UINT64_C(1) << 30, 20};
	const struct rows_file file = {
	    .path = unit_path(), .pid = (uint32_t)getpid(), .live = true};
	struct rows_place places[ROWS_PLACES];
	struct rows here = {0}, apart = {0};
	const struct symbol *twice;
	struct spent_work work;
	Dl_info info;

	ck_assert(rows_places_open_own(&file, places));
	ck_assert_msg(rows_make_here(&file, places, &here, &err), "%s", err.text);
	ck_assert_msg(
	    rows_make_apart(&file, &limits, &apart, &work, &err), "%s", err.text);
	ck_assert_uint_gt(here.size, 100);
	ck_assert_uint_eq(apart.size, here.size);
	ck_assert(memcmp(apart.section, here.section, here.size) == 0);
	ck_assert(memcmp(&apart.facts, &here.facts, sizeof(here.facts)) == 0);
	ck_assert_uint_eq(apart.address, here.address);
	ck_assert_uint_eq(apart.n_extra, here.n_extra);
	ck_assert(!apart.keeps_names && apart.symbols.n == 0);
	ck_assert(work.ns > 0 && work.ns < UINT64_C(20) * 1000000000);
	ck_assert(!work.for_nothing && work.left == 0);
	rows_free(&here);
	rows_free(&apart);
	for (size_t i = 0; i < ROWS_PLACES; i++)
		places[i].is_elsewhere = true;
	ck_assert_msg(rows_make_here(&file, places, &here, &err), "%s", err.text);
	ck_assert_uint_gt(here.symbols.n, 10);
	ck_assert_int_ne(dladdr((void *)(uintptr_t)file_rows_twice, &info), 0);
	twice = symbols_find(&here.symbols,
	    (uint64_t)(uintptr_t)file_rows_twice - (uint64_t)(uintptr_t)info.dli_fbase);
	ck_assert_ptr_nonnull(twice);
	ck_assert_str_eq(twice->name, "file_rows_twice");
	rows_free(&here);
	rows_places_close(places);
}

/* A file that takes too much memory or time costs its own process alone. */
UNIT(apart_limits)
{
	const struct apart_limits no_memory = {1 << 20, 20};
	char path[] = "/tmp/apart-XXXXXX";
	const struct rows_file file = {.path = path, .pid = (uint32_t)getpid()};
	struct rows rows = {0};
	struct spent_work work;
	int fd = mkstemp(path);

	ck_assert_int_eq(posix_fallocate(fd, 0, 8 << 20), 0);
	ck_assert(!rows_make_apart(&file, &no_memory, &rows, &work, &err));
	ck_assert_msg(err.kind == ERR_LIMIT, "%s", err.text);
	ck_assert(work.for_nothing);
	ck_assert(!rows_make_apart(
	    &file, &(struct apart_limits){UINT64_C(1) << 30, 20}, &rows, &work, &err));
	ck_assert_msg(err.kind == ERR_UNSUPPORTED, "%s", err.text);
	ck_assert_ptr_null(rows.section);
	close(fd);
	unlink(path);
}

/* Calls that a process tries which a file has taken over: 0, or errno. */
struct tried {
	int open, mode, owner, attribute, memory, thread;
};

static int thread_of_its_own(void *nothing)
{
	(void)nothing;
	return pause();
}

static bool try_all(void *context, int out)
{
	static char stack[65536] __attribute__((aligned(16)));
	const int fd = APART_FIRST_FILE;
	struct tried tried = {0};

	(void)context;
	tried.open = open("/etc/passwd", O_RDONLY) < 0 ? errno : 0;
	tried.mode = fchmod(fd, 04755) ? errno : 0;
	tried.owner = fchown(fd, geteuid(), getegid()) ? errno : 0;
	tried.attribute = fsetxattr(fd, "user.mine", "x", 1, 0) ? errno : 0;
	tried.memory = memfd_create("mine", 0) < 0 ? errno : 0;
	/* Each would have as many descriptors as all others together. */
	tried.thread = clone(thread_of_its_own, stack + sizeof(stack),
			   CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, NULL) < 0
			   ? errno
			   : 0;
	return apart_write(out, &tried, sizeof(tried));
}

/* Also where the loader adds code to this program. */
UNIT_LOOP(apart_changes_nothing, 0, 2)
{
	char path[] = "/tmp/apart-XXXXXX";
	int fd = mkstemp(path);
	const struct apart_job job = {.files = &fd,
	    .n_files = 1,
	    .work = try_all,
	    .limits = {UINT64_C(64) << 20, 5},
	    .least = sizeof(struct tried)};
	bool held = sandbox_parts().seccomp;
	struct apart_answer answer;
	const struct tried *tried;

	/* Both need more than the sandbox leaves. */
#ifdef __SANITIZE_ADDRESS__
	held = false;
#endif
	held =
	    held && !(getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "vgpreload"));
	if (_i)
		setenv("LD_PRELOAD", "libm.so.6", 1);
	ck_assert_msg(apart_run(&job, &answer, &err), "%s", err.text);
	tried = (const struct tried *)answer.bytes;
	if (held) {
		ck_assert_int_ne(tried->open, 0);
		ck_assert_int_eq(tried->mode, ENOSYS);
		ck_assert_int_eq(tried->owner, ENOSYS);
		ck_assert_int_eq(tried->attribute, ENOSYS);
		ck_assert_int_eq(tried->memory, ENOSYS);
		ck_assert_int_eq(tried->thread, ENOSYS);
	}
	apart_free(&answer);
	close(fd);
	unlink(path);
}

/* Minor faults of processes that have ended: there are new ones when a file was converted apart. */
static long faults_apart(const struct rows_file *file)
{
	struct rows_made made = {0};
	struct rusage before, after;
	struct rows rows;

	getrusage(RUSAGE_CHILDREN, &before);
	ck_assert_msg(rows_make(&made, file, &rows, &err), "%s", err.text);
	ck_assert_ptr_nonnull(rows.section);
	rows_free(&rows);
	getrusage(RUSAGE_CHILDREN, &after);
	return after.ru_minflt - before.ru_minflt;
}

/* A recorder converts its own files here, and those of other users apart. */
UNIT(apart_for_others)
{
	char path[] = "/tmp/others-XXXXXX", command[64];
	struct rows_file file = {.path = path,
	    .pid = (uint32_t)getpid(),
	    .live = true,
	    .owner = owner_of((uint32_t)getpid()),
	    .is_own = true};
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), path);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(faults_apart(&file), 0);
	/* A stranger's process has it apart, and does not say what it is to one's own. */
	file.owner = (struct owner){.place = 7};
	file.is_own = rows_is_own(&file);
	ck_assert(file.is_own);
	file.is_own = false;
	ck_assert_int_gt(faults_apart(&file), 0);
	/* A file that others may write is theirs, too. */
	ck_assert_int_eq(fchmod(fd, 0602), 0);
	ck_assert(!rows_is_own(&file));
	ck_assert_int_eq(fchmod(fd, 0620), 0);
	/* Only root can give a file away. */
	if (geteuid() == 0) {
		struct rows_made made = {0};
		struct rows rows;

		ck_assert_int_eq(fchown(fd, 0, 0), 0);
		ck_assert(rows_is_own(&file));
		ck_assert_int_eq(fchown(fd, 0, 12345), 0);
		ck_assert(!rows_is_own(&file));
		ck_assert_int_eq(fchmod(fd, 0600), 0);
		ck_assert_int_eq(fchown(fd, 12345, 12345), 0);
		ck_assert(!rows_is_own(&file));
		file.is_own = true;
		ck_assert(!rows_make(&made, &file, &rows, &err));
		rows_free(&rows);
		file.owner.is_own = true;
		ck_assert_int_gt(faults_apart(&file), 0);
	}
	close(fd);
	unlink(path);
}

/* One who costs much gets no more, and others do, until all of them are too many. */
UNIT(spent_fairly)
{
	static struct spent spent;
	const uint64_t second = UINT64_C(1000000000);
	struct owner owner = {.place = 1};

	ck_assert(spent_may(&spent, &owner));
	spent_add(&spent, &owner, &(struct spent_work){.ns = 3 * second});
	ck_assert(spent_may(&spent, &owner));
	spent_add(
	    &spent, &owner, &(struct spent_work){.ns = 3 * second, .for_nothing = true});
	ck_assert(!spent_may(&spent, &owner));
	owner.is_own = true;
	ck_assert(spent_may(&spent, &owner));
	owner.is_own = false;
	for (owner.place = 2; owner.place < 5; owner.place++) {
		ck_assert(spent_may(&spent, &owner));
		spent_add(&spent, &owner, &(struct spent_work){.ns = 15 * second});
	}
	/* 72 s are of four owners. */
	owner.place = 3;
	ck_assert(spent_may(&spent, &owner));
	spent_add(&spent, &owner, &(struct spent_work){.ns = 9 * second / 2});
	ck_assert(!spent_may(&spent, &owner));
	owner.place = 9;
	ck_assert(spent_may(&spent, &owner));
	ck_assert(spent_take(&spent, &owner, 512 << 20));
	ck_assert(!spent_take(&spent, &owner, 1));
	spent_give(&spent, 9, 1);
	ck_assert(spent_take(&spent, &owner, 1));
}

/* Nothing is begun for one whose last process waits for a file system. */
UNIT(spent_left)
{
	static struct spent spent;
	const struct owner owner = {.place = 1};
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	spent_add(&spent, &owner, &(struct spent_work){.ns = 1, .left = child});
	ck_assert(!spent_may(&spent, &owner));
	kill(child, SIGKILL);
	for (int i = 0; i < 1000 && !spent_may(&spent, &owner); i++)
		usleep(10000);
	ck_assert(spent_may(&spent, &owner));
	ck_assert_int_eq(waitpid(child, NULL, 0), -1);
}
