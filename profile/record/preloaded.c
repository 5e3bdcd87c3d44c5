/* SPDX-License-Identifier: MIT */
#include "profile/record/preloaded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PRELOADED_NAME "libeh2sframe-preload.so"
/* How long a process may take from its connection to its first word. */
enum { PRELOADED_WAIT_MS = 200 };

/* Where the library is: in the build tree, in the installed one, where it was to be installed. */
static bool preloaded_library(char *path, size_t size, struct err *err)
{
	static const char *const PLACES[] = {"/../preload/" PRELOADED_NAME,
	    "/../" PRELOADED_LIBDIR "/eh2sframe/" PRELOADED_NAME,
	    PRELOADED_INSTALLED "/eh2sframe/" PRELOADED_NAME};
	char program[4096], joined[2 * sizeof(program)], *whole;
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n < 0)
		return err_set_errno(err, "/proc/self/exe");
	program[n] = '\0';
	*strrchr(program, '/') = '\0';
	for (size_t i = 0; i < sizeof(PLACES) / sizeof(*PLACES); i++) {
		snprintf(joined, sizeof(joined), "%s%s", i < 2 ? program : "", PLACES[i]);
		whole = realpath(joined, NULL);
		if (!whole)
			continue;
		n = snprintf(path, size, "%s", whole);
		free(whole);
		if ((size_t)n < size)
			return true;
	}
	return err_set(err, ERR_IO,
	    PRELOADED_INSTALLED "/eh2sframe/" PRELOADED_NAME
				": --preload needs this file; install it again");
}

/* LD_PRELOAD is divided there. */
static bool preloaded_divides(const char *path)
{
	return strpbrk(path, " :\t\n;") != NULL;
}

static bool preloaded_folder(struct preloaded *preloaded, struct err *err)
{
	const char *base = getenv("TMPDIR");

	/* The socket's name has a limit, too. */
	if (!base || *base != '/' || strlen(base) > 64 || preloaded_divides(base))
		base = "/tmp";
	snprintf(
	    preloaded->folder, sizeof(preloaded->folder), "%s/eh2sframe-XXXXXX", base);
	if (mkdtemp(preloaded->folder))
		return true;
	preloaded->folder[0] = '\0';
	return err_set_errno(
	    err, "%s: making a temporary folder failed; set TMPDIR", base);
}

static bool preloaded_socket(struct preloaded *preloaded, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/" SHARED_SOCKET,
	    preloaded->folder);
	preloaded->listen =
	    socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (preloaded->listen < 0 ||
	    bind(preloaded->listen, (const struct sockaddr *)&address, sizeof(address)) !=
		0 ||
	    listen(preloaded->listen, SOMAXCONN) != 0)
		return err_set_errno(err, "%s: making a socket failed", address.sun_path);
	return true;
}

/* The memory has no name. It takes as much as was written to it. */
static bool preloaded_memory(struct preloaded *preloaded, struct err *err)
{
	uint64_t start = (sizeof(struct shared) + 4095) & ~(uint64_t)4095;
	uint64_t size = start + SHARED_ROWS;
	struct shared *shared = MAP_FAILED;

	preloaded->memory = memfd_create("eh2sframe-record", MFD_CLOEXEC);
	if (preloaded->memory < 0 && errno == ENOSYS) /* Linux before 3.17 */
		preloaded->memory =
		    open(preloaded->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (preloaded->memory >= 0 && ftruncate(preloaded->memory, (off_t)size) == 0)
		shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, preloaded->memory, 0);
	if (shared == MAP_FAILED)
		return err_set_errno(
		    err, "mapping %llu bytes to share failed", (unsigned long long)size);
	preloaded->shared = shared;
	preloaded->rows_end = start;
	shared->size = size;
	preloaded->slots = calloc(SHARED_SLOTS, sizeof(*preloaded->slots));
	preloaded->gone = calloc(PRELOADED_GONE_MAX, sizeof(*preloaded->gone));
	return (preloaded->slots && preloaded->gone) || err_set_nomem(err);
}

/* What the command finds. Libraries that are to be loaded first stay first. */
static bool preloaded_environment(
    struct preloaded *preloaded, char *library, size_t size, struct err *err)
{
	const char *others = getenv("LD_PRELOAD");
	char link[sizeof(preloaded->folder) + sizeof(PRELOADED_NAME) + 1], *value = NULL;
	bool ok;

	if (preloaded_divides(library)) {
		snprintf(link, sizeof(link), "%s/%s", preloaded->folder, PRELOADED_NAME);
		if (symlink(library, link) != 0)
			return err_set_errno(err, "%s: making a link failed", link);
		preloaded->linked = true;
		snprintf(library, size, "%s", link);
	}
	if (asprintf(&value, "%s%s%s", others ? others : "", others && *others ? ":" : "",
		library) < 0)
		return err_set_nomem(err);
	ok = setenv("LD_PRELOAD", value, 1) == 0 &&
	     setenv(SHARED_VARIABLE, preloaded->folder, 1) == 0;
	free(value);
	return ok || err_set_nomem(err);
}

