/* SPDX-License-Identifier: MIT */
/* base/newfile.c: a file that is replaced in its place, where others can change the directory meanwhile. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/newfile.h"
#include "tests/unit/unit.h"

static struct err err;
static char folder[32];
static int dir;

static void put(const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(close(fd), 0);
}

static const char *get(const char *name)
{
	static char text[64];
	int fd = openat(dir, name, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* The name of a temporary file, or NULL. */
static const char *stray(void)
{
	static char name[256];
	DIR *stream = opendir(folder);
	const struct dirent *entry;
	bool found = false;

	while (!found && (entry = readdir(stream))) {
		snprintf(name, sizeof(name), "%s", entry->d_name);
		found = strncmp(name, ".eh2sframe", 10) == 0;
	}
	closedir(stream);
	return found ? name : NULL;
}

/* Opens the input, which is at the path of the first name. */
static struct newfile_input begin(const char *name, char path[64])
{
	struct newfile_input input;

	strcpy(folder, "/tmp/newfile-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	put(name, "old");
	snprintf(path, 64, "%s/%s", folder, name);
	input = (struct newfile_input){.fd = open(path, O_RDONLY)};
	ck_assert_int_eq(fstat(input.fd, &input.was), 0);
	return input;
}

static void end(const struct newfile_input *input)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
	close(input->fd);
	close(dir);
}

/* A link that is put in the place of the input is not followed. */
UNIT(link_in_its_place)
{
	struct newfile output;
	char path[64];
	struct newfile_input input = begin("a", path);

	input.names.n = 1;
	put("victim", "mine");
	ck_assert_int_eq(unlinkat(dir, "a", 0), 0);
	ck_assert_int_eq(symlinkat("victim", dir, "a"), 0);
	ck_assert(!newfile_begin(path, &input, NULL, &output, &err));
	ck_assert_str_eq(err.text, NEWFILE_CHANGED);
	ck_assert_str_eq(get("victim"), "mine");
	ck_assert_ptr_null(stray());
	/* A user can name it as output: it leads to a file that is replaced. */
	input.names.n = 0;
	ck_assert(newfile_begin(path, &input, NULL, &output, &err));
	newfile_abort(&output);
	/* Another file that has the name is as wrong. */
	ck_assert_int_eq(unlinkat(dir, "a", 0), 0);
	put("a", "other");
	input.names.n = 1;
	ck_assert(!newfile_begin(path, &input, NULL, &output, &err));
	ck_assert_str_eq(err.text, NEWFILE_CHANGED);
	end(&input);
}

UNIT(link_beside_its_name)
{
	struct newfile output;
	char path[64];
	struct newfile_input input = begin("b", path);

	ck_assert_int_eq(linkat(dir, "b", dir, "other name", 0), 0);
	ck_assert_int_eq(fstat(input.fd, &input.was), 0);
	input.names.n = 1;
	ck_assert(!newfile_begin(path, &input, NULL, &output, &err));
	ck_assert_int_eq(err.kind, ERR_UNSUPPORTED);
	end(&input);
}

/* Whoever can write to the directory of the first name puts another file there when the second is looked for. */
static int open_second(void *context, uint32_t k, const char **base, struct err *why)
{
	bool *exchanges = context;

	(void)why;
	if (k == 1 && *exchanges) {
		put("evil", "evil");
		ck_assert_int_eq(renameat(dir, "evil", dir, stray()), 0);
		*exchanges = false;
	}
	*base = k ? "second" : "first";
	return fcntl(dir, F_DUPFD_CLOEXEC, 0);
}

UNIT(another_temporary_file)
{
	bool exchanges = true;
	struct newfile output;
	char path[64];
	struct newfile_input input = begin("first", path);

	ck_assert_int_eq(linkat(dir, "first", dir, "second", 0), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(fstat(input.fd, &input.was), 0);
		input.names = (struct newfile_names){2, open_second, &exchanges};
		ck_assert(newfile_begin(path, &input, NULL, &output, &err));
		ck_assert(newfile_write_at(output.fd, "new", 3, 0, &err));
		ck_assert(newfile_commit(&output, &err) == (i == 1));
		newfile_abort(&output);
		ck_assert_str_eq(get("first"), i ? "new" : "old");
		ck_assert_str_eq(get("second"), i ? "new" : "old");
		ck_assert_ptr_null(stray());
	}
	end(&input);
}
