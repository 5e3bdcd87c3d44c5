/* SPDX-License-Identifier: MIT */
#include "profile/jit.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/regular.h"
#include "base/search.h"
#include "base/vec.h"
#include "base/names/lines.h"

/* Functions that overlap an address are searched back from it so far. */
enum { JIT_BACK = 16 };

static int jit_order(const void *a, const void *b)
{
	const struct jit_name *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

bool jit_parse(struct jit_names *names, char *text)
{
	size_t cap = 0, number = 0;
	struct line_function function;

	*names = (struct jit_names){.text = text};
	for (char *line; (line = lines_next(&text)); number++) {
		if (!lines_map(line, &function))
			continue;
		if (!vec_reserve(&names->list, &cap, names->n + 1)) {
			jit_free(names);
			return false;
		}
		names->list[names->n++] = (struct jit_name){.start = function.start,
		    .end = function.start + function.size,
		    .line = number,
		    .name = function.name};
	}
	if (names->n)
		qsort(names->list, names->n, sizeof(*names->list), jit_order);
	return true;
}

void jit_home_open(struct jit_home *home, uint32_t pid, uint32_t user)
{
	struct err ignored;
	char path[64];
	int root;

	*home = (struct jit_home){.pid = pid, .inner = pid, .tmp = -1, .user = user};
	snprintf(path, sizeof(path), "/proc/%u/root", (unsigned int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root >= 0) {
		/* If the kernel has both in memory, their file system is not asked. */
		home->tmp = regular_path(root, "tmp", RESOLVE_CACHED | RESOLVE_BENEATH);
		close(root);
	}
	if (!lines_inner_pid(pid, &home->inner, &ignored))
		home->inner = pid;
}

void jit_home_close(struct jit_home *home)
{
	if (home->tmp >= 0)
		close(home->tmp);
	home->tmp = -1;
}

/* One file. Anybody can write files for the processes of others into /tmp. */
static int jit_open_at(const struct jit_home *home, int folder, uint32_t pid)
{
	struct stat st;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "perf-%u.map", (unsigned int)pid);
	fd = openat(
	    folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == home->user))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int jit_open(const struct jit_home *home)
{
	int tmp, fd = home->tmp >= 0 ? jit_open_at(home, home->tmp, home->inner) : -1;

	if (fd >= 0)
		return fd;
	tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (tmp >= 0) {
		fd = jit_open_at(home, tmp, home->pid);
		close(tmp);
	}
	return fd;
}

bool jit_read(struct jit_names *names, int fd)
{
	struct err ignored;
	size_t size;
	char *text;

	*names = (struct jit_names){0};
	/* The text is the list's, also when memory runs out. */
	return lines_read_fd(fd, &text, &size, &ignored) && text &&
	       jit_parse(names, text);
}

void jit_free(struct jit_names *names)
{
	free(names->text);
	free(names->list);
	*names = (struct jit_names){0};
}

const char *jit_find(const struct jit_names *names, uint64_t address)
{
	const struct jit_name *best = NULL;
	size_t i = search_list_above(names->list, names->n, start, address);

	for (size_t back = 0; back < JIT_BACK && i > 0; back++) {
		const struct jit_name *name = &names->list[--i];

		if (address < name->end && (!best || name->line > best->line))
			best = name;
	}
	return best ? best->name : NULL;
}