bool preloaded_begin(struct preloaded *preloaded, uint32_t frequency, bool guess,
    struct queue *queue, struct unwinder *unwinder, struct err *err)
{
	char library[4096];

	*preloaded = (struct preloaded){
	    .memory = -1, .listen = -1, .queue = queue, .unwinder = unwinder};
	if (!preloaded_library(library, sizeof(library), err) ||
	    !preloaded_folder(preloaded, err) || !preloaded_socket(preloaded, err) ||
	    !preloaded_memory(preloaded, err))
		return false;
	preloaded->shared->period = 1000000000 / frequency;
	preloaded->shared->guess = guess;
	return preloaded_environment(preloaded, library, sizeof(library), err);
}

void preloaded_free(struct preloaded *preloaded)
{
	char path[sizeof(preloaded->folder) + sizeof(PRELOADED_NAME) + 1];

	if (!preloaded->queue)
		return;
	if (preloaded->shared)
		munmap(preloaded->shared, preloaded->shared->size);
	if (preloaded->memory >= 0)
		close(preloaded->memory);
	if (preloaded->listen >= 0)
		close(preloaded->listen);
	if (preloaded->folder[0]) {
		snprintf(path, sizeof(path), "%s/" SHARED_SOCKET, preloaded->folder);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s", preloaded->folder, PRELOADED_NAME);
		if (preloaded->linked)
			unlink(path);
		rmdir(preloaded->folder);
	}
	free(preloaded->slots);
	free(preloaded->gone);
	free(preloaded->processes);
	free(preloaded->rows);
	*preloaded = (struct preloaded){0};
}

void preloaded_end(struct preloaded *preloaded)
{
	__atomic_store_n(&preloaded->shared->stopped, 1, __ATOMIC_RELAXED);
	close(preloaded->listen);
	preloaded->listen = -1;
}

void preloaded_drop(struct preloaded *preloaded)
{
	struct preloaded_record record;
	const uint8_t *bytes;
	size_t size;

	if (!preloaded->shared)
		return;
	if (preloaded->listen >= 0)
		preloaded_end(preloaded);
	if (!preloaded->queue->memory)
		return;
	queue_close(preloaded->queue);
	for (; (bytes = queue_get(preloaded->queue, &size));
	     queue_done(preloaded->queue)) {
		if (size < sizeof(record))
			continue;
		memcpy(&record, bytes, sizeof(record));
		if (record.kind == PRELOADED_TABLE && record.fd >= 0)
			close(record.fd);
	}
}

void preloaded_say(const struct preloaded *preloaded, const char *command)
{
	uint32_t gave_up = preloaded->shared->n_gave_up;
	uint64_t none = preloaded->n_no_table + preloaded->shared->n_no_slot;

	if (preloaded->n_begun == 0)
		fprintf(stderr,
		    "eh2sframe-record: %s: no process loaded the library of --preload: "
		    "the "
		    "program is static, setuid, of another user, libc or machine\n",
		    command);
	if (gave_up > 0)
		fprintf(stderr,
		    "eh2sframe-record: %s: processes that use the signal %d, a filter of "
		    "system calls or a small stack for signals, so that --preload "
		    "records them no more: %u\n",
		    command, SHARED_SIGNAL, gave_up);
	if (none > 0)
		fprintf(stderr,
		    "eh2sframe-record: %s: processes or threads that ran while %d others "
		    "did, more than --preload can record: %llu\n",
		    command, SHARED_TABLES, (unsigned long long)none);
}

/* A process has connected. It waits for the answer. */
static bool preloaded_hello(struct preloaded *preloaded, int fd)
{
	const struct timeval limit = {.tv_usec = PRELOADED_WAIT_MS * 1000};
	struct shared_hello hello;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	/* In another namespace its numbers mean other processes: it is not recorded. */
	if (recv(fd, &hello, sizeof(hello), 0) != (ssize_t)sizeof(hello) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
	    (uint32_t)peer.pid != hello.pid) {
		close(fd);
		return true;
	}
	if (hello.why == SHARED_BEGINS) {
		preloaded->n_begun++;
		if (!preloaded_renew(preloaded, hello.pid))
			return false;
	}
	return preloaded_look(preloaded, hello.pid, fd);
}

bool preloaded_hear(struct preloaded *preloaded)
{
	int fd;

	while ((fd = accept4(preloaded->listen, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		/* What came before the change belongs to the old mappings. */
		if (!preloaded_drain(preloaded, UINT64_MAX) ||
		    !preloaded_hello(preloaded, fd))
			return false;
	return true;
}
