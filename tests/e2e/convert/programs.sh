#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Real programs do the same after conversion as before. TAP.
#
#     programs.sh EH2SFRAME
eh2sframe=$(realpath "$1")
# shellcheck source-path=SCRIPTDIR/../../shared source=tap.sh
. "$(dirname "$(realpath "$0")")/../../shared/tap.sh"

# NAME PROGRAM ARGUMENT...: converts PROGRAM and compares what both print and return. %s in an
# argument is the program's own path.
same() {
	local name=$1 program=$2 before after
	shift 2
	if [ ! -e "$program" ]; then
		skip "$name" "no $program here"
		return
	fi
	if ! "$eh2sframe" "$program" "$name" >"$name.log" 2>&1; then
		not_ok "$name converts" "$(cat "$name.log")"
		return
	fi
	before=$("$program" "$@" 2>&1 </dev/null; echo "status $?")
	after=$("$scratch/$name" "$@" 2>&1 </dev/null; echo "status $?")
	# Messages may name the program.
	if [ "${before//$program/PROGRAM}" = "${after//$scratch\/$name/PROGRAM}" ] &&
		"$eh2sframe" --verify -q "$name" && readelf -lW "$name" | grep -q GNU_SFRAME; then
		ok "$name"
	else
		not_ok "$name" "before: $before
after: $after"
	fi
}

cat >hello.c <<'C'
#include <stdio.h>
int main(void) { printf("hello %d\n", 6 * 7); return 3; }
C
gcc -O2 -static hello.c -o hello-static
gcc -O2 -static-pie -fPIE hello.c -o hello-static-pie
gcc -O2 -no-pie hello.c -o hello-exec

same ls "$(command -v ls)" -l /usr/lib/os-release
same bash "$(command -v bash)" -c 'x=$(printf "%s\n" c a b | sort | tr "\n" " "); echo "$x"; (exit 7)'
same python3 "$(readlink -f /usr/bin/python3)" -c \
	'import json, zlib, hashlib; print(json.dumps({"a": hashlib.sha256(b"x").hexdigest()}), zlib.crc32(b"y"))'
same perl "$(command -v perl)" -e 'print join(",", map { $_ * 2 } grep { $_ % 2 } 1..9), "\n"; exit 4'
same static ./hello-static
same static-pie ./hello-static-pie
same exec ./hello-exec
same busybox /usr/bin/busybox sh -c 'echo $((6*7))' # the applet is the first argument
same rust "$(command -v rg || echo /usr/bin/rg)" --no-config -c root /etc/passwd
same go "$(command -v fzf || echo /usr/bin/fzf)" --version
# Away from its folder gcc has to be told where its parts and its headers are.
same gcc "$(readlink -f "$(command -v gcc)")" -B "$(dirname "$(gcc -print-prog-name=cc1)")/" \
	-B "$(dirname "$(gcc -print-libgcc-file-name)")/" -O2 -S -o - hello.c
same cc1 "$(gcc -print-prog-name=cc1)" -quiet -O2 -o - hello.c
same ld "$(readlink -f "$(command -v ld)")" --version

# A compiler whose every stage is converted still makes the same object.
mkdir tools
for stage in cc1 as collect2 ld; do
	# gcc prints a bare name for what it looks up in PATH.
	path=$(gcc -print-prog-name=$stage)
	path=$(readlink -f "$(command -v "$path")")
	"$eh2sframe" -q "$path" "tools/$stage" || exit 1
done
gcc -O2 -c hello.c -o hello.o && gcc -B "$scratch/tools" -O2 -c hello.c -o hello2.o
is "gcc with converted cc1, as, collect2 and ld" cmp hello.o hello2.o

# Libraries that do real work, in the process of programs that were not converted.
mkdir lib
for lib in libcrypto.so.3 libc.so.6 libstdc++.so.6 libz.so.1; do
	path=$(readlink -f "/usr/lib/x86_64-linux-gnu/$lib")
	[ -e "$path" ] && "$eh2sframe" -q "$path" "lib/$lib"
done
before=$(openssl dgst -sha256 /bin/sh; openssl version)
after=$(LD_LIBRARY_PATH=$scratch/lib openssl dgst -sha256 /bin/sh; LD_LIBRARY_PATH=$scratch/lib openssl version)
used=$(LD_LIBRARY_PATH=$scratch/lib ldd "$(command -v openssl)" | grep -c "$scratch/lib")
if [ -n "$before" ] && [ "$before" = "$after" ] && [ "$used" -ge 2 ]; then
	ok "openssl with converted libcrypto and libc"
else
	not_ok "openssl with converted libcrypto and libc" "before: $before; after: $after; $used libraries"
fi

plan
