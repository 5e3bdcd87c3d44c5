/* SPDX-License-Identifier: MIT */
/* Tables, their memory, the lock of writers, and forks. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "walk/opened.h"
#include "walk/process.h"

/* The least memory that eh2sframe_walk_init takes. */
#define LEAST_MEMORY ((size_t)64 << 10)

/* Parts of the memory, as divisors: for the cache, for both tables, and for the work of a refresh. */
#define CACHE_SHARE 4
#define TABLE_SHARE 16
#define SCRATCH_SHARE 16

static struct {
	/* Writers alone use these. */
	unsigned char *memory, *end;
	void *scratch;
	size_t scratch_size;
	struct walk_table tables[2];
	size_t capacity;
	struct eh2sframe_walk_section *free_sections; /* each begins with the next one */

	struct eh2sframe_walk_cache cache;
	const struct walk_table *published;

	/* Walks that are inside, by the turn in that they came. */
	struct {
		size_t inside;
		char apart[64 - sizeof(size_t)];
	} readers[2];
	unsigned int turn;
} process;

struct walk_settings walk_settings;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The lock's owner must not end with it, so it cannot be cancelled; this is its state before. */
static int cancel_state;
/* Forks that wait for the lock. A thread that changes the tables again and again lets them go first. */
static unsigned int forks;

/* The walks of this thread: more than one while a handler interrupts a walk and walks. */
static __thread __attribute__((tls_model("initial-exec"))) size_t walks_here[2];
/* True if this thread writes: the function rows of the options may fork. */
static __thread __attribute__((tls_model("initial-exec"))) bool writes_here;
/* True if this thread forks: other handlers of pthread_atfork run while it has the lock. */
static __thread __attribute__((tls_model("initial-exec"))) bool forks_here;

/* Walks. */

const struct walk_table *walk_enter(unsigned int *turn)
{
	*turn = __atomic_load_n(&process.turn, __ATOMIC_RELAXED) & 1;
	walks_here[*turn]++;
	/* Sequentially consistent, so that the walk is counted before it reads the table. */
	__atomic_fetch_add(&process.readers[*turn].inside, 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&process.published, __ATOMIC_SEQ_CST);
}

void walk_leave(unsigned int turn)
{
	__atomic_fetch_sub(&process.readers[turn].inside, 1, __ATOMIC_RELEASE);
	walks_here[turn]--;
}

const struct walk_range *walk_table_find(const struct walk_table *table, uint64_t pc)
{
	const struct walk_range *ranges = table->ranges;
	size_t low = 0, n = table->n;

	while (n > 1) {
		size_t half = n / 2;

		low = ranges[low + half].start <= pc ? low + half : low;
		n -= half;
	}
	return n == 1 && pc - ranges[low].start < ranges[low].end - ranges[low].start
		   ? &ranges[low]
		   : NULL;
}

/* Writers. */

