/* SPDX-License-Identifier: MIT */
#include "profile/record/names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/sandbox/apart.h"
#include "base/vec.h"

/* For all processes: a compiler that never stops must not fill the memory. */
static const struct names_part NAMES_MOST = {1 << 20, 512, 32 << 20};
/* Others than one's own can have a half of this, and each of them an eighth, or more while they all have a quarter. So none takes the names of all. */
enum { NAMES_ALL_OTHERS = 2, NAMES_MANY = 4, NAMES_EACH = 8 };
/* A map file of so many bytes takes twice as many again. */
enum { NAMES_MEMORY = 2047 << 20, NAMES_SECONDS = 10 };
/* So long the end of a recording may wait for names, in ns. */
#define NAMES_END (UINT64_C(30) * 1000000000)

/* True if what there is with more is at most a share of the room. */
static bool names_fit(
    const struct names_part *part, const struct names_part *more, unsigned int share)
{
	return part->frames + more->frames <= NAMES_MOST.frames / share &&
	       part->processes + more->processes <= NAMES_MOST.processes / share &&
	       part->bytes + more->bytes <= NAMES_MOST.bytes / share;
}

static bool names_room(
    const struct names *names, const struct owner *owner, const struct names_part *more)
{
	return names_fit(&names->all, more, 1) &&
	       (owner->is_own ||
		   (names_fit(&names->others, more, NAMES_ALL_OTHERS) &&
		       (names_fit(&names->parts[owner->place], more, NAMES_EACH) ||
			   names_fit(&names->others, more, NAMES_MANY))));
}

static void names_part_add(struct names_part *part, const struct names_part *more)
{
	part->frames += more->frames;
	part->processes += more->processes;
	part->bytes += more->bytes;
}

/* Takes room for an owner. false: there is none. */
static bool names_take(
    struct names *names, const struct owner *owner, const struct names_part *more)
{
	if (!names_room(names, owner, more))
		return false;
	names_part_add(&names->all, more);
	if (!owner->is_own) {
		names_part_add(&names->others, more);
		names_part_add(&names->parts[owner->place], more);
	}
	return true;
}

static struct names_process *names_process(struct names *names, uint32_t pid)
{
	for (size_t i = 0; i < names->n_processes; i++)
		if (names->processes[i].home.pid == pid)
			return &names->processes[i];
	return NULL;
}

/* Compilers at run time map memory all the time: their frames come again and again, and would be all that there is room for. */
static bool names_is_new(
    struct names *names, const struct owner *owner, const struct names_seen *seen)
{
	const uint64_t key[2] = {seen->pc, seen->pid};
	uint64_t hash = hash_bytes((const uint8_t *)key, sizeof(key));
	const struct slot wanted = {(uint32_t)hash, (uint32_t)(hash >> 32) | 1};
	const struct names_part one = {.frames = 1};
	struct slot *slot;

	if (names->noted.cap)
		for (slot = slots_first(&names->noted, wanted.hash); slot->number;
		     slot = slots_next(&names->noted, slot))
			if (slot->hash == wanted.hash && slot->number == wanted.number)
				return false;
	if (!slots_reserve(&names->noted, names->all.frames + 1) ||
	    !names_take(names, owner, &one)) {
		names->n_left_out++;
		return false;
	}
	slot = slots_first(&names->noted, wanted.hash);
	while (slot->number)
		slot = slots_next(&names->noted, slot);
	*slot = wanted;
	return true;
}

/* Writes the name of a frame. */
static void names_put(struct names *names, const struct owner *owner,
    const struct names_seen *seen, const char *name)
{
	const struct names_part more = {.bytes = strlen(name) + 1};

	if (names_take(names, owner, &more))
		perfdata_put_name(names->writer, seen->pid, seen->pc, name);
	else
		names->n_left_out++;
}

/* Begins to collect what a process has in no file. */
static bool names_process_add(
    struct names *names, const struct owner *owner, uint32_t pid)
{
	const struct names_part one = {.processes = 1};
	struct names_process *process;
	const struct owner now = owner_of(pid);

	if (!vec_reserve(
		&names->processes, &names->cap_processes, names->n_processes + 1) ||
	    !names_take(names, owner, &one))
		return false;
	process = &names->processes[names->n_processes++];
	process->owner = *owner;
	/* A worker sets its user after it was made. */
	jit_home_open(&process->home, pid, now.is_known ? now.user : owner->user);
	return true;
}

