#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Converted programs and libraries in the hands of the tools that rewrite ELF files afterwards: they
# still run, and verify still proves the section. Separate debug files still match. Prints the
# table. In the long tier every kind of program by every method, libraries of every linker, and real ones. TAP.
#
#     afterwards.sh EH2SFRAME DIRECTORY MADE full|long
# shellcheck disable=SC2016,SC2086,SC2154,SC2317 # CC has words; functions called by name; kinds_lib.sh's
eh2sframe=$1 src=$2 made=$3 long=${4#full}
# shellcheck source-path=SCRIPTDIR source=kinds_lib.sh
. "$src/kinds_lib.sh"
mkdir at

# Each tool: FILE in place.
tool_strip() { strip "$1"; }
tool_strip-g() { strip -g "$1"; }
tool_objcopy() { objcopy "$1"; }
tool_objcopy-add() { objcopy --add-section .extra=extra "$1"; }
tool_keep-debug() {
	objcopy --only-keep-debug "$1" "$1.debug" && strip -g "$1" && objcopy --add-gnu-debuglink="$1.debug" "$1"
}
tool_eu-strip() { eu-strip "$1"; }
tool_eu-strip-f() { eu-strip -f "$1.debug" "$1"; }
tool_llvm-strip() { "$llvm/llvm-strip" "$1"; }
tool_llvm-strip-g() { "$llvm/llvm-strip" -g "$1"; }
tool_llvm-objcopy() { "$llvm/llvm-objcopy" "$1"; }
tool_patchelf() { patchelf --set-rpath $long_path "$1"; }
tool_chrpath() { chrpath -r /x "$1"; }
tool_debugedit() { debugedit -b "$PWD" -d /elsewhere "$1"; }
tool_dwz() { dwz "$1"; }
tool_strip-twice() { strip -g "$1" && strip "$1"; }
tools='strip strip-twice strip-g objcopy objcopy-add keep-debug eu-strip eu-strip-f llvm-strip llvm-strip-g llvm-objcopy
	patchelf chrpath debugedit dwz'

installed() {
	case $1 in
	llvm*) [ -x "$llvm/llvm-strip" ] ;;
	strip* | objcopy* | keep-debug) have objcopy ;;
	eu-strip*) have eu-strip ;;
	*) have "$1" ;;
	esac
}

# runs FILE: what the subject prints, started at the same path whatever it is. The caller's what
# is the command.
runs() {
	rm -f "$at"
	cp -p "$1" "$at"
	run_at "$at" "${what[@]}"
}

# What a tool breaks by its own fault: it does so without a section put in, too. What it is not made
# for (no debug information, no path to change), it refuses there as well.
breaks_original() {
	cp -p "$1" plain
	! "tool_$2" plain >/dev/null 2>&1 || [ "$(runs plain)" != "$before" ]
}

# The way back is there, or is said to be lost, or (the record is gone with all other traces) nothing
# is known of it. What remove gives nevertheless is the program with no section. --refresh always gives
# one with a good section.
way_back() {
	local status
	rm -f back
	"$eh2sframe" remove -q "$1" back >back.log 2>&1
	status=$?
	case $status in
	0) [ "$(runs back)" = "$before" ] && ! sframe_mapped back ;;
	1 | 6) [ ! -e back ] && [ "$(wc -l <back.log)" = 1 ] ;;
	*) false ;;
	esac || { echo "remove: status $status: $(cat back.log)"; return 1; }
	rm -f back
	"$eh2sframe" -q --refresh "$1" back >back.log 2>&1
	status=$?
	case $status in
	0) [ "$(runs back)" = "$before" ] && "$eh2sframe" verify -q back && sframe_mapped back ;;
	*) false ;;
	esac || { echo "refresh: status $status: $(cat back.log)"; return 1; }
	"$eh2sframe" -q "$1" back >back.log 2>&1
	status=$?
	[ $status = 6 ] || { echo "converted again: status $status: $(cat back.log)"; return 1; }
}

