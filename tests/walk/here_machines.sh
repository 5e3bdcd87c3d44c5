#!/bin/bash
# SPDX-License-Identifier: MIT
# here_machines.sh EH2SFRAME ROOT N some|all: walks of a process by sections in files, its program's, libc's, the loader's and
# libgcc's, on x86-64 and by qemu-user on AArch64 and s390x, beside libgcc's. Static programs, also of musl, walk alone:
# there libgcc takes a lock. AArch64 in either byte order walks without a C library, beside its frame records. "some" has
# each machine once; "all" has each version, and more options of the compilers. TAP.
converter=$(realpath "$1") root=$(realpath "$2") times=$3 which=$4
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$root/tests/shared/tap.sh"

cd "$root" || exit 99
tests=("$root"/tests/walk/here_{stacks,random,races}.c)
options=(-std=c11 -D_GNU_SOURCE -O2 -fasynchronous-unwind-tables -I. -pthread)

# needs NAME COMMAND...: false when one of them is missing.
needs() {
	local name=$1 command
	shift
	for command; do
		have "$command" || [ -e "$command" ] && continue
		skip "$name" "needs $command"
		return 1
	done
}

# Prints the command to emulate MACHINE. A processor with FEAT_FPAC ends the program at the first wrong signature, which
# could then not say that it noticed; this one has signatures and not that.
emulator() {
	if "qemu-$1" -cpu help 2>/dev/null | grep -q neoverse-v1; then
		echo "qemu-$1 -cpu neoverse-v1"
	else
		echo "qemu-$1"
	fi
}

# fails NAME COMMAND...: it must end with 1, and not by a signal.
fails() {
	local name=$1 said
	shift
	said=$("$@" 2>&1)
	if [ $? = 1 ]; then ok "$name"; else not_ok "$name" "$* did not end with 1: $said"; fi
}

# musl has no CFI.
convert() { "$converter" -q --format="$format" $derive "${@:3}" "$1" "$2"; }
derive= format=3

