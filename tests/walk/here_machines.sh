#!/bin/bash
# SPDX-License-Identifier: MIT
# here_machines.sh EH2SFRAME ROOT N: walks of a process on AArch64 and s390x beside those of libgcc, with all files
# converted. In static programs, also of musl, libgcc takes a lock, so that the walks stand alone. TAP.
converter=$(realpath "$1") root=$(realpath "$2") times=$3
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$root/tests/shared/tap.sh"

cd "$root" || exit 99
sources=(walk/*.c tests/walk/here.c tests/walk/here_stacks.c tests/walk/here_random.c tests/walk/here_races.c)
# Calls are bound at once: libgcc follows ld.so's CFI into memory that is not there where it binds late on AArch64.
options=(-std=c11 -D_GNU_SOURCE -O2 -fasynchronous-unwind-tables -I. -pthread -Wl,-z,now)

# needs NAME COMMAND...: whether all are there.
needs() {
	local name=$1 command
	shift
	for command; do
		have "$command" || [ -e "$command" ] && continue
		skip "$name" "needs $command"
		return 1
	done
}

# musl has no CFI.
convert() { "$converter" -q --format=3 $derive "${@:3}" "$1" "$2"; }
derive=

# runs NAME CC OPTION... -- RUNNER...: the program walks.
runs() {
	local name=$1
	shift
	local compile=()
	while [ "$1" != -- ]; do
		compile+=("$1")
		shift
	done
	shift
	is "$name: it is built" "${compile[@]}" "${options[@]}" -o "$scratch/program" "${sources[@]}"
	is "$name: it is converted" convert "$scratch/program" "$scratch/rows"
	is "$name: it walks" "$@" "$scratch/rows" "$times"
}

# other MACHINE LOADER OPTION...: by qemu, with the libraries of the cross compiler.
other() {
	local machine=$1 loader=$2 name="$*" file from=/usr/$1-linux-gnu/lib
	shift 2
	needs "$name" "$machine-linux-gnu-gcc" "qemu-$machine" "$from/$loader" || return
	rm -rf "$scratch/root"
	mkdir -p "$scratch/root/lib"
	for file in "$loader" libc.so.6 libgcc_s.so.1; do
		# A loader is converted when a method is named.
		is "$name: $file is converted" convert "$from/$file" "$scratch/root/lib/$file" $([ "$file" != "$loader" ] || echo --method=grow)
	done
	# libgcc reads the code of a PC without CFI, wherever that PC leads. CFI of libc is wrong at some instructions, so
	# that it faults when it is asked at any of them.
	runs "$name, beside libgcc" "$machine-linux-gnu-gcc" "$@" -DHERE_CALM -- "qemu-$machine" -L "$scratch/root"
	runs "$name" "$machine-linux-gnu-gcc" "$@" -DHERE_ALONE -- "qemu-$machine" -L "$scratch/root"
}

other aarch64 ld-linux-aarch64.so.1
other aarch64 ld-linux-aarch64.so.1 -mbranch-protection=standard
other s390x ld64.so.1
for compiler in gcc musl-gcc; do
	[ $compiler = gcc ] || derive=--derive
	name="static, $compiler"
	needs "$name" $compiler && runs "$name" $compiler -static -DHERE_ALONE --
done
plan