/* Lets others go on, after a while also those of a lower priority. */
static void let_others_run(unsigned int *times)
{
	const struct timespec pause = {.tv_nsec = 50000};

	/* libc's function would end a thread that is cancelled. */
	if (++*times < 100)
		sched_yield();
	else
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* The table that is not published. */
static struct walk_table *walk_draft(void)
{
	return &process.tables[process.published == &process.tables[0]];
}

/*
 * Publishes the draft, and waits until each walk that may have read an older table has left. Walks that come
 * meanwhile are counted apart, so that they cannot keep this function waiting. A walk may
 * have read the turn and not have counted itself yet; hence both turns end here.
 */
static void walk_publish(void)
{
	unsigned int times = 0;

	__atomic_store_n(&process.published, walk_draft(), __ATOMIC_SEQ_CST);
	for (int i = 0; i < 2; i++) {
		unsigned int old =
		    __atomic_fetch_add(&process.turn, 1, __ATOMIC_SEQ_CST) & 1;

		while (
		    __atomic_load_n(&process.readers[old].inside, __ATOMIC_SEQ_CST) != 0)
			let_others_run(&times);
	}
}

/* A copy of the published table, to be changed. */
static struct walk_table *begin_draft(void)
{
	const struct walk_table *now = process.published;
	struct walk_table *draft = walk_draft();

	draft->n = now->n;
	memcpy(draft->ranges, now->ranges, now->n * sizeof(*now->ranges));
	return draft;
}

/* Returns false where the caller would wait for ever: in a handler that interrupted a
 * walk of this thread, in the function rows, or in a handler of pthread_atfork. */
static bool can_write(void)
{
	return !writes_here && !forks_here && walks_here[0] == 0 && walks_here[1] == 0 &&
	       __atomic_load_n(&process.published, __ATOMIC_ACQUIRE);
}

static bool begin_writing(void)
{
	unsigned int times = 0;

	if (!can_write())
		return false;
	while (__atomic_load_n(&forks, __ATOMIC_RELAXED) > 0)
		let_others_run(&times);
	pthread_mutex_lock(&lock);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	writes_here = true;
	return true;
}

static void end_writing(void)
{
	const int state = cancel_state;

	writes_here = false;
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
}

void *walk_memory(size_t size, size_t align)
{
	uintptr_t start =
	    ((uintptr_t)process.memory + align - 1) & ~(uintptr_t)(align - 1);

	if (start > (uintptr_t)process.end || size > (uintptr_t)process.end - start)
		return NULL;
	process.memory = (unsigned char *)start + size;
	return (void *)start;
}

void walk_memory_undo(void *memory)
{
	process.memory = memory;
}

bool walk_table_has_room(const struct walk_table *draft, size_t n)
{
	return process.capacity - draft->n >= n;
}

bool walk_table_insert(struct walk_table *draft, const struct walk_range *range)
{
	struct walk_range *ranges = draft->ranges;
	size_t at = draft->n;

	while (at > 0 && ranges[at - 1].start > range->start)
		at--;
	if (range->start >= range->end || !walk_table_has_room(draft, 1) ||
	    (at > 0 && ranges[at - 1].end > range->start) ||
	    (at < draft->n && ranges[at].start < range->end))
		return false;
	memmove(&ranges[at + 1], &ranges[at], (draft->n - at) * sizeof(*ranges));
	ranges[at] = *range;
	draft->n++;
	return true;
}

size_t eh2sframe_walk_refresh(void)
{
	struct walk_kept kept = {0};
	size_t n = 0;

	if (can_write() && walk_settings.options.keep_loaded)
		walk_modules_keep(&kept);
	if (begin_writing()) {
		n = walk_modules_note(
		    begin_draft(), &kept, process.scratch, process.scratch_size);
		walk_publish();
		end_writing();
	}
	free(kept.dynamic);
	return n;
}

static struct eh2sframe_walk_section *new_section(void)
{
	struct eh2sframe_walk_section *section = process.free_sections;

	if (!section)
		return walk_memory(
		    sizeof(*section), _Alignof(struct eh2sframe_walk_section));
	memcpy(&process.free_sections, section, sizeof(void *));
	return section;
}

static void free_section(struct eh2sframe_walk_section *section)
{
	memcpy(section, &process.free_sections, sizeof(void *));
	process.free_sections = section;
}

bool eh2sframe_walk_add(const void *bytes, size_t size, uint64_t address,
    uint64_t text_start, uint64_t text_end)
{
	struct walk_range range = {.start = text_start, .end = text_end, .added = true};
	bool added = false;

	if (!begin_writing())
		return false;
	range.section = new_section();
	if (range.section) {
		added = eh2sframe_walk_open(
			    range.section, bytes, size, address, text_start, text_end) &&
			walk_table_insert(begin_draft(), &range);
		walk_opening(range.section)->id =
		    0; /* no rule in the cache: this code can go away */
		if (added)
			walk_publish();
		else
			free_section(range.section);
	}
	end_writing();
	return added;
}

static bool is_of(const struct walk_range *range, const void *bytes)
{
	return range->added && walk_opened(range->section)->bytes == bytes;
}

void eh2sframe_walk_remove(const void *bytes)
{
	struct walk_table *draft;
	const struct walk_table *old;
	size_t n = 0;

	if (!begin_writing())
		return;
	draft = begin_draft();
	for (size_t i = 0; i < draft->n; i++)
		if (!is_of(&draft->ranges[i], bytes))
			draft->ranges[n++] = draft->ranges[i];
	if (n < draft->n) {
		draft->n = n;
		walk_publish();
		old = walk_draft();
		for (size_t i = 0; i < old->n; i++)
			if (is_of(&old->ranges[i], bytes))
				free_section(old->ranges[i].section);
	}
	end_writing();
}

/* True if a fork of this thread waits for writers: not inside of a walk, for which a writer may wait. */
static bool fork_waits(void)
{
	return !writes_here && walks_here[0] == 0 && walks_here[1] == 0;
}

/* Memory is copied page by page while other threads go on, so that the child of a fork while
 * tables change would have parts of old and new ones. */
static void begin_fork(void)
{
	if (!fork_waits())
		return;
	__atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&lock);
	__atomic_fetch_sub(&forks, 1, __ATOMIC_RELAXED);
	forks_here = true;
}

