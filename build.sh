#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the build needs (Debian, as root or through sudo), builds, and converts and runs a
# real program. ./build.sh --deps only installs, --fast-tests also what the fast tests need, --tests what all tests need.
set -eu
cd "$(dirname "$0")"

# dpkg-dev: meson asks it in which folder libraries are. libzstd-dev is for debug sections that are compressed with zstd,
# libseccomp-dev for the sandbox, libdw-dev for functions that are inlined in a profile.
packages='gcc libc6-dev meson ninja-build pkg-config libelf-dev libdwarf-dev libiberty-dev libjansson-dev libzydis-dev check scdoc
  dpkg-dev zlib1g-dev libzstd-dev libseccomp-dev libdw-dev'
fast_test_packages='g++ binutils binutils-aarch64-linux-gnu binutils-s390x-linux-gnu python3 file'
test_packages='clang lld mold llvm elfutils gdb python3 patchelf qemu-user
  libcap2-bin attr busybox-static musl-tools ripgrep fzf openssl perl
  chrpath debugedit dwz hasktags unison music123 gfortran git curl sqlite3 make patch
  bzip2 xz-utils locales
  gcc-aarch64-linux-gnu gcc-s390x-linux-gnu g++-aarch64-linux-gnu g++-s390x-linux-gnu libc6-dev-arm64-cross libc6-dev-s390x-cross
  ccache rpm cpio debhelper build-essential fakeroot cmake rustc cargo bazel-bootstrap zsh lintian python3-jsonschema
  mmdebstrap zstd golang-go strace valgrind linux-perf'

# What some releases have in another package, and others no longer have.
if_known='binutils-gold binutils-gold-aarch64-linux-gnu'

fail() {
	echo "build.sh: $1" >&2
	exit 1
}
# absent PACKAGE...: those that are not installed.
absent() {
	for package; do
		dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf ' %s' "$package"
	done
}
case ${1:-} in
--tests) wanted="$packages $fast_test_packages $test_packages" ;;
--fast-tests) wanted="$packages $fast_test_packages" ;;
'' | --deps) wanted=$packages ;;
*) fail "unknown option $1; give --deps, --fast-tests, --tests or none" ;;
esac
# shellcheck disable=SC2086 # lists of names
missing=$(absent $wanted)

# Runs apt-get as root, and tells what to do where that is not possible.
apt_get() {
	as_root=
	[ "$(id -u)" = 0 ] || as_root=sudo
	[ -z "$as_root" ] || command -v sudo >/dev/null ||
		fail "packages are missing and there is no sudo; as root: apt-get install --no-install-recommends$missing"
	# Packages set up files for all users, whatever umask this user has.
	(umask 022; exec $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq "$@" </dev/null)
}
if [ -n "$missing" ]; then
	apt_get update || fail "apt-get update failed, see above; packages are missing:$missing"
	if [ "${1:-}" = --tests ]; then
		for package in $(absent $if_known); do
			! apt-cache policy "$package" | grep -q 'Candidate: [0-9]' || missing="$missing $package"
		done
	fi
	# shellcheck disable=SC2086 # a list of names
	apt_get install -y --no-install-recommends $missing >/dev/null ||
		fail "apt-get could not install all of these, see above:$missing"
fi
[ -z "${1:-}" ] || exit 0

packaging/configure.sh build -Dtests=disabled
meson compile -C build

echo '--- ls before and after ---'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
./build/cmd/eh2sframe /bin/ls "$scratch/ls"
./build/cmd/eh2sframe verify "$scratch/ls"
/bin/ls -d /usr/share/doc >"$scratch/before"
"$scratch/ls" -d /usr/share/doc >"$scratch/after"
cmp "$scratch/before" "$scratch/after" && echo "$scratch/ls runs as /bin/ls does"
echo 'programs are in build/cmd and build/profile; to install them: meson install -C build && ldconfig, as root'
