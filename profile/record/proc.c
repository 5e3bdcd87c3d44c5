/* SPDX-License-Identifier: MIT */
#include "profile/record/recorder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/perfdata/event.h"

struct proc {
	struct queue *queue; /* borrowed */
	bool data;
	pid_t pid;
};

/* Makes a record where it stays. false: the queue is closed. */
static bool proc_put(struct queue *queue,
    size_t (*make)(uint8_t *to, const struct event *event), const struct event *event)
{
	uint8_t *room = queue_room(queue, EVENT_MAX_SIZE, true);

	if (room)
		queue_put(queue, make(room, event));
	return room;
}

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
	return proc_put(proc->queue, event_make_comm, &event);
}

/* Reads a line of /proc/PID/maps, and ends it behind the name. */
static bool proc_map(char *line, struct event *event)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char protection[8];
	int at = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %x:%x %llu %n", &start, &end, protection,
		&offset, &major, &minor, &inode, &at) < 7 ||
	    at == 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	event->data = !strchr(protection, 'x');
	event->start = start;
	event->size = end - start;
	event->offset = offset;
	event->major = major;
	event->minor = minor;
	event->inode = inode;
	event->text = line[at] ? line + at : "//anon";
	return true;
}

static bool proc_seen(void *context, pid_t pid)
{
	struct proc *proc = context;
	char path[64], *line = NULL;
	size_t cap = 0;
	FILE *file;
	bool ok = true;

	proc->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	proc_list(path, proc_thread, proc);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	while (file && ok && getline(&line, &cap, file) > 0) {
		struct event event = {.pid = (uint32_t)pid, .tid = (uint32_t)pid};

		if (proc_map(line, &event) && (proc->data || !event.data))
			ok = proc_put(proc->queue, event_make_map, &event);
	}
	if (file)
		fclose(file);
	free(line);
	return ok;
}

bool proc_known(const pid_t *pids, size_t n, bool data, struct queue *queue)
{
	struct proc proc = {.queue = queue, .data = data};
	bool ok = n || proc_list("/proc", proc_seen, &proc);

	for (size_t i = 0; ok && i < n; i++)
		ok = proc_seen(&proc, pids[i]);
	return ok;
}

uint64_t proc_used(pid_t pid, bool kernel)
{
	char path[64], line[512] = "";
	const char *name_end;
	unsigned long long user = 0, system = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	/* A name can have parentheses. Eleven members stand between it and the times. */
	name_end = strrchr(line, ')');
	if (!name_end ||
	    sscanf(name_end + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu",
		&user, &system) != 2)
		return 0;
	return (user + (kernel ? system : 0)) *
	       (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

void proc_kernel(struct queue *queue)
{
	struct event event = {.pid = UINT32_MAX,
	    .cpu_mode = PERF_RECORD_MISC_KERNEL,
	    .text = "[kernel.kallsyms]_text"};
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address;
	uint64_t end = 0;
	char line[512], name[64];

	while (file && (!event.start || !end) && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %63s", &address, name) != 2)
			continue;
		if (strcmp(name, "_text") == 0)
			event.start = address;
		if (strcmp(name, "_etext") == 0)
			end = address;
	}
	if (file)
		fclose(file);
	/* Who may not see addresses gets zeros. */
	if (!event.start || end <= event.start)
		return;
	event.offset = event.start;
	event.size = end - event.start;
	proc_put(queue, event_make_map, &event);
}
