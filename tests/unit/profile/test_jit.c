/* SPDX-License-Identifier: MIT */
/* profile/jit.h: names of code that was made at run time, which its process writes. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/jit.h"
#include "tests/unit/unit.h"

/* A large number that a name of the process cannot have. */
UNIT(jit_lines)
{
	static const char text[] =
	    "1000 10 old\nnonsense\n1000 20 new name\n0x200 10 prefix\n"
	    "2000 0 empty\nffffffffffffffff 10 wraps\n-1 5 sign\n\n"
	    " 500 10 blank\n300 10\n3000 8 last";
	static const struct {
		uint64_t address;
		const char *name;
	} wanted[] = {{0, NULL}, {0x200, "prefix"}, {0x300, NULL}, {0x500, NULL},
	    {0xfff, NULL}, {0x100f, "new name"}, {0x100f, "new name"},
	    {0x101f, "new name"}, {0x1020, NULL}, {0x2000, NULL}, {0x3007, "last"},
	    {0x3008, NULL}, {UINT64_MAX, NULL}};
	enum { N = sizeof(wanted) / sizeof(*wanted) };
	struct jit_name names[N] = {{0}};
	char *copy = strdup(text);
	struct jit_home home;

	for (size_t i = 0; i < N; i++)
		names[i].address = wanted[i].address;
	jit_find(names, N, copy);
	for (size_t i = 0; i < N; i++)
		ck_assert_pstr_eq(names[i].name, wanted[i].name);
	free(copy);
	jit_home_open(&home, UINT32_MAX, getuid());
	ck_assert_int_eq(jit_open(&home), -1);
	jit_home_close(&home);
}

/* Another user's file in /tmp gives no names to a process. */
UNIT(jit_owner)
{
	char dir[] = "/tmp/jit-owner-XXXXXX", path[64];
	struct jit_home home = {.pid = UINT32_MAX, .inner = 7};
	char text[32] = "";
	FILE *file;
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/perf-7.map", dir);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("1000 10 name\n", file);
	fclose(file);
	ck_assert(getuid() != 0 || chown(path, 12345, 12345) == 0);
	home.user = getuid() == 0 ? 12345 : getuid();
	home.tmp = open(dir, O_PATH | O_DIRECTORY);
	fd = jit_open(&home);
	ck_assert_int_eq(read(fd, text, sizeof(text) - 1), 13);
	ck_assert_str_eq(text, "1000 10 name\n");
	close(fd);
	home.user++;
	ck_assert_int_eq(jit_open(&home), -1);
	jit_home_close(&home);
	unlink(path);
	rmdir(dir);
}