declare -A harmed declined
# try NAME FILE TOOL: with fresh, which is FILE converted.
try() {
	local name=$1 file=$2 tool=$3 problem='' now said
	# dwz moves what lies behind the debugging information without its program headers, or declines to,
	# as the alignments fall. Its place is before a conversion: see first().
	case $tool/$got in
	dwz/slack) ;;
	dwz/*) row+=" first"; return ;;
	esac
	cp -p fresh edited
	if ! said=$("tool_$tool" edited 2>&1); then
		problem="$tool failed: $said"
		# It is no harm when the tool leaves the file alone and says so.
		if cmp -s fresh edited && ! breaks_original "$file" "$tool"; then
			declined["$tool: ${said##*: }"]+=" $name/$got"
			row+=" left"
			ok "$name, $got, $tool: leaves it alone"
			return
		fi
	elif now=$(runs edited); [ "$now" != "$before" ]; then
		problem="does not run: $now"
	elif ! said=$("$eh2sframe" verify edited 2>&1); then
		problem="not proven: $said"
	elif ! said=$(sframe_mapped edited) || { clean_readelf fresh >/dev/null && ! said=$(clean_readelf edited); }; then
		problem=$said
	elif [ ${#mapped[@]} != 0 ] && said=$(run_at "$at" "${mapped[@]}") && [ "${said##*status }" != 0 ]; then
		problem="not mapped: $said"
	elif [ "$ways_back" ] && ! said=$(way_back edited); then
		problem=$said
	fi
	if [ -z "$problem" ]; then
		row+=" ok"
		ok "$name, $got, $tool"
	elif breaks_original "$file" "$tool"; then
		row+=" own"
		harmed[$tool]+=" $name/$got"
		ok "$name, $got, $tool: does the same to the original"
	else
		row+=" BAD"
		not_ok "$name, $got, $tool" "${problem:0:800}"
	fi
	rm -f edited* plain* back
}

# subject NAME FILE COMMAND...: FILE in COMMAND is @. By the caller's mapped the test programs tell what they see of the section.
# With ways_back, remove and --refresh of each edited file are looked at, too.
mapped=() ways_back=yes
subject() {
	local name=$1 file=$2 method before at what tool row extra=''
	[ -e "$file" ] || { skip "$name" "NO SUCH FILE HERE"; return; }
	shift 2
	at=$scratch/at/${file##*/} what=("$@")
	before=$(runs "$file")
	if [ "${before##*status }" -ge 124 ]; then
		not_ok "$name: the original does not run" "$before"
		return
	fi
	readelf -SW "$file" 2>/dev/null | grep -q ' \.sframe ' && extra=--refresh
	for method in $methods; do
		[ "$method" != auto ] || [ "$methods" = " auto" ] || continue
		convert "$method" "$file" fresh $extra
		case $? in
		1) continue ;;
		2) not_ok "$name, $method" "$said"; continue ;;
		esac
		row=
		for tool in $used; do try "$name" "$file" "$tool"; done
		echo "# $name/$got$row" | tr ' ' '\t'
	done
	rm -f "$at" fresh
}

