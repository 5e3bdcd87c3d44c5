#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh ROOT CC...: every header compiles as the only thing included, and twice.
cd "$1" || exit 1
shift
status=0 n=0
for header in $(find base cfi formats go names orc sframe gen walk lib cmd include profile -name '*.h' | LC_ALL=C sort); do
	n=$((n + 1))
	printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
		"$@" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -fsyntax-only -x c - || {
		echo "$header does not compile alone"
		status=1
	}
done
[ "$n" -ge 30 ] || { echo "only $n headers found"; status=1; }
echo "$n headers"
exit $status
