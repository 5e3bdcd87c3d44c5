/* SPDX-License-Identifier: MIT */
#include "profile/stacks/unwinder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

const struct unwinder_machine unwinder_machines[PROFILE_N_MACHINES] = {
    [PROFILE_X86_64] = {"x86_64", UINT64_C(0xff0fff), 17, 8, 7, 6, 0},
    [PROFILE_AARCH64] = {"aarch64", UINT64_C(0x1ffffffff), EH2SFRAME_WALK_N_REGISTERS, 32,
	31, 29, 30},
    /* General registers, mask and address of the PSW. */
    [PROFILE_S390X] = {"s390x", UINT64_C(0x30000ffff), 16, 33, 15, 11, 14},
};

enum profile_machine unwinder_machine(const char *name)
{
	enum profile_machine machine = PROFILE_N_MACHINES;

#if defined(__x86_64__)
	name = *name ? name : "x86_64";
#elif defined(__aarch64__)
	name = *name ? name : "aarch64";
#elif defined(__s390x__)
	name = *name ? name : "s390x";
#endif
	while (--machine && strcmp(unwinder_machines[machine].name, name) != 0)
		;
	return machine;
}

bool unwinder_begin(
    struct unwinder *unwinder, enum profile_machine machine, struct err *err)
{
	*unwinder = (struct unwinder){
	    .machine = machine, .live = true, .most_rows = UNWINDER_ROWS};
	unwinder->cache.n_entries = UNWINDER_RULES;
	unwinder->cache.entries =
	    calloc(UNWINDER_RULES, sizeof(*unwinder->cache.entries));
	unwinder->places = calloc(UNWINDER_PLACES, sizeof(*unwinder->places));
	return (unwinder->cache.entries && unwinder->places) || err_set_nomem(err);
}

void unwinder_free(struct unwinder *unwinder)
{
	unwinder_files_free(unwinder);
	spaces_free(&unwinder->spaces);
	free(unwinder->cache.entries);
	free(unwinder->places);
}

static bool unwinder_map(
    struct unwinder *unwinder, const struct event *event, struct err *err)
{
	struct space_map map = {.start = event->start,
	    .end = event->start + event->size,
	    .offset = event->offset};

	/* The kernel's own, and those of its modules. */
	if (event->pid == UINT32_MAX || event->data)
		return true;
	return unwinder_file_get(unwinder, event, &map.file, err) &&
	       space_add_map(&unwinder->spaces, event->pid, &map, err);
}

bool unwinder_take(struct unwinder *unwinder, const struct event *event, struct err *err)
{
	switch (event->kind) {
	case EVENT_MAP:
		return unwinder_map(unwinder, event, err);
	case EVENT_COMM:
		return space_comm(&unwinder->spaces, event->pid, event->tid, event->text,
		    event->exec, err);
	case EVENT_FORK:
		return space_fork(&unwinder->spaces, event->pid, event->tid,
		    event->parent, event->parent_tid, event->time, err);
	case EVENT_EXIT:
		if (space_exit(&unwinder->spaces, event->pid, event->tid))
			space_remove(&unwinder->spaces, event->pid);
		return true;
	case EVENT_LOST:
		unwinder->n_lost += event->lost;
		break;
	case EVENT_SAMPLE:
	case EVENT_OTHER:
		break;
	}
	return true;
}

void unwinder_vdso(struct unwinder *unwinder)
{
	unsigned long at = getauxval(AT_SYSINFO_EHDR);
	unsigned long long start, end;
	char line[512];
	FILE *file = at ? fopen("/proc/self/maps", "re") : NULL;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start == at) {
			unwinder->vdso = (const uint8_t *)at;
			unwinder->vdso_size = end - start;
		}
	if (file)
		fclose(file);
}
