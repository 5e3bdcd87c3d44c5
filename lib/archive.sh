#!/bin/sh
# SPDX-License-Identifier: MIT
# archive.sh OUT AR CC... -- PART...: makes a static library of one object from others. Parts for link-time
# optimisation are optimised here, so that programs can be linked with any compiler.
set -eu
out=$1 ar=$2
one=$(dirname "$out")/libeh2sframe.o
shift 2
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
rm -f "$out"
"$ar" crsD "$out" "$one"
rm -f "$one"
