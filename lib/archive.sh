#!/bin/sh
# SPDX-License-Identifier: MIT
# archive.sh OUT AR OBJCOPY PART...  -- CC...: the static library as one object, of which only the public
# names can be seen, so that none of ours meets one of the program it is linked into. Where the
# parts are for link-time optimisation this does it, so that whoever links needs no such compiler.
set -eu
out=$1 ar=$2 objcopy=$3
one=${out%.a}.o
shift 3
parts=
while [ "$1" != -- ]; do
	parts="$parts $1"
	shift
done
shift
# shellcheck disable=SC2086 # paths of the build directory
"$@" -r -nostdlib -o "$one" -Wl,--whole-archive $parts -Wl,--no-whole-archive
"$objcopy" --localize-hidden "$one"
rm -f "$out"
"$ar" crsD "$out" "$one"
rm -f "$one"
