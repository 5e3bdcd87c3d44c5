#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the build needs (Debian, as root or through sudo), builds, and converts and runs a
# real program. ./build.sh --deps only installs, ./build.sh --tests also what the tests need.
set -eu
cd "$(dirname "$0")"

packages='gcc libc6-dev meson ninja-build pkg-config libelf-dev libdwarf-dev libiberty-dev libjansson-dev check scdoc'
test_packages='g++ clang lld mold binutils llvm elfutils gdb python3 patchelf qemu-user
  libcap2-bin attr busybox-static musl-tools ripgrep fzf openssl perl file
  chrpath debugedit dwz hasktags unison music123 gfortran git curl sqlite3 make patch
  bzip2 xz-utils locales binutils-aarch64-linux-gnu binutils-s390x-linux-gnu
  gcc-aarch64-linux-gnu gcc-s390x-linux-gnu libc6-dev-arm64-cross libc6-dev-s390x-cross
  ccache rpm cpio debhelper dpkg-dev build-essential fakeroot cmake rustc cargo bazel-bootstrap zsh lintian'

wanted=$packages
[ "${1:-}" != --tests ] || wanted="$packages $test_packages"
missing=
for package in $wanted; do
	dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done

# Runs apt-get as root, and tells what to do where that is not possible.
apt_get() {
	as_root=
	[ "$(id -u)" = 0 ] || as_root=sudo
	if [ "$as_root" ] && ! command -v sudo >/dev/null; then
		echo "build.sh: packages are missing and there is no sudo; as root: apt-get install --no-install-recommends$missing" >&2
		exit 1
	fi
	# Packages set up files for all users, whatever umask this user has.
	(umask 022; exec $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq "$@" </dev/null)
}
if [ -n "$missing" ]; then
	# Where lists are old or a package is gone, apt says which, and so do we.
	# shellcheck disable=SC2086 # a list of names
	{ apt_get update && apt_get install -y --no-install-recommends $missing >/dev/null; } || {
		echo "build.sh: apt-get could not install:$missing" >&2
		exit 1
	}
fi
[ -z "${1:-}" ] || exit 0

conf/configure.sh build -Dtests=disabled
meson compile -C build

echo '--- ls before and after ---'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
./build/cmd/eh2sframe /bin/ls "$scratch/ls"
./build/cmd/eh2sframe --verify "$scratch/ls"
/bin/ls -d /usr/share/doc >"$scratch/before"
"$scratch/ls" -d /usr/share/doc >"$scratch/after"
cmp "$scratch/before" "$scratch/after" && echo "$scratch/ls runs as /bin/ls does"
