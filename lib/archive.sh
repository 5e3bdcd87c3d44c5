#!/bin/sh
# SPDX-License-Identifier: MIT
# archive.sh OUT AR OBJCOPY CC... -- PART...: the static library as one object, of which only the public
# names can be seen, so that none of ours meets one of the program it is linked into. Where the
# parts are for link-time optimisation this does it, so that whoever links needs no such compiler.
set -eu
out=$1 ar=$2 objcopy=$3
one=${out%.a}.o
shift 3
# The options of this link take the place of "--".
left=$#
while [ $left -gt 0 ]; do
	if [ "$1" = -- ]; then
		set -- "$@" -r -nostdlib -o "$one" -Wl,--whole-archive
	else
		set -- "$@" "$1"
	fi
	shift
	left=$((left - 1))
done
"$@" -Wl,--no-whole-archive
"$objcopy" --localize-hidden "$one"
rm -f "$out"
"$ar" crsD "$out" "$one"
rm -f "$one"
