/* SPDX-License-Identifier: MIT */
/* Moves bytes into the output, or makes it share them. */
#include "gen/insert/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/fs.h>

#include "base/newfile.h"
#include "gen/elf/window.h"

/* A smaller range is not made room for. */
#define COPY_LARGE ((off_t)1 << 20)

/* Errors that mean "not on this file system" rather than "the disk failed". */
static bool is_refusal(int code)
{
	return code == EOPNOTSUPP || code == ENOSYS || code == EINVAL || code == ENODEV ||
	       code == EPERM;
}

/*
 * Allocates [off, end) on the disk in one go, which costs less than bit by bit. Only for
 * large files; where the file system cannot do that the writes allocate.
 */
static bool make_room(int fd, off_t off, off_t end, struct err *err)
{
	int failed;

	if (end - off < COPY_LARGE)
		return true;
	do
		failed = fallocate(fd, 0, off, end - off);
	while (failed && errno == EINTR);
	if (failed && !is_refusal(errno))
		return err_set_errno(
		    err, "cannot make room for 0x%jx bytes", (uintmax_t)(end - off));
	return true;
}

static bool copy_range(
    const struct image *image, int fd, off_t off, off_t end, struct err *err)
{
	struct image_window window = {.image = image};
	bool ok = make_room(fd, off, end, err);

	for (size_t n; ok && off < end; off += (off_t)n) {
		const uint8_t *bytes;

		n = (size_t)(end - off);
		bytes = image_window_some(&window, (uint64_t)off, &n, err);
		ok = bytes && newfile_write_at(fd, bytes, n, (uint64_t)off, err);
	}
	image_window_free(&window);
	return ok;
}

/* Where files share their blocks until one is written to, nothing is copied. */
static bool share_blocks(const struct image *image, int fd)
{
	return image->fd >= 0 && ioctl(fd, FICLONE, image->fd) == 0;
}

/*
 * Asks the kernel for data and holes, which moves the descriptor's position. If the
 * position may be the caller's as well, all counts as data.
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
bool insert_copy(const struct image *image, uint64_t size, int fd, struct err *err)
{
	off_t end = (off_t)size, off = 0;

	bool shared = share_blocks(image, fd);

	/* The full length first: what is skipped below is a hole then. */
	if (ftruncate(fd, end) < 0)
		return err_set_errno(err, "cannot set the size 0x%jx", (uintmax_t)end);
	if (shared)
		return true;
	if (image->fd < 0)
		return copy_range(image, fd, 0, end, err);
	while (off < end) {
		off_t data = next_part(image, off, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			return true;
		if (data < 0 || data > end)
			data = data < 0 ? off : end;
		hole = next_part(image, data, SEEK_HOLE);
		if (hole <= data || hole > end)
			hole = end;
		if (!copy_range(image, fd, data, hole, err))
			return false;
		off = hole;
	}
	return true;
}
