#!/bin/bash
# SPDX-License-Identifier: MIT
# install.sh MESON BUILD ROOT COMMAND CC...: installs into a directory of its own, and builds
# examples/section_bytes.c by what pkg-config says of it, with the shared and with the static library, in C
# and the header in C++. Both must give the bytes that the command gives. TAP.
meson=$1 build=$2 root=$3 command=$4
shift 4
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$root/tests/shared/tap.sh"
absent() { ! "$@"; }

is 'installed' env DESTDIR="$scratch/root" "$meson" install --no-rebuild -C "$build"
pc=$(cd "$scratch/root" && find . -name libeh2sframe.pc)
is 'with a .pc file' test -f "$scratch/root/$pc"
export PKG_CONFIG_PATH="$scratch/root/${pc%/*}" PKG_CONFIG_SYSROOT_DIR=
prefix=$(pkg-config --variable=prefix libeh2sframe)
flags=$(pkg-config --define-variable=prefix="$scratch/root$prefix" --cflags libeh2sframe)
libs=$(pkg-config --define-variable=prefix="$scratch/root$prefix" --libs libeh2sframe)
all=$(pkg-config --static --define-variable=prefix="$scratch/root$prefix" --libs libeh2sframe)
dir=${libs#-L}
dir=${dir%% *}
# A library with sanitizers wants programs with them.
readelf -d "$dir/libeh2sframe.so" | grep -q asan && flags="$flags -fsanitize=address,undefined"
cp "$root/examples/section_bytes.c" . || exit 99

# shellcheck disable=SC2086 # flags are words
is 'built with the shared library' "$@" -std=c11 -Wall -Wextra -Werror $flags -o shared section_bytes.c $libs
is 'which it needs' sh -c 'readelf -d shared | grep -q "NEEDED.*libeh2sframe\.so\.1\]"'
# The static library by name, what it needs by whatever the system has of it.
static=
for word in $all; do
	[ "$word" = -leh2sframe ] && word="$dir/libeh2sframe.a"
	static="$static $word"
done
if [ -f "$dir/libeh2sframe.a" ]; then
	# shellcheck disable=SC2086
	is 'built with the static library' "$@" -std=c11 -Wall -Wextra -Werror $flags -o static section_bytes.c $static
	is 'which needs no other' absent sh -c 'readelf -d static | grep -q libeh2sframe'
	programs='shared static'
else
	skip 'built with the static library' 'this build has no static library'
	programs=shared
fi
"$command" section -q --address=0x123000 /bin/ls wanted
for program in $programs; do
	is "$program: runs" env LD_LIBRARY_PATH="$dir" "./$program" /bin/ls 0x123000 "got-$program"
	is "$program: the command's bytes" cmp wanted "got-$program"
	is "$program: says why not" absent env LD_LIBRARY_PATH="$dir" "./$program" section_bytes.c 0 nothing
	is "$program: and writes nothing" absent test -e nothing
done
if command -v g++ >/dev/null; then
	printf '#include <eh2sframe.h>\nint main() { return eh2sframe_version()[0] == 0; }\n' >plain.cc
	# shellcheck disable=SC2086
	is 'the header in C++' g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror $flags -o plus plain.cc $libs
	is 'runs' env LD_LIBRARY_PATH="$dir" ./plus
else
	skip 'the header in C++' 'needs g++'
fi
is 'the example is short' test "$(wc -l <section_bytes.c)" -le 70
plan
