#!/bin/bash
# SPDX-License-Identifier: MIT
# Every kind of program and library runs as before with a section put in, is clean to readelf, is
# mapped, and comes back byte for byte. usage: insert_kinds.sh DRIVER SOURCE_DIR
raw=$1 src=$2
. "$src/insert_lib.sh"

# Which methods were taken at all.
taken=

check_method() {
	local kind=$1 method=$2 name=$1,\ $2 status
	"$raw" add "$kind" "$kind.new" $size $method 2>"$kind.log"
	status=$?
	if [ $status = 1 ] && grep -q "method $method does not apply" "$kind.log"; then return; fi
	if [ $status != 0 ]; then
		not_ok "$name: add" "$(cat "$kind.log")"
		return
	fi
	taken="$taken $method"
	is "$name: runs" same_run "./$kind" "./$kind.new"
	is "$name: readelf" clean_readelf "$kind.new"
	case $kind in
	cxx*) ;;
	*) is "$name: mapped" "./$kind.new" mapped ;;
	esac
	# A kernel before 5.18, and qemu-user, take AT_PHDR for load address + e_phoff.
	if ! have qemu-x86_64; then
		skip "$name: old AT_PHDR rule" "no qemu-x86_64"
	elif ! qemu-x86_64 "./$kind" >"$kind.q1" 2>&1; then
		skip "$name: old AT_PHDR rule" "the original does not run there"
	else
		qemu-x86_64 "./$kind.new" >"$kind.q2" 2>&1
		is "$name: old AT_PHDR rule" diff "$kind.q1" "$kind.q2"
	fi
	"$raw" undo "$kind.new" "$kind.old"
	is "$name: undo" cmp "$kind" "$kind.old"
	is "$name: same bytes again" sh -c "'$raw' add '$kind' '$kind.two' $size $method && cmp '$kind.new' '$kind.two'"
	rm -f "$kind.new" "$kind.old" "$kind.two"
}

check_kind() {
	local method
	for method in $methods; do check_method "$1" $method; done
}

libraries() {
	local linker method
	mkdir -p old new
	for linker in bfd lld gold mold; do
		if ! build old/libinsert.so $CC -O1 -fPIC -shared -fuse-ld=$linker "$src/insert_library.c" ||
			! build user $CC -O1 -DWITH_LIBRARY "$probe" -Lold -linsert ||
			! build opener $CC -O1 -DWITH_DLOPEN "$probe" -ldl; then
			skip "library, $linker" "cannot be built here"
			continue
		fi
		for method in $methods; do
			"$raw" add old/libinsert.so new/libinsert.so $size $method 2>/dev/null || continue
			is "library, $linker, $method: mapped" env LD_LIBRARY_PATH=new ./user mapped libinsert.so
			is "library, $linker, $method: dlopen" sh -c './opener load new/libinsert.so | grep "dlopen 34"'
		done
		is "library, $linker: add" "$raw" add old/libinsert.so new/libinsert.so
		is "library, $linker: readelf" clean_readelf new/libinsert.so
		is "library, $linker: LD_LIBRARY_PATH" sh -c \
			'LD_LIBRARY_PATH=old ./user >a; LD_LIBRARY_PATH=new ./user >b; grep -q "library 34" b && diff a b'
		is "library, $linker: mapped" env LD_LIBRARY_PATH=new ./user mapped libinsert.so
		is "library, $linker: dlopen" sh -c './opener load new/libinsert.so | grep "dlopen 34"'
		"$raw" undo new/libinsert.so back.so
		is "library, $linker: undo" cmp old/libinsert.so back.so
	done
	# Nobody takes AT_PHDR from a library, so it needs no hole.
	build old/libinsert.so $CC -O1 -fPIC -shared -DBSS=1610612736 -mcmodel=large "$src/insert_library.c"
	"$raw" add old/libinsert.so new/libinsert.so
	is "library, 1.5 GB bss: runs" sh -c \
		'LD_LIBRARY_PATH=new ./user | grep "library 34" && [ $(stat -c %s new/libinsert.so) -lt 200000 ]'
}

# large NAME COMPILER ARGS...: a program with 300 MiB of .bss runs, and grows by the section alone.
large() {
	local name="300 MiB of .bss, $1" by
	shift
	build huge "$@" -DBSS=314572800 "$probe" || { skip "$name" "cannot be built here"; return; }
	is "$name: add" "$raw" add huge huge.new || return
	is "$name: runs" same_run ./huge ./huge.new
	is "$name: mapped" ./huge.new mapped
	is "$name: readelf" clean_readelf huge.new
	if have qemu-x86_64; then
		is "$name: old AT_PHDR rule" sh -c 'qemu-x86_64 ./huge.new | grep fine'
	fi
	by=$(($(stat -c %s huge.new) - $(stat -c %s huge)))
	# Behind .rela.dyn of a static PIE the section table and the name table move as well.
	is "$name: the file grows by the section" test $by -lt 60000
	"$raw" undo huge.new huge.old
	is "$name: undo" cmp huge huge.old
	rm -f huge huge.new huge.old
}

# refused NAME FILE [METHOD]: in one sentence, which says why.
refused() {
	local out status
	out=$("$raw" add "$2" refused.new $size "${3:-auto}" 2>&1)
	status=$?
	[ $status = 1 ] && [ ! -e refused.new ] && [ "$(wc -l <<<"$out")" = 1 ] &&
		[[ $out == *"method append does not apply: the program headers would stand after a large .bss or wide gaps between segments, and make the file 0x"* ]] &&
		ok "$1: refused" || not_ok "$1: refused" "status $status: $out"
}

