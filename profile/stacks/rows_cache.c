/* SPDX-License-Identifier: MIT */
/*
 * A file of rows: ROWS_MAGIC, a checksum of all that follows, then numbers of 8 bytes and the
 * section's bytes. Its name is the build-id in hexadecimal and RCACHE_SUFFIX. What is wrong in
 * any way counts as missing. Whatever rows say, a walk by them does no harm.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rd.h"
#include "base/search.h"
#include "base/wr.h"
#include "include/eh2sframe.h"
#include "profile/stacks/file_rows.h"

#define RCACHE_SUFFIX ".rows"
enum {
	RCACHE_MAGIC_SIZE = 8,
	RCACHE_HEADER_SIZE = 16,
	RCACHE_MAX_EXTRA = 1 << 20,
	RCACHE_NAME_SIZE = 2 * PROFILE_BUILD_ID_MAX + 32
};
#define RCACHE_MAX_SIZE ((int64_t)256 << 20)

/* FNV-1a over words: finds what a disk or a kill has damaged. */
uint64_t rows_sum(const uint8_t *bytes, size_t size)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);
	size_t i = 0;

	for (; i + 8 <= size; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof(word));
		sum = (sum ^ le64toh(word)) * UINT64_C(0x100000001b3);
		sum ^= sum >> 29;
	}
	for (; i < size; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum ^ sum >> 32;
}

static void rcache_put_location(struct wr *wr, const struct eh2sframe_location *at)
{
	wr_u8(wr, at->place);
	wr_u8(wr, at->reg);
	wr_u32(wr, (uint32_t)at->offset);
}

static void rcache_put_extra(struct wr *wr, const struct eh2sframe_extra *extra)
{
	wr_u64(wr, extra->start);
	wr_u64(wr, extra->end);
	rcache_put_location(wr, &extra->rule.cfa);
	rcache_put_location(wr, &extra->rule.ra);
	rcache_put_location(wr, &extra->rule.fp);
	wr_u32(wr, (uint32_t)extra->rule.cfa_add);
	wr_u32(wr, extra->rule.flags);
	wr_u8(wr, extra->rule.cfa_index);
	wr_u8(wr, extra->rule.cfa_shift);
}

bool rows_encode(const struct rows *rows, uint8_t **bytes, size_t *size)
{
	const struct facts *facts = &rows->facts;
	const char *version = eh2sframe_version();
	struct wr wr;

	wr_init(&wr, false);
	wr_bytes(&wr, ROWS_MAGIC, RCACHE_MAGIC_SIZE);
	wr_u64(&wr, 0);
	/* Another release may make other rows. */
	wr_bytes(&wr, version, strlen(version) + 1);
	wr_u32(&wr, facts->build_id_size);
	wr_bytes(&wr, facts->build_id, facts->build_id_size);
	wr_u64(&wr, facts->entry);
	wr_u64(&wr, facts->end);
	wr_u32(&wr, (uint32_t)facts->n_parts);
	for (size_t i = 0; i < facts->n_parts; i++) {
		wr_u64(&wr, facts->parts[i].offset);
		wr_u64(&wr, facts->parts[i].size);
		wr_u64(&wr, facts->parts[i].address);
	}
	wr_u32(&wr, (uint32_t)rows->n_extra);
	for (size_t i = 0; i < rows->n_extra; i++)
		rcache_put_extra(&wr, &rows->extra[i]);
	wr_u64(&wr, rows->address);
	wr_u64(&wr, rows->size);
	if (rows->size)
		wr_bytes(&wr, rows->section, rows->size);
	if (wr.failed) {
		wr_deinit(&wr);
		return false;
	}
	wr_patch_u64(&wr, RCACHE_MAGIC_SIZE,
	    rows_sum(wr.data + RCACHE_HEADER_SIZE, wr.size - RCACHE_HEADER_SIZE));
	*bytes = wr.data;
	*size = wr.size;
	return true;
}

static void rcache_get_location(struct rd *rd, struct eh2sframe_location *at)
{
	at->place = rd_u8(rd);
	at->reg = rd_u8(rd);
	at->offset = (int32_t)rd_u32(rd);
}

