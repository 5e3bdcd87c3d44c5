/* SPDX-License-Identifier: MIT */
/* The beginning and the end of processes and threads, and what the recorder is told. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "profile/preload/preload.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

struct preload preload;

static struct sockaddr_un start_address = {.sun_family = AF_UNIX};
static pthread_key_t start_key;
static uint32_t start_pid;
/* How often the loader has added or removed a file. */
static uint64_t start_changes;

void *preload_next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Waits for the answer. The descriptor of the memory comes with it. */
static bool start_receive(int fd, struct shared_answer *answer, int *memory)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {answer, sizeof(*answer)};
	struct msghdr message = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = &control,
	    .msg_controllen = sizeof(control)};
	const struct cmsghdr *header;
	ssize_t n;

	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(memory, CMSG_DATA(header), sizeof(*memory));
	return n == (ssize_t)sizeof(*answer) && answer->accepted && *memory >= 0;
}

/* Tells the recorder and waits until it knows the mappings of this process. */
static bool start_hello(enum shared_why why, struct shared_answer *answer, int *memory)
{
	struct shared_hello hello = {.why = why, .pid = (uint32_t)getpid()};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), cancel;
	bool ok;

	*memory = -1;
	if (fd < 0)
		return false;
	/* dlopen is not a place where a thread ends. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ok = connect(fd, (const struct sockaddr *)&start_address,
		 sizeof(start_address)) == 0 &&
	     send(fd, &hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello) &&
	     start_receive(fd, answer, memory);
	close(fd);
	pthread_setcancelstate(cancel, NULL);
	return ok;
}

static int start_count(struct dl_phdr_info *info, size_t size, void *changes)
{
	(void)size;
	*(uint64_t *)changes = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

/* Where the code of this library is. */
static int start_text(struct dl_phdr_info *info, size_t size, void *unused)
{
	const uint64_t here = (uintptr_t)&start_text - info->dlpi_addr;

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || here - part->p_vaddr >= part->p_memsz)
			continue;
		preload.text = info->dlpi_addr + part->p_vaddr;
		preload.text_end = preload.text + part->p_memsz;
		return 1;
	}
	return 0;
}

void preload_mapped(void)
{
	struct shared_answer answer;
	uint64_t changes = 0;
	int saved = errno, memory;

	if (!preload_samples())
		return;
	dl_iterate_phdr(start_count, &changes);
	if (__atomic_exchange_n(&start_changes, changes, __ATOMIC_RELAXED) != changes) {
		if (start_hello(SHARED_MAPPED, &answer, &memory))
			__atomic_store_n(&preload.table, answer.table, __ATOMIC_RELAXED);
		if (memory >= 0)
			close(memory);
	}
	errno = saved;
}

