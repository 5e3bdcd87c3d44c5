/* SPDX-License-Identifier: MIT */
/* The command in process, on files in a directory of its own. */
#ifndef TESTS_FUZZ_SCENE_H
#define TESTS_FUZZ_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct scene {
	pid_t pid;
	char dir[200];
	char in[220], out[220], back[220];
	FILE *null;
	bool changes; /* others write to the files, which the command may say */
};

extern struct scene scene;

/* Makes the directory of this process, once; a forked child makes its own. */
void scene_open(void);
void scene_write(const char *path, const void *data, size_t size);
bool scene_file_is(const char *path, const void *data, size_t size);
bool scene_same(const char *a, const char *b); /* two files */

/*
 * One command line, words apart by blanks, then paths; its exit status. Only verify, check and
 * comparisons of reports may find that a proof fails: a conversion whose proof does is a bug, whatever the
 * file says. path2 may be NULL.
 */
int scene_command(const char *words, const char *path, const char *path2);
/* A command that writes OUT: all of it, or nothing. */
int scene_writes(const char *words, const char *in, const char *out);

#endif