in_library() { LD_LIBRARY_PATH=${1%/*} timeout 30 ./user "${@:2}"; }
throws() { LD_LIBRARY_PATH=${1%/*} timeout 30 ./thrower; }
crypto() { LD_LIBRARY_PATH=${1%/*} timeout 30 openssl dgst -sha256 "$probe"; }

small() {
	local kind linker flags name mapped debug="-g -O1 -Wl,-rpath,$long_path"
	# cxx has two entries for notes: what a method takes, a tool may miss.
	if [ "$long" ]; then build_kinds; else build_kinds pie; fi
	for kind in $kinds; do
		case $kind in
		*bss300) continue ;; # each run writes 300 MiB
		cxx*) mapped=() ;;
		*) mapped=(@ mapped) ;;
		esac
		case $kind in pie | cxx | static | lld | lld-static | lld-note | spare) ways_back=yes ;; *) ways_back='' ;; esac
		subject $kind $kind @
	done
	ways_back=yes
	echo 'int throwing(); int main() { return throwing(); }' >thrower.cc
	for linker in ${long:+lld gold mold} bfd; do
		# Exceptions: libgcc finds .eh_frame by the same headers.
		mapped=()
		if build libthrow.so g++ $debug -fPIC -shared -fuse-ld=$linker -Dmain=throwing "$src/insert_throw.cc" &&
			build thrower g++ thrower.cc -L. -lthrow; then
			subject throws-$linker libthrow.so throws @
		fi
		[ "$long" ] || continue
		mapped=(in_library @ library libinsert.so)
		for flags in '' -Wl,-z,noseparate-code "$src/insert_note.c"; do
			if build libinsert.so $CC $debug -fPIC -shared -fuse-ld=$linker $flags "$src/insert_library.c" &&
				build user $CC -O1 -DWITH_LIBRARY "$probe" -L. -linsert; then
				case $flags in *.c) name=-note ;; *nosep*) name=-nosep ;; *) name='' ;; esac
				subject library-$linker$name libinsert.so in_library @
			fi
		done
	done
}

real() {
	local libcrypto
	subject bash "$(readlink -f /bin/bash)" @ -c 'echo $((6 * 7)); x=$(echo sub); type cd; (exit 3)'
	subject perl "$(readlink -f "$(command -v perl)")" @ -e 'print join(",", map { $_ * 2 } 1 .. 9), "\n"'
	subject go /usr/bin/fzf @ --version
	subject rust /usr/bin/rg @ --no-config -c root /etc/passwd
	if have openssl; then
		libcrypto=$(ldd "$(command -v openssl)" | sed -n 's/.*libcrypto.so.3 => \([^ ]*\).*/\1/p')
		cp "$(readlink -f "$libcrypto")" libcrypto.so.3
		subject libcrypto libcrypto.so.3 crypto @
	fi
}

### Separate debug information, made before or after.
backtrace() {
	gdb -nx -batch -iex 'set debuginfod enabled off' -iex "set debug-file-directory $PWD/debug" \
		-ex 'break work' -ex run -ex bt "$1" 2>&1
}
# separate_debug NAME: of the program "whole".
separate_debug() {
	local name=$1 method id out
	id=$(build_id whole)
	mkdir -p "debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug whole "debug/.build-id/${id:0:2}/${id:2}.debug"
	for method in $methods; do
		convert "$method" whole new || continue
		method="$method, $name"
		is "build-id kept, $method" test "$(build_id new)" = "$id"
		if have gdb; then is "gdb, its own symbols, $method" grep -Eq '#1 .* main \(.*insert_probe.c:' <<<"$(backtrace new)"; fi
		objcopy --only-keep-debug new new.debug && strip -g new -o new.small
		is "build-id kept by strip, $method" test "$(build_id new.small)" = "$id"
		is "build-id of the debug file, $method" test "$(build_id new.debug)" = "$id"
		if have gdb; then
			out=$(backtrace new.small)
			is "gdb, debug file from before, $method" grep -Eq '#1 .* main \(.*insert_probe.c:' <<<"$out"
			[[ $out == *'insert_probe.c:'* ]] || echo "# ${out//$'\n'/$'\n'# }"
			mv debug hidden && objcopy --add-gnu-debuglink=new.debug new.small new.linked
			out=$(backtrace new.linked)
			is "gdb, debug file from after, $method" grep -Eq '#1 .* main \(.*insert_probe.c:' <<<"$out"
			[[ $out == *'insert_probe.c:'* ]] || echo "# ${out//$'\n'/$'\n'# }"
			mv hidden debug
		else
			skip "gdb, $method" "NOT INSTALLED"
		fi
		if have eu-unstrip; then
			# objcopy --only-keep-debug loses a program header table that stands elsewhere than behind
			# the ELF header. With such a debug file 0.188 writes a program that does not run, and later
			# ones refuse.
			moved=
			! table_moved whole new || moved=1
			if [ $moved ] && ! eu-unstrip new.small new.debug -o new.whole 2>eu.log; then
				is "eu-unstrip, $method: refuses a table that was moved" grep -q 'prelinking bias' eu.log
			else
				is "eu-unstrip, $method" eu-unstrip new.small new.debug -o new.whole
				is "eu-unstrip, $method: symbols" sh -c 'nm new.whole | grep -q " T main$"'
				if [ $moved ]; then
					skip "eu-unstrip, $method: runs" "EU-UNSTRIP DAMAGES A PROGRAM HEADER TABLE THAT WAS MOVED"
				else
					is "eu-unstrip, $method: proven" "$eh2sframe" verify new.whole
					is "eu-unstrip, $method: runs" test "$(run_at ./new.whole @)" = "$(run_at ./whole @)"
					is "eu-unstrip, $method: mapped" sframe_mapped new.whole
				fi
			fi
			out=$(eu-unstrip new.small "debug/.build-id/${id:0:2}/${id:2}.debug" -o new.mixed 2>&1) ||
				echo "# eu-unstrip with the debug file from before, $method: ${out//$'\n'/$'\n'# }"
		else
			skip "eu-unstrip, $method" "NOT INSTALLED"
		fi
		rm -f new*
	done
}

### The order that always works: other tools first.
first() {
	local tool method
	for tool in $used; do
		cp pie first
		"tool_$tool" first >/dev/null 2>&1 || continue
		for method in $methods; do
			convert "$method" first second || continue
			is "$tool first, then $method" sh -c "'$eh2sframe' verify second && ./second mapped"
		done
	done
}

# Without a record a section counts as somebody else's, and the new one takes its place.
over_old() {
	"$eh2sframe" -q --method=slack pie place && "$llvm/llvm-strip" place &&
		"$eh2sframe" -v --refresh place place.new | grep '^  method: slack$' &&
		[ "$(readelf -SW place | grep ' .sframe ')" = "$(readelf -SW place.new | grep ' .sframe ')" ] &&
		./place.new mapped && "$eh2sframe" verify place.new &&
		"$eh2sframe" remove place.new place.old && cmp place place.old
}

echo x >extra
used=
for tool in $tools; do
	if installed "$tool"; then used="$used $tool"; else skip "$tool" "NOT INSTALLED"; fi
done
find_methods
[ "$long" ] || methods=' auto'
echo "# first: only before a conversion; left: the tool leaves the file alone; own: its own fault, it does the same to the original"
echo "# file$used" | tr ' ' '\t'
small
[ ! "$long" ] || real
for tool in "${!harmed[@]}"; do echo "# own fault of $tool:${harmed[$tool]}"; done
for tool in "${!declined[@]}"; do echo "# left alone by $tool:${declined[$tool]}"; done
if build whole $CC -g -O0 "$probe"; then separate_debug "table in place"; else not_ok "cannot build"; fi
if [ "$long" ]; then
	if build whole $CC -g -O0 -fuse-ld=lld "$probe" "$src/insert_note.c"; then
		separate_debug "table elsewhere"
	else
		skip "table elsewhere" "cannot be built here"
	fi
fi
first
if [ "$long" ]; then
	all_methods_taken
	if [ -n "$llvm" ]; then is "over the old section" over_old; else skip "over the old section" "no llvm-strip"; fi
fi
plan
