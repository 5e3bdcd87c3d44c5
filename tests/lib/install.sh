#!/bin/bash
# SPDX-License-Identifier: MIT
# install.sh MESON BUILD ROOT COMMAND CC...: installs into a directory of its own, and builds
# examples/objtool.c by what pkg-config says of it, with the shared and with the static library, in C
# and the header in C++. Both must give the bytes that the command gives. TAP.
meson=$1 build=$2 root=$3 command=$4
shift 4
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0 status=0
check() { # check WHAT COMMAND...
	what=$1
	shift
	n=$((n + 1))
	if "$@" >"$work/log" 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		sed 's/^/# /' "$work/log"
		status=1
	fi
}
absent() { ! "$@"; }

check 'installed' env DESTDIR="$work/root" "$meson" install --no-rebuild -C "$build"
pc=$(cd "$work/root" && find . -name libeh2sframe.pc)
check 'with a .pc file' test -f "$work/root/$pc"
export PKG_CONFIG_PATH="$work/root/${pc%/*}" PKG_CONFIG_SYSROOT_DIR=
prefix=$(pkg-config --variable=prefix libeh2sframe)
flags=$(pkg-config --define-variable=prefix="$work/root$prefix" --cflags libeh2sframe)
libs=$(pkg-config --define-variable=prefix="$work/root$prefix" --libs libeh2sframe)
all=$(pkg-config --static --define-variable=prefix="$work/root$prefix" --libs libeh2sframe)
dir=${libs#-L}
dir=${dir%% *}
# A library with sanitizers wants programs with them.
readelf -d "$dir/libeh2sframe.so" | grep -q asan && flags="$flags -fsanitize=address,undefined"
cp "$root/examples/objtool.c" "$work/" && cd "$work" || exit 1

# shellcheck disable=SC2086 # flags are words
check 'built with the shared library' "$@" -std=c11 -Wall -Wextra -Werror $flags -o shared objtool.c $libs
check 'which it needs' sh -c 'readelf -d shared | grep -q "NEEDED.*libeh2sframe\.so\.0\]"'
# The static library by name, what it needs by whatever the system has of it.
static=
for word in $all; do
	[ "$word" = -leh2sframe ] && word="$dir/libeh2sframe.a"
	static="$static $word"
done
if [ -f "$dir/libeh2sframe.a" ]; then
	# shellcheck disable=SC2086
	check 'built with the static library' "$@" -std=c11 -Wall -Wextra -Werror $flags -o static objtool.c $static
	check 'which needs no other' absent sh -c 'readelf -d static | grep -q libeh2sframe'
	programs='shared static'
else
	echo "# no static library in this build"
	programs=shared
fi
"$command" -q --section-only --section-address=0x123000 /bin/ls wanted
for program in $programs; do
	check "$program: runs" env LD_LIBRARY_PATH="$dir" "./$program" /bin/ls 0x123000 "got-$program"
	check "$program: the command's bytes" cmp wanted "got-$program"
	check "$program: says why not" absent env LD_LIBRARY_PATH="$dir" "./$program" objtool.c 0 nothing
	check "$program: and writes nothing" absent test -e nothing
done
if command -v g++ >/dev/null; then
	printf '#include <eh2sframe.h>\nint main() { return eh2sframe_version()[0] == 0; }\n' >plain.cc
	# shellcheck disable=SC2086
	check 'the header in C++' g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror $flags -o plus plain.cc $libs
	check 'runs' env LD_LIBRARY_PATH="$dir" ./plus
fi
check 'the example is short' test "$(wc -l <objtool.c)" -le 70
echo "1..$n"
exit $status
