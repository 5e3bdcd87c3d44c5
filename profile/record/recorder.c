/* SPDX-License-Identifier: MIT */
#include "profile/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/regular.h"
#include "profile/record/proc.h"

/* Room for the samples that come while a large file is converted. */
enum { RECORDER_QUEUE = 128 << 20 };
/* A record younger than this can still have older ones come after it, of other processors. */
#define RECORDER_MARGIN UINT64_C(5000000)
/* How long a record may stay in a ring that is not half full. */
enum { RECORDER_WAIT_MS = 250 };

static uint64_t recorder_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The arguments with spaces between them. */
static bool recorder_describe_command(
    struct recorder *recorder, char **text, struct err *err)
{
	const struct record_args *args = recorder->args;
	char number[32] = "-a", *joined;
	size_t size = 1;

	if (args->pid)
		snprintf(number, sizeof(number), "-p %d", (int)args->pid);
	if (!args->command)
		return profile_set_text(text, number, err);
	for (char **arg = args->command; *arg; arg++)
		size += strlen(*arg) + 1;
	joined = calloc(size, 1);
	if (!joined)
		return err_set_nomem(err);
	for (char **arg = args->command; *arg; arg++) {
		strcat(joined, *arg);
		if (arg[1])
			strcat(joined, " ");
	}
	free(*text);
	*text = joined;
	return true;
}

static bool recorder_describe(struct recorder *recorder, struct err *err)
{
	struct profile_info *info = &recorder->profile.info;
	const struct record_args *args = recorder->args;
	struct utsname name;

	uname(&name);
	info->machine = unwinder_machine();
	info->frequency = args->frequency;
	info->start = recorder_clock(CLOCK_REALTIME);
	info->monotonic = recorder_clock(CLOCK_MONOTONIC);
	info->raw = args->raw;
	if (info->machine == 0)
		return err_set(
		    err, ERR_UNSUPPORTED, "stacks of this machine cannot be walked");
	return profile_set_text(
		   &info->event, args->cycles ? "cycles" : "cpu-clock", err) &&
	       profile_set_text(&info->unit, args->cycles ? "cycles" : "ns", err) &&
	       profile_set_text(&info->host, name.nodename, err) &&
	       profile_set_text(&info->release, name.release, err) &&
	       recorder_describe_command(recorder, &info->command, err);
}

/* The vDSO is a part of the kernel; its file is nowhere. */
static void recorder_vdso(struct unwinder *unwinder)
{
	unsigned long at = getauxval(AT_SYSINFO_EHDR);
	unsigned long long start, end;
	char line[512];
	FILE *file = at ? fopen("/proc/self/maps", "re") : NULL;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx-%llx", &start, &end) == 2 && start == at) {
			unwinder->vdso = (const uint8_t *)at;
			unwinder->vdso_size = end - start;
		}
	if (file)
		fclose(file);
}

/* A raw recording needs it, as the program that reads it may run elsewhere. */
static bool recorder_add_vdso(struct recorder *recorder, struct err *err)
{
	char path[] = "[vdso]";
	struct profile_module module = {.path = path,
	    .image = (uint8_t *)(uintptr_t)recorder->unwinder.vdso,
	    .image_size = recorder->unwinder.vdso_size};
	struct facts facts;
	uint32_t index;

	if (!recorder->args->raw || !module.image ||
	    !facts_read_memory(module.image, module.image_size, &facts, err))
		return true;
	module.build_id_size = facts.build_id_size;
	memcpy(module.build_id, facts.build_id, facts.build_id_size);
	return profile_add_module(&recorder->profile, &module, &index, err);
}

