/* SPDX-License-Identifier: MIT */
/*
 * run_test FILE COMMAND...: runs one test in the same surroundings everywhere, and appends what it cost to FILE.
 * meson starts every test through it, so that no test has to undo what the caller's shell, terminal, nohup or
 * locale left behind. A line of FILE: the run of meson, processor seconds, wall seconds, the command; by tabs.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 16 * 1024 };

/* Returns the field of /proc/PID/stat that tells when the process began, so that a PID used again is another run. */
static unsigned long long began(pid_t pid)
{
	char path[64];
	char text[1024];
	unsigned long long when = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *file = fopen(path, "r");
	if (!file)
		return 0;
	size_t n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	/* The name in parentheses can have spaces; 20 fields follow it up to this one. */
	char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		when = strtoull(at, NULL, 10);
	return when;
}

/*
 * Puts scratch directories into memory where there is room, unless the caller names a place: a conversion syncs what it
 * writes, and a disk takes some ten milliseconds for that.
 */
static void scratch_in_memory(void)
{
	static const unsigned long long room = 2ULL << 30;
	struct statvfs at;

	if (statvfs("/dev/shm", &at) == 0 && !(at.f_flag & (ST_NOEXEC | ST_RDONLY)) &&
	    access("/dev/shm", W_OK) == 0 &&
	    (unsigned long long)at.f_bavail * at.f_frsize >= room)
		setenv("TMPDIR", "/dev/shm", 0);
}

/* Lets the distribution's programs win over others of their names, which the caller may have. */
static void system_first(void)
{
	static const char *const places =
	    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	static char path[LINE];
	const char *theirs = getenv("PATH");

	snprintf(path, sizeof(path), "%s%s%s", places, theirs ? ":" : "",
	    theirs ? theirs : "");
	setenv("PATH", path, 1);
}

/* Soft limits as a login has them: an unlimited stack changes where files are mapped, and core files take time. */
static void same_limits(void)
{
	static const struct {
		int which;
		rlim_t soft;
	} limits[] = {{RLIMIT_STACK, 8 << 20}, {RLIMIT_NOFILE, 1024}, {RLIMIT_CORE, 0},
	    {RLIMIT_FSIZE, RLIM_INFINITY}, {RLIMIT_CPU, RLIM_INFINITY},
	    {RLIMIT_DATA, RLIM_INFINITY}, {RLIMIT_AS, RLIM_INFINITY}};
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (getrlimit(limits[i].which, &limit) != 0)
			continue;
		limit.rlim_cur =
		    limits[i].soft < limit.rlim_max ? limits[i].soft : limit.rlim_max;
		setrlimit(limits[i].which, &limit);
	}
}

/* Compilers keep things at home. A user who has none, as of a service, gets one beside the file of costs. */
static void some_home(const char *costs)
{
	const char *home = getenv("HOME"), *slash = strrchr(costs, '/');
	char path[4096];

	if (home && access(home, W_OK | X_OK) == 0)
		return;
	snprintf(
	    path, sizeof(path), "%.*shome", slash ? (int)(slash + 1 - costs) : 0, costs);
	mkdir(path, 0700);
	setenv("HOME", path, 1);
}

/* Unsets variables that change what programs do and that a test has not set; a name with a star is a beginning. */
static void forget_theirs(void)
{
	static const char *const theirs[] = {"LANG", "LANGUAGE", "LC_*", "COLUMNS",
	    "LINES", "NO_COLOR", "CLICOLOR_FORCE", "GCC_COLORS", "GREP_COLORS",
	    "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CC", "CXX", "CFLAGS", "CPPFLAGS",
	    "CXXFLAGS", "LDFLAGS", "GOFLAGS", "RUSTFLAGS", "DESTDIR", "XDG_*",
	    "DEBUGINFOD_URLS", "SOURCE_DATE_EPOCH", "DEB_BUILD_OPTIONS", "GIT_*",
	    "CDPATH", "POSIXLY_CORRECT", "BASH_ENV", "ENV", "GZIP", "XZ_OPT",
	    "TAR_OPTIONS", "TZ", "DISPLAY", "LD_PRELOAD", "LD_BIND_NOW", "GLIBC_TUNABLES",
	    "EH2SFRAME*", "CCACHE_*"};

	for (char **at = environ; *at;) {
		size_t i = 0, n = sizeof(theirs) / sizeof(theirs[0]);
		size_t name = strcspn(*at, "=");

		for (; i < n; i++) {
			size_t size = strcspn(theirs[i], "*");
			if ((theirs[i][size] ? name >= size : name == size) &&
			    !memcmp(*at, theirs[i], size))
				break;
		}
		if (i == n) {
			at++;
			continue;
		}
		char *variable = strndup(*at, name);
		if (!variable || unsetenv(variable) != 0)
			_exit(99);
		free(variable);
		at = environ;
	}
}

static void same_surroundings(void)
{
	sigset_t none;

	forget_theirs();
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("TERM", "dumb", 1);
	system_first();
	scratch_in_memory();
	umask(022);
	same_limits();
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Files that the caller has open beyond 0 to 2 are not the test's, and nobody types what a test
	 * reads. */
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	close(STDIN_FILENO);
	if (open("/dev/null", O_RDONLY) != STDIN_FILENO)
		_exit(99);
}

/* One write, so that lines of tests that end at once stay whole. */
static void add_line(
    const char *path, const char *run, double used, double wall, char **command)
{
	static char line[LINE];
	int n = snprintf(line, sizeof(line), "%s\t%.2f\t%.2f", run, used, wall);

	for (; *command && n < LINE - 2; command++)
		n += snprintf(line + n, (size_t)(LINE - n), "\t%s", *command);
	n = n < LINE - 2 ? n : LINE - 2;
	line[n++] = '\n';
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		fprintf(stderr, "run_test: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec start;
	struct timespec end;
	struct rusage used;
	int status;
	char run[64];

	if (argc < 3)
		return 99;
	snprintf(run, sizeof(run), "%d.%llu", getppid(), began(getppid()));
	clock_gettime(CLOCK_MONOTONIC, &start);
	/* Where this is ignored, no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	pid_t child = fork();
	if (child == 0) {
		same_surroundings();
		some_home(argv[1]);
		setenv("TEST_RUN", run, 1);
		execvp(argv[2], argv + 2);
		fprintf(stderr, "run_test: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (child < 0) {
		perror("run_test: fork");
		return 99;
	}
	while (wait4(child, &status, 0, &used) < 0)
		if (errno != EINTR)
			return 99;
	clock_gettime(CLOCK_MONOTONIC, &end);
	add_line(argv[1], run, seconds(used.ru_utime) + seconds(used.ru_stime),
	    (double)(end.tv_sec - start.tv_sec) +
		(double)(end.tv_nsec - start.tv_nsec) / 1e9,
	    argv + 2);
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	/* meson names the signal that ended a test; no second core file. */
	struct rlimit no_core = {0, 0};
	setrlimit(RLIMIT_CORE, &no_core);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 99;
}
