#!/bin/bash
# SPDX-License-Identifier: MIT
# witnesses.sh DIR: the readers of other people that package.py asks, as programs in DIR: readelf and libsframe of
# Debian unstable's binutils, which run with unstable's C library, and elfutils of this system. Needs gcc, libdw-dev and
# a network.
set -eu
mkdir -p "$1" && dir=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
cd "$here/../.."
POOL='binutils libc6' bash tests/e2e/machines/machines_fetch.sh amd64 pool "$dir/unstable" unstable
root=$dir/unstable/root usr=$dir/unstable/root/usr
mkdir -p "$root"
for deb in "$dir"/unstable/apt-amd64/debs/archives/*.deb; do
	dpkg-deb -x "$deb" "$root"
done
libraries=$usr/lib/x86_64-linux-gnu
gcc -O2 -I. -o "$dir/libdw" tests/corpus/libdw_rows.c tests/corpus/row_lines.c -ldw -lelf
gcc -O2 -I. -o "$dir/libsframe.program" tests/corpus/libsframe_rows.c tests/corpus/row_lines.c \
	"$(echo "$libraries"/libsframe.so.?)" -Wl,--allow-shlib-undefined
for program in "readelf $usr/bin/x86_64-linux-gnu-readelf" "libsframe $dir/libsframe.program"; do
	printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' \
		"$usr/lib64/ld-linux-x86-64.so.2" "$libraries" "${program#* }" >"$dir/${program%% *}"
	chmod +x "$dir/${program%% *}"
done
"$dir/readelf" --version | head -n 1
