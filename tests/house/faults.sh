#!/bin/bash
# SPDX-License-Identifier: MIT
# faults.sh ROOT FAULTS [list]: plants each fault of FAULTS in a copy of ROOT, one at a time. Each of its
# tests must pass before and fail then. With "list" it only looks whether each fault changes one line of ROOT. TAP.
root=$1 faults=$(realpath "$2")
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$root/tests/shared/tap.sh"
mapfile -t lines < <(grep -v '^#' "$faults")

# each COMMAND: runs it with $what, $file, $change and $tests of each fault.
each() {
	for ((i = 0; i < ${#lines[@]}; i += 3)); do
		what=${lines[i]} change=${lines[i + 1]#	}
		file=${what%%: *}
		read -ra tests <<<"${lines[i + 2]}"
		"$1"
	done
}

changed() { [ "$(sed "$change" "$root/$file" | diff "$root/$file" - | grep -c '^>')" = 1 ]; }
find_line() { is "$what: one line" changed; }
if [ "${3-}" = list ]; then
	each find_line
	plan
fi

copy=$scratch/copy
sources() {
	if [ -e .git ]; then git ls-files -z --cached --others --exclude-standard; else find . -type f -print0; fi
}
mkdir "$copy"
(cd "$root" && sources | tar --null -T - -c) | tar -x -C "$copy"
# Fast to build, again and again: meson builds what the named tests need, and nothing else.
is 'a copy' meson setup -Db_lto=false -Doptimization=0 "$copy/build" "$copy"
run_tests() { meson test -C "$copy/build" --setup full "$@" >result 2>&1; }
# result NAME FILE: of the run in FILE, as meson names it; nothing when the program could not be built.
result() { sed -n "s/^ *[0-9]*\/[0-9]* .* $1  *\(OK\|FAIL\|ERROR\|TIMEOUT\|SKIP\)\b.*/\1/p" "$2"; }

all=()
add_tests() { all+=("${tests[@]}"); }
plant() {
	local name
	for name in "${tests[@]}"; do
		if [ "$(result "$name" before)" = SKIP ]; then
			skip "$what" "$name skips here"
			return
		fi
	done
	sed -i "$change" "$copy/$file"
	run_tests "${tests[@]}"
	for name in "${tests[@]}"; do
		case $(result "$name" result) in
		FAIL | ERROR | TIMEOUT) ok "$what: $name fails" ;;
		*) not_ok "$what: $name fails" "$(tail -n 20 result)" ;;
		esac
	done
	cp "$root/$file" "$copy/$file"
}
each add_tests
mapfile -t all < <(printf '%s\n' "${all[@]}" | sort -u)
if ! run_tests "${all[@]}"; then
	not_ok 'each test passes before' "$(tail -n 60 result)"
	plan
fi
cp result before
each plant
plan
