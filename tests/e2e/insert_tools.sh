#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs with a section put in, given to the tools that rewrite ELF files: they still run and
# the section is still mapped. Prints the table. usage: insert_tools.sh DRIVER SOURCE_DIR [full]
raw=$1 src=$2 full=${3-}
. "$src/insert_lib.sh"

llvm=$(ls -d /usr/lib/llvm-*/bin 2>/dev/null | sort -V | tail -n 1)

# Each tool: FILE in place.
tool_strip() { strip "$1"; }
tool_strip-g() { strip -g "$1"; }
tool_objcopy() { objcopy "$1"; }
tool_objcopy-rename() { objcopy --add-section .extra=extra "$1"; }
tool_eu-strip() { eu-strip "$1"; }
tool_eu-strip-f() { eu-strip -f "$1.debug" "$1"; }
tool_llvm-strip() { "$llvm/llvm-strip" "$1"; }
tool_llvm-objcopy() { "$llvm/llvm-objcopy" --add-section .extra=extra "$1"; }
tool_patchelf() { patchelf --set-rpath /nonexistent/a/rather/long/path/that/needs/room "$1"; }
tool_chrpath() { chrpath -r /x "$1"; }
tool_strip-twice() { strip -g "$1" && strip "$1"; }
tools="strip strip-g objcopy objcopy-rename eu-strip eu-strip-f llvm-strip llvm-objcopy patchelf strip-twice"

installed() {
	case $1 in
	llvm*) [ -n "$llvm" ] && [ -x "$llvm/llvm-strip" ] ;;
	strip-* | objcopy-*) have "${1%%-*}" ;;
	eu-strip*) have eu-strip ;;
	*) have "$1" ;;
	esac
}

# What a tool breaks by its own fault: it does so without a section put in, too.
breaks_original() {
	cp "$1" "$1.plain"
	! "tool_$2" "$1.plain" >/dev/null 2>&1 || ! same_run "./$1" "./$1.plain" >/dev/null 2>&1
}

row=
cell() { row="$row $1"; }

try() {
	local kind=$1 tool=$2 file=$1.$2 problem=
	cp "$kind.new" "$file"
	if ! "tool_$tool" "$file" >"$file.log" 2>&1; then
		problem="$tool failed: $(head -c 300 "$file.log")"
	elif ! same_run "./$kind" "./$file" >"$file.log" 2>&1; then
		problem="does not run: $(cat "$file.log")"
	elif [ "${kind#cxx}" = "$kind" ] && ! "./$file" mapped >"$file.log" 2>&1; then
		problem="not mapped: $(cat "$file.log")"
	elif ! clean_readelf "$file" >"$file.log" 2>&1; then
		problem="readelf: $(cat "$file.log")"
	fi
	if [ -z "$problem" ]; then
		if have qemu-x86_64 && qemu-x86_64 "./$kind" >q1 2>&1; then
			(qemu-x86_64 "./$file") >q2 2>&1
			if cmp -s q1 q2; then cell ok+; else cell ok; fi
		else
			cell ok
		fi
		ok "$kind, $tool"
	elif breaks_original "$kind" "$tool"; then
		cell own
		skip "$kind, $tool" "breaks or refuses the original, too: $(echo $problem | head -c 100)"
	else
		cell BAD
		not_ok "$kind, $tool" "$problem"
	fi
	rm -f "$file" "$file.debug"
}

echo x >extra
# One of each character; all of them in the slow suite.
[ "$full" ] || only="pie nopie static static-pie lld mold musl-static linker-made cxx"
build_kinds
used=
for tool in $tools; do if installed $tool; then used="$used $tool"; fi; done
echo "# own: the tool's own fault, it does the same to the original"
echo "# ok+: also by the AT_PHDR rule of kernels before 5.18 (qemu-user)"
echo "# kind $used" | tr ' ' '\t'
for kind in $kinds; do
	"$raw" add "$kind" "$kind.new" || { not_ok "$kind: add"; continue; }
	row=
	for tool in $used; do try "$kind" "$tool"; done
	echo "# $kind $row" | tr -s ' ' '\t'
done

# A library's own PT_GNU_SFRAME, and exceptions: libgcc finds .eh_frame by the same headers.
check_library() {
	rm -rf lib.new
	mkdir lib.new
	"$raw" add old/libinsert.so lib.new/libinsert.so &&
		"$raw" add old/libthrow.so lib.new/libthrow.so &&
		"tool_$1" lib.new/libinsert.so && "tool_$1" lib.new/libthrow.so || return
	LD_LIBRARY_PATH=lib.new ./user mapped libinsert.so >log || { cat log; return 1; }
	grep 'library 34' log && LD_LIBRARY_PATH=lib.new ./thrower
}

mkdir -p old
echo 'int throwing(); int main() { return throwing(); }' >thrower.cc
for linker in bfd lld gold mold; do
	build old/libinsert.so $CC -O1 -fPIC -shared -fuse-ld=$linker "$src/insert_library.c" &&
		build old/libthrow.so g++ -O1 -fPIC -shared -fuse-ld=$linker -Dmain=throwing "$src/insert_throw.cc" &&
		build user $CC -O1 -DWITH_LIBRARY "$probe" -Lold -linsert &&
		build thrower g++ thrower.cc -Lold -lthrow || { skip "library, $linker" "cannot be built here"; continue; }
	for tool in $used; do is "library of $linker, $tool" check_library "$tool"; done
done

# The section put in after another tool, as packaging does it.
for tool in $used; do
	cp pie first && "tool_$tool" first >log 2>&1 && "$raw" add first second 2>log &&
		is "$tool first" ./second mapped
done
plan
