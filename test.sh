#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the tests need, builds, and runs one tier of the tests (docs/TESTING.md):
#     ./test.sh           the full tier: before a change is finished
#     ./test.sh --fast    the fast tier alone, with the packages that it needs
#     ./test.sh --long    the long tier: before an issue is closed and before a release; goes on where it was stopped
# --budget, for the first two, makes a tier fail that used more processor time than it may.
set -eu
cd "$(dirname "$0")"
usage() {
	echo "test.sh: $1; give --fast, --long or neither, and --budget if you want" >&2
	exit 2
}
tier=full budget=
for option; do
	case $option in
	--fast | --long) [ $tier = full ] || usage "$option: one tier at a time"; tier=${option#--} ;;
	--budget) budget=--fail ;;
	*) usage "unknown option $option" ;;
	esac
done

[ $tier != long ] || [ -z "$budget" ] || usage '--budget: the long tier has none'
if [ $tier = fast ]; then ./build.sh --fast-tests; else ./build.sh --tests; fi
packaging/configure.sh build -Dtests=enabled
rm -f build/meson-logs/costs build/meson-logs/testlog* build-dev/meson-logs/costs build-dev/meson-logs/testlog*
# Half as many more tests as processors at once, because a conversion waits for the disk when it ends.
export MESON_TESTTHREADS=$((($(nproc) * 3 + 1) / 2))
meson compile -C build
status=0
# finish TIER BUDGET BUILD...: says what it came to, beside what it may use. The shell knows what its compilers took.
finish() {
	python3 tests/tiers/summary.py "$@" --more="$compiled" $budget || status=1
	exit $status
}
# compiled: processor seconds of all commands so far.
compiled() {
	times >build/times
	compiled=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s += 60 * t[1] + t[2] } print s }' build/times)
}
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
if [ $tier = fast ]; then
	compiled=0
	meson test -C build --no-suite budget --print-errorlogs || status=1
	finish fast 60 build
fi
packaging/configure.sh build-dev --native-file tests/dev.ini -Dtests=enabled
if [ $tier = long ]; then
	# On a disk, unlike the other tiers: what a file system does to files is seen there.
	export TMPDIR="${TMPDIR:-/var/tmp}"
	exec python3 tests/tiers/long.py build build-dev
fi

# What a sanitizer can see is not run again without one: the suites unit, fuzz and prop.
meson compile -C build-dev
compiled
# One process for all cases of a unit test, because the search for leaks at its end takes long.
CK_FORK=no meson test -C build-dev --setup full --suite unit --suite fuzz --suite prop --print-errorlogs || status=1
meson test -C build --setup full --no-suite unit --no-suite fuzz --no-suite prop --print-errorlogs || status=1
finish full 700 build build-dev
