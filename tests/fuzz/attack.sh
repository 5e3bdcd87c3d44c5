#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs each fuzz target with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, in turns of four minutes, and
# goes on where an earlier run ended. What it finds is in DIRECTORY/found. Several runs may share a DIRECTORY.
#
#     attack.sh DIRECTORY MINUTES     one processor for so long
#     attack.sh DIRECTORY --table     the processor time that each target had so far
#     attack.sh DIRECTORY --coverage  the lines that the inputs of all targets reach, by folder (llvm-cov)
set -eu
directory=$(mkdir -p "$1" && cd "$1" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
turn=240
cd "$directory"
mkdir -p found corpus

# build NAME MESON-OPTION...
build() {
	local name=$1
	shift
	[ -d "$name" ] || CC=clang meson setup -Dfuzzing=libfuzzer -Dtests=enabled -Db_lundef=false -Db_lto=false \
		--buildtype=debugoptimized "$@" "$name" "$source" >"$name.log" 2>&1 || { tail "$name.log" >&2 && exit 1; }
	ninja -C "$name" build.ninja >>"$name.log"
	targets=$(ninja -C "$name" -t targets all | sed -n 's#^tests/fuzz/\(fuzz_[a-z_]*\): .*#\1#p' | sort)
	# shellcheck disable=SC2046,SC2086 # names are words
	(cd "$name" && ninja $(printf 'tests/fuzz/%s ' $targets)) >>"$name.log" 2>&1 || { tail "$name.log" >&2 && exit 1; }
}

# The first inputs are those of the tests, which ./test.sh has built.
seed() {
	[ ! -d "corpus/$1" ] || return 0
	mkdir "corpus/$1"
	python3 - "$source/build" "$1" "$directory/corpus/$1" <<-'P'
		import json, subprocess, sys
		build, target, seeds = sys.argv[1:]
		tests = subprocess.run(['meson', 'introspect', '--tests', build], stdout=subprocess.PIPE, check=True).stdout
		command = next(test['cmd'] for test in json.loads(tests) if test['name'] == target)
		subprocess.run([command[0], '--seeds=' + seeds] + command[1:], cwd=build, check=True,
		               stderr=subprocess.DEVNULL)
	P
	# Long code takes long.
	case $1 in fuzz_code | fuzz_rows | fuzz_model) truncate -s '<800' "corpus/$1"/* ;; esac
}

# attack TARGET: a turn.
attack() {
	local before spent
	seed "$1"
	before=$(cpu)
	# Entropic scheduling takes 5 of 6 parts of the time where a run reaches as much code as fuzz_elf's.
	"san/tests/fuzz/$1" "corpus/$1" -max_total_time=$turn -timeout=300 -rss_limit_mb=2500 -max_len=24000 \
		-entropic=0 -artifact_prefix="found/$1-" >"$1.log" 2>&1 ||
		echo "$1: $(grep -m1 -E 'broken promise|runtime error|ERROR' "$1.log")" | tee -a found/list
	spent=$(($(cpu) - before))
	echo "$1 $spent $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$1.log") $(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' \
		"$1.log" | tail -n 1)" >>turns
}
# Processor time of ended children in hundredths of a second.
cpu() { awk '{ print $16 + $17 }' /proc/$$/stat; }

# The targets, those with the fewest turns so far first.
by_turns() {
	touch turns
	for one in $targets; do
		awk -v t="$one" '$1 == t { n++ } END { print n + 0, t }' turns
	done | sort -n | sed 's/.* //'
}

table() {
	awk '{ cpu[$1] += $2; runs[$1] += $3; edges[$1] = $4 > edges[$1] ? $4 : edges[$1]; all += $2 }
		END { for (t in cpu) printf "| `%s` | %.2f | %d | %d |\n", t, cpu[t] / 360000, runs[t], edges[t] | "sort"
			close("sort"); printf "| all | %.2f | | |\n", all / 360000 }' turns
	echo "found: $(find found -type f ! -name list | wc -l) inputs"
}

coverage() {
	local target objects=()
	build cov -Db_sanitize=none -Dc_args='-fprofile-instr-generate -fcoverage-mapping' \
		-Dc_link_args='-fprofile-instr-generate'
	for target in $targets; do
		LLVM_PROFILE_FILE=$target.profraw "cov/tests/fuzz/$target" -runs=0 "corpus/$target" >/dev/null 2>&1 || :
		objects+=(-object "cov/tests/fuzz/$target")
	done
	llvm-profdata merge -o all.profdata ./*.profraw
	llvm-cov export -summary-only -instr-profile all.profdata "${objects[@]:1}" >cov.json
	python3 - "$source" <<-'P'
		import collections, json, os, sys
		sums = collections.defaultdict(lambda: [0, 0])
		for file in json.load(open('cov.json'))['data'][0]['files']:
		    folder = os.path.dirname(os.path.relpath(file['filename'], sys.argv[1]))
		    if folder.startswith(('tests', '..')):
		        continue
		    sums[folder][0] += file['summary']['lines']['covered']
		    sums[folder][1] += file['summary']['lines']['count']
		for folder, (covered, count) in sorted(sums.items()):
		    print(f'| `{folder}/` | {covered} | {count} | {100 * covered / count:.1f} % |')
	P
}

case ${2:-} in
--table) table ;;
--coverage) coverage ;;
*[!0-9]* | '')
	echo 'attack.sh: give DIRECTORY and MINUTES, --table or --coverage' >&2
	exit 2
	;;
*)
	build san -Db_sanitize=address,undefined
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	# Targets that write files would wait for the disk.
	EH2SFRAME_FUZZ_DIR=$(mktemp -d /dev/shm/eh2sframe-attack-XXXXXX)
	export EH2SFRAME_FUZZ_DIR
	trap 'rm -rf "$EH2SFRAME_FUZZ_DIR"' EXIT
	trap 'exit 1' HUP INT TERM
	end=$(($(date +%s) + $2 * 60))
	while [ "$(date +%s)" -lt $end ]; do
		# The one with the fewest turns so far that no other run has.
		for target in $(by_turns); do
			exec 9>"$target.lock"
			if flock -n 9; then
				attack "$target" 9>&-
				break
			fi
		done
	done
	table
	;;
esac
