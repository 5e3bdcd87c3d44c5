/* SPDX-License-Identifier: MIT */
/* Rows and tables in the shared memory, and samples for the unwinder. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/vec.h"
#include "profile/record/preloaded.h"

_Static_assert(
    SHARED_PC_EXACT == UNWINDER_PC_EXACT && SHARED_PC_GUESSED == UNWINDER_PC_GUESSED,
    "the bits of a PC");

/* A file that has no rows, or none that have room. */
enum { TABLES_NO_ROWS = 1 };
/* What a process wrote by mistake is no reason for more samples. */
enum { TABLES_MAX_PERIODS = 1 << 20 };

static struct preloaded_process *tables_process(
    const struct preloaded *preloaded, uint32_t pid)
{
	for (size_t i = 0; i < preloaded->n_processes; i++)
		if (preloaded->processes[i].pid == pid)
			return &preloaded->processes[i];
	return NULL;
}

static uint32_t tables_users(const struct preloaded *preloaded, uint32_t table)
{
	uint32_t n = 0;

	for (size_t i = 0; i < preloaded->n_processes; i++)
		n += preloaded->processes[i].table == table;
	return n;
}

static bool tables_add_process(
    struct preloaded *preloaded, uint32_t pid, uint32_t table, struct err *err)
{
	if (!vec_reserve(&preloaded->processes, &preloaded->cap_processes,
		preloaded->n_processes + 1))
		return err_set_nomem(err);
	preloaded->processes[preloaded->n_processes++] =
	    (struct preloaded_process){pid, table};
	return true;
}

static void tables_remove_process(struct preloaded *preloaded, uint32_t pid)
{
	struct preloaded_process *process = tables_process(preloaded, pid);

	if (process)
		*process = preloaded->processes[--preloaded->n_processes];
}

/* Room in the memory; 0: it is full. */
static uint64_t tables_room(struct preloaded *preloaded, uint64_t size)
{
	uint64_t at = preloaded->rows_end;

	size = (size + 15) & ~UINT64_C(15);
	if (size > preloaded->shared->size - at)
		return 0;
	preloaded->rows_end += size;
	return at;
}

/* Copies what a file has for the walker. Returns where, or TABLES_NO_ROWS. */
static uint64_t tables_copy(struct preloaded *preloaded, const struct unwinder_file *file)
{
	struct eh2sframe_walk_section opened, *section;
	const struct rows *rows = file->rows;
	char *memory = (char *)preloaded->shared;
	uint64_t index_size, extra_size = rows->n_extra * sizeof(*rows->extra);
	uint64_t at, bytes;

	if (!file->has_section || !eh2sframe_walk_open(&opened, rows->section, rows->size,
				      rows->address, 0, rows->facts.end))
		return TABLES_NO_ROWS;
	index_size = eh2sframe_walk_index_size(&opened);
	at = tables_room(
	    preloaded, sizeof(*section) + 64 + extra_size + index_size + rows->size);
	if (at == 0)
		return TABLES_NO_ROWS;
	/* Rules and the index have words in them; the section's bytes may lie anywhere. */
	section = (void *)(memory + at);
	bytes = (at + sizeof(*section) + 15) & ~UINT64_C(15);
	if (extra_size)
		memcpy(memory + bytes, rows->extra, extra_size);
	memcpy(memory + bytes + extra_size + index_size, rows->section, rows->size);
	if (!eh2sframe_walk_open(section, memory + bytes + extra_size + index_size,
		rows->size, rows->address, 0, rows->facts.end))
		return TABLES_NO_ROWS;
	if (index_size)
		eh2sframe_walk_index_make(section, memory + bytes + extra_size);
	if (extra_size)
		eh2sframe_walk_open_extra(
		    section, (const void *)(memory + bytes), rows->n_extra, 0);
	*section = shared_section(section, (uintptr_t)0 - (uintptr_t)memory, 0);
	return at;
}

