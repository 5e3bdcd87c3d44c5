/* SPDX-License-Identifier: MIT */
/* The handler: no locks, no memory, no changes of errno. */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include "profile/preload/preload.h"
#include "walk/process.h"
#include "walk/stack.h"

#if defined(__x86_64__)
#define SAMPLE_MACHINE EH2SFRAME_WALK_X86_64
#elif defined(__aarch64__)
#define SAMPLE_MACHINE EH2SFRAME_WALK_AARCH64
#else
#define SAMPLE_MACHINE EH2SFRAME_WALK_S390X
#endif

/* AArch64: a program has addresses of 48 bits; bit 55 says which half. */
#define SAMPLE_SIGNATURE UINT64_C(0xff7f000000000000)

/* Room for a sample that is worth a walk. */
enum { SAMPLE_LEAST = sizeof(struct shared_sample) + 64 * 8 };
enum { SAMPLE_CACHE = 4096 };

__thread struct shared_slot *preload_slot;

static uint64_t sample_rules[SAMPLE_CACHE][2];

struct sample_walk {
	struct walk_stack stack;
	const struct shared_table *table;
	uint32_t sequence; /* of the table */
	bool unknown;	   /* a PC was in no range */
	struct eh2sframe_walk_section section;
	uint64_t start, end; /* of the range that section is for */
};

static bool sample_read(void *context, uint64_t address, uint64_t *value)
{
	struct sample_walk *walk = context;

	return walk_stack_read(&walk->stack, address, value);
}

/* The range that has pc; false: there is none, or the table is being changed. */
static bool sample_range(
    const struct sample_walk *walk, uint64_t pc, struct shared_range *range)
{
	const struct shared_table *table = walk->table;
	uint32_t low = 0, n = __atomic_load_n(&table->n, __ATOMIC_RELAXED);

	if (n == 0 || n > SHARED_RANGES || walk->sequence & 1)
		return false;
	while (n > 1) {
		uint32_t half = n / 2;

		low = table->ranges[low + half].start <= pc ? low + half : low;
		n -= half;
	}
	*range = table->ranges[low];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&table->sequence, __ATOMIC_RELAXED) == walk->sequence &&
	       pc >= range->start && pc < range->end;
}

static enum eh2sframe_walk_why sample_find(
    void *context, uint64_t pc, const struct eh2sframe_walk_section **section)
{
	struct sample_walk *walk = context;
	struct shared_range range;

	*section = &walk->section;
	if (pc >= walk->start && pc < walk->end)
		return EH2SFRAME_WALK_WHY_GOES_ON;
	if (!sample_range(walk, pc, &range)) {
		walk->unknown = true;
		return EH2SFRAME_WALK_WHY_NO_MODULE;
	}
	if (range.rows == 0 || range.rows > preload.shared->size - sizeof(walk->section))
		return EH2SFRAME_WALK_WHY_NO_ROW;
	walk->section =
	    shared_section((const void *)((uintptr_t)preload.shared + range.rows),
		(uintptr_t)preload.shared, range.bias);
	walk->start = range.start;
	walk->end = range.end;
	return EH2SFRAME_WALK_WHY_GOES_ON;
}

/* A step, also where a handler returns without a row for it. */
static enum eh2sframe_walk_why sample_step(struct eh2sframe_walk_space *space,
    struct eh2sframe_walk_frame *frame, uint64_t *registers)
{
	enum eh2sframe_walk_why why = eh2sframe_walk_step(space, frame);

	if (why == EH2SFRAME_WALK_WHY_GOES_ON)
		return why;
	if ((why == EH2SFRAME_WALK_WHY_NO_ROW || why == EH2SFRAME_WALK_WHY_NO_MODULE) &&
	    walk_begin_interrupted(frame, registers))
		return EH2SFRAME_WALK_WHY_GOES_ON;
	if (!preload.shared->guess)
		return why;
	space->guess = true;
	why = eh2sframe_walk_step(space, frame);
	space->guess = false;
	return why;
}

