/* SPDX-License-Identifier: MIT */
#include "profile/record/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

/* For all processes: a compiler that never stops must not fill the memory. It is room for a million frames, 512 processes, which have an open
 * folder each, or 32 MiB of names, which is all that a recording takes (perfdata_put_name). */
enum { NAMES_ROOM = 128 << 20 };
enum { NAMES_FRAME = NAMES_ROOM >> 20, NAMES_PROCESS = NAMES_ROOM / 512, NAMES_BYTE = 4 };
/* Others than one's own can have a half of this, and each of them an eighth, or more while they all have a quarter. So none takes the names of all. */
enum { NAMES_ALL_OTHERS = 2, NAMES_MANY = 4, NAMES_EACH = 8 };
/* So long the end of a recording may wait for names, in ns. */
#define NAMES_END (UINT64_C(30) * 1000000000)

/* Takes room for an owner. false: there is none. */
static bool names_take(struct names *names, const struct owner *owner, uint64_t bytes)
{
	uint64_t *mine = &names->parts[owner->place], others = names->others + bytes;

	if (names->all + bytes > NAMES_ROOM ||
	    (!owner->is_own && (others > NAMES_ROOM / NAMES_ALL_OTHERS ||
				   (*mine + bytes > NAMES_ROOM / NAMES_EACH &&
				       others > NAMES_ROOM / NAMES_MANY))))
		return false;
	names->all += bytes;
	if (!owner->is_own) {
		names->others = others;
		*mine += bytes;
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
	const uint64_t key[2] = {seen->key, seen->pid};
	uint64_t hash = hash_bytes((const uint8_t *)key, sizeof(key));
	const struct slot wanted = {(uint32_t)hash, (uint32_t)(hash >> 32) | 1};
	struct slot *slot;

	if (slots_reserve(&names->noted, names->n_noted + 1)) {
		for (slot = slots_first(&names->noted, wanted.hash); slot->number;
		     slot = slots_next(&names->noted, slot))
			if (slot->hash == wanted.hash && slot->number == wanted.number)
				return false;
		if (names_take(names, owner, NAMES_FRAME)) {
			names->n_noted++;
			*slot = wanted;
			return true;
		}
	}
	names->n_left_out++;
	return false;
}

/* Writes the name of a frame. */
static void names_put(struct names *names, const struct owner *owner,
    const struct names_seen *seen, const char *name)
{
	if (!names_take(names, owner, NAMES_BYTE * (strlen(name) + 1)) ||
	    !perfdata_put_name(names->writer, seen->pid, seen->key, name))
		names->n_left_out++;
}

/* Begins to collect what a process has in no file. */
static struct names_process *names_process_add(
    struct names *names, const struct owner *owner, uint32_t pid)
{
	const struct owner now = owner_of(pid);
	struct names_process *process;

	if (!vec_reserve(
		&names->processes, &names->cap_processes, names->n_processes + 1) ||
	    !names_take(names, owner, NAMES_PROCESS))
		return NULL;
	process = &names->processes[names->n_processes++];
	*process = (struct names_process){{.pid = pid, .tmp = -1}, *owner};
	/* A worker sets its user after it was made. */
	if (now.is_known)
		process->owner.user = now.user;
	return process;
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
	if (!process)
		process = names_process_add(names, owner, seen->pid);
	if (!process || !vec_reserve(&names->list, &names->cap, names->n + 1)) {
		names->n_left_out++;
		return;
	}
	/* Its folder comes into the kernel's memory when it writes there. */
	if (process->home.tmp < 0)
		jit_home_open(&process->home, seen->pid, process->owner.user);
	names->list[names->n++] = *seen;
}

/* Asks for the names of a process's frames. */
static void names_ask(
    struct names *names, const struct names_process *process, struct apart_answer *answer)
{
	uint64_t *addresses = malloc(names->n * sizeof(*addresses));
	struct spent_work spent;
	struct err err;
	size_t n = 0;
	bool ok;

	for (size_t i = 0; addresses && i < names->n; i++)
		if (names->list[i].pid == process->home.pid)
			addresses[n++] =
			    names->list[i].pc - names->list[i].is_return_address;
	ok = n && spent_may(&names->spent, &process->owner);
	if (ok) {
		ok = jit_ask(&process->home, addresses, n, answer, &err);
		spent = (struct spent_work){
		    answer->ns, !ok && err.kind == ERR_LIMIT, answer->left};
		spent_add(&names->spent, &process->owner, &spent);
	}
	if (!ok)
		names->n_left_out += n;
	free(addresses);
}

void names_of_process(struct names *names, uint32_t pid)
{
	struct names_process *process = names_process(names, pid);
	struct apart_answer answer = {0};
	size_t kept = 0, at = 0;

	if (!process)
		return;
	names_ask(names, process, &answer);
	for (size_t i = 0; i < names->n; i++) {
		const struct names_seen *seen = &names->list[i];
		const char *name;

		if (seen->pid != pid) {
			names->list[kept++] = *seen;
			continue;
		}
		name = jit_text(&answer, &at);
		if (name)
			names_put(names, &process->owner, seen, name);
	}
	names->n = kept;
	apart_free(&answer);
	jit_home_close(&process->home);
	names->all -= NAMES_PROCESS;
	if (!process->owner.is_own) {
		names->others -= NAMES_PROCESS;
		names->parts[process->owner.place] -= NAMES_PROCESS;
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
