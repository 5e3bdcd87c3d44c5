#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A converted program is stripped and refreshed again and again. Nothing of the rounds before may pile
# up in it: no bytes, sections or segments. In the full tier one program by auto. TAP.
#
#     cycles.sh EH2SFRAME DIRECTORY MADE full|long
# shellcheck disable=SC2015,SC2086,SC2154,SC2317 # both may fail; CC has words; kinds_lib.sh's; called by name
eh2sframe=$1 src=$2 made=$3 long=${4#full}
# shellcheck source-path=SCRIPTDIR source=kinds_lib.sh
. "$src/kinds_lib.sh"
rounds=5

tool_strip() { strip "$1"; }
tool_objcopy-S() { objcopy -S "$1"; }
tool_llvm-strip() { "$llvm/llvm-strip" "$1"; }
tool_eu-strip() { eu-strip "$1"; }

# The size, and how many sections of this program and segments there are.
measure() {
	stat -c %s "$1"
	readelf -SW "$1" | grep -oE ' \.(phdrs|sframe|eh2sframe) ' | sort | uniq -c
	readelf -lW "$1" | grep -oE '^  (LOAD|GNU_SFRAME) ' | sort | uniq -c
}

# cycle FILE TOOL: sets problem.
cycle() {
	local file=$1 tool=$2 round
	problem=
	cp "$file" work
	"$eh2sframe" -q work work || { problem="not converted"; return; }
	for round in $(seq $rounds); do
		"tool_$tool" work >log 2>&1 || { problem="round $round: $tool: $(cat log)"; return; }
		cp work stripped
		"$eh2sframe" -q --refresh work work >log 2>&1 || { problem="round $round: $(cat log)"; return; }
		measure stripped >stripped.$round
		measure work >refreshed.$round
	done
	# The first round ends what the conversion left; from then on each is like the one before.
	for round in $(seq 3 $rounds); do
		cat stripped.2 refreshed.2 >two
		cat stripped.$round refreshed.$round | diff two - >log ||
			{ problem="round $round is not as round 2: $(cat log)"; return; }
	done
	sed 1d refreshed.1 >one
	sed 1d refreshed.$rounds | diff one - >log || { problem="sections or segments: $(cat log)"; return; }
	grep -qE '^ *1 +\.eh2sframe' one || { problem="sections: $(cat one)"; return; }
	"$eh2sframe" verify -q work >log 2>&1 || { problem="not proven: $(cat log)"; return; }
	[ "$(runs work)" = "$(runs "$file")" ] || { problem="does not run: $(runs work)"; return; }
	# Again without a tool in between: not one byte.
	"$eh2sframe" -q --refresh work again && cmp work again >log || { problem="refreshed twice: $(cat log)"; return; }
	"$eh2sframe" remove -q work back && cmp stripped back >log || { problem="not removed: $(cat log)"; }
}

# runs FILE: what the program prints.
runs() { cp "$1" run && timeout 30 ./run --version 2>&1; echo "status $?"; }

build_kinds pie ${long:+static gold-static lld-static lld-note gold-nopie lld-nopie nopie}
for tool in strip objcopy-S llvm-strip eu-strip; do
	case $tool in
	llvm*) [ -n "$llvm" ] ;;
	*) have "${tool%%-S}" ;;
	esac || { skip "$tool" "not installed"; continue; }
	for file in pie ${long:+static lld-static lld-note /bin/ls}; do
		# llvm-strip 14 refuses static programs of GNU ld.
		if [ -e "$file" ] && { cp "$file" plain && ! "tool_$tool" plain 2>log; }; then
			skip "${file##*/}, $tool" "refuses the original: $(head -n 1 log)"
			continue
		fi
		[ -e "$file" ] || continue
		cycle "$file" $tool
		if [ -z "$problem" ]; then
			ok "${file##*/}, $tool: $rounds rounds"
		else
			not_ok "${file##*/}, $tool: $rounds rounds" "${problem:0:800}"
		fi
	done
done

### A table that was moved, and that GNU's tools moved again: kernels before 5.18 look for it elsewhere. Another conversion leaves it there.
# once_more WHAT FILE OPTION...
once_more() {
	local what=$1 file=$2
	shift 2
	if "$eh2sframe" -q "$@" work work >log 2>&1 && "$eh2sframe" verify -q work >log 2>&1 && [ "$(runs work)" = "$(runs "$file")" ]; then
		ok "$file, table elsewhere, $what"
	# strip of binutils 2.44 leaves the table in a place from which grow cannot take it.
	elif grep -q 'the method grow does not apply' log; then
		skip "$file, table elsewhere, $what" "$(cat log)"
	else
		not_ok "$file, table elsewhere, $what" "$(cat log)"
	fi
}
cat >small.s <<-'S'
	.globl _start
	_start:
	.cfi_startproc
	mov $60, %eax
	xor %edi, %edi
	syscall
	.cfi_endproc
	.data
	.quad 1
S
[ "$(uname -m)" != x86_64 ] || $CC -nostdlib -static -no-pie -o small small.s
[ "$long" ] && have objcopy && for file in gold-static lld-static lld-note; do
	[ -e $file ] && "$eh2sframe" -q $file work && table_moved $file work || continue
	cp work kept
	objcopy --remove-section .sframe work 2>log && once_more 'without its section it is converted again' $file
	cp kept work
	strip work 2>log && once_more 'stripped it is refreshed by grow' $file --refresh --method=grow
done

### patchelf maps the table writable. Without its section such a program is converted again.
[ "$long" ] && have patchelf && have objcopy && for file in gold-nopie lld-nopie lld-note nopie; do
	[ -e $file ] || continue
	"$eh2sframe" -q --method=grow $file work && patchelf --add-needed libm.so.6 work &&
		objcopy --remove-section .sframe work 2>log && [ "$(runs work)" = "$(runs $file)" ] ||
		{ skip "patchelf, $file" "harms the program: $(cat log)"; continue; }
	is "patchelf, $file, objcopy: converted" "$eh2sframe" -q work work
	is "patchelf, $file, objcopy: proven" "$eh2sframe" verify -q work
	is "patchelf, $file, objcopy: runs" test "$(runs work)" = "$(runs $file)"
done

### ld -N aligns its PT_LOAD by less than a page. A tool that writes another table must not move it within the page.
for linker in bfd ${long:+lld}; do
	[ -e small ] && $CC -nostdlib -static -no-pie -fuse-ld=$linker -Wl,--omagic -o omagic-$linker small.s 2>log ||
		{ skip "omagic, $linker" "cannot be linked here"; continue; }
	is "omagic, $linker: aligned by less than a page" sh -c "readelf -lW omagic-$linker | grep -Eq '^  LOAD .* 0x[0-9a-f]{1,3}\$'"
	for tool in strip objcopy-S llvm-strip eu-strip; do
		cp omagic-$linker plain
		cp omagic-$linker work
		{ "tool_$tool" plain && [ "$(runs plain)" = "$(runs omagic-$linker)" ]; } >log 2>&1 ||
			{ skip "omagic, $linker, $tool" "not installed, or harms the original"; continue; }
		is "omagic, $linker, $tool: converted" "$eh2sframe" -q work work
		is "omagic, $linker, $tool" "tool_$tool" work
		is "omagic, $linker, $tool: runs" test "$(runs work)" = "$(runs omagic-$linker)"
		is "omagic, $linker, $tool: proven" "$eh2sframe" verify -q work
	done
done
plan
