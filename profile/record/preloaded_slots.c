/* SPDX-License-Identifier: MIT */
/* What processes wrote, as records in the queue. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profile/record/preloaded.h"
#include "profile/record/proc.h"
#include "profile/stacks/event.h"

/* How often it looks at the mappings and the name of a thread that has new samples. */
#define SLOTS_LOOK UINT64_C(250000000)
/* How long a process that ended is known. */
#define SLOTS_GONE UINT64_C(1000000000)

static uint64_t slots_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A record that was made here. It waits for room. */
static bool slots_put(void *context, const uint8_t *bytes, size_t size)
{
	struct preloaded *preloaded = context;
	uint8_t *room = queue_room(preloaded->queue, size, true);

	if (!room)
		return false;
	memcpy(room, bytes, size);
	queue_put(preloaded->queue, size);
	return true;
}

static bool slots_record(
    struct preloaded *preloaded, const struct preloaded_record *record)
{
	return slots_put(preloaded, (const uint8_t *)record, sizeof(*record));
}

static bool slots_is_dead(uint32_t pid, uint32_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) != 0 && errno == ESRCH;
}

/* The name of a thread, when it is not the one that is known. exec: the process begins. */
static bool slots_name(
    struct preloaded *preloaded, uint32_t pid, uint32_t tid, char known[16], bool exec)
{
	uint8_t bytes[256];
	char path[64], name[16] = "";
	struct event event = {.pid = pid, .tid = tid, .text = name, .exec = exec};
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	file = fopen(path, "re");
	if (file) {
		if (fgets(name, sizeof(name), file))
			name[strcspn(name, "\n")] = '\0';
		fclose(file);
	}
	if (!exec && (!name[0] || strcmp(name, known) == 0))
		return true;
	memcpy(known, name, sizeof(name));
	return slots_put(preloaded, bytes, event_make_comm(bytes, &event));
}

/* A process that has ended has no mappings, and samples that need the last ones. */
static bool slots_is_mapped(uint32_t pid)
{
	char path[64];
	FILE *file;
	bool mapped;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re");
	mapped = file && fgetc(file) != EOF;
	if (file)
		fclose(file);
	return mapped;
}

bool preloaded_look(struct preloaded *preloaded, uint32_t pid, int fd)
{
	const struct preloaded_record record = {
	    .kind = PRELOADED_TABLE, .pid = pid, .fd = fd};
	char name[16];

	if (!slots_is_mapped(pid)) {
		if (fd >= 0)
			close(fd);
		return true;
	}
	/* The first one makes an end of the mappings that were known. */
	return slots_name(preloaded, pid, pid, name, true) &&
	       proc_process((pid_t)pid, slots_put, preloaded) &&
	       slots_record(preloaded, &record);
}

static bool slots_lost(struct preloaded *preloaded, size_t i)
{
	uint32_t lost =
	    __atomic_load_n(&preloaded->shared->slots[i].lost, __ATOMIC_RELAXED);
	const struct preloaded_record record = {
	    .kind = PRELOADED_LOST, .lost = lost - preloaded->slots[i].lost};

	preloaded->slots[i].lost = lost;
	return record.lost == 0 || slots_record(preloaded, &record);
}

static bool slots_forget(struct preloaded *preloaded, size_t i)
{
	const struct preloaded_record record = {
	    .kind = PRELOADED_GONE, .pid = preloaded->gone[i].pid};

	preloaded->gone[i] = preloaded->gone[--preloaded->n_gone];
	return slots_record(preloaded, &record);
}

/* Frees a slot whose thread writes no more. */
static bool slots_free(struct preloaded *preloaded, size_t i)
{
	struct shared_slot *slot = &preloaded->shared->slots[i];
	uint32_t pid = slot->pid;

	if (!slots_lost(preloaded, i))
		return false;
	preloaded->slots[i] = (struct preloaded_slot){0};
	__atomic_store_n(&slot->state, SHARED_EMPTY, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->owner, 0, __ATOMIC_RELEASE);
	if (!slots_is_dead(pid, pid))
		return true;
	for (size_t j = 0; j < preloaded->n_gone; j++)
		if (preloaded->gone[j].pid == pid)
			return true;
	if (preloaded->n_gone == PRELOADED_GONE_MAX && !slots_forget(preloaded, 0))
		return false;
	preloaded->gone[preloaded->n_gone++] = (struct preloaded_gone){pid, slots_now()};
	return true;
}

/* A process of this number lives. */
static void slots_lives(struct preloaded *preloaded, uint32_t pid)
{
	for (size_t i = 0; i < preloaded->n_gone; i++)
		if (preloaded->gone[i].pid == pid)
			preloaded->gone[i--] = preloaded->gone[--preloaded->n_gone];
}

bool preloaded_renew(struct preloaded *preloaded, uint32_t pid)
{
	slots_lives(preloaded, pid);
	for (size_t i = 0; i < SHARED_SLOTS; i++) {
		const struct shared_slot *slot = &preloaded->shared->slots[i];

		if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != SHARED_EMPTY &&
		    slot->pid == pid && !slots_free(preloaded, i))
			return false;
	}
	return true;
}

