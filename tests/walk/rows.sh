#!/bin/bash
# SPDX-License-Identifier: MIT
# rows.sh EH2SFRAME ROWS [--assembler CC | --installed some|all] FILE...: converts files to each version, for speed and for
# size, and compares what the walker finds in the sections with the decoder. With --assembler also a section by GNU as. With
# --installed the files are libraries of this system: all are the largest, too. TAP.
converter=$(realpath "$1") rows=$(realpath "$2")
shift 2
compiler=
if [ "${1-}" = --assembler ]; then
	compiler=$2
	shift 2
fi
if [ "${1-}" = --installed ]; then
	names=(libc.so.6 libstdc++.so.6 libcrypto.so.3)
	[ "$2" = some ] || names+=(libLLVM-14.so.1 libLLVM-19.so.1 libpython3.11.so.1.0)
	shift 2
	for name in "${names[@]}"; do
		for dir in /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu; do
			[ -f $dir/$name ] && set -- "$@" $dir/$name && break
		done
	done
fi
files=() compared=0
for file; do
	files+=("$(realpath "$file")")
done
sources=$(dirname "$(realpath "$0")")/../fuzz
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$(dirname "$(realpath "$0")")/../shared/tap.sh"

# compare FILE OPTION...: the file may have a section already.
compare() {
	local file=$1 name
	shift
	name="$(basename "$file") $*"
	"$converter" -q "$@" "$file" converted >said 2>&1
	case $? in
	0)
		compared=$((compared + 1))
		is "$name" "$rows" converted
		;;
	*) skip "$name" "$(head -n 1 said)" ;;
	esac
	rm -f converted
}

for file in "${files[@]}"; do
	for version in 1 2 3; do
		compare "$file" --format=$version
		compare "$file" --format=$version --optimize=size
	done
done
if [ -n "$compiler" ]; then
	# shellcheck disable=SC2086
	if $compiler -O2 -Wa,--gsframe -Wl,-z,lazy -o assembled "$sources/base.c" >said 2>&1 &&
		readelf -SW assembled | grep -q ' \.sframe'; then
		is 'a section by GNU as and ld' "$rows" assembled
	else
		skip 'a section by GNU as and ld' 'the assembler makes none'
	fi
fi
# A test that skips all of them has tested little.
is 'at least half were compared' test "$compared" -gt $((n / 2))
plan
