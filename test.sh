#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the tests need, builds with sanitizers and as released, and runs the tests.
# ./test.sh --slow runs the slow suite: every ELF file under /usr.
set -eu
cd "$(dirname "$0")"

./build.sh --tests
[ -f build/build.ninja ] || meson setup build
[ -f build-dev/build.ninja ] || meson setup --native-file conf/dev.ini build-dev
# Another machine's packages or compiler missing: a test that skips, but not here.
export MACHINES_REQUIRED=1
meson compile -C build
if [ "${1:-}" = --slow ]; then
	exec meson test -C build --suite slow --setup slow --no-rebuild --print-errorlogs
fi
meson compile -C build-dev
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
status=0
meson test -C build-dev --suite unit --suite fuzz --suite prop --no-rebuild --print-errorlogs || status=1
meson test -C build --no-suite slow --no-rebuild --print-errorlogs || status=1
exit $status