/* Extra rules must ascend. */
static bool rcache_get_extras(struct rd *rd, struct rows *rows)
{
	size_t n = rd_u32(rd);
	uint64_t end = 0;

	if (n > RCACHE_MAX_EXTRA || n > rd->size)
		return false;
	if (n)
		rows->extra = calloc(n, sizeof(*rows->extra));
	if (n && !rows->extra)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct eh2sframe_extra *extra = &rows->extra[i];

		extra->start = rd_u64(rd);
		extra->end = rd_u64(rd);
		rcache_get_location(rd, &extra->rule.cfa);
		rcache_get_location(rd, &extra->rule.ra);
		rcache_get_location(rd, &extra->rule.fp);
		extra->rule.cfa_add = (int32_t)rd_u32(rd);
		extra->rule.flags = rd_u32(rd);
		extra->rule.cfa_index = rd_u8(rd);
		extra->rule.cfa_shift = rd_u8(rd) & 63;
		if (extra->start < end || extra->end < extra->start)
			return false;
		end = extra->end;
	}
	rows->n_extra = n;
	return true;
}

static bool rcache_get_facts(struct rd *rd, struct facts *facts)
{
	const uint8_t *id;

	facts->build_id_size = rd_u32(rd);
	id = rd_skip(rd, facts->build_id_size);
	if (!id || facts->build_id_size > PROFILE_BUILD_ID_MAX)
		return false;
	memcpy(facts->build_id, id, facts->build_id_size);
	facts->entry = rd_u64(rd);
	facts->end = rd_u64(rd);
	facts->n_parts = rd_u32(rd);
	if (facts->n_parts > FACTS_MAX_PARTS)
		return false;
	for (size_t i = 0; i < facts->n_parts; i++) {
		facts->parts[i].offset = rd_u64(rd);
		facts->parts[i].size = rd_u64(rd);
		facts->parts[i].address = rd_u64(rd);
	}
	return true;
}

/* All but the checksum. */
static bool rcache_get(struct rd *rd, struct rows *rows)
{
	const char *version;
	const uint8_t *section;

	rd_skip(rd, RCACHE_HEADER_SIZE);
	version = rd_cstr(rd);
	if (!version || strcmp(version, eh2sframe_version()) != 0 ||
	    !rcache_get_facts(rd, &rows->facts) || !rcache_get_extras(rd, rows))
		return false;
	rows->address = rd_u64(rd);
	rows->size = rd_u64(rd);
	section = rd_skip(rd, rows->size);
	if (!section || rd->failed || !rd_at_end(rd))
		return false;
	if (rows->size == 0)
		return true;
	rows->section = malloc(rows->size);
	if (rows->section)
		memcpy(rows->section, section, rows->size);
	return rows->section;
}

bool rows_decode(const uint8_t *bytes, size_t size, struct rows *rows)
{
	struct rd rd;

	*rows = (struct rows){0};
	if (size < RCACHE_HEADER_SIZE ||
	    memcmp(bytes, ROWS_MAGIC, RCACHE_MAGIC_SIZE) != 0)
		return false;
	rd_init(&rd, bytes, size, false);
	rd_seek(&rd, RCACHE_MAGIC_SIZE);
	if (rd_u64(&rd) ==
	    rows_sum(bytes + RCACHE_HEADER_SIZE, size - RCACHE_HEADER_SIZE)) {
		rd_seek(&rd, 0);
		if (rcache_get(&rd, rows))
			return true;
	}
	rows_free(rows);
	return false;
}

static void rcache_name(
    char name[RCACHE_NAME_SIZE], const uint8_t *build_id, uint32_t size)
{
	char *to = name;

	for (uint32_t i = 0; i < size; i++)
		to += sprintf(to, "%02x", (unsigned int)build_id[i]);
	strcpy(to, RCACHE_SUFFIX);
}

