/* SPDX-License-Identifier: MIT */
/* Landlock, by its system calls: libc has no functions for them. */
#include "base/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "config.h"

#if EH2SFRAME_LANDLOCK
#include <linux/landlock.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||               \
    __has_feature(memory_sanitizer)
#define SANDBOX_HAS_SANITIZER 1
#endif
#endif

#ifndef SANDBOX_HAS_SANITIZER
/* True if the loader was told to add code to each program, or to this one. */
static bool sandbox_preloaded(void)
{
	static const char *const names[] = {"LD_PRELOAD", "LD_AUDIT"};
	struct stat st;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return true;
	}
	return stat("/etc/ld.so.preload", &st) == 0 && st.st_size > 0;
}
#endif

/* Returns why this process could not work in a sandbox; 0 when it could. */
static int sandbox_obstacle(bool demanded)
{
#ifdef SANDBOX_HAS_SANITIZER
	(void)demanded;
	return SANDBOX_SANITIZER;
#else
	const char *preloaded = getenv("LD_PRELOAD");

	/* Valgrind translates code in this process, which needs memory that can be executed. */
	if (preloaded && strstr(preloaded, "/vgpreload_"))
		return SANDBOX_VALGRIND;
	return !demanded && sandbox_preloaded() ? SANDBOX_PRELOADED : 0;
#endif
}

struct sandbox_parts sandbox_parts(void)
{
	return (struct sandbox_parts){
	    .landlock = EH2SFRAME_LANDLOCK, .seccomp = EH2SFRAME_SECCOMP};
}

#if EH2SFRAME_LANDLOCK

/* Rights newer than the headers of Debian 12. The numbers are the kernel's. */
#define FS_REFER (UINT64_C(1) << 13)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define NET_ALL UINT64_C(3)
#define SCOPE_ALL UINT64_C(3)

enum {
	/* Version 1 forbids all links and renames from one directory to another. */
	LANDLOCK_LEAST = 2,
	LANDLOCK_TRUNCATE = 3,
	LANDLOCK_NET = 4,
	LANDLOCK_IOCTL_DEV = 5,
	LANDLOCK_SCOPE = 6
};

/* Rights that a rule can permit for a file. A directory takes all rights. */
#define FS_READ_FILE LANDLOCK_ACCESS_FS_READ_FILE
#define FS_WRITE_FILE (LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)
#define FS_READ (FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_WRITE                                                                         \
	(FS_READ | FS_WRITE_FILE | FS_REFER | LANDLOCK_ACCESS_FS_REMOVE_FILE |           \
	    LANDLOCK_ACCESS_FS_MAKE_REG)

/* Rules as in version 6; a kernel takes the beginning that it knows. */
struct landlock_rules {
	uint64_t files, net, scope;
};

/* The rights of files that this version knows. */
static uint64_t landlock_files(int version)
{
	uint64_t all = (UINT64_C(1) << 13) - 1 + FS_REFER;

	if (version >= LANDLOCK_TRUNCATE)
		all |= FS_TRUNCATE;
	if (version >= LANDLOCK_IOCTL_DEV)
		all |= FS_IOCTL_DEV;
	return all;
}

