#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A section of a converted file is written again by libelf, which makes zeros of what no section has. The file is still proven,
# and what remove gives back has no byte less. TAP.
#
#     libelf_edit.sh EH2SFRAME DIRECTORY MADE LIBELF_EDIT
# shellcheck disable=SC2015,SC2086,SC2154 # CC has words; kinds_lib.sh's
eh2sframe=$1 src=$2 made=$3 edit=$(realpath "$4")
# shellcheck source-path=SCRIPTDIR source=kinds_lib.sh
. "$src/kinds_lib.sh"

build_kinds pie nopie static gold lld mold
# Nothing in front of its hash table: grow leaves nothing in the first page.
for i in $(seq 40); do echo "int f$i(int a) { return a + $i; }"; done >bare.c
$CC -O1 -shared -fPIC -nostdlib -fcf-protection=none -Wl,--build-id=none bare.c -o bare.so || exit 1
libraries=$(ldconfig -p | sed -n 's/.*x86-64.* => //p' | grep -E '/lib(c|m|z|zstd|stdc\+\+|crypto|elf|X[a-z]*)\.so' | sort)

# whole FILE METHOD: sets problem, and counts the files of grow, which moves what is in front of a section.
n_grown=0
whole() {
	local status
	problem=
	"$eh2sframe" -q --method="$2" "$1" converted 2>log
	status=$?
	# 1: the method does not apply.
	[ $status != 1 ] || return 0
	[ $status = 0 ] || { problem="status $status: $(cat log)" && return; }
	[ "$2" != grow ] || n_grown=$((n_grown + 1))
	"$edit" converted 2>log || { problem=$(cat log) && return; }
	"$eh2sframe" verify -q converted >log 2>&1 || { problem="not proven: $(cat log)" && return; }
	"$eh2sframe" remove -q converted back 2>log
	status=$?
	[ $status = 0 ] && cmp "$1" back >log || problem="remove, status $status: $(cat log)"
}

for file in $kinds bare.so $libraries; do
	[ -f "$file" ] || continue
	# libelf must leave the file as it is.
	cp "$file" copy && chmod u+w copy && "$edit" copy 2>/dev/null && cmp -s "$file" copy || continue
	problems=
	for method in slack grow; do
		whole "$file" $method
		[ -z "$problem" ] || problems+="$method: $problem"$'\n'
	done
	if [ -z "$problems" ]; then ok "$file"; else not_ok "$file" "$problems"; fi
done
if [ $n_grown -ge 5 ]; then ok "files enough"; else not_ok "files enough" "$n_grown"; fi
plan
