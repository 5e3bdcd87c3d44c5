/* SPDX-License-Identifier: MIT */
/* Threads that walk while tables change, files come and go, and processes fork. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/walk/here.h"

/* Code that calls its argument, and its section of version 2. */
#if defined(__x86_64__)
static const uint8_t code[] = {
    0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#define ABI 3, 0, 0xf8
static const uint8_t rows[] = {0, 3, 8, 4, 3, 16, 10, 3, 8};
#define N_ROWS 3
#elif defined(__aarch64__)
static const uint8_t code[] = {0xfd, 0x7b, 0xbf, 0xa9, 0x00, 0x00, 0x3f, 0xd6, 0xfd, 0x7b,
    0xc1, 0xa8, 0xc0, 0x03, 0x5f, 0xd6};
#define ABI 2, 0, 0
static const uint8_t rows[] = {0, 3, 0, 4, 7, 16, 0xf8, 0xf0, 12, 3, 0};
#define N_ROWS 3
#else
static const uint8_t code[] = {0xeb, 0xef, 0xf0, 0x70, 0x00, 0x24, 0xa7, 0xfb, 0xff, 0x60,
    0x0d, 0xe2, 0xeb, 0xef, 0xf1, 0x10, 0x00, 0x04, 0x07, 0xfe};
#define ABI 4, 0, 0
static const uint8_t rows[] = {0, 3, 0, 6, 5, 0, 0xd0, 10, 5, 20, 0xd0, 18, 3, 0};
#define N_ROWS 4
#endif

static int made_section(uint8_t *section, int32_t start)
{
	uint8_t header[28] = {0, 0, 2, 1, ABI};
	uint32_t words[5] = {1, N_ROWS, sizeof(rows), 0, 20};
	struct {
		int32_t start;
		uint32_t size, rows, n_rows, info;
	} function = {start, sizeof(code), 0, N_ROWS, 0};
	uint16_t magic = 0xdee2;

	memcpy(header, &magic, 2);
	memcpy(header + 8, words, sizeof(words));
	memcpy(section, header, sizeof(header));
	memcpy(section + 28, &function, 20);
	memcpy(section + 48, rows, sizeof(rows));
	return 48 + sizeof(rows);
}

/* Where no code is. */
enum { CHANGED = 4096 };

static atomic_bool stop, begins;
/* Where code was made last; it may be gone. */
static uintptr_t made_code;
static atomic_ulong n_made, n_complete, n_looked;

static void from_made(void)
{
	struct here_stack walked;

	walked.n =
	    eh2sframe_walk_backtrace(NULL, walked.pcs, HERE_MOST_FRAMES, &walked.why);
	n_complete += here_is_complete(&walked);
}

/* Makes code, adds its rows, runs it, removes the rows and then both. */
static void *make_code(void *data)
{
	sigset_t set;

	/* libgcc would not find its way through this code. */
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (!stop) {
		uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		void (*call)(void (*)(void));
		int size = made_section(page + 4096, -4096);

		memcpy(page, code, sizeof(code));
		__builtin___clear_cache((char *)page, (char *)page + sizeof(code));
		mprotect(page, 4096, PROT_READ | PROT_EXEC);
		memcpy(&call, &page, sizeof(call));
		if (!eh2sframe_walk_add(page + 4096, (size_t)size, (uintptr_t)page + 4096,
			(uintptr_t)page, (uintptr_t)page + sizeof(code)))
			break;
		__atomic_store_n(&made_code, (uintptr_t)page, __ATOMIC_RELAXED);
		call(from_made);
		n_made++;
		eh2sframe_walk_remove(page + 4096);
		munmap(page, 8192);
	}
	return data;
}

/* Looks up code that comes and goes. Its stack is whole, whatever the rows are. */
/* Code that goes away is read by the kernel. qemu-user cannot do that: docs/WALK.md. */
static bool can_look_up(void)
{
	uint64_t value = 0, other = 1;
	struct iovec here = {&value, sizeof(value)}, there = {&other, sizeof(other)};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof(value);
}

static void *look_up(void *data)
{
	uint64_t stack[64] = {0};

	while (!stop) {
		uintptr_t page = __atomic_load_n(&made_code, __ATOMIC_RELAXED);
		struct eh2sframe_walk_frame frame = {.pc = page + 4,
		    .sp = (uintptr_t)&stack[8],
		    .fp = (uintptr_t)&stack[8],
		    .flags = EH2SFRAME_WALK_FRAME_EXACT};

		n_looked += eh2sframe_walk_next(&frame) == EH2SFRAME_WALK_WHY_ZERO;
	}
	return data;
}

static void *refresh(void *data)
{
	while (!stop)
		eh2sframe_walk_refresh();
	return data;
}

static int descend(int depth, uint64_t *state)
{
	struct here_stack walked;

	if (depth == 0) {
		here_compare_call(&walked);
		return 1;
	}
	return descend(depth - 1, state) + (here_random(state) & 1);
}

static void *work(void *data)
{
	uint64_t state = (uintptr_t)data;

	if (state & 1)
		eh2sframe_walk_thread();
	while (!stop)
		descend((int)(here_random(&state) % 30), &state);
	return NULL;
}

static timer_t timer;

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* interval: nanoseconds between interrupts, or 0 for one alone. */
static void start_timer(void (*handler)(int, void *, void *), long interval)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	struct itimerspec every = {
	    .it_interval.tv_nsec = interval, .it_value.tv_nsec = 200000};

	here_handle(SIGPROF, handler, 0);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &every, NULL);
}

