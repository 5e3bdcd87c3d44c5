#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs with a section put in, given to the tools that rewrite ELF files: they still run and
# the section is still mapped and proven. Prints the table.
# usage: insert_tools.sh DRIVER SOURCE_DIR EH2SFRAME
raw=$1 src=$2 eh2sframe=$(realpath "$3")
. "$src/insert_lib.sh"

# For debugedit, dwz and chrpath to have something to do.
extra="-g -Wl,-rpath,/nonexistent"
llvm=$(find /usr/lib/llvm-*/bin/llvm-strip 2>/dev/null | sort -V | tail -n 1) llvm=${llvm%/*}

# Each tool: FILE in place.
tool_strip() { strip "$1"; }
tool_strip-g() { strip -g "$1"; }
tool_objcopy() { objcopy "$1"; }
tool_keep-debug() { objcopy --only-keep-debug "$1" "$1.debug" && strip -g "$1" && objcopy --add-gnu-debuglink="$1.debug" "$1"; }
tool_debugedit() { debugedit -b /none -d /other -i "$1"; }
tool_dwz() { dwz "$1"; }
tool_objcopy-rename() { objcopy --add-section .extra=extra "$1"; }
tool_eu-strip() { eu-strip "$1"; }
tool_eu-strip-f() { eu-strip -f "$1.debug" "$1"; }
tool_llvm-strip() { "$llvm/llvm-strip" "$1"; }
tool_llvm-objcopy() { "$llvm/llvm-objcopy" --add-section .extra=extra "$1"; }
tool_patchelf() { patchelf --set-rpath /nonexistent/a/rather/long/path/that/needs/room "$1"; }
tool_chrpath() { chrpath -d "$1"; }
tool_strip-twice() { strip -g "$1" && strip "$1"; }
tools="strip strip-g objcopy objcopy-rename keep-debug eu-strip eu-strip-f llvm-strip llvm-objcopy patchelf chrpath debugedit dwz strip-twice"

installed() {
	case $1 in
	llvm*) [ -n "$llvm" ] && [ -x "$llvm/llvm-strip" ] ;;
	keep-debug) have objcopy ;;
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

# dwz (0.15 to 0.17) moves what lies behind the debugging information without the program headers that
# lead there, or declines to, as the alignments fall; patchelf's files fare the same. Its place is before
# a conversion.
before_only() { [ "$1" = dwz ] && [ "$2" != slack ]; }

row=
cell() { row="$row $1"; }

# try KIND METHOD TOOL
try() {
	local kind=$1 method=$2 tool=$3 file=$1.$3 problem= word=ok
	cp "$kind.new" "$file"
	if before_only "$tool" "$method"; then
		word=first
		cp "$kind" "$file"
		"tool_$tool" "$file" >"$file.tool" 2>&1
		"$eh2sframe" -q --refresh --method="$method" "$file" "$file" 2>"$file.tool" ||
			problem="not converted: $(cat "$file.tool")"
	elif ! "tool_$tool" "$file" >"$file.tool" 2>&1; then
		problem="$tool failed: $(head -c 300 "$file.tool")"
	fi
	if [ "$problem" ]; then
		:
	elif ! same_run "./$kind" "./$file" >"$file.log" 2>&1; then
		problem="does not run: $(cat "$file.log")"
	elif [ "${kind#cxx}" = "$kind" ] && ! "./$file" mapped >"$file.log" 2>&1; then
		problem="not mapped: $(cat "$file.log")"
	elif ! "$eh2sframe" --verify "$file" >"$file.log" 2>&1; then
		problem="not proven: $(cat "$file.log")"
	elif ! clean_readelf "$file" >"$file.log" 2>&1; then
		problem="readelf: $(cat "$file.log")"
	fi
	if [ -z "$problem" ]; then
		if have qemu-x86_64 && qemu-x86_64 "./$kind" >q1 2>&1; then
			(qemu-x86_64 "./$file") >q2 2>&1
			if cmp -s q1 q2; then cell $word+; else cell $word; fi
		else
			cell $word
		fi
		ok "$kind, $method, $tool"
	elif breaks_original "$kind" "$tool"; then
		cell own
		skip "$kind, $method, $tool" "breaks or refuses the original, too: $(echo $problem | head -c 100)"
	else
		cell BAD
		not_ok "$kind, $method, $tool" "$problem"
	fi
	rm -f "$file" "$file".*
}

# way_back KIND METHOD: out again, in again, not twice, and not after another tool.
way_back() {
	"$eh2sframe" --remove "$1.new" "$1.back" && cmp "$1" "$1.back" || return
	"$eh2sframe" -q --refresh --method=$2 "$1.new" "$1.again" && cmp "$1.new" "$1.again" || return
	"$eh2sframe" "$1.new" "$1.again" 2>/dev/null
	[ $? = 6 ] || { echo "converted twice"; return 1; }
	cp "$1.new" "$1.again"
	strip "$1.again" && "$eh2sframe" --remove "$1.again" "$1.back" 2>"$1.log"
	[ $? = 1 ] && grep -q 'rewritten the file' "$1.log" || { echo "after strip:"; cat "$1.log"; return 1; }
	rm -f "$1.back" "$1.again"
}

echo x >extra
build_kinds
used=
for tool in $tools; do if installed $tool; then used="$used $tool"; fi; done
echo "# own: the tool's own fault, it does the same to the original"
echo "# first: before the conversion, which is its place"
echo "# ok+: also by the AT_PHDR rule of kernels before 5.18 (qemu-user)"
echo "# kind method $used" | tr ' ' '\t'
for kind in $kinds; do
	for method in $methods; do
		"$eh2sframe" -q --refresh --method=$method "$kind" "$kind.new" 2>"$kind.log"
		status=$?
		if [ $status = 1 ] && grep -q "method $method does not apply" "$kind.log"; then continue; fi
		[ $status = 0 ] || { not_ok "$kind, $method: add" "$(cat "$kind.log")"; continue; }
		is "$kind, $method: --remove, --refresh" way_back "$kind" $method
		row=
		for tool in $used; do try "$kind" $method "$tool"; done
		echo "# $kind $method $row" | tr -s ' ' '\t'
	done
done

# A library's own PT_GNU_SFRAME, and exceptions: libgcc finds .eh_frame by the same headers.
check_library() {
	rm -rf lib.new
	mkdir lib.new
	"$raw" add old/libinsert.so lib.new/libinsert.so $size &&
		"$raw" add old/libthrow.so lib.new/libthrow.so $size append &&
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
	for tool in $used; do
		for name in insert throw; do
			cp old/lib$name.so plain.so
			"tool_$tool" plain.so >log 2>&1 || continue 2
		done
		is "library of $linker, $tool" check_library "$tool"
	done
done

# Without a record a section counts as somebody else's, and the new one takes its place.
in_place() {
	"$eh2sframe" -q --method=slack pie place && "$llvm/llvm-strip" place &&
		"$eh2sframe" -v --refresh place place.new | grep '^  method: in-place$' &&
		./place.new mapped && "$eh2sframe" --verify place.new &&
		"$eh2sframe" --remove place.new place.old && cmp place place.old
}
if [ -n "$llvm" ]; then is "in-place" in_place; else skip "in-place" "no llvm-strip"; fi

# What kept the program from the methods before, one line each. lld leaves nothing after the table that can move.
printf 'int main(void) { return 0; }\n' >said.c
gcc -static -fuse-ld=lld -o said-static said.c
is "-v says why" sh -c "
	'$eh2sframe' -v pie said >said.log && grep '^  method: slack\$' said.log &&
	grep '^  method in-place does not apply: there is no .sframe' said.log &&
	'$eh2sframe' -v said-static said >said.log && grep '^  method: append\$' said.log &&
	[ \$(grep -c ' does not apply: ' said.log) = 3 ]"

# The section put in after another tool, as packaging does it.
for tool in $used; do
	cp pie first && "tool_$tool" first >log 2>&1 && "$raw" add first second 2>log &&
		is "$tool first" ./second mapped
done
plan
