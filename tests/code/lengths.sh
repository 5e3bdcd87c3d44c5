#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# objdump and code/ find instructions of x86-64 of the same lengths (lengths.c). TAP.
#
#     lengths.sh LENGTHS COUNT FILE-OR-FOLDER...
#
# Files are taken in an order that mixes what installed them, until COUNT instructions have been compared.
lengths=$(readlink -f "$1") src=$(dirname "$(readlink -f "$0")") count=$2
shift 2
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$src/../shared/tap.sh"
have objdump || skip_all 'objdump is not installed'

disassembled() {
	local file
	find "$@" -xdev -type f -size +4k | sort | awk 'BEGIN { srand(1) } { print rand() "\t" $0 }' | sort | cut -f 2- |
		while read -r file; do
			# ELF of 64 bits for x86-64.
			[[ $(od -An -tx1 -N20 "$file" 2>&1 | tr -d ' \n') =~ ^7f454c4602.{26}3e00$ ]] || continue
			objdump -dw -M intel64 "$file" 2>/dev/null
			[ $? -lt 128 ] || break
		done
}

out=$(disassembled "$@" | "$lengths" "$count")
status=$?
if [ $status = 0 ]; then ok "$out"; else not_ok "lengths of instructions" "$out"; fi
plan
