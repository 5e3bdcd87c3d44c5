/* SPDX-License-Identifier: MIT */
/*
 * The sandbox from inside: children enter it and try what a worker never does. Calls that the work
 * needs must go on. Each attempt is also made without the sandbox, where it must succeed.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/sandbox/sandbox.h"
#include "tests/unit/unit.h"

static char top[] = "/tmp/sandbox.XXXXXX";
static char inside[64], outside[64], readable[64], old_file[96], other_file[96],
    debug_file[96];

/* How a child ends besides an errno of what it tried. */
enum { GOES = 0, NO_SANDBOX = 200 };

static void file_make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	ck_assert(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
}

static void places_make(void)
{
	strcpy(top, "/tmp/sandbox.XXXXXX");
	ck_assert(mkdtemp(top));
	snprintf(inside, sizeof(inside), "%s/inside", top);
	snprintf(outside, sizeof(outside), "%s/outside", top);
	snprintf(readable, sizeof(readable), "%s/readable", top);
	snprintf(old_file, sizeof(old_file), "%s/old", inside);
	snprintf(other_file, sizeof(other_file), "%s/other", outside);
	snprintf(debug_file, sizeof(debug_file), "%s/debug", readable);
	ck_assert(mkdir(inside, 0700) == 0 && mkdir(outside, 0700) == 0 &&
		  mkdir(readable, 0700) == 0);
}

static void places_fill(void)
{
	file_make(old_file);
	file_make(other_file);
	file_make(debug_file);
	chmod(other_file, 0600);
}

static void places_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert(system(command) == 0);
}

static int result(bool ok)
{
	return ok ? GOES : errno;
}

static int opened(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return GOES;
}

static void path_of(char path[128], const char *dir, const char *name)
{
	snprintf(path, 128, "%s/%s", dir, name);
}

/* Calls that the work needs. */
static int read_inside(void)
{
	return opened(old_file, O_RDONLY);
}
static int write_inside(void)
{
	return opened(old_file, O_RDWR);
}
static int read_debug(void)
{
	return opened(debug_file, O_RDONLY);
}
static int list_inside(void)
{
	return opened(inside, O_RDONLY | O_DIRECTORY);
}

static int replace_inside(void)
{
	char temp[128];
	int fd;

	path_of(temp, inside, ".eh2sframe.1");
	fd = open(temp, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return errno;
	return result(ftruncate(fd, 5) == 0 && pwrite(fd, "12345", 5, 0) == 5 &&
		      fchmod(fd, 0640) == 0 && fsync(fd) == 0 && close(fd) == 0 &&
		      rename(temp, old_file) == 0);
}

static int link_and_remove(void)
{
	char other[128];

	path_of(other, inside, "link");
	return result(
	    linkat(AT_FDCWD, old_file, AT_FDCWD, other, 0) == 0 && unlink(other) == 0);
}

static void *thread_main(void *argument)
{
	return argument;
}

static int start_thread(void)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, thread_main, NULL);
	if (!errno)
		errno = pthread_join(thread, NULL);
	return errno;
}