/* Where the rows of a file are; 0: it has none. */
static bool tables_rows(
    struct preloaded *preloaded, uint32_t index, uint64_t *rows, struct err *err)
{
	struct unwinder *unwinder = preloaded->unwinder;
	size_t before = preloaded->n_rows;

	if (!unwinder_file_open(unwinder, index, err))
		return false;
	if (before <= index) {
		if (!vec_reserve(
			&preloaded->rows, &preloaded->cap_rows, (size_t)index + 1))
			return err_set_nomem(err);
		memset(preloaded->rows + before, 0,
		    (index + 1 - before) * sizeof(*preloaded->rows));
		preloaded->n_rows = (size_t)index + 1;
	}
	if (preloaded->rows[index] == 0)
		preloaded->rows[index] = tables_copy(preloaded, unwinder->files[index]);
	*rows = preloaded->rows[index] == TABLES_NO_ROWS ? 0 : preloaded->rows[index];
	return true;
}

/* The code of a process. */
static bool tables_ranges(struct preloaded *preloaded, const struct space *space,
    struct shared_range *ranges, uint32_t *n, struct err *err)
{
	const struct space_map *map = space ? space_maps_from(&space->maps, 0) : NULL;

	for (*n = 0; map && *n < SHARED_RANGES;
	     map = space_maps_from(&space->maps, map->end)) {
		const struct unwinder_file *file;
		struct shared_range *range = &ranges[(*n)++];
		uint64_t address;

		*range = (struct shared_range){.start = map->start, .end = map->end};
		if (!tables_rows(preloaded, map->file, &range->rows, err))
			return false;
		file = preloaded->unwinder->files[map->file];
		if (facts_address(&file->rows->facts, map->offset, &address))
			range->bias = map->start - address;
		else
			range->rows = 0;
	}
	return true;
}

/* Writes a table that walks may read. */
static void tables_write(
    struct shared_table *table, const struct shared_range *ranges, uint32_t n)
{
	if (table->n == n && memcmp(table->ranges, ranges, n * sizeof(*ranges)) == 0)
		return;
	__atomic_store_n(&table->sequence, table->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(table->ranges, ranges, n * sizeof(*ranges));
	__atomic_store_n(&table->n, n, __ATOMIC_RELAXED);
	__atomic_store_n(&table->sequence, table->sequence + 1, __ATOMIC_RELEASE);
}

/* The table that a process can have for itself; SHARED_TABLES: none is free. */
static uint32_t tables_own(const struct preloaded *preloaded, uint32_t pid)
{
	const struct preloaded_process *process = tables_process(preloaded, pid);

	if (process && tables_users(preloaded, process->table) == 1)
		return process->table;
	for (uint32_t i = 0; i < SHARED_TABLES; i++)
		if (tables_users(preloaded, i) == 0)
			return i;
	return SHARED_TABLES;
}

/* Puts a table into use by all threads of a process. */
static bool tables_use(
    struct preloaded *preloaded, uint32_t pid, uint32_t table, struct err *err)
{
	struct preloaded_process *process = tables_process(preloaded, pid);

	if (!process)
		return tables_add_process(preloaded, pid, table, err);
	if (process->table == table)
		return true;
	process->table = table;
	for (size_t i = 0; i < SHARED_SLOTS; i++) {
		struct shared_slot *slot = &preloaded->shared->slots[i];

		if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != SHARED_EMPTY &&
		    slot->pid == pid)
			__atomic_store_n(&slot->table, table, __ATOMIC_RELAXED);
	}
	return true;
}

static void tables_answer(
    const struct preloaded *preloaded, int fd, const struct shared_answer *answer)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec part = {(void *)(uintptr_t)answer, sizeof(*answer)};
	struct msghdr message = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &preloaded->memory, sizeof(int));
	/* A process that has ended needs no answer. */
	while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	close(fd);
}