static unsigned long n_sampled, n_short, n_wanted;

/* Sets the timer again when it is done. Interrupts at a fixed rate would let nothing else run where a walk takes longer,
 * as it does under an emulator on a busy machine. */
static void sample(int number, void *info, void *ucontext)
{
	const struct itimerspec once = {.it_value.tv_nsec = 200000};
	struct here_stack walked;

	(void)number;
	(void)info;
	here_compare(ucontext, &walked);
	n_short += walked.n < 2;
	if (++n_sampled < n_wanted)
		timer_settime(timer, 0, &once, NULL);
}

/* Interrupts prologues, epilogues, PLTs and assembler code of libc, wherever the time is spent. */
void test_libc(unsigned long n)
{
	static int numbers[500];
	char text[64], *copy;

	n_wanted = n * 10;
	start_timer(sample, 0);
	while (__atomic_load_n(&n_sampled, __ATOMIC_RELAXED) < n_wanted) {
		for (int i = 0; i < 500; i++)
			numbers[i] = i * 7919 % 1009;
		qsort(numbers, 500, sizeof(numbers[0]), by_value);
		for (int i = 0; i < 100; i++) {
			snprintf(text, sizeof(text), "%d %.9g %s", numbers[i], i / 7.0,
			    "text");
			copy = strdup(text);
			numbers[i] += (int)strtod(text, NULL) + (int)strlen(copy);
			free(copy);
		}
	}
	timer_delete(timer);
	/* Code that has no rows ends a walk at once, and must be rare. */
	here_ok(here_counts.differ == 0 && here_counts.early == 0 &&
		    n_short * 20 <= n_sampled,
	    "interrupts in libc");
}

/* Threads begin with the handler; work is done until the condition or the time is up. */
enum { N_WORKERS = 3 };
static pthread_t workers[N_WORKERS];

static void start_workers(void)
{
	stop = false;
	for (uintptr_t i = 0; i < N_WORKERS; i++)
		pthread_create(&workers[i], NULL, work, (void *)(i + 1));
	start_timer(here_interrupt, 200000);
}

static void end_workers(void)
{
	stop = true;
	timer_delete(timer);
	for (int i = 0; i < N_WORKERS; i++)
		pthread_join(workers[i], NULL);
}

void test_threads(unsigned long n)
{
	const bool looks = can_look_up();
	pthread_t maker, looker, refresher;

	start_workers();
	pthread_create(&maker, NULL, make_code, NULL);
	if (looks)
		pthread_create(&looker, NULL, look_up, NULL);
	pthread_create(&refresher, NULL, refresh, NULL);
	/* Under an emulator the first code takes its time, and under load all threads do. */
	for (unsigned long i = 0;
	     i < n * 10 || ((n_made == 0 || here_counts.same <= n) && i < 2000000); i++) {
		pthread_kill(workers[i % N_WORKERS], SIGPROF);
		usleep(100);
	}
	end_workers();
	pthread_join(maker, NULL);
	if (looks)
		pthread_join(looker, NULL);
	pthread_join(refresher, NULL);
	printf(
	    "# code was made %lu times, walked through %lu times, looked up %lu times\n",
	    n_made, n_complete, n_looked);
	here_ok(here_counts.differ == 0 && here_counts.early == 0 &&
		    here_counts.same > n && n_made > 0 && n_complete == n_made,
	    "threads, while tables change");
}

/* Adds a section without functions for code that is not there, and removes it. */
static void *change(void *data)
{
	uint8_t section[128];

	made_section(section, 0);
	memset(section + 8, 0, 20);
	while (!stop) {
		eh2sframe_walk_add(section, 28, CHANGED, CHANGED, CHANGED + 4096);
		eh2sframe_walk_remove(section);
	}
	return data;
}

