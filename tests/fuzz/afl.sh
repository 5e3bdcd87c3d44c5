#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs AFL++ on the command itself, as users start it, with AddressSanitizer and UndefinedBehaviorSanitizer. It takes the
# modes in turns of five minutes, and goes on where an earlier run ended. A crash is a signal, a sanitizer's report, or status 70.
#
#     afl.sh DIRECTORY MINUTES     one processor for so long
#     afl.sh DIRECTORY --table     processor hours, runs, edges and findings of each mode
#
# Needs AFL++ (package afl++) and tests that ./test.sh has built.
set -eu
directory=$(mkdir -p "$1" && cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
turn=300
cd "$directory"

# Arguments of each mode; @@ is the damaged file. What the command writes is in memory, like the file.
declare -A modes=(
	[convert]='-j1 @@ OUT'
	[convert-3]='-j1 --format=3 --optimize=size --derive --refresh @@ OUT'
	[section]='section -j1 --source=eh_frame,go,debug_frame @@ OUT'
	[report]='report -j1 --json -v @@'
	[verify]='verify -j1 @@'
	[dump]='dump -j1 @@'
	[lint]='lint -j1 @@'
	[check]='check -j1 @@'
	[remove]='remove -j1 @@ OUT'
)

build() {
	[ -d afl ] || CC=afl-clang-fast AFL_QUIET=1 meson setup -Dtests=disabled -Db_lto=false -Db_lundef=false --buildtype=debugoptimized \
		-Db_sanitize=address,undefined -Ddefault_library=static afl "$source" >build.log 2>&1 || { tail build.log >&2 && exit 1; }
	AFL_QUIET=1 ninja -C afl cmd/eh2sframe >>build.log 2>&1 || { tail build.log >&2 && exit 1; }
}

# The first inputs are those of fuzz_elf, and the same files converted.
seed() {
	local file
	[ ! -d seeds ] || return 0
	mkdir seeds.new
	python3 - "$source/build" fuzz_elf "$directory/seeds.new" <<-'P'
		import json, subprocess, sys
		build, target, seeds = sys.argv[1:]
		tests = subprocess.run(['meson', 'introspect', '--tests', build], stdout=subprocess.PIPE, check=True).stdout
		command = next(test['cmd'] for test in json.loads(tests) if test['name'] == target)
		subprocess.run([command[0], '--seeds=' + seeds] + command[1:], cwd=build, check=True,
		               stderr=subprocess.DEVNULL)
	P
	find seeds.new -size +64k -delete
	for file in seeds.new/*; do
		"$source/build/cmd/eh2sframe" -q "$file" "$file.converted" 2>/dev/null || :
	done
	mv seeds.new seeds
}

# Processor time of ended children in hundredths of a second.
cpu() { awk '{ print $16 + $17 }' /proc/$$/stat; }

# run MODE: a turn.
run() {
	local begin=seeds arguments memory before
	before=$(cpu)
	[ ! -d "state/$1" ] || begin=-
	memory=$(mktemp -d "/dev/shm/eh2sframe-afl-XXXXXX")
	arguments=${modes[$1]//OUT/$memory/out}
	# shellcheck disable=SC2086 # words
	AFL_CRASH_EXITCODE=70 AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_NO_AFFINITY=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_TMPDIR=$memory \
		ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0:allow_user_segv_handler=0 \
		UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:symbolize=0 \
		afl-fuzz -i "$begin" -o "state/$1" -V $turn -t 10000 -m none -- afl/cmd/eh2sframe $arguments >"$1.log" 2>&1 ||
		tail -n 5 "$1.log" >&2
	echo "$1 $(($(cpu) - before))" >>turns
	rm -rf "$memory"
}

table() {
	local mode
	for mode in "${!modes[@]}"; do
		[ -f "state/$mode/default/fuzzer_stats" ] || continue
		awk -v mode="$mode" -v cpu="$(awk -v m="$mode" '$1 == m { sum += $2 } END { print sum + 0 }' turns)" -F ' *: *' '{ v[$1] = $2 }
			END { printf "| `%s` | %.2f | %d | %d | %d | %d |\n", mode, cpu / 360000, v["execs_done"],
				v["edges_found"], v["saved_crashes"], v["saved_hangs"] }' "state/$mode/default/fuzzer_stats"
	done | sort
}

case ${2:-} in
--table) table ;;
*[!0-9]* | '')
	echo 'afl.sh: give DIRECTORY and MINUTES or --table' >&2
	exit 2
	;;
*)
	build
	seed
	mkdir -p state
	end=$(($(date +%s) + $2 * 60))
	while :; do
		for mode in "${!modes[@]}"; do
			[ "$(date +%s)" -lt $end ] || break 2
			run "$mode"
		done
	done
	table
	;;
esac