static void end_fork(void)
{
	if (forks_here)
		pthread_mutex_unlock(&lock);
	forks_here = false;
}

/* A child of fork has no walks but those of the thread that called fork, and no other writer. */
static void begin_child(void)
{
	pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	forks = 0;
	forks_here = false;
	if (!writes_here)
		memcpy(&lock, &fresh, sizeof(lock));
	for (int i = 0; i < 2; i++)
		process.readers[i].inside = walks_here[i];
}

/* AArch64: the bits of a code address that a signature takes, as the processor says. */
static uint64_t signature_mask(void)
{
	uint64_t mask = 0;

#if defined(__aarch64__)
	if (getauxval(AT_HWCAP) & HWCAP_PACA) {
		/* Bit 55 is 0 in all addresses of a process. A call would change x30. */
		const uint64_t ones = ~(UINT64_C(1) << 55);
		register uint64_t x30 __asm__("x30") = ones;

		__asm__("hint 7" : "+r"(x30)); /* xpaclri */
		mask = ~x30 & ones;
	}
#endif
	return mask;
}

/* A caller that was compiled against a later version may ask for what is not done here. */
static bool options_are_known(const struct eh2sframe_walk_options *options)
{
	const unsigned char *bytes = (const unsigned char *)options;

	if (options->struct_size < sizeof(*options))
		return false;
	for (size_t i = offsetof(struct eh2sframe_walk_options, reserved);
	     i < options->struct_size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

bool eh2sframe_walk_init(
    void *memory, size_t size, const struct eh2sframe_walk_options *options)
{
	static bool taken;
	struct walk_range *ranges[2];
	size_t n_entries = 1;

	if (size < LEAST_MEMORY || (uintptr_t)memory % 64 != 0 ||
	    (options && !options_are_known(options)) ||
	    __atomic_exchange_n(&taken, true, __ATOMIC_ACQ_REL))
		return false;
	if (pthread_atfork(begin_fork, end_fork, begin_child) != 0) {
		__atomic_store_n(&taken, false, __ATOMIC_RELEASE);
		return false;
	}
	if (options)
		walk_settings.options = *options;
	process.memory = memory;
	process.end = process.memory + size;
	process.capacity = size / TABLE_SHARE / 2 / sizeof(struct walk_range);
	while (n_entries <= size / CACHE_SHARE / sizeof(uint64_t[2]) / 2)
		n_entries *= 2;
	process.cache.n_entries = n_entries;
	process.cache.entries = walk_memory(n_entries * sizeof(uint64_t[2]), 64);
	process.scratch_size = size / SCRATCH_SHARE;
	process.scratch = walk_memory(process.scratch_size, 64);
	for (int i = 0; i < 2; i++) {
		ranges[i] = walk_memory(process.capacity * sizeof(*ranges[i]), 64);
		process.tables[i].ranges = ranges[i];
	}
	memset(process.cache.entries, 0, n_entries * sizeof(uint64_t[2]));
	walk_settings.cache = &process.cache;
	walk_settings.signature_mask = signature_mask();
	walk_publish();
	eh2sframe_walk_refresh();
	return true;
}
