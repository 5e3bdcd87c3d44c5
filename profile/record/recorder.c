/* SPDX-License-Identifier: MIT */
#include "profile/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/regular.h"

/* A record younger than this can still have older ones come after it, of other processors. */
#define RECORDER_MARGIN UINT64_C(5000000)
/* Limits how long a record stays in a ring that is not half full, as a program may be gone soon; and where the thread whose event would
 * tell of a full one has ended. */
enum { RECORDER_WAIT_MS = 50, RECORDER_WAIT_ALONE_MS = 10 };
/* Time between two questions for what processes have used, in ns. */
#define RECORDER_ASK UINT64_C(50000000)
/* In this time the next sample comes at most frequencies, with which the kernel tells of those that were lost. */
enum { RECORDER_LAST_MS = 50 };

/* The file of the recording, which is for its user alone: stacks have the contents of memory. */
static bool recorder_output(struct recorder *recorder, struct err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	const char *path = recorder->args->output, *name = recorder->args->name;
	struct stat st;

	recorder->fd = open(path, flags | O_EXCL, 0600);
	recorder->is_fresh = recorder->fd >= 0;
	/* An older recording stays until there is a new one. */
	if (recorder->fd < 0)
		recorder->fd = open(path, flags | regular_no_link(path), 0600);
	if (recorder->fd < 0 && errno == ELOOP)
		return err_set(err, ERR_IO,
		    "%s: it is a symbolic link; name the file that it leads to", name);
	if (recorder->fd < 0)
		return err_set_errno(err, "%s: cannot open it", name);
	if (fstat(recorder->fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_USAGE,
		    "%s: it is not a regular file, but the head of a recording is "
		    "written last; name a file with -o",
		    name);
	/* A new file may have another owner, too, where its file system has none. */
	if (!recorder->is_fresh && st.st_uid != geteuid())
		return err_set(err, ERR_IO,
		    "%s: it belongs to another user, who could read the recording; "
		    "remove it, or name another file",
		    name);
	recorder->was_open = st.st_mode & 0077;
	return !recorder->was_open || fchmod(recorder->fd, 0600) == 0 ||
	       err_set_errno(err,
		   "%s: others can read it, and its mode cannot be changed; name another "
		   "file",
		   name);
}

static bool recorder_open_thread(void *context, pid_t tid)
{
	struct recorder *recorder = context;

	return perf_open(&recorder->perf, tid, false, &recorder->walk_err);
}

/* Events of tasks. */
static bool recorder_open_tasks(struct recorder *recorder, struct err *err)
{
	const struct record_args *args = recorder->args;
	char path[64];

	if (args->command)
		return perf_open(&recorder->perf, recorder->child, true, err);
	for (size_t i = 0; i < args->n_pids; i++) {
		snprintf(path, sizeof(path), "/proc/%d/task", (int)args->pids[i]);
		if (!proc_list(path, recorder_open_thread, recorder) &&
		    recorder->walk_err.kind != ERR_NONE) {
			*err = recorder->walk_err;
			return false;
		}
	}
	return recorder->perf.n_events > 0 ||
	       err_set(err, ERR_IO, "process %d has ended; name one that runs",
		   (int)args->pids[0]);
}

/*
 * Events for what is recorded, which see it from now on: of the whole system, of which, but for -a, only the records of some processes and
 * their descendants stay, or where that is denied, of tasks.
 */
static bool recorder_open_events(struct recorder *recorder, struct err *err)
{
	const struct record_args *args = recorder->args;
	struct perf *perf = &recorder->perf;
	struct rlimit limit;
	bool ok;

	/* Each thread can have an event for each processor. A command keeps its limit. */
	if (!args->command && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (args->command && !recorder_command(recorder, err))
		return false;
	ok = perf_open(perf, PERF_WHOLE_SYSTEM, args->command, err);
	if (ok && args->command)
		ok = perf_keep(perf, recorder->child, true, err);
	for (size_t i = 0; ok && i < args->n_pids; i++)
		ok = perf_keep(perf, args->pids[i], false, err);
	if (ok || !perf->denied || args->all)
		return ok;
	perf->kernel = !args->user;
	return recorder_open_tasks(recorder, err);
}

/* Adds the time that the processes of -p have used since this was called before. One that is gone does not tell. */
static void recorder_used(struct recorder *recorder)
{
	for (size_t i = 0; i < recorder->args->n_pids; i++) {
		uint64_t *before = &recorder->used_by[i],
			 now = proc_used(recorder->args->pids[i], recorder->perf.kernel);

		if (now <= *before)
			continue;
		recorder->used += now - *before;
		*before = now;
	}
}

bool recorder_begin(
    struct recorder *recorder, const struct record_args *args, struct err *err)
{
	static const int ENDS[] = {SIGINT, SIGTERM, SIGHUP};
	const enum profile_machine machine = unwinder_machine("");
	struct sigaction old;
	sigset_t signals;

	*recorder = (struct recorder){.args = args, .talk = {-1, -1}};
	/* They tell of the end, also while the parent has not asked for it. Linux 5.3. */
	for (size_t i = 0; i < args->n_pids; i++) {
		const pid_t pid = args->pids[i];
		const int fd = (int)syscall(SYS_pidfd_open, pid, 0);

		if (fd < 0 && (errno == EINVAL || errno == ENOENT))
			return err_set(err, ERR_USAGE,
			    "%d is a thread; give the number of its process", (int)pid);
		if (fd < 0 && kill(pid, 0) != 0 && errno == ESRCH)
			return err_set_errno(err, "process %d", (int)pid);
		recorder->processes[i] = fd;
	}
	if (args->all && access("/proc/self/maps", R_OK) != 0)
		return err_set_errno(err, "cannot read /proc, which lists processes");
	if (machine == 0)
		return err_set(err, ERR_UNSUPPORTED,
		    "stacks of this machine cannot be walked, only those of x86-64, "
		    "AArch64 and s390x");
	/* Where it is ignored, as daemons do, the end of a child is never told: the command's, and that of a conversion. */
	recorder->at_child = signal(SIGCHLD, SIG_DFL);
	/* A full disk is an error of write. */
	recorder->at_size = signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&signals);
	/* nohup and shells let programs ignore some. */
	for (size_t i = 0; i < sizeof(ENDS) / sizeof(*ENDS); i++)
		if (sigaction(ENDS[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaddset(&signals, ENDS[i]);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &recorder->mask);
	recorder->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signals < 0)
		return err_set_errno(err, "signalfd failed");
	if (!perf_begin(&recorder->perf, args, unwinder_machines[machine].registers, err))
		return false;
	if (!recorder_open_events(recorder, err))
		return false;
	recorder_used(recorder);
	recorder->used = 0;
	if (!unwinder_begin(&recorder->unwinder, machine, err))
		return false;
	recorder->unwinder.guess = !args->no_guess;
	unwinder_vdso(&recorder->unwinder);
	return recorder_output(recorder, err) && queue_begin(&recorder->queue, err);
}

/* Moves records from the rings to the queue. wait: also when the queue is full. false: the
 * walker has ended. */
static bool recorder_drain(struct recorder *recorder, uint64_t limit, bool wait)
{
	struct perf *perf = &recorder->perf;
	const struct event_layout layout = event_layout(&perf->attr);
	struct perf_ring *ring;
	const uint8_t *bytes;
	size_t size;

	perf_look(perf);
	while ((bytes = perf_next(perf, limit, &ring, &size))) {
		if (perf_keeps(perf, bytes)) {
			uint8_t *room = queue_room(&recorder->queue, size, wait);

			if (!room)
				return !recorder->queue.closed;
			queue_put(
			    &recorder->queue, event_copy(room, bytes, size, &layout));
		}
		perf_done(ring, size);
	}
	return true;
}

bool recorder_signals(struct recorder *recorder)
{
	struct signalfd_siginfo info;
	struct rusage usage = {0};
	bool ends = false;

	while (read(recorder->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		/* The terminal interrupts the command, too. Other signals are passed on to it. */
		if (recorder->child > 0 && info.ssi_signo != SIGINT)
			kill(recorder->child, (int)info.ssi_signo);
		ends |= recorder->child <= 0 || ++recorder->n_interrupts > 1;
	}
	if (recorder->child <= 0 ||
	    wait4(recorder->child, &recorder->status, WNOHANG, &usage) == 0)
		return ends;
	recorder->child = 0;
	recorder->used = apart_ns(&usage.ru_utime);
	if (recorder->perf.kernel)
		recorder->used += apart_ns(&usage.ru_stime);
	return true;
}

/* True if the last process of -p has ended. */
static bool recorder_pids_ended(const struct recorder *recorder)
{
	const struct record_args *args = recorder->args;

	for (size_t i = 0; i < args->n_pids; i++) {
		struct pollfd one = {.fd = recorder->processes[i], .events = POLLIN};

		if (one.fd >= 0 ? poll(&one, 1, 0) <= 0
				: kill(args->pids[i], 0) == 0 || errno != ESRCH)
			return false;
	}
	return args->n_pids;
}

/* Empties the rings until the recording ends. */
static void recorder_loop(struct recorder *recorder)
{
	struct perf *perf = &recorder->perf;
	double duration = recorder->args->duration;
	uint64_t end = duration > 0 && duration < 1e9
			   ? spent_now() + (uint64_t)(duration * 1e9)
			   : UINT64_MAX;
	uint64_t asked = 0;
	bool ends = false, alone = false;

	perf->polls[perf->n_rings] =
	    (struct pollfd){.fd = recorder->signals, .events = POLLIN};
	while (!ends) {
		uint64_t now = spent_now();
		int wait = alone ? RECORDER_WAIT_ALONE_MS : RECORDER_WAIT_MS;

		if (now >= end)
			return;
		if (end - now < (uint64_t)wait * 1000000)
			wait = (int)((end - now) / 1000000) + 1;
		poll(perf->polls, perf->n_rings + 1, wait);
		/* The thread of an event has ended: its ring would wake this one all the time. */
		for (size_t i = 0; i < perf->n_rings; i++)
			if (perf->polls[i].revents & (POLLHUP | POLLERR)) {
				perf->polls[i].fd = -1;
				alone = true;
			}
		ends = recorder_signals(recorder) || recorder_pids_ended(recorder);
		now = spent_now();
		if (now - asked > RECORDER_ASK) {
			recorder_used(recorder);
			asked = now;
		}
		if (!recorder_drain(recorder, now - RECORDER_MARGIN, false))
			return;
	}
}

/* Begins the recording, now that there is something to record. */
static bool recorder_write(struct recorder *recorder, struct err *err)
{
	const char *path = recorder->args->output, *name = recorder->args->name;

	/* A reader that has it open would see what comes. */
	if (recorder->was_open && regular_no_link(path) && unlink(path) == 0) {
		close(recorder->fd);
		recorder->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	if (recorder->fd < 0 || ftruncate(recorder->fd, 0) != 0)
		return err_set_errno(err, "%s: cannot empty it", name);
	if (!perfdata_begin(&recorder->writer, recorder->fd, &recorder->perf.attr,
		!recorder->args->raw, err))
		return err_prefix(err, "%s", name);
	return pthread_create(&recorder->walker, NULL, recorder_walk, recorder) == 0 ||
	       err_set(err, ERR_NOMEM, "cannot start a thread");
}

bool recorder_run(struct recorder *recorder, struct err *err)
{
	const struct record_args *args = recorder->args;

	/* It takes long, and the rings would be full meanwhile. The queue is empty yet. */
	if (recorder->perf.kernel)
		proc_kernel(&recorder->queue);
	if ((args->command && !recorder_command_go(recorder, err)) ||
	    !recorder_write(recorder, err))
		return false;
	recorder->is_fresh = false;
	/* Processes that run already. Their records come first, whenever it was mapped. The kernel tells all that a command does. */
	if (args->command ||
	    proc_known(args->pids, args->n_pids, args->raw, &recorder->queue)) {
		recorder_loop(recorder);
		recorder_used(recorder);
		recorder_drain(recorder, UINT64_MAX, true);
		if (recorder->child > 0 || !args->command)
			poll(NULL, 0, RECORDER_LAST_MS);
		perf_switch(false);
		recorder_drain(recorder, UINT64_MAX, true);
	}
	return true;
}

/* Writes what stands behind the records. */
static bool recorder_finish(struct recorder *recorder, struct err *err)
{
	const struct record_args *args = recorder->args;
	struct utsname name;
	const struct perfdata_about about = {.host = name.nodename,
	    .release = name.release,
	    .machine = name.machine,
	    .event = args->cycles ? "cycles" : "cpu-clock",
	    .command = args->command ? args->command : args->words,
	    .clock = event_clock()};

	uname(&name);
	return perfdata_end(&recorder->writer, &about, err);
}

bool recorder_end(struct recorder *recorder, struct err *err)
{
	bool ok = false;

	queue_close(&recorder->queue);
	pthread_join(recorder->walker, NULL);
	if (recorder->walk_err.kind == ERR_NONE)
		ok = recorder_finish(recorder, err);
	else
		*err = recorder->walk_err;
	if (close(recorder->fd) != 0 && ok)
		ok = err_set_errno(err, "cannot close the recording");
	/* From here on, nothing is lost by an interrupt but the picture. A command that goes on is waited for, and gets the signals. */
	if (recorder->child <= 0)
		sigprocmask(SIG_SETMASK, &recorder->mask, NULL);
	return ok || err_prefix(err, "%s", recorder->args->name);
}

void recorder_free(struct recorder *recorder)
{
	if (recorder->is_fresh)
		unlink(recorder->args->output);
	recorder_command_drop(recorder);
	perf_free(&recorder->perf);
	perfdata_writer_free(&recorder->writer);
	names_free(&recorder->names);
	unwinder_free(&recorder->unwinder);
}
