#!/bin/sh
# SPDX-License-Identifier: MIT
# configure.sh DIR OPTION...: configures DIR with meson, new or over what an earlier commit, another
# release of meson or another compiler left there.
set -eu
dir=$1
shift
cd "$(dirname "$0")/.."
[ -w . ] || {
	echo "configure.sh: $PWD cannot be written to, and meson needs $dir/ in it; copy the source to a directory of yours" >&2
	exit 1
}
# meson keeps the compiler of the first configuration.
if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/compiler" 2>/dev/null)" = "${CC:-}" ] &&
	meson setup --reconfigure "$@" "$dir" >"$dir/configure.log" 2>&1; then
	exit 0
fi
rm -rf "$dir"
meson setup "$@" "$dir"
printf '%s\n' "${CC:-}" >"$dir/compiler"
