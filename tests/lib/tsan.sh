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
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
here=$PWD
cd "$root" || exit 1
flags='-std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O1 -g -fsanitize=thread -I.'
libs='-lelf -ldwarf -ljansson -liberty -lpthread'
export TSAN_OPTIONS=exitcode=66
echo 'int main(void) { return 0; }' >"$work/plain.c"
# shellcheck disable=SC2086 # words, all of them
$cc $flags -o "$work/plain" "$work/plain.c" 2>/dev/null && "$work/plain" || {
	echo '1..0 # SKIP no ThreadSanitizer here'
	exit 0
}
cat >"$work/main.c" <<'C'
#include "tests/lib/lib.h"
int main(int argc, char **argv)
{
	test_threads(argv + 1, (size_t)argc - 1);
	return check_end();
}
C
# shellcheck disable=SC2086
$cc $flags "-I$build" -r -nostdlib -o "$work/all.o" $(find base cfi sframe gen lib -name '*.c') &&
	$cc $flags -o "$work/test" "$work/main.c" tests/lib/threads.c tests/lib/lib.c "$work/all.o" $libs &&
	$cc $flags -DLIB_TEST_RACE -o "$work/race" "$work/main.c" tests/lib/threads.c tests/lib/lib.c \
		"$work/all.o" $libs || {
	echo 'Bail out! cannot be compiled'
	exit 1
}
# Files may be named from there.
cd "$here" || exit 1
status=0
echo 1..2
if "$work/test" "$@" >"$work/said" 2>&1; then
	echo "ok 1 - $# files by as many threads"
else
	echo "not ok 1 - $# files by as many threads"
	sed 's/^/# /' "$work/said"
	status=1
fi
"$work/race" "$@" >"$work/said" 2>&1
if [ $? = 66 ] && grep -q 'data race.*' "$work/said"; then
	echo 'ok 2 - a race is seen'
else
	echo 'not ok 2 - a race is seen'
	status=1
fi
exit $status