/* A slot that was taken since, and one whose samples are in no file. */
static bool slots_see(struct preloaded *preloaded, size_t i, uint64_t now)
{
	struct shared_slot *slot = &preloaded->shared->slots[i];
	struct preloaded_slot *known = &preloaded->slots[i];
	struct preloaded_record record = {.kind = PRELOADED_THREAD,
	    .pid = slot->pid,
	    .tid = slot->owner,
	    .parent = slot->parent,
	    .slot = (uint32_t)i};
	bool is_new = known->owner != slot->owner;

	if (is_new) {
		*known = (struct preloaded_slot){.owner = slot->owner};
		if (slot->pid == slot->owner)
			slots_lives(preloaded, slot->pid);
		if (!slots_record(preloaded, &record))
			return false;
	}
	if (__atomic_load_n(&slot->head, __ATOMIC_RELAXED) == slot->tail ||
	    now - known->looked < SLOTS_LOOK)
		return true;
	known->looked = now;
	if (!slots_name(preloaded, slot->pid, slot->owner, known->name, false))
		return false;
	return !__atomic_exchange_n(&slot->asks, 0, __ATOMIC_RELAXED) ||
	       preloaded_look(preloaded, slot->pid, -1);
}

/* The sample at the tail; NULL: there is none. What its process wrote is checked. */
static const struct shared_sample *slots_sample(
    const struct preloaded *preloaded, size_t i)
{
	struct shared_slot *slot = &preloaded->shared->slots[i];
	uint64_t head = __atomic_load_n(&slot->head, __ATOMIC_ACQUIRE);
	const struct shared_sample *sample =
	    shared_place(preloaded->shared, slot, slot->tail);

	if (head == slot->tail)
		return NULL;
	if (head - slot->tail > SHARED_RING || slot->tail % 8 != 0 ||
	    sample->n > SHARED_FRAMES || sample->why == EH2SFRAME_WALK_WHY_GOES_ON ||
	    sample->why > EH2SFRAME_WALK_WHY_DAMAGED) {
		__atomic_store_n(&slot->tail, head, __ATOMIC_RELEASE);
		return NULL;
	}
	return sample;
}

static bool slots_take(
    struct preloaded *preloaded, size_t i, const struct shared_sample *sample)
{
	struct shared_slot *slot = &preloaded->shared->slots[i];
	uint32_t said = __atomic_load_n(&sample->n, __ATOMIC_RELAXED);
	uint32_t n = said > SHARED_FRAMES ? 0 : said;
	size_t size = sizeof(*sample) + n * sizeof(uint64_t);
	struct preloaded_record record = {.kind = PRELOADED_SAMPLE,
	    .pid = slot->pid,
	    .tid = slot->owner,
	    .slot = (uint32_t)i};
	uint8_t *room = queue_room(preloaded->queue, sizeof(record) + size, true);

	if (!room)
		return false;
	memcpy(room, &record, sizeof(record));
	memcpy(room + sizeof(record), sample, size);
	queue_put(preloaded->queue, sizeof(record) + size);
	__atomic_store_n(&slot->tail, shared_behind(slot->tail, n), __ATOMIC_RELEASE);
	return true;
}

/* The slots that are in use, by what is in front of their samples. */
static bool slots_see_all(struct preloaded *preloaded, uint32_t *used, size_t *n)
{
	uint64_t now = slots_now();

	*n = 0;
	for (size_t i = 0; i < SHARED_SLOTS; i++) {
		struct shared_slot *slot = &preloaded->shared->slots[i];
		uint32_t owner = __atomic_load_n(&slot->owner, __ATOMIC_RELAXED);

		if (owner == 0)
			continue;
		if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SHARED_EMPTY) {
			/* Killed while it took the slot; its process may have another number. */
			if (kill((pid_t)owner, 0) != 0 && errno == ESRCH)
				__atomic_store_n(&slot->owner, 0, __ATOMIC_RELEASE);
			continue;
		}
		if (!slots_see(preloaded, i, now))
			return false;
		used[(*n)++] = (uint32_t)i;
	}
	return true;
}

/* The oldest sample of all, up to limit. */
static const struct shared_sample *slots_oldest(struct preloaded *preloaded,
    const uint32_t *used, size_t n, uint64_t limit, size_t *slot)
{
	const struct shared_sample *oldest = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct shared_sample *sample = slots_sample(preloaded, used[i]);

		if (sample && sample->time <= limit &&
		    (!oldest || sample->time < oldest->time)) {
			oldest = sample;
			*slot = used[i];
		}
	}
	return oldest;
}

bool preloaded_drain(struct preloaded *preloaded, uint64_t limit)
{
	uint32_t used[SHARED_SLOTS];
	const struct shared_sample *sample;
	size_t n, slot = 0;
	uint64_t now = slots_now();

	if (!slots_see_all(preloaded, used, &n))
		return false;
	while ((sample = slots_oldest(preloaded, used, n, limit, &slot)))
		if (!slots_take(preloaded, slot, sample))
			return false;
	for (size_t i = 0; i < n; i++) {
		struct shared_slot *at = &preloaded->shared->slots[used[i]];
		bool ended =
		    __atomic_load_n(&at->state, __ATOMIC_ACQUIRE) == SHARED_ENDED ||
		    slots_is_dead(at->pid, at->owner);

		if (!slots_lost(preloaded, used[i]) ||
		    (ended && !slots_sample(preloaded, used[i]) &&
			!slots_free(preloaded, used[i])))
			return false;
	}
	for (size_t i = preloaded->n_gone; i-- > 0;)
		if (now - preloaded->gone[i].when > SLOTS_GONE &&
		    now > preloaded->gone[i].when && !slots_forget(preloaded, i))
			return false;
	return true;
}
