#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The number of threads changes nothing but the time: output, report and what a proof finds in a
# damaged section are the same. On libraries large enough for several threads. TAP.
#
#     jobs.sh EH2SFRAME
eh2sframe=$(realpath "$1")
# shellcheck source-path=SCRIPTDIR/../../shared source=tap.sh
. "$(dirname "$(realpath "$0")")/../../shared/tap.sh"

for lib in libcrypto.so.3 libstdc++.so.6; do
	file=/usr/lib/x86_64-linux-gnu/$lib
	[ -r "$file" ] || skip_all "no $file"
	# Less would not be divided.
	fdes=$("$eh2sframe" report --json "$file" | grep -o '"functions_with_cfi": *[0-9]*' | head -1 |
		grep -o '[0-9]*$')
	is "$lib: $fdes functions are worth two threads" test "$fdes" -ge 4096
	for how in --format=1 --format=2 --format=3 '--optimize=none' '--optimize=size' '--method=grow'; do
		for jobs in 1 2 3 5; do
			"$eh2sframe" -q -j "$jobs" "$how" "$file" "out.$jobs" || rm -f "out.$jobs"
		done
		for jobs in 2 3 5; do
			is "$lib $how: the output of $jobs threads is that of one" cmp out.1 "out.$jobs"
		done
	done
	"$eh2sframe" -q "$file" good
	"$eh2sframe" report -v -j1 "$file" >report.1
	"$eh2sframe" report -v -j4 "$file" >report.4
	is "$lib: a report" test -s report.1
	is "$lib: the same by several threads" cmp report.1 report.4

	# Damage in three places of the rows: a CFA offset here and there is another one.
	python3 - good bad <<'P'
import struct, sys
from elf_text import sections
off = sections(sys.argv[1])[".sframe"].offset
data = bytearray(open(sys.argv[1], "rb").read())
n, _, _, _, rows = struct.unpack_from("<5I", data, off + 8)
for part in (0.02, 0.5, 0.97):
    at = off + 28 + int(n * part) * 20
    row = off + 28 + rows + struct.unpack_from("<I", data, at + 8)[0]
    width = 1 << (data[at + 16] & 15)
    data[row + width + 1] ^= 8
open(sys.argv[2], "wb").write(data)
P
	for jobs in 1 4; do
		"$eh2sframe" verify -j"$jobs" bad >"verify.$jobs" 2>&1
		echo "status $?" >>"verify.$jobs"
	done
	is "$lib: a damaged section is found out" grep "CFA is .* in .sframe" verify.1
	is "$lib: and is status 4" grep "status 4" verify.1
	is "$lib: the same differences by several threads" cmp verify.1 verify.4
done
plan