static void sample_walk(struct shared_slot *slot, struct shared_sample *sample,
    uint32_t max, const void *ucontext)
{
	uint64_t registers[EH2SFRAME_WALK_N_REGISTERS];
	struct sample_walk walk = {
	    .table = &preload.shared->tables[slot->table % SHARED_TABLES]};
	/* Rules of a table that has changed do not count. */
	struct eh2sframe_walk_cache cache = {
	    .entries = sample_rules, .n_entries = SAMPLE_CACHE};
	struct eh2sframe_walk_space space = {.machine = SAMPLE_MACHINE,
	    .signature_mask =
		SAMPLE_MACHINE == EH2SFRAME_WALK_AARCH64 ? SAMPLE_SIGNATURE : 0,
	    .read = sample_read,
	    .find = sample_find,
	    .context = &walk,
	    .cache = &cache};
	enum eh2sframe_walk_why why = EH2SFRAME_WALK_WHY_GOES_ON;
	struct eh2sframe_walk_frame frame;

	walk.sequence = __atomic_load_n(&walk.table->sequence, __ATOMIC_ACQUIRE);
	cache.generation = (uint64_t)slot->table << 32 | walk.sequence;
	eh2sframe_walk_begin(&frame, ucontext, registers);
	walk_stack_begin(&walk.stack, frame.sp);
	sample->n = 0;
	while (why == EH2SFRAME_WALK_WHY_GOES_ON) {
		uint64_t pc = frame.pc & ~(SHARED_PC_EXACT | SHARED_PC_GUESSED);

		if (frame.flags & EH2SFRAME_WALK_FRAME_EXACT)
			pc |= SHARED_PC_EXACT;
		if (frame.flags & EH2SFRAME_WALK_FRAME_GUESSED)
			pc |= SHARED_PC_GUESSED;
		if (frame.pc - preload.text >= preload.text_end - preload.text)
			sample->pcs[sample->n++] = pc;
		why = sample->n == max ? EH2SFRAME_WALK_WHY_LIMIT
				       : sample_step(&space, &frame, registers);
	}
	sample->why = (uint32_t)why;
	if (walk.unknown)
		__atomic_store_n(&slot->asks, 1, __ATOMIC_RELAXED);
}

/* Bytes that are free from the head on, at most those of the largest sample. */
static uint64_t sample_room(const struct shared_slot *slot, uint64_t head)
{
	uint64_t tail = __atomic_load_n(&slot->tail, __ATOMIC_ACQUIRE);
	uint64_t at = head % SHARED_RING, last = tail % SHARED_RING;

	/* What is unread is in front of the head, or is the end of the round before. */
	if (head / SHARED_RING == tail / SHARED_RING)
		return SHARED_SAMPLE_MAX;
	if (last <= at)
		return 0;
	return last - at < SHARED_SAMPLE_MAX ? last - at : SHARED_SAMPLE_MAX;
}

static void sample_take(struct shared_slot *slot, uint32_t periods, const void *ucontext)
{
	uint64_t head = slot->head, room = sample_room(slot, head);
	struct shared_sample *sample = shared_place(preload.shared, slot, head);
	struct timespec now;

	if (room < SAMPLE_LEAST) {
		__atomic_store_n(&slot->lost, slot->lost + 1, __ATOMIC_RELAXED);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	sample->periods = periods;
	sample->cpu = (uint32_t)sched_getcpu();
	sample_walk(slot, sample, (uint32_t)((room - sizeof(*sample)) / 8), ucontext);
	if (sample->why == EH2SFRAME_WALK_WHY_LIMIT && room < SHARED_SAMPLE_MAX) {
		__atomic_store_n(&slot->lost, slot->lost + 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&slot->head, shared_behind(head, sample->n), __ATOMIC_RELEASE);
}

void preload_sample(int number, siginfo_t *info, void *ucontext)
{
	struct shared_slot *slot = preload_slot;
	int saved = errno;

	(void)number;
	/* Another process may send the signal, too. */
	if (preload_samples() && info->si_code == SI_TIMER && slot &&
	    info->si_value.sival_ptr == slot &&
	    !__atomic_load_n(&preload.shared->stopped, __ATOMIC_RELAXED))
		sample_take(slot, 1 + (uint32_t)info->si_overrun, ucontext);
	errno = saved;
}
