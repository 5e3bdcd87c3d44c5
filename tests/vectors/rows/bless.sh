#!/bin/sh
# SPDX-License-Identifier: MIT
# bless.sh BUILDDIR [NAME...]: rewrites the .rows of the vectors from what the program built in
# BUILDDIR says now. Read the diff: each line of it is a claim.
set -eu
build=$(cd "$1" && pwd)/tests/vectors/rows
shift
cd "$(dirname "$0")"
for source in *.S; do
	name=${source%.S}
	case " $* " in
	*" $name "* | "  ") ;;
	*) continue ;;
	esac
	option=$(sed -n "s/^ *'$name': \['\(.*\)'\],/\1/p" meson.build)
	"$build/../cfi_rows" --vector ${option:+"$option"} "$build/$name.elf" >"$name.rows"
done
