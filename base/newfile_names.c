/* SPDX-License-Identifier: MIT */
/* Gives a new file all names of the old one, as far as these are still its names. */
#include "base/newfile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/newfile_internal.h"
#include "base/regular.h"

/* ctime shows every write, rename, link and change of attributes, but it is no finer than a
 * tick of the kernel's clock. */
static bool is_unchanged(const struct stat *was, const struct stat *is)
{
	return regular_is_same(was, is) && is->st_ctim.tv_sec == was->st_ctim.tv_sec &&
	       is->st_ctim.tv_nsec == was->st_ctim.tv_nsec &&
	       is->st_nlink == was->st_nlink && is->st_mode == was->st_mode &&
	       is->st_uid == was->st_uid && is->st_gid == was->st_gid;
}

/* Returns the number of names that the new file gets. */
static uint32_t n_names(const struct newfile *output)
{
	return output->in_place && output->input->names.n ? output->input->names.n : 1;
}

/* Opens the directory of name k, which the caller closes, and gives both names in it. */
static int open_name(const struct newfile *output, uint32_t k, const char **base,
    char temp[NAME_MAX + 1], struct err *err)
{
	const char *first = newfile_base(output->temp);
	int fd;

	if (k == 0)
		snprintf(temp, NAME_MAX + 1, "%s", first);
	else
		snprintf(temp, NAME_MAX + 1, NEWFILE_LINK, first, k);
	if (n_names(output) > 1)
		return output->input->names.open(
		    output->input->names.context, k, base, err);
	*base = newfile_base(output->target);
	fd = fcntl(output->dirfd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		err_set_errno(err, "cannot open the directory of %s", output->target);
	return fd;
}

/* Another file can have got the temporary name from anybody who may write to the directory. */
static bool check_temp(
    const struct newfile *output, int dirfd, const char *temp, struct err *err)
{
	struct stat ours, named;

	if (fstat(output->fd, &ours) == 0 &&
	    fstatat(dirfd, temp, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    ours.st_dev == named.st_dev && ours.st_ino == named.st_ino)
		return true;
	return err_set(
	    err, ERR_IO, "another process replaced the temporary file; run again");
}

/* The name must be one of the input as it was: what others did to it meanwhile would be lost, an
 * upgrade or a right that was taken away. */
static bool check_name(
    const struct stat *expected, int dirfd, const char *base, struct err *err)
{
	struct stat st;

	if (fstatat(dirfd, base, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    is_unchanged(expected, &st))
		return true;
	return err_set(err, ERR_IO, NEWFILE_CHANGED);
}

/* Checks name k, and puts a link to the new file beside it. */
static bool link_name(struct newfile *output, uint32_t k, struct err *err)
{
	const char *base, *first = newfile_base(output->temp);
	char temp[NAME_MAX + 1];
	int dirfd = open_name(output, k, &base, temp, err);
	bool ok = dirfd >= 0 && (!output->in_place ||
				    check_name(&output->input->was, dirfd, base, err));

	if (ok && k > 0) {
		ok = linkat(output->dirfd, first, dirfd, temp, 0) == 0 ||
		     err_set_errno(err, "cannot link beside %s", base);
		output->n_links += ok;
		/* The link is to whatever has the first name by now. */
		ok = ok && check_temp(output, dirfd, temp, err);
	}
	if (dirfd >= 0)
		close(dirfd);
	return ok;
}

/* Makes name k one of the new file. *changed: it is none of the input's any more. */
static bool rename_name(struct newfile *output, uint32_t k, const struct stat *expected,
    bool *changed, struct err *err)
{
	const char *base;
	char temp[NAME_MAX + 1];
	int dirfd = open_name(output, k, &base, temp, err);
	bool ok = dirfd >= 0;

	*changed = ok && output->in_place && !check_name(expected, dirfd, base, err);
	ok = ok && !*changed &&
	     (renameat(dirfd, temp, dirfd, base) == 0 ||
		 err_set_errno(err, "cannot rename onto %s",
		     n_names(output) > 1 ? base : output->target));
	if (dirfd >= 0)
		close(dirfd);
	return ok;
}

/* Expects an inode with fewer names: removing a name, by us or by an upgrade, changes the
 * time of the inode as any change of it does, so everything else must be as it was. */
static void expect_less(const struct newfile *output, struct stat *expected)
{
	struct stat st, same = *expected;

	if (fstat(output->input->fd, &st) < 0 || st.st_nlink >= same.st_nlink)
		return;
	same.st_nlink = st.st_nlink;
	same.st_ctim = st.st_ctim;
	if (is_unchanged(&same, &st))
		*expected = st;
}

/* A name that is another file by now stays that, and the others are links of each other all the same. */
static bool rename_names(struct newfile *output, struct err *err)
{
	const uint32_t n = n_names(output);
	struct stat expected = {0};
	struct err why = {0};
	uint32_t n_done = 0;

	if (output->in_place)
		expected = output->input->was;
	for (uint32_t k = 0; k < n; k++) {
		bool changed;

		if (rename_name(output, k, &expected, &changed, &why)) {
			n_done++;
		} else if (!changed || !n_done) {
			break;
		}
		if (n > 1)
			expect_less(output, &expected);
	}
	if (n_done == n)
		return true;
	*err = why;
	if (n_done)
		err_set(err, why.kind,
		    "%.300s; the new file has %" PRIu32 " of its %" PRIu32 " names",
		    why.text, n_done, n);
	return false;
}

/* A program that is open for writing cannot be started. The file is synced, but a file system may still have an error
 * to tell. */
static bool close_temp(struct newfile *output, struct err *err)
{
	int fd = output->fd;

	output->fd = -1;
	return close(fd) == 0 || err_set_errno(err, "cannot close %s", output->temp);
}

/* All links are made before the first name changes: most failures then change nothing. */
static bool replace_names(struct newfile *output, struct err *err)
{
	const uint32_t n = n_names(output);
	sigset_t all, old;
	bool ok;

	/* Signals wait, or the names would separate. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	ok = !output->in_place || newfile_same_acl(output->fd, output->input->fd) ||
	     err_set(err, ERR_IO, NEWFILE_CHANGED);
	for (uint32_t k = 0; ok && k < n; k++)
		ok = link_name(output, k, err);
	ok = ok && close_temp(output, err) && rename_names(output, err);
	/* After a failure, newfile_abort takes what is left. */
	if (ok) {
		output->n_links = 0;
		newfile_notify(output, false);
		free(output->temp);
		output->temp = NULL;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return ok;
}

/* Notes that the file there is ours now, so that another output of the same input can replace it. */
static void note_replaced(struct newfile *output, const struct stat *ours)
{
	struct stat st;

	if (output->in_place &&
	    fstatat(output->dirfd, newfile_base(output->target), &st,
		AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == ours->st_dev && st.st_ino == ours->st_ino)
		output->input->was = st;
}

bool newfile_replace(struct newfile *output, struct err *err)
{
	struct stat ours;

	if (!check_temp(output, output->dirfd, newfile_base(output->temp), err))
		return false;
	if (fstat(output->fd, &ours) < 0)
		return err_set_errno(err, "cannot stat %s", output->temp);
	if (!replace_names(output, err))
		return false;
	note_replaced(output, &ours);
	return true;
}

void newfile_remove_links(const struct newfile *output)
{
	char temp[NAME_MAX + 1];
	struct err ignored;
	const char *base;

	/* Names that a rename has used up are gone already. */
	for (uint32_t k = 1; k <= output->n_links; k++) {
		int dirfd = open_name(output, k, &base, temp, &ignored);

		if (dirfd < 0)
			continue;
		unlinkat(dirfd, temp, 0);
		close(dirfd);
	}
}
