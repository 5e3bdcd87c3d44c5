/* SPDX-License-Identifier: MIT */
#include "profile/jit.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "base/search.h"
#include "base/names/lines.h"

/* A file of so many bytes takes twice as many again. */
enum { JIT_MEMORY = 2047 << 20, JIT_SECONDS = 10 };

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

/* Finds the first address from i on that has no name, or n, and shortens the way for the next one. */
static size_t jit_unnamed(struct jit_name *list, size_t n, size_t i)
{
	while (i < n && list[i].name) {
		const size_t next = list[i].next;

		if (next < n && list[next].name)
			list[i].next = list[next].next;
		i = next;
	}
	return i;
}

void jit_find(struct jit_name *list, size_t n, char *text)
{
	char *end = text + strlen(text), *line, *before;
	struct line_function function;

	/* Goes from the last line to the first, so each address is named once: any number of lines can have all addresses. */
	do {
		before = memrchr(text, '\n', (size_t)(end - text));
		line = before ? before + 1 : text;
		*end = '\0';
		end = before;
		if (!lines_map(line, &function))
			continue;
		for (size_t i = jit_unnamed(
			 list, n, search_list_from(list, n, address, function.start));
		     i < n && list[i].address - function.start < function.size;
		     i = jit_unnamed(list, n, i)) {
			list[i].name = function.name;
			list[i].next = i + 1;
		}
	} while (end);
}

struct jit_work {
	struct jit_home home;
	const uint64_t *addresses;
	size_t n;
	int fd;
};

static void jit_work_open(void *context)
{
	struct jit_work *work = context;

	work->fd = jit_open(&work->home);
}

/* Answers with the name of each address, as text with its end; it is empty where there is none. */
static bool jit_work(void *context, int out)
{
	const struct jit_work *work = context;
	struct jit_name *list = calloc(work->n, sizeof(*list));
	struct err ignored;
	size_t size;
	char *text;
	bool ok = true;

	if (!list || !lines_read_fd(work->fd, &text, &size, &ignored) || !text)
		return true;
	for (size_t i = 0; i < work->n; i++)
		list[i].address = work->addresses[i];
	qsort(list, work->n, sizeof(*list), search_order);
	jit_find(list, work->n, text);
	for (size_t i = 0; ok && i < work->n; i++) {
		const char *name =
		    list[search_list_from(list, work->n, address, work->addresses[i])]
			.name;

		ok = apart_write(out, name ? name : "", name ? strlen(name) + 1 : 1);
	}
	return ok;
}

bool jit_ask(const struct jit_home *home, const uint64_t *addresses, size_t n,
    struct apart_answer *answer, struct err *err)
{
	struct jit_work work = {*home, addresses, n, -1};
	const struct apart_job job = {.files = &home->tmp,
	    .n_files = 1,
	    .open = jit_work_open,
	    .work = jit_work,
	    .context = &work,
	    .limits = {JIT_MEMORY, JIT_SECONDS},
	    .least = 1};

	work.home.tmp = home->tmp < 0 ? -1 : APART_FIRST_FILE;
	return apart_run(&job, answer, err);
}

const char *jit_text(const struct apart_answer *answer, size_t *at)
{
	const char *text, *end;

	if (*at >= answer->size)
		return NULL;
	text = (const char *)answer->bytes + *at;
	end = memchr(text, '\0', answer->size - *at);
	*at = end ? *at + (size_t)(end - text) + 1 : answer->size;
	return end && *text ? text : NULL;
}
