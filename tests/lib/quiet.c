/* SPDX-License-Identifier: MIT */
/*
 * The library must leave alone the standard streams and everything that belongs to the
 * process.
 */
#include "tests/lib/lib.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_SIGNALS = 64 };

/* The parts of a process that a library could change. */
struct process {
	struct {
		void (*handler)(int);
		int flags;
		bool blocked;
	} signals[N_SIGNALS];
	mode_t mask;
	size_t n_fds;
	char locale[100], dir[400];
	struct rlimit limits[2];
	char **environment;
};

extern char **environ;

static size_t count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void look(struct process *process)
{
	sigset_t blocked;

	memset(process, 0, sizeof(*process));
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int i = 1; i < N_SIGNALS; i++) {
		struct sigaction action = {0};

		/* The C library opens some descriptors itself. */
		if (sigaction(i, NULL, &action) != 0)
			continue;
		process->signals[i].handler = action.sa_handler;
		process->signals[i].flags = action.sa_flags;
		process->signals[i].blocked = sigismember(&blocked, i) == 1;
	}
	process->mask = umask(022);
	umask(process->mask);
	process->n_fds = count_fds();
	snprintf(process->locale, sizeof(process->locale), "%s", setlocale(LC_ALL, NULL));
	if (!getcwd(process->dir, sizeof(process->dir)))
		*process->dir = '\0';
	getrlimit(RLIMIT_FSIZE, &process->limits[0]);
	getrlimit(RLIMIT_CORE, &process->limits[1]);
	process->environment = environ;
}

/*
 * Runs it with descriptors 1 and 2 in a file. Returns what was written there, and whether
 * the process stayed as it was.
 */
void test_quiet(void (*work)(void *context), void *context)
{
	static struct process before, after;
	int kept[2], to;
	struct bytes said;

	fflush(stdout);
	to = open(scratch_path("quiet"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (int i = 0; i < 2; i++) {
		kept[i] = fcntl(i + 1, F_DUPFD_CLOEXEC, 10);
		dup2(to, i + 1);
	}
	look(&before);
	work(context);
	fflush(NULL);
	look(&after);
	for (int i = 0; i < 2; i++) {
		dup2(kept[i], i + 1);
		close(kept[i]);
	}
	close(to);
	said = file_read(scratch_path("quiet"));
	check(said.size == 0, "nothing is printed: %zu bytes: %.*s", said.size,
	    (int)(said.size < 100 ? said.size : 100), said.data ? said.data : "");
	check(!memcmp(before.signals, after.signals, sizeof(before.signals)),
	    "no signal is handled or blocked");
	check(before.mask == after.mask, "the umask stays");
	check(before.n_fds == after.n_fds, "no descriptor stays open: %zu and %zu",
	    before.n_fds, after.n_fds);
	check(!strcmp(before.locale, after.locale), "the locale stays");
	check(!strcmp(before.dir, after.dir) && before.environment == after.environment &&
		  !memcmp(before.limits, after.limits, sizeof(before.limits)),
	    "directory, environment and limits stay");
	bytes_free(&said);
}
