/* SPDX-License-Identifier: MIT */
#include "profile/jit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
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

void jit_home_open(struct jit_home *home, uint32_t pid)
{
	struct err ignored;
	struct stat st;
	char path[64];

	*home = (struct jit_home){.pid = pid, .inner = pid, .tmp = -1, .user = geteuid()};
	snprintf(path, sizeof(path), "/proc/%u/root/tmp", (unsigned int)pid);
	home->tmp = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!lines_inner_pid(pid, &home->inner, &ignored))
		home->inner = pid;
	snprintf(path, sizeof(path), "/proc/%u", (unsigned int)pid);
	if (stat(path, &st) == 0)
		home->user = st.st_uid;
}

void jit_home_close(struct jit_home *home)
{
	if (home->tmp >= 0)
		close(home->tmp);
	home->tmp = -1;
}

/* One place of the file. Anybody can write files for the processes of others into /tmp. */
static char *jit_text(const struct jit_home *home, const char *path)
{
	struct err ignored;
	struct stat st;
	char *text;
	size_t size;

	if (lstat(path, &st) != 0 || (st.st_uid != 0 && st.st_uid != home->user))
		return NULL;
	return lines_read(path, &text, &size, &ignored) ? text : NULL;
}

bool jit_read(struct jit_names *names, const struct jit_home *home)
{
	char path[96], *text = NULL;

	if (home->tmp >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d/perf-%u.map", home->tmp,
		    (unsigned int)home->inner);
		text = jit_text(home, path);
	}
	if (!text) {
		snprintf(path, sizeof(path), "/tmp/perf-%u.map", (unsigned int)home->pid);
		text = jit_text(home, path);
	}
	/* The text is the list's, also when memory runs out. */
	return text && jit_parse(names, text);
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
