/* SPDX-License-Identifier: MIT */
#include "profile/record/proc.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/stacks/event.h"

struct proc {
	proc_record_fn *record;
	void *context;
	pid_t pid;
	uint8_t bytes[EVENT_MAX_SIZE];
};

bool proc_list(const char *dir, bool (*seen)(void *context, pid_t id), void *context)
{
	DIR *stream = opendir(dir);
	const struct dirent *entry;
	bool ok = stream;

	while (ok && (entry = readdir(stream))) {
		char *end;
		long id = strtol(entry->d_name, &end, 10);

		if (id > 0 && *end == '\0')
			ok = seen(context, (pid_t)id);
	}
	if (stream)
		closedir(stream);
	return ok;
}

/* A thread's name. */
static bool proc_thread(void *context, pid_t tid)
{
	struct proc *proc = context;
	char path[64], name[64] = "";
	struct event event = {
	    .pid = (uint32_t)proc->pid, .tid = (uint32_t)tid, .text = name};
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)proc->pid, (int)tid);
	file = fopen(path, "re");
	if (!file)
		return true;
	if (fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
	return proc->record(
	    proc->context, proc->bytes, event_make_comm(proc->bytes, &event));
}

/* Reads a line of /proc/PID/maps, and ends it behind the name. false: it has no code. */
static bool proc_map(char *line, struct event *event)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char protection[8];
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, protection,
		&offset, &major, &minor, &inode, &at) < 7 ||
	    at == 0 || !strchr(protection, 'x'))
		return false;
	line[strcspn(line, "\n")] = '\0';
	event->start = start;
	event->size = end - start;
	event->offset = offset;
	event->major = major;
	event->minor = minor;
	event->inode = inode;
	event->text = line[at] ? line + at : "//anon";
	return true;
}

bool proc_process(pid_t pid, proc_record_fn *record, void *context)
{
	struct proc *proc = malloc(sizeof(*proc));
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *file;
	bool ok = proc;

	if (!proc)
		return false;
	proc->record = record;
	proc->context = context;
	proc->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	proc_list(path, proc_thread, proc);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	while (file && ok && getline(&line, &cap, file) > 0) {
		struct event event = {.pid = (uint32_t)pid, .tid = (uint32_t)pid};

		if (proc_map(line, &event))
			ok = record(
			    context, proc->bytes, event_make_map(proc->bytes, &event));
	}
	if (file)
		fclose(file);
	free(line);
	free(proc);
	return ok;
}

struct proc_all {
	proc_record_fn *record;
	void *context;
};

static bool proc_seen(void *context, pid_t pid)
{
	const struct proc_all *all = context;

	return proc_process(pid, all->record, all->context);
}

bool proc_all(proc_record_fn *record, void *context)
{
	struct proc_all all = {.record = record, .context = context};

	return proc_list("/proc", proc_seen, &all);
}
