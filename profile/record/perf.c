/* SPDX-License-Identifier: MIT */
#include "profile/record/perf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "profile/perfdata/event.h"

/* A ring for half a second of a busy processor at 999 Hz; less where less may be locked. */
enum { PERF_RING_MAX = 8 << 20, PERF_RING_MIN = 128 << 10 };
/* PID_MAX_LIMIT of the kernel. */
enum { PERF_PIDS = 1 << 22 };

bool perf_begin(struct perf *perf, const struct record_args *args, uint64_t registers,
    struct err *err)
{
	struct perf_event_attr *attr = &perf->attr;

	*perf = (struct perf){.kernel = !args->user,
	    .n_rings = (size_t)sysconf(_SC_NPROCESSORS_CONF),
	    .ring_size = PERF_RING_MAX};
	perf->rings = calloc(perf->n_rings, sizeof(*perf->rings));
	perf->polls = calloc(perf->n_rings + 1, sizeof(*perf->polls));
	perf->scratch = malloc(EVENT_MAX_SIZE);
	if (!perf->rings || !perf->polls || !perf->scratch)
		return err_set_nomem(err);
	for (size_t i = 0; i < perf->n_rings; i++)
		perf->polls[i].fd = -1;
	attr->size = sizeof(*attr);
	attr->type = args->cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	attr->config = args->cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
				    : (uint64_t)PERF_COUNT_SW_CPU_CLOCK;
	attr->freq = 1;
	attr->sample_freq = args->frequency;
	attr->sample_type = EVENT_SAMPLE_TYPE;
	attr->sample_regs_user = registers;
	attr->sample_stack_user = args->stack_size;
	attr->exclude_hv = 1;
	attr->exclude_idle = 1;
	attr->exclude_callchain_user = 1;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->mmap_data = args->raw != 0; /* perf finds CFI by them */
	attr->build_id = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1; /* half of the ring */
	return true;
}

static int perf_open_one(struct perf *perf, pid_t tid, int cpu)
{
	struct perf_event_attr *attr = &perf->attr;

	for (;;) {
		int fd;

		attr->exclude_kernel = !perf->kernel;
		attr->exclude_callchain_kernel = !perf->kernel;
		fd = (int)syscall(
		    SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno == EINVAL && attr->build_id)
			attr->build_id = 0; /* Linux before 5.12 */
		else if ((errno == EACCES || errno == EPERM) && perf->kernel)
			perf->kernel = false;
		else
			return -1;
	}
}

/* Maps the rings that are not, all of one size. false: there is no room for that. */
static bool perf_map(struct perf *perf)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < perf->n_rings; i++) {
		void *memory;

		if (perf->polls[i].fd < 0 || perf->rings[i].page)
			continue;
		memory = mmap(NULL, page + perf->ring_size, PROT_READ | PROT_WRITE,
		    MAP_SHARED, perf->polls[i].fd, 0);
		if (memory == MAP_FAILED)
			return false;
		perf->rings[i] = (struct perf_ring){.page = memory,
		    .data = (const uint8_t *)memory + page,
		    .size = perf->ring_size};
	}
	return true;
}

/* Unmaps all rings, because the first ones have taken what may be locked. */
static void perf_unmap(struct perf *perf)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < perf->n_rings; i++)
		if (perf->rings[i].page)
			munmap(perf->rings[i].page, page + perf->rings[i].size);
	memset(perf->rings, 0, perf->n_rings * sizeof(*perf->rings));
}

static bool perf_add(struct perf *perf, int fd, int cpu, struct err *err)
{
	struct pollfd *first = &perf->polls[cpu];

	perf->n_events++;
	if (first->fd >= 0)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first->fd) == 0 ||
		       err_set_errno(err, "cannot let two events share a ring");
	/* Other events can write to it only when it is mapped. */
	*first = (struct pollfd){.fd = fd, .events = POLLIN};
	while (!perf_map(perf)) {
		if (perf->ring_size <= PERF_RING_MIN)
			return err_set_errno(err,
			    "cannot map a ring of %d bytes, for which sysctl "
			    "kernel.perf_event_mlock_kb may be too low",
			    PERF_RING_MIN);
		perf_unmap(perf);
		perf->ring_size /= 2;
	}
	return true;
}

static int perf_paranoid(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int value = 2;

	if (file && fscanf(file, "%d", &value) != 1)
		value = 2;
	if (file)
		fclose(file);
	return value;
}

/* One sentence that says what to set. */
static bool perf_refused(struct perf *perf, pid_t tid, struct err *err)
{
	const int why = errno, paranoid = perf_paranoid();
	int wanted = tid == PERF_WHOLE_SYSTEM ? 0 : 2;

	errno = why;
	perf->denied = errno == EACCES || errno == EPERM || errno == ENOSYS;
	if (perf->denied && errno != ENOSYS && paranoid > wanted)
		return err_set(err, ERR_IO,
		    "perf_event_open is not permitted: set kernel.perf_event_paranoid, "
		    "which is %d, to %d by sysctl, or give this program CAP_PERFMON",
		    paranoid, wanted);
	if (perf->denied)
		return err_set(err, ERR_IO,
		    "perf_event_open is not permitted here: the process is another "
		    "user's, or a container refuses the call; record as root, or give "
		    "this program CAP_PERFMON");
	if (errno == ENOENT || errno == EOPNOTSUPP)
		return err_set(err, ERR_IO,
		    "this machine has no event %s; use -e cpu-clock",
		    perf->attr.type == PERF_TYPE_HARDWARE ? "cycles" : "cpu-clock");
	if (errno == EMFILE || errno == ENFILE)
		return err_set_errno(err,
		    "perf_event_open failed after %zu events; raise the limit of open "
		    "files (ulimit -n)",
		    perf->n_events);
	return err_set_errno(err, "perf_event_open failed");
}

