#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Converted programs and libraries in the hands of the tools that rewrite ELF files afterwards: they
# still run, and --verify still proves the section. Separate debug files still match. Prints the
# table. insert_tools.sh does small programs of every linker; here are real ones, too. TAP.
#
#     afterwards.sh EH2SFRAME DIRECTORY
# shellcheck disable=SC2016,SC2086,SC2154,SC2317 # CC has words; functions called by name; kinds_lib.sh's
eh2sframe=$1 src=$2
# shellcheck source-path=SCRIPTDIR source=kinds_lib.sh
. "$src/kinds_lib.sh"
mkdir at
llvm=$(find /usr/lib/llvm-*/bin/llvm-strip 2>/dev/null | sort -V | tail -n 1) llvm=${llvm%/*}
long=/nonexistent/a/rather/long/path/that/needs/more/room/than/there/is

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
tool_patchelf() { patchelf --set-rpath $long "$1"; }
tool_chrpath() { chrpath -r /x "$1"; }
tool_debugedit() { debugedit -b "$PWD" -d /elsewhere "$1"; }
tool_dwz() { dwz "$1"; }
tools='strip strip-g objcopy objcopy-add keep-debug eu-strip eu-strip-f llvm-strip llvm-strip-g llvm-objcopy
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
# is known of it. What --remove gives nevertheless is the program with no section. --refresh always gives
# one with a good section.
way_back() {
	local status
	rm -f back
	"$eh2sframe" -q --remove "$1" back >back.log 2>&1
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
	0) [ "$(runs back)" = "$before" ] && "$eh2sframe" -q --verify back && sframe_mapped back ;;
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
	dwz/slack | dwz/in-place) ;;
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
	elif ! said=$("$eh2sframe" --verify edited 2>&1); then
		problem="not proven: $said"
	elif ! said=$(sframe_mapped edited); then
		problem=$said
	elif ! said=$(way_back edited); then
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

# subject NAME FILE COMMAND...: FILE in COMMAND is @.
subject() {
	local name=$1 file=$2 method before at what tool row
	[ -e "$file" ] || { skip "$name" "NO SUCH FILE HERE"; return; }
	shift 2
	at=$scratch/at/${file##*/} what=("$@")
	before=$(runs "$file")
	if [ "${before##*status }" -ge 124 ]; then
		not_ok "$name: the original does not run" "$before"
		return
	fi
	for method in $methods; do
		[ "$method" != auto ] || [ "$methods" = " auto" ] || continue
		convert "$method" "$file" fresh
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

in_library() { LD_LIBRARY_PATH=${1%/*} timeout 30 ./user; }
throws() { LD_LIBRARY_PATH=${1%/*} timeout 30 ./thrower; }
crypto() { LD_LIBRARY_PATH=${1%/*} timeout 30 openssl dgst -sha256 "$src/insert_probe.c"; }

small() {
	local debug="-g -O1 -Wl,-rpath,$long"
	echo 'int throwing(); int main() { return throwing(); }' >thrower.cc
	build pie $CC $debug "$probe" && subject pie pie @
	# Its two entries for notes: what a method takes, a tool may miss.
	build cxx g++ $debug "$src/insert_throw.cc" && subject cxx cxx @
	build static $CC -g -O1 -static "$probe" && subject static static @
	build lld $CC $debug -fuse-ld=lld "$probe" && subject lld lld @
	spare spare $CC $debug "$probe" && subject spare spare @
	if build libthrow.so g++ $debug -fPIC -shared -Dmain=throwing "$src/insert_throw.cc" &&
		build thrower g++ thrower.cc -L. -lthrow; then
		subject library libthrow.so throws @
	fi
	if build libinsert.so $CC $debug -fPIC -shared -Wl,-z,noseparate-code "$src/insert_library.c" &&
		build user $CC -O1 -DWITH_LIBRARY "$probe" -L. -linsert; then
		subject library-nosep libinsert.so in_library @
	fi
}

# spare NAME COMPILER...: as kind spare of insert_lib.sh, one more entry that may be taken.
spare() {
	build "$@" && [ "$(type -t spare_cc)" = function ] && CC='' spare_cc "${@:2}" -o "$1" >/dev/null
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
separate_debug() {
	local method id out
	build whole $CC -g -O0 "$probe" || { not_ok "cannot build"; return; }
	id=$(build_id whole)
	mkdir -p "debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug whole "debug/.build-id/${id:0:2}/${id:2}.debug"
	for method in $methods; do
		convert "$method" whole new || continue
		is "build-id kept, $method" test "$(build_id new)" = "$id"
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
			# ones refuse. Only "append" moves the table.
			moved=
			[ "$(readelf -hW new.small | awk '/Start of program headers/ { print $5 }')" = 64 ] || moved=1
			if [ $moved ] && ! eu-unstrip new.small new.debug -o new.whole 2>eu.log; then
				is "eu-unstrip, $method: refuses a table that was moved" grep -q 'prelinking bias' eu.log
			else
				is "eu-unstrip, $method" eu-unstrip new.small new.debug -o new.whole
				is "eu-unstrip, $method: symbols" sh -c 'nm new.whole | grep -q " T main$"'
				is "eu-unstrip, $method: proven" "$eh2sframe" --verify new.whole
				if [ $moved ]; then
					skip "eu-unstrip, $method: runs" "EU-UNSTRIP DAMAGES A PROGRAM HEADER TABLE THAT WAS MOVED"
				else
					is "eu-unstrip, $method: runs" same_run ./whole ./new.whole
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
	build origin $CC -g -O1 -Wl,-rpath,$long "$probe"
	for tool in $used; do
		cp origin first
		"tool_$tool" first >/dev/null 2>&1 || continue
		for method in $methods; do
			convert "$method" first second || continue
			is "$tool first, then $method" sh -c "'$eh2sframe' --verify second && ./second mapped"
		done
	done
}

echo x >extra
used=
for tool in $tools; do
	if installed "$tool"; then used="$used $tool"; else skip "$tool" "NOT INSTALLED"; fi
done
find_methods
echo "# first: only before a conversion; left: the tool leaves the file alone; own: its own fault, it does the same to the original"
echo "# file$used" | tr ' ' '\t'
small
real
for tool in "${!harmed[@]}"; do echo "# own fault of $tool:${harmed[$tool]}"; done
for tool in "${!declined[@]}"; do echo "# left alone by $tool:${declined[$tool]}"; done
separate_debug
first
all_methods_taken
plan
