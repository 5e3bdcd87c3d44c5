#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one example from a copy, with the command under test first in PATH.
#
#     run_tests.sh EXAMPLES_DIR EH2SFRAME make|meson|walkthrough
set -eu
examples=$1
eh2sframe=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$eh2sframe" "$work/bin/eh2sframe"
PATH=$work/bin:$PATH
export PATH

case $3 in
make)
	cp -r "$examples/make" "$work/make"
	make -C "$work/make" check
	readelf -lW "$work/make/hello" | grep -q GNU_SFRAME
	make -C "$work/make" all | grep -q 'Nothing to be done'
	;;
meson)
	cp -r "$examples/meson" "$work/meson"
	meson setup "$work/b" "$work/meson"
	meson test -C "$work/b"
	DESTDIR=$work/root meson install -C "$work/b"
	readelf -lW "$work/root/usr/local/bin/hello" | grep -q GNU_SFRAME
	;;
walkthrough)
	"$examples/walkthrough.sh" eh2sframe >"$work/out"
	cat "$work/out"
	grep -q '^the same file$' "$work/out"
	test "$(grep -c ': 0 differences' "$work/out")" = 2
	;;
*)
	echo "no example $3" >&2
	exit 1
	;;
esac
