#!/bin/bash
# SPDX-License-Identifier: MIT
# faults.sh ROOT FAULTS [list]: plants each fault of FAULTS in a copy of ROOT, one at a time. Each of its
# tests must pass before and fail then. With "list" it only looks whether each fault is one line of ROOT. TAP.
root=$1 faults=$(realpath "$2")
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$root/tests/shared/tap.sh"
copy=$scratch/copy
mapfile -t list < <(grep -v '^[#	]' "$faults" | grep .)

# said KEY: the words of that key of the fault whose first line is $what.
said() {
	awk -v what="$what" -v key="	$1: " '$0 == what { here = 1 } /^$/ { here = 0 }
		here && index($0, key) == 1 { print substr($0, length(key) + 1) }' "$faults"
}

if [ "${3-}" = list ]; then
	for what in "${list[@]}"; do
		changed=$(sed "$(said change)" "$root/$(said file)" | diff "$root/$(said file)" -)
		is "$what: one line" test "$(echo "$changed" | grep -c '^>')" = 1
	done
	plan
fi

run_tests() { meson test -C "$copy/build" --setup full "$@" >result 2>&1; }

# result NAME: of the last run, as meson names it; nothing when the program could not be built.
result() { sed -n "s/^ *[0-9]*\/[0-9]* .* $1  *\(OK\|FAIL\|ERROR\|TIMEOUT\|SKIP\)\b.*/\1/p" result; }

mkdir "$copy"
sources() {
	if [ -e .git ]; then git ls-files -z --cached --others --exclude-standard; else find . -type f -print0; fi
}
(cd "$root" && sources | tar --null -T - -c) | tar -x -C "$copy"
# Fast to build, again and again.
meson setup -Db_lto=false -Doptimization=0 "$copy/build" "$copy" >result || {
	not_ok 'a copy' "$(tail -n 5 result)"
	plan
}
mapfile -t names < <(meson test -C "$copy/build" --setup full --list 2>/dev/null | sed -n 's,^[^ ]* / ,,p')
# Those of the names given that are tests on this machine.
here() { for name in "$@"; do printf '%s\n' "${names[@]}" | grep -x -e "$name"; done; }

# shellcheck disable=SC2046 # names are words
run_tests $(here $(sed -n 's/^	tests: //p' "$faults" | tr ' ' '\n' | sort -u))
cp result before
for what in "${list[@]}"; do
	file=$copy/$(said file)
	# shellcheck disable=SC2046
	mapfile -t tests < <(here $(said tests))
	if [ ${#tests[@]} = 0 ]; then
		skip "$what" "no $(said tests) here"
		continue
	fi
	cp "$file" whole
	sed -i "$(said change)" "$file"
	if [ "$(diff whole "$file" | grep -c '^>')" = 1 ]; then
		cp before result
		for name in "${tests[@]}"; do
			[ "$(result "$name")" = OK ] || not_ok "$what: $name passes before" "$(tail -n 40 before)"
		done
		run_tests "${tests[@]}"
		for name in "${tests[@]}"; do
			case $(result "$name") in
			FAIL | ERROR | TIMEOUT) ok "$what: $name fails" ;;
			*) not_ok "$what: $name fails" "$(tail -n 20 result)" ;;
			esac
		done
	else
		not_ok "$what: one line is changed" "$(diff whole "$file")"
	fi
	cp whole "$file"
done
plan
