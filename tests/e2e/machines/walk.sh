#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program walks its own stack by SFrame alone and agrees with _Unwind_Backtrace (walk.c), with its
# libc, loader and libgcc converted, too: here and, for other machines, under qemu-user; in big-endian
# AArch64 it agrees with its frame records (walk_bare.c). TAP.
#
#     walk.sh EH2SFRAME DIRECTORY CACHE
# shellcheck disable=SC2154,SC2317 # cli_lib.sh's; what is() calls
eh2sframe=$1 src=$(readlink -f "$2")
mkdir -p "$3" && cache=$(readlink -f "$3")
# shellcheck source-path=SCRIPTDIR/../../shared source=cli_lib.sh
. "$src/../../shared/cli_lib.sh"
unset LD_LIBRARY_PATH LD_PRELOAD
# glibc's CFI of AArch64's _dl_runtime_resolve takes no account of the 16 bytes that PLT0 pushed: the
# RA is found, the caller's SP is not, and libgcc's unwinder crashes there when a timer strikes.
export LD_BIND_NOW=1

# Names the machine of the tests that follow: its compiler, how to run its programs, flags that all
# of them are linked with. root has its libraries, as they are.
machine() { name=$1 cc=$2 emulator=$3 root=$4 link=$5; }

# walk_with FORMAT FLAG...: the program and what it runs with, converted; in $walk.
walk_with() {
	local format=$1 file
	shift
	walk=$scratch/$name/walk
	rm -rf "${scratch:?}/$name"
	mkdir "$name"
	cp -a "$root"/. "$name"
	# shellcheck disable=SC2086 # words
	$cc -D_GNU_SOURCE -std=gnu11 -O2 -fno-builtin -Wall -Wextra -Werror "$@" -o plain \
		"$src/walk.c" "$src/walk_sframe.c" ${link//@/$scratch/$name} || return
	while read -r file; do
		# A loader is converted when a method is named.
		"$eh2sframe" -q --format="$format" "$file" "$file" 2>/dev/null ||
			"$eh2sframe" -q --format="$format" --method=grow "$file" "$file" || return
	done < <(find "$name" -type f \( -name 'libc.so.6' -o -name 'ld*.so*' -o -name 'libgcc_s.so*' \) -size +1)
	"$eh2sframe" -q --format="$format" plain "$walk"
}

# walks FORMAT [FLAG...]
walks() {
	local kind
	is "$name, version $*: converts" walk_with "$@"
	for kind in deep qsort leaf samples; do
		# shellcheck disable=SC2086 # words
		is "$name, version $*: $kind" $emulator "$walk" "$kind"
		tail -n 1 .out | sed 's/^/# /'
	done
	fails_to_walk "$name, version $*: a wrong row is noticed" lie
}

# fails_to_walk NAME KIND: status 1, and not that of a crash.
fails_to_walk() {
	# shellcheck disable=SC2086 # words
	$emulator "$walk" "$2" >.out 2>&1
	if [ $? = 1 ]; then ok "$1"; else not_ok "$1" "$(cat .out)"; fi
}

# Like that of tap.sh, and keeps the output.
is() {
	local what=$1
	shift
	if "$@" >.out 2>&1; then ok "$what"; else not_ok "$what" "$* failed: $(cat .out)"; fi
}

# missing NAME WHY
missing() {
	skip "$1" "$2"
	return 1
}

# other NAME TRIPLET ARCH: a machine that has to be emulated, or a reason why not.
other() {
	local why
	if ! have "$2-gcc" || ! have "qemu-$1"; then
		missing "$1" "needs $2-gcc and qemu-$1"
		return
	fi
	why=$("$src/machines_fetch.sh" "$3" quick "$cache" 2>&1) || { missing "$1" "$why"; return; }
	mkdir -p "root-$1/etc" "root-$1/lib"
	cp -a "$cache/$3/lib/." "root-$1/lib" && : >"root-$1/etc/ld.so.cache"
	machine "$1" "$2-gcc" "$(arm "$1") -L $scratch/$1" "$scratch/root-$1" ""
}

# arm NAME: an emulator with keys, and without FEAT_FPAC, where it knows such a processor: there the
# program ends at the first address with a wrong signature, and could not say that it noticed.
arm() {
	if "qemu-$1" -cpu help 2>/dev/null | grep -q neoverse-v1; then
		echo "qemu-$1 -cpu neoverse-v1"
	else
		echo "qemu-$1"
	fi
}

# bare NAME ORDER: AArch64 without a C library, in both byte orders (walk_bare.c).
bare() {
	local protection format
	name="$1 without a C library" emulator=$(arm "$1") walk=$scratch/bare
	if ! have aarch64-linux-gnu-gcc || ! have "qemu-$1"; then
		missing "$name" "needs aarch64-linux-gnu-gcc and qemu-$1"
		return
	fi
	# Nobody has this header, which others ask for by name.
	mkdir -p include/gnu && : >include/gnu/stubs-lp64_be.h
	for protection in none standard pac-ret+leaf+b-key; do
		is "$name, $protection: compiles" aarch64-linux-gnu-gcc "-m$2-endian" \
			-mbranch-protection=$protection -D_GNU_SOURCE -std=gnu11 -O2 -ffreestanding \
			-fno-omit-frame-pointer -fno-tree-loop-distribute-patterns -Wall -Wextra -Werror \
			-idirafter include -static -nostdlib -o plain "$src/walk_bare.c" "$src/walk_sframe.c"
		for format in 1 2 3; do
			is "$name, $protection, version $format: converts" \
				"$eh2sframe" -q --format=$format plain bare
			is "$name, $protection, version $format" $emulator "$walk"
			fails_to_walk "$name, $protection, version $format: a wrong row is noticed" lie
			[ $protection = none ] ||
				fails_to_walk "$name, $protection, version $format: another key is noticed" key
		done
	done
}

if [ "$(uname -m)" = x86_64 ]; then
	mkdir root
	for library in libc.so.6 libgcc_s.so.1; do
		cp -L "$(gcc -print-file-name=$library)" root/
	done
	cp -L /lib64/ld-linux-x86-64.so.2 root/
	machine x86-64 gcc "" "$scratch/root" "-Wl,--dynamic-linker=@/ld-linux-x86-64.so.2,-rpath=@"
	for format in 1 2 3; do walks $format; done
	walks 2 -fcf-protection=full -fno-omit-frame-pointer -Wl,-z,lazy
	walk=$scratch/plain
	fails_to_walk "a program without a section" deep
fi
if other aarch64 aarch64-linux-gnu arm64; then
	for format in 1 2 3; do walks $format; done
	# An address signed with a key is only accepted with that key.
	for key in pac-ret pac-ret+leaf+b-key; do
		walks 2 -mbranch-protection=$key
		fails_to_walk "aarch64, $key: another key is noticed" key
	done
	walks 3 -mbranch-protection=standard
	walks 2 -static
fi
bare aarch64 little
bare aarch64_be big
if other s390x s390x-linux-gnu s390x; then
	for format in 2 3; do walks $format; done
	walks 2 -mbackchain
	walks 2 -static
fi
plan
