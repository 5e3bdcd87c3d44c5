#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The number of threads changes nothing but the time: output, report and what a proof finds in a
# damaged section are the same. On libraries large enough for several threads. TAP.
#
#     jobs.sh EH2SFRAME
eh2sframe=$1
n=0
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
check() {
	n=$((n + 1))
	if eval "$2"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
	fi
}

for lib in libcrypto.so.3 libstdc++.so.6; do
	file=/usr/lib/x86_64-linux-gnu/$lib
	[ -r "$file" ] || { echo "1..0 # SKIP no $file"; exit 0; }
	# Less would not be divided.
	fdes=$("$eh2sframe" --report=json "$file" | grep -o '"functions": *[0-9]*' | head -1 |
		grep -o '[0-9]*$')
	check "$lib: $fdes functions are worth two threads" '[ "$fdes" -ge 4096 ]'
	for how in --format=1 --format=2 --format=3 '--optimize=none' '--optimize=size' '--drop-epilogues' '--method=front'; do
		for jobs in 1 2 3 5; do
			"$eh2sframe" -q -j "$jobs" "$how" "$file" "$dir/out.$jobs" || rm -f "$dir/out.$jobs"
		done
		for jobs in 2 3 5; do
			check "$lib $how: the output of $jobs threads is that of one" \
				'cmp "$dir/out.1" "$dir/out.$jobs"'
		done
	done
	"$eh2sframe" -q "$file" "$dir/good"
	"$eh2sframe" --report -v -j1 "$file" >"$dir/report.1"
	"$eh2sframe" --report -v -j4 "$file" >"$dir/report.4"
	check "$lib: the same report" '[ -s "$dir/report.1" ] && cmp "$dir/report.1" "$dir/report.4"'

	# Damage in three places of the rows: a CFA offset here and there is another one.
	python3 - "$dir/good" "$dir/bad" <<'P'
import struct, subprocess, sys
text = subprocess.run(["readelf", "-SW", sys.argv[1]], capture_output=True, text=True, check=True).stdout
words = next(line for line in text.splitlines() if " .sframe " in line).split("]", 1)[1].split()
off = int(words[3], 16)
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
		"$eh2sframe" --verify -j"$jobs" "$dir/bad" >"$dir/verify.$jobs" 2>&1
		echo "status $?" >>"$dir/verify.$jobs"
	done
	check "$lib: a damaged section is found out" 'grep -q "CFA is .* in .sframe" "$dir/verify.1" && grep -q "status 4" "$dir/verify.1"'
	check "$lib: the same differences by several threads" 'cmp "$dir/verify.1" "$dir/verify.4"'
done
echo "1..$n"