/* The file of the recording, which is for its user alone: stacks have the contents of memory. */
static bool recorder_output(struct recorder *recorder, struct err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;
	const char *path = recorder->args->output;
	struct stat st;

	if (strcmp(path, "-") == 0)
		recorder->fd = STDOUT_FILENO;
	else
		recorder->fd = open(path, flags | O_EXCL, 0600);
	recorder->is_fresh = recorder->fd >= 0 && recorder->fd != STDOUT_FILENO;
	/* An older recording stays until there is a new one. */
	if (recorder->fd < 0)
		recorder->fd = open(path, flags | regular_no_link(path), 0600);
	if (recorder->fd < 0 && errno == ELOOP)
		return err_set(err, ERR_IO,
		    "%s: it is a symbolic link; name the file that it leads to", path);
	if (recorder->fd < 0)
		return err_set_errno(err, "%s: opening the recording failed", path);
	if (recorder->fd == STDOUT_FILENO && isatty(STDOUT_FILENO))
		return err_set(err, ERR_USAGE,
		    "a recording is not for a terminal; name a file with -o");
	/* A shell has made standard output. */
	return recorder->fd == STDOUT_FILENO || regular_no_link(path) == 0 ||
	       fstat(recorder->fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	       (st.st_mode & 0077) == 0 || fchmod(recorder->fd, 0600) == 0 ||
	       err_set_errno(err,
		   "%s: others can read it, and it cannot be made yours alone", path);
}

static bool recorder_open_thread(void *context, pid_t tid)
{
	struct recorder *recorder = context;

	return perf_open(
	    &recorder->perf, tid, false, &recorder->denied, &recorder->walk_err);
}

/* Events for what is recorded. They see it from now on. */
static bool recorder_open_events(struct recorder *recorder, struct err *err)
{
	const struct record_args *args = recorder->args;
	char path[64];

	if (args->all)
		return perf_open(
		    &recorder->perf, PERF_WHOLE_SYSTEM, false, &recorder->denied, err);
	if (args->command)
		return recorder_command(recorder, err) &&
		       perf_open(&recorder->perf, recorder->child, true,
			   &recorder->denied, err);
	snprintf(path, sizeof(path), "/proc/%d/task", (int)args->pid);
	/* It tells of the end, also while the parent has not asked for it. Linux 5.3. */
	recorder->process = (int)syscall(SYS_pidfd_open, args->pid, 0);
	if (access(path, F_OK) != 0)
		return err_set_errno(err, "process %d", (int)args->pid);
	recorder->walk_err.kind = ERR_NONE;
	if (!proc_list(path, recorder_open_thread, recorder) &&
	    recorder->walk_err.kind != ERR_NONE) {
		*err = recorder->walk_err;
		return false;
	}
	return recorder->perf.n_fds > 0 ||
	       err_set(err, ERR_IO, "process %d: it has ended", (int)args->pid);
}

/* Each thread has an event for each processor. */
static void recorder_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

bool recorder_begin(
    struct recorder *recorder, const struct record_args *args, struct err *err)
{
	struct perf_wish wish = {.cycles = args->cycles,
	    .user = args->user,
	    .frequency = args->frequency,
	    .stack_size = args->stack_size};
	sigset_t signals;

	*recorder = (struct recorder){.args = args,
	    .fd = -1,
	    .signals = -1,
	    .process = -1,
	    .start = {-1, -1},
	    .failure = {-1, -1}};
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &recorder->mask);
	recorder->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signals < 0)
		return err_set_errno(err, "signalfd failed");
	if (!profile_init(&recorder->profile, err) || !recorder_describe(recorder, err))
		return false;
	wish.registers =
	    unwinder_register_mask((enum profile_machine)recorder->profile.info.machine);
	perf_begin(&recorder->perf, &wish);
	if (!args->command)
		recorder_raise_limit();
	if (!recorder_open_events(recorder, err) || !perf_ready(&recorder->perf, err) ||
	    !unwinder_begin(&recorder->unwinder, &recorder->profile, err))
		return false;
	recorder->unwinder.guess = args->guess;
	recorder->unwinder.kernel = kernel_names_find;
	recorder->unwinder.kernel_context = &recorder->kernel_names;
	recorder_vdso(&recorder->unwinder);
	return recorder_add_vdso(recorder, err) && recorder_output(recorder, err) &&
	       queue_begin(&recorder->queue, RECORDER_QUEUE, err);
}

/* A record that was made here. */
static bool recorder_put(void *context, const uint8_t *bytes, size_t size)
{
	struct recorder *recorder = context;
	uint8_t *room = queue_room(&recorder->queue, size, true);

	if (!room)
		return false;
	memcpy(room, bytes, size);
	queue_put(&recorder->queue, size);
	return true;
}

/* Moves records from the rings to the queue. wait: also when the queue is full. false: the
 * walker has ended. */
static bool recorder_drain(struct recorder *recorder, uint64_t limit, bool wait)
{
	struct perf *perf = &recorder->perf;
	size_t n_registers = (size_t)__builtin_popcountll(perf->attr.sample_regs_user);
	struct perf_ring *ring;
	const uint8_t *bytes;
	size_t size;

	perf_look(perf);
	while ((bytes = perf_next(perf, limit, &ring, &size))) {
		uint8_t *room = queue_room(&recorder->queue, size, wait);

		if (!room)
			return !queue_is_closed(&recorder->queue);
		queue_put(&recorder->queue, event_copy(room, bytes, size, n_registers));
		perf_done(ring, size);
	}
	return true;
}

/* Whether the command has just ended. */
static bool recorder_child_ended(struct recorder *recorder)
{
	if (recorder->child <= 0 ||
	    waitpid(recorder->child, &recorder->status, WNOHANG) == 0)
		return false;
	recorder->child = 0;
	return true;
}

bool recorder_signals(struct recorder *recorder, unsigned int *interrupts)
{
	struct signalfd_siginfo info;
	bool ends = recorder_child_ended(recorder);

	while (read(recorder->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			ends |= recorder_child_ended(recorder);
			continue;
		}
		/* The terminal interrupts the command, too. Other signals are passed on to it. */
		if (recorder->child > 0 && info.ssi_signo != SIGINT)
			kill(recorder->child, (int)info.ssi_signo);
		if (recorder->child <= 0 || ++*interrupts > 1)
			ends = true;
	}
	return ends;
}