static int take_memory(void)
{
	void *large = malloc((size_t)64 << 20);
	void *map = mmap(
	    NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	free(large);
	return result(large && map != MAP_FAILED);
}

static int end_itself(void)
{
	signal(SIGTERM, SIG_DFL);
	return result(raise(SIGTERM) == 0);
}

/* Calls that the work does not need. */
static int read_outside(void)
{
	return opened(other_file, O_RDONLY);
}
static int write_outside(void)
{
	return opened(other_file, O_WRONLY);
}
static int write_debug(void)
{
	return opened(debug_file, O_RDWR);
}
static int empty_debug(void)
{
	return opened(debug_file, O_RDONLY | O_TRUNC);
}

static int make_outside(void)
{
	char path[128];

	path_of(path, outside, "new");
	return opened(path, O_WRONLY | O_CREAT);
}

static int rename_outside(void)
{
	char path[128];

	path_of(path, outside, "old");
	return result(rename(old_file, path) == 0);
}

static int remove_outside(void)
{
	return result(unlink(other_file) == 0);
}
static int link_from_outside(void)
{
	char path[128];

	path_of(path, inside, "stolen");
	return result(link(other_file, path) == 0);
}

static int make_directory(void)
{
	char path[128];

	path_of(path, inside, "dir");
	return result(mkdir(path, 0700) == 0);
}

static int make_link(void)
{
	char path[128];

	path_of(path, inside, "symlink");
	return result(symlink("/etc/passwd", path) == 0);
}

static int make_device(void)
{
	char path[128];

	path_of(path, inside, "fifo");
	return result(mknod(path, S_IFIFO | 0600, 0) == 0);
}

static int change_mode(void)
{
	return result(chmod(other_file, 04755) == 0);
}
static int change_attribute(void)
{
	return result(
	    setxattr(other_file, "user.x", "1", 1, 0) == 0 || errno == EOPNOTSUPP);
}

static int run_program(void)
{
	execl("/bin/true", "true", (char *)NULL);
	return errno;
}

static int make_process(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	return result(child > 0 && waitpid(child, NULL, 0) == child);
}

static int open_socket(void)
{
	return result(socket(AF_INET, SOCK_STREAM, 0) >= 0);
}
static int open_local_socket(void)
{
	return result(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}
static int be_traced(void)
{
	return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
}
static int send_signal(void)
{
	return result(kill(getppid(), 0) == 0);
}
static int send_thread_signal(void)
{
	return result(syscall(SYS_tgkill, getppid(), getppid(), 0) == 0);
}

static int make_code(void)
{
	return result(mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

static int make_executable(void)
{
	void *map =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return result(mprotect(map, 4096, PROT_READ | PROT_EXEC) == 0);
}

static int change_user(void)
{
	return result(setuid(getuid()) == 0);
}
static int send_typed(void)
{
	int fd = open(debug_file, O_RDONLY);

	/* F_SETOWN: the process that gets signals for the descriptor. */
	return result(fd >= 0 && fcntl(fd, F_SETOWN, getppid()) == 0);
}

static const struct attempt {
	const char *name;
	int (*try)(void);
	int sig; /* that ends the child; 0: it goes on */
	bool works;
	bool landlock; /* Landlock alone forbids it */
} attempts[] = {
    {"read a file of the tree", read_inside, 0, true, false},
    {"write to a file of the tree", write_inside, 0, true, false},
    {"read a debug file", read_debug, 0, true, false},
    {"open a directory of the tree", list_inside, 0, true, false},
    {"replace a file of the tree", replace_inside, 0, true, false},
    {"link and remove in the tree", link_and_remove, 0, true, false},
    {"start a thread", start_thread, 0, true, false},
    {"take memory", take_memory, 0, true, false},
    {"end itself by a signal", end_itself, SIGTERM, true, false},
    {"read outside", read_outside, 0, false, true},
    {"write outside", write_outside, 0, false, true},
    {"make a file outside", make_outside, 0, false, true},
    {"move a file out", rename_outside, 0, false, true},
    {"remove outside", remove_outside, 0, false, true},
    {"link a file from outside", link_from_outside, 0, false, false},
    {"write to a debug file", write_debug, 0, false, true},
    {"empty a debug file by reading it", empty_debug, 0, false, false},
    {"make a directory", make_directory, 0, false, false},
    {"make a symbolic link", make_link, SIGSYS, false, false},
    {"make a pipe with a name", make_device, SIGSYS, false, false},
    {"change a mode by name", change_mode, SIGSYS, false, false},
    {"change an attribute by name", change_attribute, SIGSYS, false, false},
    {"run a program", run_program, SIGSYS, false, false},
    {"make a process", make_process, SIGSYS, false, false},
    {"open a socket", open_socket, SIGSYS, false, false},
    {"open a local socket", open_local_socket, SIGSYS, false, false},
    {"be traced", be_traced, SIGSYS, false, false},
    {"send a signal to the pool", send_signal, SIGSYS, false, false},
    {"send a signal to a thread of it", send_thread_signal, 0, false, false},
    {"map code that can be written to", make_code, 0, false, false},
    {"make memory executable", make_executable, 0, false, false},
    {"change the user", change_user, SIGSYS, false, false},
    {"have signals sent", send_typed, 0, false, false},
};

/* Enters the sandbox unless it is for comparison. Returns the status of waitpid. */
static int attempt_run(
    const struct attempt *attempt, bool sandboxed, int *no_landlock, int *no_seccomp)
{
	struct sandbox_state *state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t child;

	ck_assert(state != MAP_FAILED);
	places_fill();
	child = fork();
	if (child == 0) {
		struct sandbox box;

		sandbox_init(&box, true);
		sandbox_allow(&box, AT_FDCWD, inside, true);
		sandbox_allow(&box, AT_FDCWD, readable, false);
		sandbox_allow(&box, AT_FDCWD, "/nowhere/at/all", false);
		if (sandboxed)
			sandbox_enter(&box, state);
		sandbox_deinit(&box);
		_exit(attempt->try());
	}
	ck_assert(child > 0 && waitpid(child, &status, 0) == child);
	*no_landlock = state->no_landlock;
	*no_seccomp = state->no_seccomp;
	munmap(state, sizeof(*state));
	return status;
}

static void attempt_check(const struct attempt *attempt)
{
	int no_landlock, no_seccomp, status, free_status;

	free_status = attempt_run(attempt, false, &no_landlock, &no_seccomp);
	ck_assert_msg(attempt->works
			  ? true
			  : WIFEXITED(free_status) && WEXITSTATUS(free_status) == GOES,
	    "%s: already impossible without a sandbox: status 0x%x", attempt->name,
	    free_status);
	status = attempt_run(attempt, true, &no_landlock, &no_seccomp);
	if (!attempt->works && (attempt->landlock ? no_landlock : no_seccomp)) {
		printf("# SKIP %s: this part of the sandbox is not possible here\n",
		    attempt->name);
		return;
	}
	if (attempt->sig)
		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == attempt->sig,
		    "%s: status 0x%x", attempt->name, status);
	else
		ck_assert_msg(
		    WIFEXITED(status) && (WEXITSTATUS(status) == GOES) == attempt->works,
		    "%s: status 0x%x", attempt->name, status);
}

UNIT_EACH(all_attempts, attempts)
{
	places_make();
	attempt_check(&attempts[_i]);
	places_remove();
}

/* Words for each state, and that only a whole sandbox passes for one. */
UNIT(words)
{
	static const struct {
		struct sandbox_state state;
		const char *text;
	} cases[] = {
	    {{true, 7, 0, 0}, "sandbox: Landlock 7 and seccomp"},
	    {{true, 3, 0, SANDBOX_NOT_BUILT},
		"sandbox: Landlock 3; no seccomp: this program was built without it"},
	    {{true, 0, ENOSYS, 0},
		"sandbox: seccomp; no Landlock: the kernel does not have it"},
	    {{true, 0, SANDBOX_OLD, 0}, "sandbox: seccomp; no Landlock: the kernel has "
					"version 1, which forbids hard links"},
	    {{true, 0, SANDBOX_VALGRIND, SANDBOX_VALGRIND},
		"no sandbox: Valgrind needs more"},
	    {{true, 0, ENOSYS, EPERM}, "no sandbox: no Landlock: the kernel does not "
				       "have it; no seccomp: Operation not "
				       "permitted"},
	};
	struct sandbox_state untried = {0};
	struct eh2sframe_error err;
	char text[SANDBOX_TEXT_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sandbox_text(&cases[i].state, text);
		ck_assert_str_eq(text, cases[i].text);
		ck_assert(sandbox_whole(&cases[i].state, &err) == (i == 0));
		ck_assert(
		    i == 0 || (err.status == EH2SFRAME_IO && strstr(err.text, text)));
	}
	ck_assert(!sandbox_whole(&untried, &err));
}