void sandbox_init(struct sandbox *box, bool demanded)
{
	struct landlock_rules rules = {0};
	size_t size = sizeof(rules.files);
	long version;

	*box = (struct sandbox){.ruleset = -1,
	    .no_landlock = sandbox_obstacle(demanded),
	    .demanded = demanded};
	if (box->no_landlock)
		return;
	version = syscall(__NR_landlock_create_ruleset, NULL, (size_t)0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	if (version < LANDLOCK_LEAST) {
		box->no_landlock = version < 0 ? errno : SANDBOX_OLD;
		return;
	}
	rules.files = landlock_files((int)version);
	if (version >= LANDLOCK_NET) {
		rules.net = NET_ALL;
		size = offsetof(struct landlock_rules, scope);
	}
	if (version >= LANDLOCK_SCOPE) {
		rules.scope = SCOPE_ALL;
		size = sizeof(rules);
	}
	box->version = (int)version;
	box->ruleset =
	    (int)syscall(__NR_landlock_create_ruleset, &rules, size, (uint32_t)0);
	if (box->ruleset < 0)
		box->no_landlock = errno;
}

void sandbox_allow(struct sandbox *box, int fd, const char *path, bool write)
{
	struct landlock_path_beneath_attr rule = {0};
	uint64_t rights = write ? FS_WRITE : FS_READ;
	struct stat st;
	int at;

	if (box->ruleset < 0)
		return;
	at = openat(fd, path, O_PATH | O_CLOEXEC);
	if (at < 0)
		return;
	if (fstat(at, &st) == 0 && !S_ISDIR(st.st_mode))
		rights &= FS_READ_FILE | FS_WRITE_FILE;
	rule.allowed_access = rights & landlock_files(box->version);
	rule.parent_fd = at;
	if (syscall(__NR_landlock_add_rule, box->ruleset, LANDLOCK_RULE_PATH_BENEATH,
		&rule, (uint32_t)0) < 0 &&
	    errno != EBADFD) {
		/* EBADFD: a pipe, say, which no rule is about. A set that is not
		 * complete would refuse what the work needs. */
		box->no_landlock = errno;
		close(box->ruleset);
		box->ruleset = -1;
	}
	close(at);
}

/* Returns 0, or why not. */
static int sandbox_limit_files(const struct sandbox *box)
{
	if (box->ruleset < 0)
		return box->no_landlock;
	return syscall(__NR_landlock_restrict_self, box->ruleset, (uint32_t)0) < 0 ? errno
										   : 0;
}

#else

void sandbox_init(struct sandbox *box, bool demanded)
{
	int obstacle = sandbox_obstacle(demanded);

	*box = (struct sandbox){.ruleset = -1,
	    .no_landlock = obstacle ? obstacle : SANDBOX_NOT_BUILT,
	    .demanded = demanded};
}

void sandbox_allow(struct sandbox *box, int fd, const char *path, bool write)
{
	(void)box;
	(void)fd;
	(void)path;
	(void)write;
}

static int sandbox_limit_files(const struct sandbox *box)
{
	return box->no_landlock;
}

#endif

void sandbox_deinit(struct sandbox *box)
{
	if (box->ruleset >= 0)
		close(box->ruleset);
	box->ruleset = -1;
}

void sandbox_enter(const struct sandbox *box, struct sandbox_state *state)
{
	int obstacle = sandbox_obstacle(box->demanded);

	*state = (struct sandbox_state){.tried = true};
	/* Without no_new_privs the kernel takes no filter from a process without privileges. */
	if (!obstacle && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		obstacle = errno;
	state->no_landlock = obstacle ? obstacle : sandbox_limit_files(box);
	state->landlock = state->no_landlock ? 0 : box->version;
	state->no_seccomp = obstacle ? obstacle : sandbox_limit_calls(box->reads);
}

static const char *sandbox_why(int why)
{
	switch (why) {
	case SANDBOX_NOT_BUILT:
		return "this program was built without it";
	case SANDBOX_SANITIZER:
		return "this program was built with a sanitizer, which needs more";
	case SANDBOX_VALGRIND:
		return "Valgrind needs more";
	case SANDBOX_PRELOADED:
		return "LD_PRELOAD or the like adds code that may need more";
	case SANDBOX_OLD:
		return "the kernel has version 1, which forbids hard links";
	case ENOSYS:
		return "the kernel does not have it";
	default:
		return strerror(why);
	}
}

void sandbox_text(const struct sandbox_state *state, char text[SANDBOX_TEXT_SIZE])
{
	const bool landlock = !state->no_landlock, seccomp = !state->no_seccomp;

	if (landlock && seccomp)
		snprintf(text, SANDBOX_TEXT_SIZE, "sandbox: Landlock %d and seccomp",
		    state->landlock);
	else if (landlock)
		snprintf(text, SANDBOX_TEXT_SIZE, "sandbox: Landlock %d; no seccomp: %s",
		    state->landlock, sandbox_why(state->no_seccomp));
	else if (seccomp)
		snprintf(text, SANDBOX_TEXT_SIZE, "sandbox: seccomp; no Landlock: %s",
		    sandbox_why(state->no_landlock));
	else if (state->no_landlock == state->no_seccomp)
		snprintf(text, SANDBOX_TEXT_SIZE, "no sandbox: %s",
		    sandbox_why(state->no_landlock));
	else
		snprintf(text, SANDBOX_TEXT_SIZE,
		    "no sandbox: no Landlock: %.60s; no seccomp: %.60s",
		    sandbox_why(state->no_landlock), sandbox_why(state->no_seccomp));
}

bool sandbox_whole(const struct sandbox_state *state, struct eh2sframe_error *err)
{
	char text[SANDBOX_TEXT_SIZE];

	if (state->tried && !state->no_landlock && !state->no_seccomp)
		return true;
	sandbox_text(state, text);
	return cmd_fail(err, EH2SFRAME_IO,
	    "--sandbox: nothing is done, because not all of it is possible here (%s); "
	    "--sandbox=auto does without",
	    text);
}
