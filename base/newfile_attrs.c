/* SPDX-License-Identifier: MIT */
/* Copies owner, mode and extended attributes to another file, in the order that works. */
#include "base/newfile_internal.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MODE_BITS 07777
#define CAPABILITY "security.capability"
#define ACL "system.posix_acl_access"

/* Treatment of one extended attribute. */
enum xattr_action {
	XATTR_SKIP, /* it describes the old bytes, or belongs to the kernel */
	XATTR_TRY,  /* keep it where the file system and our rights allow that */
	XATTR_MUST, /* it decides about access: keep it or refuse the output */
	XATTR_LAST, /* as XATTR_MUST; and any later write or chown would remove it */
};

/*
 * IMA and EVM sign the content and the inode, both of which are new; overlayfs keeps its
 * own attributes. Any other is kept where possible (user.*, security.selinux).
 */
static enum xattr_action xattr_action_of(const char *name)
{
	static const struct {
		const char *name;
		enum xattr_action action;
	} known[] = {
	    {"security.ima", XATTR_SKIP},
	    {"security.evm", XATTR_SKIP},
	    {ACL, XATTR_MUST},
	    {CAPABILITY, XATTR_LAST},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].action;
	return strncmp(name, "trusted.overlay.", 16) == 0 ? XATTR_SKIP : XATTR_TRY;
}

/* Says if a value that cannot be kept is no error. The first four are the rights that we lack
 * and what the file system does not know, the others are its limits of space. */
static bool may_lose(enum xattr_action action)
{
	static const int why[] = {
	    EOPNOTSUPP, EPERM, EACCES, EINVAL, ENOSPC, EDQUOT, E2BIG, ERANGE};

	for (size_t i = 0; action == XATTR_TRY && i < sizeof(why) / sizeof(why[0]); i++)
		if (errno == why[i])
			return true;
	return false;
}

/* The list may be older than the file: an attribute that is gone by now is not an
 * error. */
static bool copy_one(
    int fd, int like_fd, const char *name, enum xattr_action action, struct err *err)
{
	ssize_t size = fgetxattr(like_fd, name, NULL, 0), got;
	void *value;
	bool ok = true;

	if (size < 0)
		return action == XATTR_TRY || errno == ENODATA
			   ? true
			   : err_set_errno(err, "cannot read the attribute %s", name);
	value = malloc((size_t)size + 1);
	if (!value)
		return err_set_nomem(err);
	got = fgetxattr(like_fd, name, value, (size_t)size);
	if (got < 0 && errno == ENODATA)
		ok = true;
	else if ((got < 0 || fsetxattr(fd, name, value, (size_t)got, 0) < 0) &&
		 !may_lose(action))
		ok = err_set_errno(err, "cannot keep the attribute %s", name);
	free(value);
	return ok;
}

/* A list is names with a NUL each, without an end mark. */
static bool copy_listed(
    int fd, int like_fd, const char *list, size_t size, bool last, struct err *err)
{
	for (size_t i = 0; i < size; i += strlen(list + i) + 1) {
		enum xattr_action action = xattr_action_of(list + i);

		if (action == XATTR_SKIP || (action == XATTR_LAST) != last)
			continue;
		if (!copy_one(fd, like_fd, list + i, action, err))
			return false;
	}
	return true;
}

/* Where the source has no attributes, there is nothing to copy. */
static bool copy_xattrs(int fd, int like_fd, struct err *err)
{
	ssize_t size = flistxattr(like_fd, NULL, 0), got;
	char *list;
	bool ok;

	if (size < 0)
		return errno == EOPNOTSUPP || errno == ENOSYS
			   ? true
			   : err_set_errno(err, "cannot list the extended attributes");
	if (size == 0)
		return true;
	/* One NUL more, so that a list cut short by a change meanwhile still ends. */
	list = calloc(1, (size_t)size + 1);
	if (!list)
		return err_set_nomem(err);
	got = flistxattr(like_fd, list, (size_t)size);
	if (got < 0)
		ok = err_set_errno(err, "cannot list the extended attributes");
	else
		ok = copy_listed(fd, like_fd, list, (size_t)got, false, err) &&
		     copy_listed(fd, like_fd, list, (size_t)got, true, err);
	free(list);
	return ok;
}