static bool recorder_pid_ended(const struct recorder *recorder)
{
	struct pollfd one = {.fd = recorder->process, .events = POLLIN};

	if (recorder->process >= 0)
		return poll(&one, 1, 0) > 0;
	return recorder->args->pid && kill(recorder->args->pid, 0) != 0 && errno == ESRCH;
}

/* Empties the rings until the recording ends. */
static void recorder_loop(struct recorder *recorder)
{
	struct perf *perf = &recorder->perf;
	double duration = recorder->args->duration;
	uint64_t end = duration > 0 && duration < 1e9
			   ? recorder_clock(CLOCK_MONOTONIC) + (uint64_t)(duration * 1e9)
			   : UINT64_MAX;
	unsigned int interrupts = 0;
	bool ends = false;

	perf->polls[perf->n_rings] =
	    (struct pollfd){.fd = recorder->signals, .events = POLLIN};
	while (!ends) {
		uint64_t now = recorder_clock(CLOCK_MONOTONIC);
		int wait = RECORDER_WAIT_MS;

		if (now >= end)
			return;
		if (end - now < (uint64_t)wait * 1000000)
			wait = (int)((end - now) / 1000000) + 1;
		poll(perf->polls, perf->n_rings + 1, wait);
		/* The thread of an event has ended: its ring would wake this one all the time. */
		for (size_t i = 0; i < perf->n_rings; i++)
			if (perf->polls[i].revents & (POLLHUP | POLLERR))
				perf->polls[i].fd = -1;
		ends = recorder_signals(recorder, &interrupts) ||
		       recorder_pid_ended(recorder);
		now = recorder_clock(CLOCK_MONOTONIC);
		if (!recorder_drain(recorder, now - RECORDER_MARGIN, false))
			return;
	}
}

/* What runs already. Its records come first, whenever it was mapped. */
static bool recorder_known(struct recorder *recorder)
{
	const struct record_args *args = recorder->args;

	/* The kernel tells all that a command does. */
	if (args->command)
		return true;
	return args->all ? proc_all(recorder_put, recorder)
			 : proc_process(args->pid, recorder_put, recorder);
}

/* Begins the recording, now that there is something to record. */
static bool recorder_write(struct recorder *recorder, struct err *err)
{
	/* Pipes and devices have no older one. */
	if (!recorder->is_fresh && recorder->fd != STDOUT_FILENO &&
	    ftruncate(recorder->fd, 0) != 0 && errno != EINVAL)
		return err_set_errno(
		    err, "%s: emptying it failed", recorder->args->output);
	if (!recording_begin(&recorder->writer, recorder->fd, &recorder->profile, err))
		return err_prefix(err, "%s", recorder->args->output);
	if (pthread_create(&recorder->walker, NULL, recorder_walk, recorder) != 0)
		return err_set(err, ERR_NOMEM, "a thread cannot be started");
	recorder->walking = true;
	return true;
}

bool recorder_run(struct recorder *recorder, struct err *err)
{
	if (recorder->args->command &&
	    !recorder_command_go(recorder, &recorder->cannot_run, err)) {
		if (recorder->is_fresh)
			unlink(recorder->args->output);
		return false;
	}
	if (!recorder_write(recorder, err))
		return false;
	if (recorder_known(recorder)) {
		recorder_loop(recorder);
		perf_stop(&recorder->perf);
		recorder_drain(recorder, UINT64_MAX, true);
	}
	return true;
}

bool recorder_end(struct recorder *recorder, struct err *err)
{
	bool ok;

	queue_close(&recorder->queue);
	pthread_join(recorder->walker, NULL);
	recorder->walking = false;
	recorder->profile.info.end = recorder_clock(CLOCK_MONOTONIC);
	recorder->profile.info.lost = recorder->unwinder.n_lost;
	ok = !recorder->walk_failed &&
	     recording_end(&recorder->writer, &recorder->profile, err);
	if (recorder->walk_failed)
		*err = recorder->walk_err;
	if (recorder->fd > STDOUT_FILENO && close(recorder->fd) != 0 && ok)
		ok = err_set_errno(err, "closing the recording failed");
	recorder->fd = -1;
	return ok || err_prefix(err, "%s", recorder->args->output);
}

void recorder_free(struct recorder *recorder)
{
	if (recorder->walking) {
		queue_close(&recorder->queue);
		pthread_join(recorder->walker, NULL);
	}
	recorder_command_drop(recorder);
	perf_free(&recorder->perf);
	queue_free(&recorder->queue);
	recording_free(&recorder->writer);
	unwinder_free(&recorder->unwinder);
	kernel_names_free(&recorder->kernel_names);
	profile_free(&recorder->profile);
	if (recorder->fd > STDOUT_FILENO)
		close(recorder->fd);
	if (recorder->signals >= 0)
		close(recorder->signals);
	if (recorder->process >= 0)
		close(recorder->process);
}