# append_of NAME COMPILER ARGS...: 2 MiB of .bss are as little in the file as 300.
append_of() {
	local name="2 MiB of .bss, $1"
	shift
	build some "$@" -DBSS=2097152 "$probe" || { skip "$name" "cannot be built here"; return; }
	refused "$name, append" some append
}

large_bss() {
	local linker
	large "PIE" $CC -O1 -fPIE -pie
	large "not PIE" $CC -O1 -no-pie
	large "-mcmodel=large" $CC -O1 -mcmodel=large
	large "-mcmodel=medium" $CC -O1 -no-pie -mcmodel=medium
	large "static" $CC -O1 -static
	large "static, -mcmodel=large" $CC -O1 -static -mcmodel=large
	large "static, one segment" $CC -O1 -static -Wl,-z,noseparate-code
	large "static PIE" $CC -O1 -static-pie
	large "musl, static" musl-gcc -D_GNU_SOURCE -O1 -static
	for linker in lld mold; do
		large "static PIE, $linker" $CC -O1 -static-pie -fuse-ld=$linker
	done
	# They leave nothing behind the program headers that can move.
	for linker in gold lld mold; do
		build huge $CC -O1 -static -fuse-ld=$linker -DBSS=314572800 "$probe" &&
			refused "300 MiB of .bss, static, $linker" huge
	done
	append_of "static" $CC -O1 -static
	append_of "PIE" $CC -O1 -fPIE -pie
	rm -f huge some
}

# real FILE ARGS...: an installed program.
real() {
	local file name
	file=$(command -v "$1" 2>/dev/null) && file=$(readlink -f "$file") || return
	[ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || return
	name=${file##*/}
	shift
	mkdir -p real
	cp "$file" "real/$name.old"
	is "$name: add" "$raw" add "$file" "real/$name" || return
	[ -e "real/$name" ] || return
	is "$name: readelf" clean_readelf "real/$name"
	is "$name: runs" same_run "$file" "./real/$name" "$@"
	"$raw" undo "real/$name" "real/$name.back"
	is "$name: undo" cmp "real/$name.old" "real/$name.back"
	rm -f real/*
}

real_programs() {
	printf '#include <vector>\nint main() { std::vector<int> v(3); return (int)v.size() - 3; }\n' >t.cc
	echo 'int x = 1 + 2;' >t2.c
	real ls -d /
	real bash -c 'for i in 1 2 3; do echo $((i * 2)); done; type cd'
	real perl -e 'print join(",", map { $_ ** 2 } 1 .. 9), "\n"'
	real /usr/bin/python3 -c 'import sys, json, hashlib; print(json.dumps(sys.version_info[:2]))'
	real busybox sh -c 'echo a | sed s/a/b/'
	real "$(g++ -print-prog-name=cc1plus)" -quiet -O2 t.cc -o -
	real clang -E -P t2.c
	real gdb --version
	real mold --version
	real openssl version -v
	real gzip --version
}

# What starts before everything else.
loader_and_libc() {
	local loader libc
	loader=$(readlink -f "$(readelf -lW pie | sed -n 's/.*interpreter: \(.*\)]/\1/p')")
	libc=$(ldd pie | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')
	mkdir -p sys
	"$raw" add "$loader" sys/ld.so && "$raw" add "$libc" sys/libc.so.6 || { not_ok "ld.so, libc: add"; return; }
	is "ld.so: readelf" clean_readelf sys/ld.so
	is "libc: readelf" clean_readelf sys/libc.so.6
	is "ld.so: as a program" same_run "$loader" sys/ld.so ./pie
	is "ld.so: --list" sh -c './sys/ld.so --list ./pie | grep -q libc.so.6'
	if have qemu-x86_64; then
		is "ld.so: old AT_PHDR rule" sh -c 'qemu-x86_64 sys/ld.so ./pie | grep fine'
	fi
	build interp $CC -O1 "$probe" -Wl,--dynamic-linker="$scratch/sys/ld.so"
	is "ld.so: as interpreter" same_run ./pie ./interp
	is "libc: LD_LIBRARY_PATH" env LD_LIBRARY_PATH=sys ./pie
	is "libc: LD_LIBRARY_PATH, mapped" env LD_LIBRARY_PATH=sys ./pie mapped sys/libc.so.6
	is "libc: as a program" same_run "$libc" sys/libc.so.6
	is "ld.so, libc and program converted" sh -c \
		"'$raw' add pie pie.new && sys/ld.so --library-path sys ./pie.new mapped"
	is "libc: bash" env LD_LIBRARY_PATH=sys bash -c 'echo $(echo sub) | cat'
}

debugger() {
	have gdb || { skip "gdb" "not installed"; return; }
	build debugged $CC -g -O0 "$probe" && "$raw" add debugged debugged.new
	is "gdb: run and backtrace" sh -c \
		'gdb -nx -batch -ex "set debuginfod enabled off" -ex "break work" -ex run -ex bt ./debugged.new 2>&1 | tee gdb.log | grep -q "#1 .*main (" || { cat gdb.log; false; }'
}

build_kinds
for kind in $kinds; do check_kind "$kind"; done
for method in $methods; do
	is "$method was taken" sh -c "case '$taken ' in *' $method '*) ;; *) false ;; esac"
done
libraries
large_bss
real_programs
loader_and_libc
debugger
plan