# build NAME CC OPTION...: what all programs of these options share, once.
build() {
	local name=$1
	shift
	compile=("$@")
	rm -rf "$scratch/objects" && mkdir "$scratch/objects"
	is "$name: the walker is compiled" env -C "$scratch/objects" "${compile[@]}" "${options[@]}" -O0 -I "$root" -c "$root"/walk/*.c
	is "$name: the tests are compiled" env -C "$scratch/objects" "${compile[@]}" "${options[@]}" -I "$root" -c "${tests[@]}"
}

# runs NAME DEFINITION... -- RUNNER...: the program of the last build walks.
runs() {
	local name=$1 definitions=()
	shift
	while [ "$1" != -- ]; do
		definitions+=("$1")
		shift
	done
	shift
	is "$name: it is built" "${compile[@]}" "${options[@]}" "${definitions[@]}" $link -o "$scratch/program" \
		tests/walk/here.c "$scratch"/objects/*.o
	is "$name: it is converted" convert "$scratch/program" "$scratch/rows"
	is "$name: it walks" "$@" "$scratch/rows" "$times"
}
link=

# other MACHINE LOADER FORMATS OPTION...: with the libraries of the compiler.
other() {
	local machine=$1 loader=$2 formats=$3 name file cc=$1-linux-gnu-gcc runner libraries
	shift 3
	libraries=$scratch/root/lib
	if [ "$machine" = x86_64 ]; then
		[ "$(uname -m)" = x86_64 ] || return
		cc=gcc runner=() link="-Wl,--dynamic-linker=$libraries/$loader,-rpath=$libraries"
	else
		needs "$machine $*" "$cc" "qemu-$machine" || return
		read -ra runner <<<"$(emulator "$machine") -L $scratch/root"
		link=
	fi
	# Unless LAZY, calls are bound at once: libgcc follows ld.so's CFI into memory that is not there where it binds late
	# on AArch64.
	[ -n "${lazy-}" ] || link="$link -Wl,-z,now"
	build "$machine $*" "$cc" "$@"
	for format in $formats; do
		name="$machine, version $format $*"
		rm -rf "$scratch/root"
		mkdir -p "$libraries"
		for file in "$loader" libc.so.6 libgcc_s.so.1; do
			# A loader is converted when a method is named.
			is "$name: $file is converted" convert "$(realpath "$($cc -print-file-name="$file")")" "$libraries/$file" \
				$([ "$file" != "$loader" ] || echo --method=grow)
		done
		# libgcc reads the code of a PC without CFI, wherever that PC leads. CFI of libc is wrong at some instructions, so
		# that it faults when it is asked at any of them in threads and children.
		if [ "$format" = 3 ]; then
			runs "$name, beside libgcc" -DHERE_CALM -- "${runner[@]}"
			[ "$machine" = x86_64 ] || [ "$which" = some ] || runs "$name" -DHERE_ALONE -- "${runner[@]}"
		else
			runs "$name, beside libgcc" -DHERE_CALM -DHERE_NO_OUTERMOST -- "${runner[@]}"
		fi
	done
	format=3 link=
}

# bare NAME ORDER PROTECTIONS FORMATS: AArch64 without a C library (bare.c).
bare() {
	local name runner protection
	needs "bare $1" aarch64-linux-gnu-gcc "qemu-$1" || return
	read -ra runner <<<"$(emulator "$1")"
	# Nobody has this header, which others ask for by name.
	mkdir -p "$scratch/include/gnu" && : >"$scratch/include/gnu/stubs-lp64_be.h"
	for protection in $3; do
		is "bare $1, $protection: it is built" aarch64-linux-gnu-gcc "-m$2-endian" -mbranch-protection="$protection" \
			"${options[@]}" -ffreestanding -fno-omit-frame-pointer -fno-tree-loop-distribute-patterns -Wall -Wextra -Werror \
			-idirafter "$scratch/include" -static -nostdlib -o "$scratch/program" tests/walk/bare.c \
			walk/{index,look_up,opened,rules,step,why}.c
		for format in $4; do
			name="bare $1, $protection, version $format"
			is "$name: it is converted" convert "$scratch/program" "$scratch/rows"
			is "$name: it walks" timeout 120 "${runner[@]}" "$scratch/rows"
			fails "$name: a wrong SP is noticed" timeout 120 "${runner[@]}" "$scratch/rows" lie
			[ "$protection" = none ] || fails "$name: another key is noticed" timeout 120 "${runner[@]}" "$scratch/rows" key
		done
	done
	format=3
}

# static NAME CC OPTION... -- RUNNER...
static() {
	local name="static, $1" compiler=()
	while [ "$1" != -- ]; do
		compiler+=("$1")
		shift
	done
	shift
	needs "$name" "${compiler[0]}" "$@" || return
	build "$name" "${compiler[@]}" -static
	runs "$name" -DHERE_ALONE -- "$@"
}

if [ "$which" = some ]; then
	other x86_64 ld-linux-x86-64.so.2 2
	other aarch64 ld-linux-aarch64.so.1 3 -mbranch-protection=standard
	other s390x ld64.so.1 2
	bare aarch64_be big pac-ret+leaf+b-key 2
	plan
fi
other x86_64 ld-linux-x86-64.so.2 '1 2 3'
lazy=1 other x86_64 ld-linux-x86-64.so.2 2 -fcf-protection=full -fno-omit-frame-pointer
other aarch64 ld-linux-aarch64.so.1 '1 2 3'
for protection in pac-ret pac-ret+leaf+b-key; do
	other aarch64 ld-linux-aarch64.so.1 2 -mbranch-protection=$protection
done
other aarch64 ld-linux-aarch64.so.1 3 -mbranch-protection=standard
other s390x ld64.so.1 '2 3'
other s390x ld64.so.1 2 -mbackchain
bare aarch64 little 'none standard pac-ret+leaf+b-key' '1 2 3'
bare aarch64_be big 'none standard pac-ret+leaf+b-key' '1 2 3'
static gcc --
derive=--derive static musl-gcc --
static aarch64-linux-gnu-gcc -- qemu-aarch64
static s390x-linux-gnu-gcc -- qemu-s390x
plan
