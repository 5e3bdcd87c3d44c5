#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs without a dynamic linker run under qemu-user, and each step of them does what
# code_insn_read says of its instruction (step_effects.c). TAP.
#
#     step_effects.sh STEP-EFFECTS DIRECTORY MACHINE [long]
#
# long steps the plain builds of the program and exceptions, too.
step_effects=$(readlink -f "$1") src=$(readlink -f "$2") machine=$3 long=${4-}
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$src/../shared/tap.sh"
qemu=qemu-$machine cc=$machine-linux-gnu-gcc
have "$qemu" || skip_all "$qemu is not installed"
have "$cc" || skip_all "$cc is not installed"
# The option has had its new name since release 8.1.
single=-singlestep
"$qemu" --help | grep -q one-insn-per-tb && single=-one-insn-per-tb
log=cpu features='' every=max
case $machine in
aarch64)
	features='-march=armv8.5-a -mbranch-protection=standard'
	every=max,pauth-impdef=on
	;;
s390x) log=cpu,fpu ;; # registers of floating point save others
x86_64) features='-march=x86-64-v3 -fcf-protection' ;;
esac
# steps NAME CPU PROGRAM [lie]: with lie, a difference must be found.
steps() {
	local status wanted=0 results
	[ -z "${4-}" ] || wanted=1
	"$qemu" ${2:+-cpu "$2"} "$single" -d "nochain,$log" -D /dev/fd/3 "$3" 3>&1 >said |
		"$step_effects" "$machine" "$3" "${@:4}" >out
	results=("${PIPESTATUS[@]}")
	status=${results[1]}
	[ "${results[0]}" = 0 ] || status="of the program: ${results[0]}"
	if [ "$status" = "$wanted" ]; then ok "$1"; else not_ok "$1" "status $status"; fi
	[ "$wanted" = 1 ] || sed 's/^/# /' out
}

# builds NAME FLAG...: in ./program.
builds() {
	local name=$1
	shift
	"$cc" -static -std=gnu11 "$@" -o program -lm >out 2>&1 && return
	skip "$name" "cannot be linked: $(head -n 1 out | tr -d '#')"
	return 1
}

for level in ${long:+-O0 -O2}; do
	builds "$machine, $level" $level "$src/effects_prog.c" &&
		steps "$machine, $level" '' ./program
done
# shellcheck disable=SC2086 # words
builds "$machine, every feature" -Os $features "$src/effects_prog.c" &&
	steps "$machine, every feature" $every ./program
# Not with the startup file for static programs, which sorts all unwind data of the C library first.
part() { "$cxx" -print-file-name="$1"; }
cxx=$machine-linux-gnu-g++
if [ -n "$long" ] && [ "$machine" = x86_64 ] && have "$cxx"; then
	cc=$cxx
	builds "$machine, exceptions" -std=gnu++17 -O2 -nostartfiles -Wl,--eh-frame-hdr "$(part crt1.o)" \
		"$(part crti.o)" "$(part crtbegin.o)" "$src/effects_throw.cc" "$(part crtend.o)" "$(part crtn.o)" &&
		steps "$machine, exceptions" '' ./program
	cc=$machine-linux-gnu-gcc
fi
if [ -e "$src/effects_$machine.S" ]; then
	builds "$machine, rare instructions" -nostdlib "$src/effects_$machine.S" && {
		steps "$machine, rare instructions" $every ./program
		steps "$machine, a wrong effect is found" $every ./program lie
	}
fi
plan
