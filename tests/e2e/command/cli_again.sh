# SPDX-License-Identifier: MIT
# Sourced by cli.sh: files that another tool has rewritten after a conversion. --refresh replaces the
# section, whatever its size, and the two commands of the message do the same. A tool that this machine
# does not have is skipped by name.
# shellcheck shell=bash disable=SC2154,SC2317 # cli.sh's; called by name

gcc -O2 -o long prog.c -Wl,--unique=.text.special -Wl,-rpath,/nonexistent/a/rather/long/path || exit 99
[ -z "$whole" ] || gcc -O2 -static -o whole prog.c -Wl,--unique=.text.special || exit 99
again_strip() { strip "$1"; }
again_strip-g() { strip -g "$1"; }
again_objcopy() { objcopy "$1"; }
again_patchelf() { patchelf --set-rpath /nonexistent/a/path/for/which/there/is/no/room/in/the/table/of/names "$1"; }
again_llvm-strip() { llvm-strip "$1"; }
again_llvm-objcopy() { llvm-objcopy "$1"; }
again_chrpath() { chrpath -d "$1"; }
again_eu-strip() { eu-strip "$1"; }

# refreshed FORMAT: the file edited gets a good section, once, and still runs.
refreshed() {
	"$eh2sframe" -q --refresh --format="$1" edited fresh && "$eh2sframe" verify -q fresh &&
		"$eh2sframe" lint -q fresh && [ "$(./fresh)" = 'special 1' ] &&
		[ "$(readelf -lW fresh | grep -c '^ *GNU_SFRAME')" = 1 ] &&
		[ "$(readelf -SW fresh | grep -c '[]] \.sframe ')" = 1 ] &&
		"$eh2sframe" -q --refresh --format="$1" fresh fresh2 && cmp fresh fresh2 &&
		"$eh2sframe" remove -q fresh back && [ "$(./back)" = 'special 1' ]
}
# two_commands TOOL: what the message of remove names.
two_commands() {
	"$1" --remove-section .sframe edited bare 2>&1 && "$eh2sframe" -q bare fresh &&
		"$eh2sframe" verify -q fresh && [ "$(./fresh)" = 'special 1' ] &&
		[ "$(readelf -lW fresh | grep -c '^ *GNU_SFRAME')" = 1 ]
}
for tool in $tools; do
	have "${tool%-g}" || { skip "--refresh after $tool" "no ${tool%-g} here"; continue; }
	for file in long $whole; do
		for method in slack grow; do
			"$eh2sframe" -q --method=$method $file made 2>/dev/null || continue
			cp made edited
			"again_$tool" edited >/dev/null 2>&1 || continue
			for format in $formats; do
				is "--refresh to $format after $tool, $file, $method" refreshed $format
			done
			is "two commands after $tool, $file, $method" two_commands objcopy
		done
	done
done
