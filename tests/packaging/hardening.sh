#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs and libraries are hardened. TAP.
#
#     hardening.sh TESTS_SHARED FLAGS FILE...
#
# FLAGS are the parts to look for, with commas: pie, now, protector, fortify, cet. A program is checked for all of them, a
# library for what it can have: the two that walk stacks call no function of libc that has a checked form.
flags=,$2,
shared=$1
shift 2
mapfile -t files < <(realpath "$@")
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$shared/tap.sh"
have readelf || skip_all 'needs readelf'

wanted() { [[ $flags = *,$1,* ]]; }
for file in "${files[@]}"; do
	name=${file##*/}
	readelf -WhldnS "$file" >elf 2>/dev/null
	readelf -Ws --dyn-syms "$file" >symbols 2>/dev/null
	is "$name: the stack cannot be executed" grep -qE 'GNU_STACK.* RW +0' elf
	is "$name: no segment can be written and executed" sh -c '! grep -qE "LOAD.* RWE " elf'
	is "$name: no relocation of code" sh -c '! grep -q TEXTREL elf'
	if wanted pie; then is "$name: its place is not fixed" grep -qE 'Type: +DYN' elf; fi
	if wanted now; then
		is "$name: read-only after relocation" grep -q GNU_RELRO elf
		is "$name: all of it, at once" grep -qE 'BIND_NOW|Flags:.* NOW' elf
	fi
	if wanted protector; then is "$name: stack protector" grep -qE '__stack_chk_fail|__stack_chk_guard' symbols; fi
	if wanted fortify && [[ $name != *walk* ]]; then is "$name: fortified" grep -qE '__[a-z]+_chk(@|$| )' <(grep -v __stack_chk symbols); fi
	if wanted cet; then is "$name: IBT and SHSTK" grep -qE 'IBT, SHSTK' elf; fi
done
plan
