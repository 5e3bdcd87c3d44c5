#!/bin/bash
# SPDX-License-Identifier: MIT
# Converts programs of every linker here, and programs of the system, and steps them: what their
# .sframe says is compared with what happens, instruction by instruction. Prints TAP.
#
#   step.sh EH2SFRAME STEP some|all
#
# some: one kind of program by each linker, and /bin/true.
eh2sframe=$(realpath "$1")
step=$(realpath "$2")
mode=$3
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$here/../shared/tap.sh"

result() { # STATUS NAME; details come from the file out
	if [ "$1" = 0 ]; then ok "$2"; else not_ok "$2"; fi
	sed 's/^/# /' "$scratch/out"
}

# Steps a program that was converted already.
check() { # NAME STEP-OPTIONS... PROGRAM ARG...
	title=$1
	shift
	"$step" --known="$here/step_known.txt" --steps="$steps" "$@" >"$scratch/out" 2>&1
	result $? "$title"
}

convert() { # NAME IN OUT; false after a failure that is now reported
	# A loader is converted when a method is named.
	case $2 in
	*/ld-linux*) set -- "$@" --method=grow ;;
	esac
	if "$eh2sframe" -q "${@:4}" "$2" "$3" >"$scratch/out" 2>&1; then
		return 0
	fi
	result 1 "$1: conversion"
	return 1
}

# Prints how many instructions of dynamic() in the static FILE call one of its PLTs.
#
# A static file has stubs for the IFUNCs of its libc alone. How often libc goes through them itself differs between
# releases of it, and how many instructions a stub has between linkers (with Debian 13 gold's and lld's programs take fewer
# than 50 such steps, where Debian 12's take 100), so no constant tells what must be seen. But dynamic() calls memset, and
# main() calls dynamic(): if that call leads to a stub, the stub is stepped.
plt_calls() { # FILE
	local line start size to first n_bytes n=0 plts
	read -r start size _ < <(nm -S "$1" | awk '$4 == "dynamic" { print $1, $2 }')
	plts=$(readelf -SW "$1" | sed -n 's/^ *\[ *[0-9]*\] \.i\?plt[^ ]* *PROGBITS *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p')
	while read -r to; do
		while read -r first n_bytes; do
			[ -n "$first" ] && [ $((0x$to)) -ge $((0x$first)) ] && [ $((0x$to)) -lt $((0x$first + 0x$n_bytes)) ] && n=$((n + 1))
		done <<<"$plts"
	done < <(objdump -d --no-show-raw-insn --start-address=0x"$start" --stop-address=$((0x$start + 0x$size)) "$1" |
		sed -n 's/.*\<call *\([0-9a-f]\+\) .*/\1/p')
	echo $n
}

# Builds, converts and steps one of the programs beside this script. MIN-PLT "static": of a static file, each step in a PLT.
build() { # NAME MIN MIN-PLT SOURCE COMPILER FLAG...
	name=$1 min=$2 min_plt=$3 source=$4
	shift 4
	if ! "$@" "$here/$source" -o "$scratch/plain" >"$scratch/out" 2>&1; then
		skip "$name" "cannot be linked: $(head -n 1 "$scratch/out" | tr -d '#')"
		return
	fi
	# mold 2.37 makes static PIE programs that crash in their own relocation.
	if ! "$scratch/plain" >"$scratch/out" 2>&1; then
		skip "$name" "DOES NOT RUN AS IT IS LINKED, status $?"
		return
	fi
	convert "$name" "$scratch/plain" "$scratch/converted" || return
	set --
	[ "$min_plt" != static ] || { min_plt=$(plt_calls "$scratch/plain"); set -- --all-plt; }
	check "$name" --min="$min" --min-plt="$min_plt" "$@" "$scratch/converted"
}

# The kinds of program that one linker can make, or only the N-th of them.
linker() { # LINKER [N]
	local cc="gcc -fuse-ld=$1" cxx="g++ -fuse-ld=$1" ibt=-Wl,-z,ibtplt linker=$1 only=${2-} kind=0
	[ "$1" != lld ] || ibt=-Wl,-z,force-ibt
	[ "$1" != gold ] || ibt=
	one() { kind=$((kind + 1)); [ "${only:-$kind}" != $kind ] || build "$linker $1" "${@:2}"; }
	# shellcheck disable=SC2086 # commands and flags in words
	{
		one "PIE -O2 lazy" 1500 40 step_prog.c $cc -O2 -pie -fPIE -Wl,-z,lazy
		one "static -O2" 30000 static step_prog.c $cc -O2 -static
		one "PIE -O3 frame pointer, IBT" 1200 40 step_prog.c \
			$cc -O3 -fno-omit-frame-pointer -fcf-protection=full $ibt -Wl,-z,lazy
		one "no PIE -O0 now" 4000 12 step_prog.c $cc -O0 -no-pie -fno-pie -Wl,-z,now
		one "static -O2 IBT" 30000 static step_prog.c \
			$cc -O2 -static -fcf-protection=full $ibt
		one "static PIE -O2" 30000 static step_prog.c $cc -O2 -static-pie -fPIE
		one "C++ -O2" 2000 100 step_prog.cc $cxx -O2 -static-libstdc++ -static-libgcc
		for flags in -O0 -O1 '-O2 -fno-plt' -Os '-O3 -mno-red-zone' '-O2 -fno-omit-frame-pointer'; do
			one "PIE $flags" 1000 0 step_prog.c $cc $flags
			one "C++ $flags" 1000 0 step_prog.cc $cxx $flags
			# static-pie: a plain static program sorts all its FDEs at the first throw
			one "C++ static $flags" 50000 0 step_prog.cc $cxx $flags -static-pie -fPIE
			one "clang $flags" 1000 0 step_prog.c clang -fuse-ld="$linker" $flags
		done
	}
}