static uint8_t *rcache_load(int dir, const char *name, size_t *size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint8_t *bytes = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	*size = 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= RCACHE_MAX_SIZE)
		bytes = malloc((size_t)st.st_size + 1);
	while (bytes && *size < (size_t)st.st_size) {
		ssize_t n = read(fd, bytes + *size, (size_t)st.st_size - *size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		*size += (size_t)n;
	}
	/* The oldest is the one that was not used for longest. */
	futimens(fd, NULL);
	close(fd);
	return bytes;
}

bool rows_cache_read(
    int dir, const uint8_t *build_id, uint32_t build_id_size, struct rows *rows)
{
	char name[RCACHE_NAME_SIZE];
	uint8_t *bytes;
	size_t size;
	bool ok;

	if (build_id_size > PROFILE_BUILD_ID_MAX)
		return false;
	rcache_name(name, build_id, build_id_size);
	bytes = rcache_load(dir, name, &size);
	if (!bytes)
		return false;
	ok = rows_decode(bytes, size, rows);
	free(bytes);
	if (ok && rows->facts.build_id_size == build_id_size &&
	    memcmp(rows->facts.build_id, build_id, build_id_size) == 0)
		return true;
	if (ok)
		rows_free(rows);
	return false;
}

/* A file in the directory; the first member is for search_order. */
struct rcache_file {
	uint64_t used; /* ns since 1970 */
	uint64_t size;
	char name[RCACHE_NAME_SIZE];
};

/* Whether a name is one that rcache_name or rows_cache_write gives. */
static bool rcache_is_ours(const char *name)
{
	size_t n = strlen(name), digits = strspn(name, "0123456789abcdef");

	return n < RCACHE_NAME_SIZE && digits >= 2 &&
	       (strcmp(name + digits, RCACHE_SUFFIX) == 0 ||
		   strncmp(name + digits, RCACHE_SUFFIX ".", strlen(RCACHE_SUFFIX) + 1) ==
		       0);
}

static size_t rcache_list(int dir, struct rcache_file **files, uint64_t *total)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	size_t n = 0, cap = 0;

	while (stream && (entry = readdir(stream))) {
		struct stat st;

		if (!rcache_is_ours(entry->d_name) ||
		    fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (n == cap) {
			struct rcache_file *more =
			    reallocarray(*files, cap ? 2 * cap : 64, sizeof(**files));

			if (!more)
				break;
			*files = more;
			cap = cap ? 2 * cap : 64;
		}
		(*files)[n] = (struct rcache_file){
		    .used = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
			    (uint64_t)st.st_mtim.tv_nsec,
		    .size = (uint64_t)st.st_size};
		strcpy((*files)[n++].name, entry->d_name);
		*total += (uint64_t)st.st_size;
	}
	if (stream)
		closedir(stream);
	else if (copy >= 0)
		close(copy);
	return n;
}

static void rcache_prune(int dir, uint64_t limit)
{
	struct rcache_file *files = NULL;
	uint64_t total = 0;
	size_t n = rcache_list(dir, &files, &total);

	if (n)
		qsort(files, n, sizeof(*files), search_order);
	for (size_t i = 0; i < n && total > limit; i++) {
		unlinkat(dir, files[i].name, 0);
		total -= files[i].size;
	}
	free(files);
}

void rows_cache_write(int dir, uint64_t limit, const struct rows *rows)
{
	char name[RCACHE_NAME_SIZE], temporary[RCACHE_NAME_SIZE + 16];
	uint8_t *bytes;
	size_t size, done = 0;
	int fd;

	if (!rows_encode(rows, &bytes, &size))
		return;
	rcache_name(name, rows->facts.build_id, rows->facts.build_id_size);
	snprintf(temporary, sizeof(temporary), "%s.%u", name, (unsigned int)getpid());
	unlinkat(dir, temporary, 0);
	fd = openat(
	    dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	while (fd >= 0 && done < size) {
		ssize_t n = write(fd, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	free(bytes);
	if (fd < 0)
		return;
	if (close(fd) != 0 || done < size || renameat(dir, temporary, dir, name) != 0)
		unlinkat(dir, temporary, 0);
	rcache_prune(dir, limit);
}
