/* SPDX-License-Identifier: MIT */
/* The memory of a running process, by /proc/PID/maps and /proc/PID/mem. */
#include "gen/memory/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/maps.h"

/* A path below /proc/PID, or NULL. */
static char *process_path(int pid, const char *name)
{
	char *path;
	int n = pid ? asprintf(&path, "/proc/%d/%s", pid, name)
		    : asprintf(&path, "/proc/self/%s", name);

	return n < 0 ? NULL : path;
}

/* Whether something below /proc/PID is the same for this process. */
static bool process_shares(int pid, const char *name)
{
	char *path = process_path(pid, name), *own = process_path(0, name);
	struct stat other, here;
	bool same = path && own && stat(path, &other) == 0 && stat(own, &here) == 0 &&
		    other.st_dev == here.st_dev && other.st_ino == here.st_ino;

	free(path);
	free(own);
	return same;
}

/* The folder of the files that the process has mapped. The kernel prints paths as seen from here, also those of a
 * process in a chroot, unless they are in another namespace. */
static char *process_root(int pid)
{
	return process_shares(pid, "ns/mnt") ? strdup("") : process_path(pid, "root");
}

/* What a refusal of the system means, and what to do. */
static bool process_refused(struct err *err)
{
	if (errno == ENOENT || errno == ESRCH)
		return err_set(
		    err, ERR_IO, "it does not exist, or has ended; name another process");
	if (errno == EACCES || errno == EPERM)
		return err_set(err, ERR_IO,
		    geteuid() == 0
			? "cannot read its memory: %s; root needs CAP_SYS_PTRACE, which "
			  "many containers do not give: run this outside of them"
			: "cannot read its memory: %s; run this as the same user or as "
			  "root, and see /proc/sys/kernel/yama/ptrace_scope",
		    strerror(errno));
	return err_set_errno(err, "cannot read its memory");
}

/* The kernel's [vvar] and [vsyscall] cannot be read, and are no images. */
static bool process_add(struct memory *memory, const struct maps_line *line)
{
	const struct memory_range range = {.start = line->start,
	    .end = line->end,
	    .have = line->end - line->start,
	    .at = line->offset,
	    .device = (uint64_t)line->major << 32 | line->minor,
	    .inode = line->inode,
	    .executable = line->executable};

	if (line->end <= line->start || !strncmp(line->name, "[vvar", 5) ||
	    !strcmp(line->name, "[vsyscall]"))
		return true;
	return memory_add_range(memory, &range) &&
	       (*line->name == '\0' || memory_add_name(memory, line->start, line->end,
					   line->offset, line->name));
}

static bool process_maps(int pid, struct memory *memory, struct err *err)
{
	char *path = process_path(pid, "maps"), *text = NULL;
	struct maps_line line;
	size_t cap = 0;
	FILE *file;
	bool ok = true;

	if (!path)
		return err_set_nomem(err);
	file = fopen(path, "re");
	free(path);
	if (!file)
		return process_refused(err);
	while (ok && getline(&text, &cap, file) > 0)
		ok = !maps_read(text, &line) || process_add(memory, &line);
	if (!ok)
		err_set_nomem(err);
	else if (ferror(file))
		ok = process_refused(err);
	else if (memory->n_ranges == 0)
		ok = err_set(err, ERR_IO,
		    "nothing is mapped: it is a thread of the kernel, or has ended; name "
		    "another process");
	fclose(file);
	free(text);
	return ok;
}

bool memory_open_process(int pid, struct memory *memory, struct err *err)
{
	char *path = process_path(pid, "mem");

	*memory = (struct memory){.fd = -1};
	memory->root = process_root(pid);
	if (asprintf(&memory->shown, "process %d", pid ? pid : (int)getpid()) < 0)
		memory->shown = NULL;
	if (!path || !memory->root || !memory->shown) {
		free(path);
		memory_close(memory);
		return err_set_nomem(err);
	}
	memory->fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if ((memory->fd >= 0 || process_refused(err)) && process_maps(pid, memory, err) &&
	    memory_find_images(memory, err))
		return true;
	memory_close(memory);
	return false;
}
