#!/bin/sh
# SPDX-License-Identifier: MIT
# in_root.sh DIR COMMAND...: runs COMMAND in DIR as its root, with file systems of its own, of which
# none is the machine's. For a mount and process namespace of its own. SHARED_DIR, if it is set, is
# /mnt in the root. With ROOT_READ_ONLY the programs cannot change the root.
set -eu
root=$1
shift
mount --make-rprivate /
# Programs in it may make namespaces: then the root has to be a mount.
mount --bind "$root" "$root"
[ -z "${SHARED_DIR-}" ] || mount --bind "$SHARED_DIR" "$root/mnt"
if [ -n "${ROOT_READ_ONLY-}" ]; then
	mount -o remount,bind,ro "$root"
	for dir in tmp run root var/tmp; do
		mount -t tmpfs -o mode=1777 tmpfs "$root/$dir"
	done
fi
mount -t proc proc "$root/proc"
# Most settings of the kernel hold for the machine, too. A package or systemd would change them.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
node() { mknod -m 666 "$root/dev/$1" c "$2" "$3"; }
node null 1 3
node zero 1 5
node full 1 7
node random 1 8
node urandom 1 9
node tty 5 0
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"
ln -s fd/1 "$root/dev/stdout"
ln -s fd/2 "$root/dev/stderr"
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
	chroot "$root" "$@"