static bool tables_make(
    struct preloaded *preloaded, const struct preloaded_record *record, struct err *err)
{
	static struct shared_range ranges[SHARED_RANGES]; /* of the one thread */
	struct shared_answer answer = {.size = preloaded->shared->size};
	const struct space *space = space_find(&preloaded->unwinder->spaces, record->pid);
	uint32_t table = tables_own(preloaded, record->pid), n = 0;
	bool ok = true;

	if (table == SHARED_TABLES) {
		preloaded->n_no_table++;
	} else {
		ok = tables_ranges(preloaded, space, ranges, &n, err);
		if (ok)
			tables_write(&preloaded->shared->tables[table], ranges, n);
		ok = ok && tables_use(preloaded, record->pid, table, err);
		answer.accepted = ok;
		answer.table = table;
	}
	if (record->fd >= 0)
		tables_answer(preloaded, record->fd, &answer);
	return ok;
}

/* A thread begins, or the child of fork, which has the mappings of its parent. */
static bool tables_thread(
    struct preloaded *preloaded, const struct preloaded_record *record, struct err *err)
{
	struct preloaded_process *process = tables_process(preloaded, record->pid);

	if (process && record->parent && record->tid == record->pid) {
		/* Its number was used before, and the end of that one was not seen. */
		tables_remove_process(preloaded, record->pid);
		process = NULL;
	}
	if (process) {
		__atomic_store_n(&preloaded->shared->slots[record->slot].table,
		    process->table, __ATOMIC_RELAXED);
		return true;
	}
	process = tables_process(preloaded, record->parent);
	if (!process)
		return true;
	__atomic_store_n(&preloaded->shared->slots[record->slot].table, process->table,
	    __ATOMIC_RELAXED);
	return space_fork(&preloaded->unwinder->spaces, record->pid, record->tid,
		   record->parent, record->parent, err) &&
	       tables_add_process(preloaded, record->pid, process->table, err);
}

static bool tables_sample(struct preloaded *preloaded,
    const struct preloaded_record *record, const uint8_t *bytes, size_t size,
    struct err *err)
{
	struct shared_sample sample;
	struct event event = {
	    .kind = EVENT_SAMPLE, .pid = record->pid, .tid = record->tid};

	memcpy(&sample, bytes, sizeof(sample));
	if (sample.why == EH2SFRAME_WALK_WHY_GOES_ON ||
	    sample.why > EH2SFRAME_WALK_WHY_DAMAGED)
		return true;
	event.time = sample.time;
	event.cpu = sample.cpu;
	event.weight = preloaded->shared->period;
	event.chain = bytes + sizeof(sample);
	event.n_chain = (size - sizeof(sample)) / sizeof(uint64_t);
	/* The kernel interrupts a thread once in a tick. So that samples stay in proportion to time,
	 * there is one for each period that has passed. */
	for (uint32_t i = 0; i < sample.periods && i < TABLES_MAX_PERIODS; i++)
		if (!unwinder_walked(preloaded->unwinder, &event,
			(enum eh2sframe_walk_why)sample.why, err))
			return false;
	return true;
}

bool preloaded_event(
    struct preloaded *preloaded, const uint8_t *bytes, size_t size, struct err *err)
{
	struct preloaded_record record;

	memcpy(&record.kind, bytes, sizeof(record.kind));
	if (record.kind < PRELOADED_SAMPLE)
		return unwinder_event(preloaded->unwinder, bytes, size, err);
	memcpy(&record, bytes, sizeof(record));
	switch ((enum preloaded_kind)record.kind) {
	case PRELOADED_SAMPLE:
		return tables_sample(preloaded, &record, bytes + sizeof(record),
		    size - sizeof(record), err);
	case PRELOADED_THREAD:
		return tables_thread(preloaded, &record, err);
	case PRELOADED_TABLE:
		return tables_make(preloaded, &record, err);
	case PRELOADED_GONE:
		tables_remove_process(preloaded, record.pid);
		return unwinder_gone(preloaded->unwinder, record.pid, err);
	case PRELOADED_LOST:
		preloaded->unwinder->n_lost += record.lost;
		return true;
	}
	return true;
}
