/* SPDX-License-Identifier: MIT */
#include "profile/record/names.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"

/* For all processes: a compiler that never stops must not fill the memory. */
enum { NAMES_MAX_SEEN = 1 << 20, NAMES_MAX_NOTED = 1 << 21, NAMES_MAX_HOMES = 128 };

static struct jit_home *names_home(struct names *names, uint32_t pid)
{
	for (size_t i = 0; i < names->n_homes; i++)
		if (names->homes[i].pid == pid)
			return &names->homes[i];
	return NULL;
}

/* Compilers at run time map memory all the time: their frames come again and again, and would be all that there is room for. */
static bool names_is_new(struct names *names, const struct names_seen *seen)
{
	const uint64_t key[2] = {seen->pc, seen->pid};
	uint64_t hash = hash_bytes((const uint8_t *)key, sizeof(key));
	const struct slot wanted = {(uint32_t)hash, (uint32_t)(hash >> 32) | 1};
	struct slot *slot;

	if (names->n_noted == NAMES_MAX_NOTED ||
	    !slots_reserve(&names->noted, names->n_noted + 1))
		return false;
	for (slot = slots_first(&names->noted, wanted.hash); slot->number;
	     slot = slots_next(&names->noted, slot))
		if (slot->hash == wanted.hash && slot->number == wanted.number)
			return false;
	*slot = wanted;
	names->n_noted++;
	return true;
}

void names_note(struct names *names, const struct rows *rows, uint64_t address,
    const struct names_seen *seen)
{
	const struct symbol *symbol;

	if (!names_is_new(names, seen))
		return;
	if (rows) {
		symbol = symbols_find(&rows->symbols, address - seen->is_return_address);
		if (symbol)
			perfdata_put_name(
			    names->writer, seen->pid, seen->pc, symbol->name);
		return;
	}
	if (names->n == NAMES_MAX_SEEN ||
	    !vec_reserve(&names->list, &names->cap, names->n + 1))
		return;
	/* Without a home it would stay in the list for nothing. */
	if (!names_home(names, seen->pid)) {
		if (names->n_homes == NAMES_MAX_HOMES ||
		    !vec_reserve(&names->homes, &names->cap_homes, names->n_homes + 1))
			return;
		jit_home_open(&names->homes[names->n_homes++], seen->pid);
	}
	names->list[names->n++] = *seen;
}

void names_of_process(struct names *names, uint32_t pid)
{
	struct jit_home *home = names_home(names, pid);
	struct jit_names found = {0};
	uint64_t start = spent_now();
	size_t kept = 0;

	if (!home)
		return;
	if (!spent_may(&names->spent, home->user) || !jit_read(&found, home))
		found = (struct jit_names){0};
	for (size_t i = 0; i < names->n; i++) {
		const struct names_seen *seen = &names->list[i];
		const char *name;

		if (seen->pid != pid) {
			names->list[kept++] = *seen;
			continue;
		}
		name = jit_find(&found, seen->pc - seen->is_return_address);
		if (name)
			perfdata_put_name(names->writer, pid, seen->pc, name);
	}
	names->n = kept;
	jit_free(&found);
	spent_add(&names->spent, home->user, start);
	jit_home_close(home);
	*home = names->homes[--names->n_homes];
}

void names_end(struct names *names)
{
	while (names->n_homes)
		names_of_process(names, names->homes[0].pid);
}

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->n_homes; i++)
		jit_home_close(&names->homes[i]);
	free(names->homes);
	free(names->noted.list);
	free(names->list);
	*names = (struct names){0};
}
