#!/bin/sh
# SPDX-License-Identifier: MIT
# bless.sh BUILDDIR [NAME...]: rewrites the expected text with what the program built in BUILDDIR
# says now. Read the diff: each line of it is a claim.
set -eu
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- *.txt
for name; do
	name=${name%.*}
	./transcript.sh "$build/cmd/eh2sframe" "$build/tests/golden/$name.elf" "$name.elf" >"$name.txt"
done
