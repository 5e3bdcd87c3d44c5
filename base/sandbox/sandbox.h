/* SPDX-License-Identifier: MIT */
/*
 * The sandbox (SECURITY.md): a process that reads files of others gives up what it does not need.
 * Landlock limits the files that it can open, seccomp the system calls. Open descriptors stay as
 * they are, so close them before. Neither can be taken back.
 */
#ifndef BASE_SANDBOX_SANDBOX_H
#define BASE_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/program/fail.h"

/* Why a part is not in force, besides the numbers of errno. */
enum {
	SANDBOX_NOT_BUILT = -1,
	SANDBOX_SANITIZER = -2,
	SANDBOX_VALGRIND = -3,
	SANDBOX_OLD = -4,
	SANDBOX_PRELOADED = -5
};

/* State of both parts. A part is in force if there is no reason against it. */
struct sandbox_state {
	bool tried;
	int landlock;		     /* its version; 0: not in force */
	int no_landlock, no_seccomp; /* why not; 0: in force */
};

/* Parts of the sandbox that this build has. */
struct sandbox_parts {
	bool landlock, seccomp;
};

struct sandbox_parts sandbox_parts(void);

/* Files and rights that the process keeps, collected before it enters the sandbox. */
struct sandbox {
	int ruleset; /* of Landlock; -1: none */
	int version; /* of Landlock */
	int no_landlock;
	bool demanded;
	bool reads; /* open files, and changes and opens none */
};

/* Begins with nothing. Free it with sandbox_deinit. Code that the loader adds to this process, such as
 * fakeroot's, may need any system call: with it there is a sandbox only where it is demanded. */
void sandbox_init(struct sandbox *box, bool demanded);
void sandbox_deinit(struct sandbox *box);

/* Permits to read a directory and all below it, or a file; with write, also to write, make, rename and remove
 * there. fd is where a relative path begins, or AT_FDCWD. A path that does not exist needs no permission. */
void sandbox_allow(struct sandbox *box, int fd, const char *path, bool write);

/* Enters the sandbox as far as possible. There may be no other thread. */
void sandbox_enter(const struct sandbox *box, struct sandbox_state *state);

/* True if both parts are in force; otherwise *err says what is missing. */
bool sandbox_whole(const struct sandbox_state *state, struct eh2sframe_error *err);

/* A line for -v. */
enum { SANDBOX_TEXT_SIZE = 200 };
void sandbox_text(const struct sandbox_state *state, char text[SANDBOX_TEXT_SIZE]);

/* Enters the part of the system calls alone. Returns 0, or why not. For sandbox_enter. */
int sandbox_limit_calls(bool reads);

#endif