static bool is_changed(void)
{
	struct eh2sframe_walk_frame frame = {
	    .pc = CHANGED, .sp = (uintptr_t)&frame, .flags = EH2SFRAME_WALK_FRAME_EXACT};

	return eh2sframe_walk_next(&frame) == EH2SFRAME_WALK_WHY_NO_ROW;
}

/* A child of fork has tables of its own: those that were published, and no draft of the parent. */
static int in_child(void)
{
	const bool changed = is_changed();
	struct here_stack walked;

	return eh2sframe_walk_refresh() > 0 && is_changed() == changed &&
		       here_compare_call(&walked) && eh2sframe_walk_refresh() > 0
		   ? 0
		   : 1;
}

/* How many children of n are as they must be. */
static unsigned long fork_children(unsigned long n)
{
	unsigned long n_good = 0;

	for (unsigned long i = 0; i < n; i++) {
		pid_t child = fork();
		int status;

		if (child == 0)
			_exit(in_child());
		while (waitpid(child, &status, 0) < 0)
			;
		n_good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	return n_good;
}

/* Acts as a library that was there before, and refreshes whenever something begins. */
static size_t n_in_fork;

static void refresh_in_fork(void)
{
	n_in_fork += eh2sframe_walk_refresh();
}

__attribute__((constructor)) static void register_first(void)
{
	pthread_atfork(refresh_in_fork, refresh_in_fork, refresh_in_fork);
}

static void test_handlers_of_fork(void)
{
	int status = 1;
	pid_t child;

	n_in_fork = 0;
	alarm(60);
	child = fork();
	if (child == 0)
		_exit(n_in_fork == 0 && eh2sframe_walk_refresh() > 0 ? 0 : 1);
	waitpid(child, &status, 0);
	alarm(0);
	here_ok(status == 0 && n_in_fork == 0 && eh2sframe_walk_refresh() > 0,
	    "handlers of a fork change nothing, and do not wait");
}

void test_fork(unsigned long n)
{
	unsigned long n_good;
	pthread_t changer;

	stop = false;
	pthread_create(&changer, NULL, change, NULL);
	n_good = fork_children(n * 5);
	start_workers();
	n_good += fork_children(n);
	end_workers();
	pthread_join(changer, NULL);
	here_ok(n_good == n * 6 && here_counts.differ == 0 && here_counts.early == 0,
	    "children of fork, while tables change and threads walk");
	test_handlers_of_fork();
}

static unsigned long n_in_file;

static void from_file(void)
{
	struct here_stack walked;

	n_in_file += here_compare_call(&walked);
}

void test_files(unsigned long n, const char *plugin)
{
	unsigned long n_opened = 0;

	start_workers();
	for (unsigned long i = 0; i < n * 10; i++) {
		void *handle = dlopen(plugin, RTLD_NOW);
		void (*call)(void (*)(void));

		if (!handle)
			break;
		*(void **)&call = dlsym(handle, "plugin_call");
		call(from_file);
		if (i % 64 == 0)
			eh2sframe_walk_refresh();
		dlclose(handle);
		n_opened++;
	}
	end_workers();
	printf("# the file was opened %lu times, %lu of its walks were the same\n",
	    n_opened, n_in_file);
	here_ok(n_opened == n * 10 && n_in_file == n_opened && here_counts.differ == 0 &&
		    here_counts.early == 0,
	    "a file that comes and goes");
}

void test_gone(const char *plugin)
{
	uint64_t stack[64] = {0};
	void *handle = dlopen(plugin, RTLD_NOW);
	struct eh2sframe_walk_frame frame = {
	    .pc = (uintptr_t)dlsym(handle, "plugin_call"),
	    .sp = (uintptr_t)stack,
	    .flags = EH2SFRAME_WALK_FRAME_EXACT};

	eh2sframe_walk_refresh();
	dlclose(handle);
	here_ok(eh2sframe_walk_next(&frame) == EH2SFRAME_WALK_WHY_NO_MODULE,
	    "a file that was unmapped is no known file");
}

/* Acts as the constructor of a library with code of its own: plugin.c calls it while the loader holds its
 * lock. */
void plugin_begins(void)
{
	uint8_t section[128];
	int size = made_section(section, 0);

	for (int i = 0; begins && i < 200; i++) {
		eh2sframe_walk_add(
		    section, (size_t)size, CHANGED, CHANGED, CHANGED + sizeof(code));
		eh2sframe_walk_remove(section);
		usleep(100);
	}
}

void test_kept(const char *plugin)
{
	pthread_t refresher;
	void *handle;

	alarm(60);
	begins = true;
	pthread_create(&refresher, NULL, refresh, NULL);
	handle = dlopen(plugin, RTLD_NOW);
	stop = true;
	pthread_join(refresher, NULL);
	here_ok(handle && eh2sframe_walk_refresh() > 0,
	    "a constructor changes the tables while files are kept");
}
