#!/bin/bash
# SPDX-License-Identifier: MIT
# tsan.sh ROOT BUILD CC... -- FILE...: the whole library under ThreadSanitizer while several threads
# convert several files, each with threads of its own. And with a race put in, which must be found, or
# the silence would mean nothing. TAP.
root=$1 build=$2
shift 2
cc=
while [ "$1" != -- ]; do
	cc="$cc $1"
	shift
done
shift
here=$PWD
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$root/tests/shared/tap.sh"
cd "$root" || exit 1
flags='-std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O1 -g -fsanitize=thread -I.'
libs='-lelf -lz -ldwarf -ljansson -liberty -lpthread' without=
if grep -q 'EH2SFRAME_ZSTD 1' "$build/config.h"; then libs="$libs -lzstd"; fi
if grep -q 'EH2SFRAME_ZYDIS 1' "$build/config.h"; then libs="$libs -lZydis"; else without=decode_x86_64.c; fi
export TSAN_OPTIONS=exitcode=66
echo 'int main(void) { return 0; }' >"$scratch/plain.c"
# shellcheck disable=SC2086 # words, all of them
$cc $flags -o "$scratch/plain" "$scratch/plain.c" 2>/dev/null && "$scratch/plain" ||
	skip_all 'no ThreadSanitizer here'
cat >"$scratch/main.c" <<'C'
#include "tests/lib/lib.h"
int main(int argc, char **argv)
{
	test_threads(argv + 1, (size_t)argc - 1);
	return check_end();
}
C
# shellcheck disable=SC2086
$cc $flags "-I$build" -r -nostdlib -o "$scratch/all.o" $(find base cfi code sframe gen -path base/sandbox -prune -o \
	-name '*.c' ! -name "$without" -print) &&
	$cc $flags -o "$scratch/test" "$scratch/main.c" tests/lib/threads.c tests/lib/lib.c "$scratch/all.o" $libs &&
	$cc $flags -DLIB_TEST_RACE -o "$scratch/race" "$scratch/main.c" tests/lib/threads.c tests/lib/lib.c \
		"$scratch/all.o" $libs || {
	echo 'Bail out! cannot be compiled'
	exit 1
}
# Files may be named from there.
cd "$here" || exit 1
is "$# files by as many threads" "$scratch/test" "$@"
"$scratch/race" "$@" >"$scratch/said" 2>&1
if [ $? = 66 ] && grep -q 'data race.*' "$scratch/said"; then
	ok 'a race is seen'
else
	not_ok 'a race is seen'
fi
plan
