/* SPDX-License-Identifier: MIT */
/* Moves bytes into the output: by the kernel where it can, by hand where it cannot. */
#include "gen/write_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define COPY_CHUNK ((size_t)256 << 10)

/* Short writes are not errors, and a signal handler may interrupt. */
bool write_at(int fd, const void *data, size_t size, uint64_t off, struct err *err)
{
	const uint8_t *p = data;

	while (size) {
		ssize_t n = pwrite(fd, p, size, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set_errno(
				err, "cannot write at offset 0x%" PRIx64, off);
		p += n;
		off += (uint64_t)n;
		size -= (size_t)n;
	}
	return true;
}

/*
 * The slow way for file systems that cannot copy between each other. Reads from the
 * descriptor and not the mapping: an I/O error is then an error and not a SIGBUS.
 */
static bool copy_by_hand(int from, int to, off_t off, off_t end, struct err *err)
{
	uint8_t *buf = malloc(COPY_CHUNK);
	bool ok = true;

	if (!buf)
		return err_set_nomem(err);
	while (ok && off < end) {
		size_t want =
			end - off < (off_t)COPY_CHUNK ? (size_t)(end - off) : COPY_CHUNK;
		ssize_t n = pread(from, buf, want, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ok = err_set_errno(
				err, "cannot read at offset 0x%jx", (uintmax_t)off);
		else if (n == 0)
			ok = err_set(err, ERR_IO,
				"the input shrank to 0x%jx bytes while it was read",
				(uintmax_t)off);
		else
			ok = write_at(to, buf, (size_t)n, (uint64_t)off, err);
		if (ok)
			off += n;
	}
	free(buf);
	return ok;
}

/* What says "not between these two files" rather than "the disk failed". */
static bool is_refusal(int code)
{
	return code == EXDEV || code == ENOSYS || code == EINVAL || code == EOPNOTSUPP ||
	       code == EPERM || code == EBADF;
}

/* In the kernel: no bytes pass through here, and file systems with shared extents copy
 * nothing. */
static bool copy_range(int from, int to, off_t off, off_t end, struct err *err)
{
	while (off < end) {
		off_t in = off, out = off;
		ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - off), 0);

		if (n < 0 && errno == EINTR)
			continue;
		/* Some file systems answer 0 where they mean that they cannot. */
		if (n == 0 || (n < 0 && is_refusal(errno)))
			return copy_by_hand(from, to, off, end, err);
		if (n < 0)
			return err_set_errno(
				err, "cannot copy at offset 0x%jx", (uintmax_t)off);
		off += n;
	}
	return true;
}

/*
 * The kernel is asked for data and holes by moving the descriptor's position, which may
 * be the caller's as well; of such a file all counts as data.
 */
static off_t next_part(const struct image *image, off_t off, int whence)
{
	if (!image->shared_fd)
		return lseek(image->fd, off, whence);
	return whence == SEEK_DATA ? off : (off_t)image->size;
}

/*
 * Data and holes alternate. A file system that does not know about holes says EINVAL or
 * that all is data; either way everything is copied.
 */
bool write_copy(const struct image *image, uint64_t size, int fd, struct err *err)
{
	off_t end = (off_t)size, off = 0;

	/* The full length first: what is skipped below is a hole then. */
	if (ftruncate(fd, end) < 0)
		return err_set_errno(err, "cannot set the size 0x%jx", (uintmax_t)end);
	if (image->fd < 0)
		return write_at(fd, image->bytes, (size_t)size, 0, err);
	while (off < end) {
		off_t data = next_part(image, off, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			return true;
		if (data < 0 || data > end)
			data = data < 0 ? off : end;
		hole = next_part(image, data, SEEK_HOLE);
		if (hole <= data || hole > end)
			hole = end;
		if (!copy_range(image->fd, fd, data, hole, err))
			return false;
		off = hole;
	}
	return true;
}
