#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh ROOT CC...: every header compiles as the only thing included, and twice; its guard is its path.
cd "$1" || exit 1
shift
status=0 n=0
headers=$(find base cfi code sframe gen walk cmd include profile -name '*.h' | LC_ALL=C sort)
for header in $headers; do
	n=$((n + 1))
	printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
		"$@" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -fsyntax-only -x c - || {
		echo "$header does not compile alone"
		status=1
	}
done
[ "$n" -ge 30 ] || { echo "only $n headers found"; status=1; }
echo "$n headers"
# A public header is found without its folder.
# shellcheck disable=SC2086 # words
awk 'FNR == 1 {
		path = FILENAME
		sub("^include/", "", path)
		guard = toupper(path)
		gsub("[^A-Z0-9]", "_", guard)
		seen = 0
	}
	/^#(ifndef|define) / && seen++ < 2 && $2 != guard {
		print FILENAME ": its guard is " $2 " and not " guard
		wrong = 1
	}
	END { exit wrong }' $headers || status=1
exit $status