bool perf_open(struct perf *perf, pid_t tid, bool on_exec, struct err *err)
{
	perf->denied = false;
	perf->attr.inherit = tid != PERF_WHOLE_SYSTEM;
	perf->attr.disabled = on_exec;
	perf->attr.enable_on_exec = on_exec && tid != PERF_WHOLE_SYSTEM;
	for (int cpu = 0; cpu < (int)perf->n_rings; cpu++) {
		int fd = perf_open_one(perf, tid, cpu);

		if (fd < 0 && (errno == ENODEV || errno == ESRCH))
			continue; /* the processor is off; the thread is gone */
		if (fd < 0)
			return perf_refused(perf, tid, err);
		if (!perf_add(perf, fd, cpu, err))
			return false;
	}
	return true;
}

static bool perf_is_kept(const struct perf *perf, uint32_t pid)
{
	return pid < PERF_PIDS && perf->kept[pid / 64] >> pid % 64 & 1;
}

static void perf_set_kept(struct perf *perf, uint32_t pid, bool kept)
{
	if (pid < PERF_PIDS && perf_is_kept(perf, pid) != kept)
		perf->kept[pid / 64] ^= UINT64_C(1) << pid % 64;
}

bool perf_keep(struct perf *perf, pid_t pid, bool on_exec, struct err *err)
{
	/* Pages without a process take no memory. */
	if (!perf->kept)
		perf->kept = calloc(PERF_PIDS / 64, sizeof(*perf->kept));
	if (!perf->kept)
		return err_set_nomem(err);
	if (on_exec)
		perf->kept_on_exec = (uint32_t)pid;
	else
		perf_set_kept(perf, (uint32_t)pid, true);
	return true;
}

bool perf_keeps(struct perf *perf, const uint8_t *bytes)
{
	struct perf_event_header header;
	uint32_t words[4]; /* pid, parent, tid; or IP, pid; or pid */

	if (!perf->kept)
		return true;
	memcpy(&header, bytes, sizeof(header));
	memcpy(words, bytes + sizeof(header), sizeof(words));
	switch (header.type) {
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return true;
	case PERF_RECORD_SAMPLE:
		return perf_is_kept(perf, words[2]);
	case PERF_RECORD_FORK:
		/*
		 * An end takes nobody out: there are samples after it. The number is another
		 * process's when that begins.
		 */
		if (words[0] == words[2])
			perf_set_kept(perf, words[0], perf_is_kept(perf, words[1]));
		break;
	case PERF_RECORD_COMM:
		if (perf->kept_on_exec && words[0] == perf->kept_on_exec &&
		    header.misc & PERF_RECORD_MISC_COMM_EXEC) {
			perf_set_kept(perf, words[0], true);
			perf->kept_on_exec = 0;
		}
		break;
	default:
		break;
	}
	return perf_is_kept(perf, words[0]);
}

void perf_switch(bool on)
{
	prctl(on ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0);
}

void perf_free(struct perf *perf)
{
	free(perf->rings);
	free(perf->polls);
	free(perf->scratch);
	free(perf->kept);
}

void perf_look(struct perf *perf)
{
	for (size_t i = 0; i < perf->n_rings; i++)
		if (perf->rings[i].page)
			perf->rings[i].head = __atomic_load_n(
			    &perf->rings[i].page->data_head, __ATOMIC_ACQUIRE);
}

/* The record at the tail; one that goes over the end is copied. */
static const uint8_t *perf_record(
    const struct perf *perf, const struct perf_ring *ring, size_t *size)
{
	const uint8_t *at = ring->data + (ring->tail & (ring->size - 1));
	struct perf_event_header header;
	size_t before = ring->size - (ring->tail & (ring->size - 1));

	memcpy(&header, at, sizeof(header));
	*size = header.size;
	if (header.size <= before)
		return at;
	memcpy(perf->scratch, at, before);
	memcpy(perf->scratch + before, ring->data, header.size - before);
	return perf->scratch;
}

const uint8_t *perf_next(
    struct perf *perf, uint64_t limit, struct perf_ring **ring, size_t *size)
{
	const struct event_layout layout = event_layout(&perf->attr);
	uint64_t oldest = limit;
	const uint8_t *bytes;

	*ring = NULL;
	for (size_t i = 0; i < perf->n_rings; i++) {
		struct perf_ring *other = &perf->rings[i];
		uint64_t time;

		if (other->tail == other->head)
			continue;
		bytes = perf_record(perf, other, size);
		time = event_time(bytes, *size, &layout);
		if (time <= oldest) {
			oldest = time;
			*ring = other;
		}
	}
	return *ring ? perf_record(perf, *ring, size) : NULL;
}

void perf_done(struct perf_ring *ring, size_t size)
{
	ring->tail += size;
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