# A converted libc, and all else that a program of the system loads.
convert_system() { # PROGRAM
	for lib in $(ldd "$1" | awk '/=> \// {print $3} $1 ~ /^\// {print $1}'); do
		[ -e "$scratch/lib/$(basename "$lib")" ] ||
			convert "$lib" "$(readlink -f "$lib")" "$scratch/lib/$(basename "$lib")" || return 1
	done
	convert "$1" "$(readlink -f "$1")" "$scratch/bin/$(basename "$1")"
}

system() { # MIN PROGRAM ARG...
	min=$1
	program=$2
	shift 2
	name=$(basename "$program")
	convert_system "$program" || return
	check "$name $* with converted libraries" --min="$min" \
		--env="LD_LIBRARY_PATH=$scratch/lib" "$scratch/bin/$name" "$@"
	[ "$mode" = all ] || return 0
	# The loader that the kernel takes is at a fixed path, so a converted one must be named.
	check "$name $* under a converted loader" --min="$min" --from-start \
		"$scratch/lib/ld-linux-x86-64.so.2" --library-path "$scratch/lib" "$scratch/bin/$name" "$@"
}

# What the stepper must find, or its silence means nothing.
lies() {
	if ! gcc -no-pie "$here/step_lie.S" -o "$scratch/plain" >"$scratch/out" 2>&1; then
		result 1 'lies: built'
		return
	fi
	convert lies "$scratch/plain" "$scratch/converted" || return
	"$step" "$scratch/converted" >"$scratch/out" 2>&1
	[ $? = 1 ] && [ "$(grep -c '^DIFF' "$scratch/out")" = 7 ] &&
		[ "$(grep -c '^DIFF.* cfa is' "$scratch/out")" = 2 ] &&
		[ "$(sed -n 's/^DIFF.* \(lie_[a-z_]*\)).*/\1/p' "$scratch/out" | sort -u | wc -l)" = 3 ]
	result $? 'every lie is found'
	mkdir "$scratch/marks"
	# A report that takes every row for a repaired one.
	"$eh2sframe" dump "$scratch/converted" |
		sed -n 's/^ *func idx .*: pc = \(0x[0-9a-f]*\), size = \([0-9]*\) .*/{"start":"\1","size":\2,"kind":"repaired","function":"\1"}/p' \
			>"$scratch/marks/converted.json"
	"$step" --marks="$scratch/marks" --visits=1 --min-distinct=1000 "$scratch/converted" >"$scratch/out" 2>&1
	[ $? = 1 ] && [ "$(grep -c '^DIFF' "$scratch/out")" = 7 ] && grep -q '^FAIL too few' "$scratch/out"
	result $? 'every lie is found by visits, and too few addresses are a failure'
}

if ! "$step" --steps=10 /bin/true >/dev/null 2>&1; then
	skip_all 'single-stepping is not possible here'
fi
mkdir "$scratch/lib" "$scratch/bin"
steps=150000
[ "$mode" = some ] || steps=1000000
lies
nth=0
for linker in bfd gold lld mold; do
	nth=$((nth + 1))
	if ! have "ld.$linker"; then
		skip "$linker" "needs ld.$linker"
	elif [ "$mode" = some ]; then
		linker $linker $nth
	else
		linker $linker
	fi
done
system 500 /bin/true
[ "$mode" = all ] || plan
# PLTs that have CFI otherwise, by template only.
for flags in '-fuse-ld=bfd' '-fuse-ld=bfd -fcf-protection=full -Wl,-z,ibtplt' '-fuse-ld=gold'; do
	# shellcheck disable=SC2086 # flags in words
	build "no CFI for the PLT, $flags" 1500 40 step_prog.c gcc -O2 $flags -Wl,-z,lazy \
		-Wl,--no-ld-generated-unwind-info
done
# The header of the lazy kind has no rows; the other kind has.
build 'lld retpoline lazy' 1000 0 step_prog.c gcc -O2 -fuse-ld=lld -Wl,-z,retpolineplt
build 'lld retpoline now' 1000 50 step_prog.c gcc -O2 -fuse-ld=lld -Wl,-z,retpolineplt,-z,now
if g++ -O2 "$here/step_prog.cc" -o "$scratch/cxx" >"$scratch/out" 2>&1; then
	system 50000 "$scratch/cxx"
else
	skip 'C++' "cannot be linked: $(head -n 1 "$scratch/out" | tr -d '#')"
fi
system 40000 /bin/ls -l /
# shellcheck disable=SC2016 # their variables, not ours
{
	system 100000 /bin/bash -c 'for i in 1 2 3; do x=$x$i; done; echo ${#x}'
	system 100000 /usr/bin/perl -e 'print join ",", sort map { $_ ** 2 } 1..20'
	system 100000 /usr/bin/python3 -S -c 'print(sum(i * i for i in range(50)))'
}
plan
