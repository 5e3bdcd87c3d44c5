/* SPDX-License-Identifier: MIT */
/* Reads files of lines that each name a function. */
#include "base/names/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

/* The kernel's has 15 MB, that of a large program with a compiler at run time 100. */
enum { LINES_MAX = 512 << 20 };

static bool lines_read_all(int fd, char **text, size_t *size, struct err *err)
{
	size_t cap = 0;
	ssize_t got;

	do {
		if (!vec_reserve(text, &cap, *size + 65536 + 1))
			return err_set_nomem(err);
		got = read(fd, *text + *size, cap - *size - 1);
		*size += got > 0 ? (size_t)got : 0;
	} while ((got > 0 && *size <= LINES_MAX) || (got < 0 && errno == EINTR));
	if (got != 0)
		*size = 0;
	(*text)[*size] = '\0';
	return true;
}

bool lines_read_fd(int fd, char **text, size_t *size, struct err *err)
{
	struct stat st;
	bool ok = true;

	*text = NULL;
	*size = 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= LINES_MAX)
		ok = lines_read_all(fd, text, size, err);
	if (*size == 0) {
		free(*text);
		*text = NULL;
	}
	return ok;
}

bool lines_read(const char *path, char **text, size_t *size, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	bool ok = lines_read_fd(fd, text, size, err);

	if (fd >= 0)
		close(fd);
	return ok;
}

bool lines_inner_pid(uint32_t pid, uint32_t *inner, struct err *err)
{
	char path[64], *text, *line;
	size_t size;

	*inner = pid;
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (!lines_read(path, &text, &size, err))
		return false;
	line = text ? strstr(text, "\nNSpid:") : NULL;
	if (line) {
		line[1 + strcspn(line + 1, "\n")] = '\0';
		line = strrchr(line, '\t');
		if (line && strtoul(line + 1, NULL, 10) > 0)
			*inner = (uint32_t)strtoul(line + 1, NULL, 10);
	}
	free(text);
	return true;
}

char *lines_next(char **text)
{
	char *line = *text, *end = line ? strchr(line, '\n') : NULL;

	if (end)
		*end++ = '\0';
	*text = end;
	return line;
}

/* A number in hexadecimal and a blank. strtoull also takes blanks and signs. */
static bool lines_number(char **at, uint64_t *value)
{
	char *start = *at;

	if (!*start || !strchr("0123456789abcdefABCDEF", *start))
		return false;
	*value = strtoull(start, at, 16);
	return *(*at)++ == ' ';
}

bool lines_kernel(char *line, struct line_function *function)
{
	char *tab;

	*function = (struct line_function){0};
	/* T, t, W and w are code. */
	if (!lines_number(&line, &function->start) || function->start == 0 || !*line ||
	    !strchr("TtWw", *line) || line[1] != ' ')
		return false;
	function->name = line + 2;
	tab = strchr(function->name, '\t');
	if (tab)
		*tab = '\0';
	return *function->name != '\0';
}

bool lines_map(char *line, struct line_function *function)
{
	*function = (struct line_function){0};
	if (!lines_number(&line, &function->start) ||
	    !lines_number(&line, &function->size) || function->size == 0 ||
	    function->size > UINT64_MAX - function->start)
		return false;
	function->name = line;
	return *line != '\0';
}