/* True if running the file gives the rights of another user. */
static bool is_privileged(int like_fd, const struct stat *like)
{
	return like->st_mode & (S_ISUID | S_ISGID) ||
	       fgetxattr(like_fd, CAPABILITY, NULL, 0) > 0;
}

/*
 * When an ordinary user rewrites a file of another user, the new file is his own, as
 * with cp. But a file that lends its owner's rights would then be a different program.
 */
static bool copy_owner(int fd, const struct stat *like, bool privileged, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set_errno(err, "cannot stat the output");
	if (st.st_uid == like->st_uid && st.st_gid == like->st_gid)
		return true;
	if (fchown(fd, like->st_uid, like->st_gid) == 0)
		return true;
	if (errno != EPERM && errno != EINVAL)
		return err_set_errno(err, "cannot set the owner of the output");
	if (privileged)
		return err_set(err, ERR_IO,
		    "cannot make %ju:%ju the owner of the output, which is setuid, "
		    "setgid or has capabilities; run as that user or root",
		    (uintmax_t)like->st_uid, (uintmax_t)like->st_gid);
	/* Perhaps we may set the group alone. Otherwise keep neither, as cp -p does. */
	if (fchown(fd, (uid_t)-1, like->st_gid) < 0 && errno != EPERM && errno != EINVAL)
		return err_set_errno(err, "cannot set the group of the output");
	return true;
}

/* A default ACL of the directory gave the new file rights that the old one need not have. */
static bool drop_acl(int fd, struct err *err)
{
	if (fremovexattr(fd, ACL) == 0 || errno == ENODATA || errno == EOPNOTSUPP)
		return true;
	return err_set_errno(err, "cannot remove the ACL that the directory gave");
}

bool newfile_same_acl(int a, int b)
{
	ssize_t size = fgetxattr(a, ACL, NULL, 0), other = fgetxattr(b, ACL, NULL, 0);
	char *values;
	bool same;

	if (size <= 0 || other != size)
		return size <= 0 && other <= 0;
	values = malloc(2 * (size_t)size);
	same = values && fgetxattr(a, ACL, values, (size_t)size) == size &&
	       fgetxattr(b, ACL, values + size, (size_t)size) == size &&
	       memcmp(values, values + size, (size_t)size) == 0;
	free(values);
	return same;
}

bool newfile_copy_attrs(int fd, int like_fd, struct err *err)
{
	struct stat like, st;
	mode_t mode;

	if (like_fd < 0)
		return true;
	if (fstat(like_fd, &like) < 0)
		return err_set_errno(err, "cannot stat the input");
	mode = like.st_mode & MODE_BITS;
	/* chown clears setuid and capabilities, so set the owner first and those last. */
	if (!copy_owner(fd, &like, is_privileged(like_fd, &like), err))
		return false;
	/* With an ACL, the mode has its mask for the group, which may have less. So nobody else has rights
	 * until the ACL is there, and the owner may write attributes. */
	if (fchmod(fd, (mode & S_IRWXU) | S_IWUSR) < 0)
		return err_set_errno(err, "cannot set the mode of the output");
	if (!drop_acl(fd, err) || !copy_xattrs(fd, like_fd, err))
		return false;
	if (fchmod(fd, mode) < 0)
		return err_set_errno(err, "cannot set the mode of the output");
	/* The kernel silently drops setgid when we are not in the group. */
	if (fstat(fd, &st) < 0)
		return err_set_errno(err, "cannot stat the output");
	if ((st.st_mode & MODE_BITS) != mode)
		return err_set(err, ERR_IO,
		    "the output has mode %04o instead of %04o; run as root or as a "
		    "member of its group",
		    (unsigned int)(st.st_mode & MODE_BITS), (unsigned int)mode);
	return true;
}
