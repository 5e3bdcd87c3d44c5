/* SPDX-License-Identifier: MIT */
#include "profile/owner.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/names/lines.h"

/* Debian's larger files take a second each, so a container's first minute is within it. */
#define SPENT_FREE (UINT64_C(20) * 1000000000)
#define SPENT_BYTES (UINT64_C(512) << 20)
/* How deep the kernel lets users nest namespaces. */
enum { OWNER_DEPTH = 33 };

/* The mounts that a process sees, as the kernel names them; empty where that is not told. */
static void owner_mounts(uint32_t pid, char mounts[64])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", (unsigned int)pid);
	n = readlink(path, mounts, 63);
	mounts[n > 0 ? n : 0] = '\0';
}

bool owner_has_mounts(uint32_t pid)
{
	char mounts[64], own[64];

	owner_mounts(pid, mounts);
	owner_mounts((uint32_t)getpid(), own);
	return !*mounts || strcmp(mounts, own) == 0;
}

/* The real, effective, saved and file system's user. */
static bool owner_users(uint32_t pid, unsigned int users[4])
{
	char path[64], *text;
	const char *line = NULL;
	struct err ignored;
	size_t size;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%u/status", (unsigned int)pid);
	if (lines_read(path, &text, &size, &ignored) && text)
		line = strstr(text, "\nUid:");
	ok = line && sscanf(line, "\nUid: %u %u %u %u", &users[0], &users[1], &users[2],
			 &users[3]) == 4;
	free(text);
	return ok;
}

/* Finds the user who made the outermost user namespace that a process is in, and this one is not; 0: root, or there is none. */
static uid_t owner_maker(uint32_t pid)
{
	struct stat own, st;
	char path[64];
	uid_t maker = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/ns/user", (unsigned int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (stat("/proc/self/ns/user", &own) != 0)
		own.st_ino = 0;
	for (int i = 0; i < OWNER_DEPTH && fd >= 0; i++) {
		int parent = -1;

		if (fstat(fd, &st) == 0 && st.st_ino != own.st_ino &&
		    ioctl(fd, NS_GET_OWNER_UID, &maker) == 0)
			parent = ioctl(fd, NS_GET_PARENT);
		close(fd);
		fd = parent;
	}
	if (fd >= 0)
		close(fd);
	return maker;
}

/* A number of the mounts that a process sees. That of the link is used again, the kernel's (Linux 6.10) is not. */
static uint64_t owner_mounts_number(uint32_t pid)
{
	char path[64];
	uint64_t number;
	int fd;

	owner_mounts(pid, path);
	number = hash_bytes((const uint8_t *)path, strlen(path));
	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", (unsigned int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		/* NS_GET_MNTNS_ID, which Debian 12 has no header for. Where it fails, the number stays. */
		ioctl(fd, _IOR(0xb7, 5, uint64_t), &number);
		close(fd);
	}
	return number;
}

/*
 * Fills in who it is, and who has its costs: whoever made a container answers for all users in it. One of root's differs by its users, of which
 * it mostly has 65,536, or, where they are those of the host, by its mounts.
 */
static void owner_identify(struct owner *owner, uint32_t pid, uint32_t user)
{
	const uint64_t who[] = {owner_maker(pid), user, owner_mounts_number(pid)};

	owner->pid = pid;
	owner->id = hash_bytes((const uint8_t *)who, sizeof(who)) | 2;
	if (who[0])
		user = (uint32_t)who[0];
	if (user >= 65536)
		user = (user >> 16) * 37;
	else if (user == 0)
		user = hash_fold(who[2]);
	/* The first place is of processes that are gone. */
	owner->place = 1 + user % (OWNERS - 1);
}

struct owner owner_of(uint32_t pid)
{
	struct owner owner = {.user = geteuid()};
	unsigned int users[4];

	if (!owner_users(pid, users))
		return owner;
	owner.is_known = true;
	owner.user = users[1];
	owner.is_own = owner_has_mounts(pid);
	for (size_t i = 0; i < 4; i++)
		owner.is_own &= users[i] == 0 || users[i] == geteuid();
	owner_identify(&owner, pid, users[0]);
	return owner;
}

uint64_t spent_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool spent_may(struct spent *spent, const struct owner *owner)
{
	const uint32_t place = owner->place;
	uint64_t now = spent_now(), ns = spent->ns[place];

	/* Processes that are gone share a place, so one of them must not close it. */
	if (spent->left[place] && waitpid(spent->left[place], NULL, WNOHANG) == 0) {
		if (place && !owner->is_own)
			return false;
	} else {
		spent->left[place] = 0;
	}
	if (owner->is_own)
		return true;
	if (!spent->since)
		spent->since = now;
	now -= spent->since;
	return ns < SPENT_FREE + now / 20 && (spent->all_ns < 3 * SPENT_FREE + now / 4 ||
						 ns * spent->n_owners <= spent->all_ns);
}

void spent_add(
    struct spent *spent, const struct owner *owner, const struct spent_work *work)
{
	uint64_t ns = work->ns * (work->for_nothing ? 8 : 1);

	if (work->left)
		spent->left[owner->place] = work->left;
	if (owner->is_own)
		return;
	spent->n_owners += ns > 0 && spent->ns[owner->place] == 0;
	spent->ns[owner->place] += ns;
	spent->all_ns += ns;
}

bool spent_take(struct spent *spent, const struct owner *owner, uint64_t bytes)
{
	uint64_t *mine = &spent->bytes[owner->place];

	if (*mine + bytes > SPENT_BYTES || spent->all_bytes + bytes > 4 * SPENT_BYTES)
		return false;
	*mine += bytes;
	spent->all_bytes += bytes;
	return true;
}

void spent_give(struct spent *spent, uint32_t place, uint64_t bytes)
{
	spent->bytes[place] -= bytes;
	spent->all_bytes -= bytes;
}
