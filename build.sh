#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the build needs (Debian 12, as root or through sudo), builds, and converts and
# runs a real program. ./build.sh --deps only installs, --tests also what the tests need.
set -eu
cd "$(dirname "$0")"

packages='gcc libc6-dev meson ninja-build pkg-config libelf-dev libdwarf-dev libiberty-dev libjansson-dev check scdoc'
test_packages='g++ clang lld mold binutils llvm elfutils gdb python3 patchelf qemu-user
  libcap2-bin attr busybox-static musl-tools ripgrep fzf openssl perl file
  chrpath debugedit dwz hasktags unison-2.52 whitakers-words gfortran git curl sqlite3 make patch
  bzip2 xz-utils locales binutils-aarch64-linux-gnu binutils-s390x-linux-gnu
  gcc-aarch64-linux-gnu gcc-s390x-linux-gnu libc6-dev-arm64-cross libc6-dev-s390x-cross
  ccache rpm cpio debhelper dpkg-dev build-essential fakeroot cmake rustc cargo bazel-bootstrap zsh lintian'

run_as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

wanted=$packages
[ "${1:-}" != --tests ] || wanted="$packages $test_packages"
missing=
for package in $wanted; do
	dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
	run_as_root apt-get update -qq
	# shellcheck disable=SC2086 # a list of names
	run_as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
[ -z "${1:-}" ] || exit 0

[ -f build/build.ninja ] || meson setup build
meson compile -C build

echo '--- ls before and after ---'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
./build/cmd/eh2sframe /bin/ls "$scratch/ls"
./build/cmd/eh2sframe --verify "$scratch/ls"
/bin/ls -d /usr/share/doc >"$scratch/before"
"$scratch/ls" -d /usr/share/doc >"$scratch/after"
cmp "$scratch/before" "$scratch/after" && echo "$scratch/ls runs as /bin/ls does"
