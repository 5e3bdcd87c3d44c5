#!/bin/sh
# SPDX-License-Identifier: MIT
# archive.sh [--localize-hidden] OUT AR CC... -- PART...: makes a static library of one object from others. Parts
# for link-time optimisation are optimised here, so that programs can be linked with any compiler. With the option,
# names with hidden visibility become local.
set -eu
hide=
if [ "$1" = --localize-hidden ]; then
	hide=1
	shift
fi
out=$1 ar=$2
one=${out%.a}.o
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
# Static variables that link-time optimisation has shared among its parts get names that another such link makes, too.
objcopy --wildcard --localize-symbol='*.lto_priv.*' "$one"
[ -z "$hide" ] || objcopy --localize-hidden "$one"
rm -f "$out"
"$ar" crsD "$out" "$one"
rm -f "$one"
