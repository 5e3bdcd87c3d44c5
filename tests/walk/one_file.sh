#!/bin/bash
# SPDX-License-Identifier: MIT
# one_file.sh some|all ONE_FILE ROOT SHARED PARTS STATIC CC...: the walker as one file in the source tree of others, and what
# the libraries ask for and show. all: also compiled with optimization, for C++ and for other machines. TAP.
which=$1 one_file=$(realpath "$2") root=$(realpath "$3") shared=$(realpath "$4") parts=$(realpath "$5") static=$(realpath "$6")
shift 6
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$root/tests/shared/tap.sh"

mkdir alone
cp "$one_file" "$root/include/eh2sframe-walk.h" "$root/tests/walk/one_file.c" alone
cd alone || exit 99
for options in -O0 -O2; do
	[ "$which/$options" != some/-O2 ] || continue
	# shellcheck disable=SC2086
	is "it compiles alone with $options" "$@" -std=c11 -Wall -Wextra -Werror $options -c eh2sframe-walk.c
	"$@" -std=c11 -Wall -Wextra -Werror -o one one_file.c eh2sframe-walk.o
	is "and walks with $options" ./one
	rm -f one
done
others() {
	if have "${CXX:-g++}"; then
		printf '#include "eh2sframe-walk.h"\nint main() { return eh2sframe_walk_why_text(EH2SFRAME_WALK_WHY_LIMIT) == 0; }\n' >one.cc
		is 'C++ can use it' "${CXX:-g++}" -Wall -Wextra -Werror -o one one.cc eh2sframe-walk.o
	else
		skip 'C++ can use it' 'no C++ compiler'
	fi
	# The program has a section of x86-64, which s390x reads in the other byte order.
	for machine in aarch64 s390x; do
		if have $machine-linux-gnu-gcc && have qemu-$machine; then
			$machine-linux-gnu-gcc -std=c11 -O1 -Wall -Wextra -Werror -static -o one-$machine one_file.c eh2sframe-walk.c
			is "it walks on $machine" qemu-$machine ./one-$machine
		else
			skip "it walks on $machine" 'needs a cross compiler and qemu-user'
		fi
	done
}
[ "$which" = some ] || others

grep -o 'eh2sframe_walk_[a-z_]*;' "$root/walk/eh2sframe-walk.map" | tr -d ';' | sort >listed
nm -D --defined-only "$shared" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >shown
is 'the shared library shows the listed names' diff listed shown
nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | sort >shown
is 'the static library shows them alone' diff listed shown
nm -g --defined-only eh2sframe-walk.o | awk 'NF == 3 { print $3 }' | grep '^eh2sframe_walk' | sort >shown
is 'the one file has them, too' diff listed shown
grep -A2 '^EH2SFRAME_WALK_API' "$root/include/eh2sframe-walk.h" | grep -o 'eh2sframe_walk_[a-z_]*(' | tr -d '(' | sort -u >declared
comm -23 listed declared >undeclared
is 'the header declares them' test ! -s undeclared -a -s listed

# What a signal handler runs calls no function of libc. Sanitizers and coverage are not of the library.
for part in index look_up opened rules step why; do
	(cd .. && ar p "$parts" "$part.c.o" >"$part.o") || exit 99
	nm -u "../$part.o" | awk '{ print $2 }' |
		grep -vE '^(eh2sframe_walk_|walk_|__(asan|ubsan|tsan|gcov|sanitizer|stack_chk)|_GLOBAL_OFFSET_TABLE_)' >calls
	is "$part.c calls no other library" test ! -s calls
done
plan