void names_note(struct names *names, const struct owner *owner, const struct rows *rows,
    uint64_t address, const struct names_seen *seen)
{
	struct names_process *process;
	const struct symbol *symbol;

	if (!names_is_new(names, owner, seen))
		return;
	if (rows) {
		symbol = symbols_find(&rows->symbols, address - seen->is_return_address);
		if (symbol)
			names_put(names, owner, seen, symbol->name);
		return;
	}
	process = names_process(names, seen->pid);
	if ((!process && !names_process_add(names, owner, seen->pid)) ||
	    !vec_reserve(&names->list, &names->cap, names->n + 1)) {
		names->n_left_out++;
		return;
	}
	/* Its folder comes into the kernel's memory when it writes there. */
	if (process && process->home.tmp < 0)
		jit_home_open(&process->home, seen->pid, process->owner.user);
	names->list[names->n++] = *seen;
}

/* The question to a process apart: the names of the frames of one process in list. */
struct names_work {
	const struct names *names;
	const struct jit_home *home;
	int fd;
};

static void names_work_open(void *context)
{
	struct names_work *work = context;
	struct jit_home home = *work->home;

	home.tmp = home.tmp < 0 ? -1 : APART_FIRST_FILE;
	work->fd = jit_open(&home);
}

/* Answers with the name of each frame, as text with its end, in their order; it is empty where there is none. */
static bool names_work(void *context, int out)
{
	const struct names_work *work = context;
	const struct names *names = work->names;
	struct jit_names found;
	bool ok = true;

	if (!jit_read(&found, work->fd))
		return true;
	for (size_t i = 0; ok && i < names->n; i++) {
		const struct names_seen *seen = &names->list[i];
		const char *name;

		if (seen->pid != work->home->pid)
			continue;
		name = jit_find(&found, seen->pc - seen->is_return_address);
		ok = apart_write(out, name ? name : "", name ? strlen(name) + 1 : 1);
	}
	return ok;
}

/* The answer for a process, of which the first frame is not read yet. */
struct names_texts {
	const char *at, *end;
};

/* The next name, or NULL when there is none. It ends in the answer. */
static const char *names_text(struct names_texts *texts)
{
	const char *text = texts->at,
		   *end = text ? memchr(text, '\0', (size_t)(texts->end - text)) : NULL;

	texts->at = end ? end + 1 : NULL;
	return end && *text ? text : NULL;
}

/* Asks for the names of a process's frames. */
static void names_ask(
    struct names *names, const struct names_process *process, struct apart_answer *answer)
{
	struct names_work work = {names, &process->home, -1};
	const struct apart_job job = {.files = &process->home.tmp,
	    .n_files = 1,
	    .open = names_work_open,
	    .work = names_work,
	    .context = &work,
	    .limits = {NAMES_MEMORY, NAMES_SECONDS},
	    .least = 1};
	struct spent_work spent;
	struct err err;
	bool ok;

	if (!spent_may(&names->spent, &process->owner))
		return;
	ok = apart_run(&job, answer, &err);
	spent =
	    (struct spent_work){answer->ns, !ok && err.kind == ERR_LIMIT, answer->left};
	spent_add(&names->spent, &process->owner, &spent);
}

void names_of_process(struct names *names, uint32_t pid)
{
	struct names_process *process = names_process(names, pid);
	struct apart_answer answer = {0};
	struct names_texts texts = {0};
	size_t kept = 0;

	if (!process)
		return;
	names_ask(names, process, &answer);
	if (answer.size)
		texts = (struct names_texts){
		    (const char *)answer.bytes, (const char *)answer.bytes + answer.size};
	for (size_t i = 0; i < names->n; i++) {
		const struct names_seen *seen = &names->list[i];
		const char *name;

		if (seen->pid != pid) {
			names->list[kept++] = *seen;
			continue;
		}
		name = names_text(&texts);
		if (name)
			names_put(names, &process->owner, seen, name);
	}
	names->n = kept;
	apart_free(&answer);
	jit_home_close(&process->home);
	names->all.processes--;
	if (!process->owner.is_own) {
		names->others.processes--;
		names->parts[process->owner.place].processes--;
	}
	*process = names->processes[--names->n_processes];
}

void names_end(struct names *names)
{
	uint64_t end = spent_now() + NAMES_END;

	while (names->n_processes && spent_now() < end)
		names_of_process(names, names->processes[0].home.pid);
	names->n_left_out += names->n;
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->n_processes; i++)
		jit_home_close(&names->processes[i].home);
	free(names->processes);
	free(names->noted.list);
	free(names->list);
	*names = (struct names){0};
}