static struct shared_slot *start_claim(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (size_t i = 0; i < SHARED_SLOTS; i++) {
		struct shared_slot *slot = &preload.shared->slots[i];
		uint32_t nothing = 0;

		if (__atomic_load_n(&slot->owner, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&slot->owner, &nothing, tid, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return slot;
	}
	__atomic_add_fetch(&preload.shared->n_no_slot, 1, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * The clock of the thread's processor time: all threads are interrupted in proportion, and one that
 * waits never is. The first time comes at random, so that short threads count as much as long
 * ones.
 */
static void start_timer(struct shared_slot *slot)
{
	uint64_t period = preload.shared->period, first;
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
	    .sigev_signo = SHARED_SIGNAL,
	    .sigev_value.sival_ptr = slot};
	struct itimerspec every = {.it_interval.tv_sec = (time_t)(period / 1000000000),
	    .it_interval.tv_nsec = (long)(period % 1000000000)};
	struct timespec now;

	event.sigev_notify_thread_id = (int)slot->owner;
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &slot->timer) != 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	first = ((uint64_t)now.tv_nsec + slot->owner) * UINT64_C(0x9e3779b97f4a7c15);
	first = 1 + (first >> 20) % period;
	every.it_value.tv_sec = (time_t)(first / 1000000000);
	every.it_value.tv_nsec = (long)(first % 1000000000);
	syscall(SYS_timer_settime, slot->timer, 0, &every, NULL);
}

void preload_thread(uint32_t parent)
{
	struct shared_slot *slot = start_claim();
	sigset_t ours;

	if (!slot)
		return;
	slot->pid = start_pid;
	slot->parent = parent;
	slot->table = __atomic_load_n(&preload.table, __ATOMIC_RELAXED);
	slot->timer = -1;
	slot->asks = slot->lost = 0;
	slot->head = slot->tail = 0;
	__atomic_store_n(&slot->state, SHARED_LIVE, __ATOMIC_RELEASE);
	preload_slot = slot;
	pthread_setspecific(start_key, slot);
	/* Threads of libraries often begin with all signals blocked. */
	sigemptyset(&ours);
	sigaddset(&ours, SHARED_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
	start_timer(slot);
	/* The process may have been given up meanwhile, by another thread. */
	if (!__atomic_load_n(&preload.samples, __ATOMIC_SEQ_CST))
		syscall(SYS_timer_delete, slot->timer);
}

/* Before a thread ends: its timer would stay. */
static void start_end(void *value)
{
	struct shared_slot *slot = value;
	sigset_t ours;

	/* There are no timers then, and a filter may forbid these calls. */
	if (!preload_samples()) {
		preload_slot = NULL;
		__atomic_store_n(&slot->state, SHARED_ENDED, __ATOMIC_RELEASE);
		return;
	}
	sigemptyset(&ours);
	sigaddset(&ours, SHARED_SIGNAL);
	pthread_sigmask(SIG_BLOCK, &ours, NULL);
	preload_slot = NULL;
	syscall(SYS_timer_delete, slot->timer);
	__atomic_store_n(&slot->state, SHARED_ENDED, __ATOMIC_RELEASE);
}

/* The child of fork has no timers, and the slot is its parent's. The parent may have ended
 * already, and the kernel names another one. */
static void start_child(void)
{
	int saved = errno;
	uint32_t parent = start_pid;

	preload_slot = NULL;
	if (preload_samples()) {
		start_pid = (uint32_t)getpid();
		preload_thread(parent);
	}
	errno = saved;
}

void preload_give_up(void)
{
	struct shared *shared = preload.shared;

	/* A child of vfork has the memory of its parent, and no timers. */
	if ((uint32_t)getpid() != start_pid)
		return;
	__atomic_store_n(&preload.samples, false, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < SHARED_SLOTS; i++)
		if (shared->slots[i].pid == start_pid &&
		    __atomic_load_n(&shared->slots[i].state, __ATOMIC_ACQUIRE) ==
			SHARED_LIVE)
			syscall(SYS_timer_delete, shared->slots[i].timer);
	__atomic_add_fetch(&shared->n_gave_up, 1, __ATOMIC_RELAXED);
}

/* Maps the memory. Its rows are for reading alone. */
static bool start_map(int fd, uint64_t size)
{
	struct shared *shared =
	    mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (shared == MAP_FAILED)
		return false;
	if (mprotect(shared, sizeof(*shared), PROT_READ | PROT_WRITE) != 0) {
		munmap(shared, size);
		return false;
	}
	/* A core dump of the program does not get larger. */
	madvise(shared, size, MADV_DONTDUMP);
	preload.shared = shared;
	return true;
}

__attribute__((constructor)) static void start(void)
{
	int (*action)(int, const struct sigaction *, struct sigaction *);
	struct sigaction handler = {.sa_sigaction = preload_sample,
	    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	const char *folder = getenv(SHARED_VARIABLE);
	struct shared_answer answer;
	int saved = errno, memory;

	*(void **)&action = preload_next("sigaction");
	if (!folder || !action ||
	    strlen(folder) + sizeof("/" SHARED_SOCKET) > sizeof(start_address.sun_path))
		return;
	strcpy(start_address.sun_path, folder);
	strcat(start_address.sun_path, "/" SHARED_SOCKET);
	dl_iterate_phdr(start_text, NULL);
	dl_iterate_phdr(start_count, &start_changes);
	if (start_hello(SHARED_BEGINS, &answer, &memory) &&
	    pthread_key_create(&start_key, start_end) == 0 &&
	    pthread_atfork(NULL, NULL, start_child) == 0 &&
	    start_map(memory, answer.size)) {
		preload.table = answer.table;
		start_pid = (uint32_t)getpid();
		/* A handler of the program could leave this one by longjmp. */
		sigfillset(&handler.sa_mask);
		action(SHARED_SIGNAL, &handler, NULL);
		__atomic_store_n(&preload.samples, true, __ATOMIC_RELEASE);
		preload_thread(0);
	}
	if (memory >= 0)
		close(memory);
	errno = saved;
}
