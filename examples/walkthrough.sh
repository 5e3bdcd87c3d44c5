#!/bin/sh
# SPDX-License-Identifier: MIT
# Before and after, on one program: what is in the file, what a conversion adds, what is proven,
# and how it comes out again.
#
#     examples/walkthrough.sh [EH2SFRAME [PROGRAM]]
set -eu
eh2sframe=${1:-eh2sframe}
program=${2:-/bin/ls}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$program" "$work/before"
cd "$work"

say() { printf '\n$ %s\n' "$*"; }

say readelf -SW before '| grep eh_frame'
readelf -SW before | grep eh_frame

say eh2sframe report before
"$eh2sframe" report before

say eh2sframe before after
"$eh2sframe" before after

say readelf -lW after '| grep -e Type -e GNU_SFRAME'
readelf -lW after | grep -e Type -e GNU_SFRAME

say eh2sframe dump after '| head -n 24'
"$eh2sframe" dump after >dump
head -n 24 dump

say eh2sframe verify after
"$eh2sframe" verify after

say eh2sframe remove after again '&& cmp before again'
"$eh2sframe" remove after again
cmp before again && echo 'the same file'

say eh2sframe section before before.sframe
"$eh2sframe" section before before.sframe
say objcopy --add-section .sframe=before.sframe --set-section-flags .sframe=alloc,readonly before with-section
# objcopy places the section at address 0 and says so; no segment maps it.
objcopy --add-section .sframe=before.sframe --set-section-flags .sframe=alloc,readonly \
	before with-section 2>/dev/null
say eh2sframe verify with-section
"$eh2sframe" verify with-section
