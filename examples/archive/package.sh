#!/bin/sh
# SPDX-License-Identifier: MIT
# package.sh REPORT DEB: converts and proves what a Debian package installs. REPORT appears whole, when all is done.
# So a job that is killed leaves no part of it, and running the job again gives the same bytes.
set -eu
report=$(realpath "$1") deb=$(realpath "$2")
name=$(basename "$deb" .deb)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dpkg-deb -x "$deb" "$work/$name"
cd "$work"
status=0
eh2sframe tree convert -q -j1 --report-file="$work/report.json" "$name" || status=$?
mv report.json "$report.$$"
mv "$report.$$" "$report"
# 6: the package has nothing to convert.
[ $status = 6 ] || exit $status
