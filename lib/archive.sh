#!/bin/sh
# SPDX-License-Identifier: MIT
# archive.sh OUT AR OBJCOPY CC... -- PART...: makes the static library of one object, which shows only the
# public names. So no other name of ours can collide with one of a program. Parts for link-time
# optimisation are optimised here, so that programs can be linked with any compiler.
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
