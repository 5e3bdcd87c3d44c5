#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the tests need, builds with sanitizers and as released, and runs the tests.
# ./test.sh --slow runs the slow suite: every ELF file under /usr.
set -eu
cd "$(dirname "$0")"

./build.sh --tests
conf/configure.sh build -Dtests=enabled
# Another machine's packages or compiler missing: a test that skips, but not here.
export MACHINES_REQUIRED=1
meson compile -C build
if [ "${1:-}" = --slow ]; then
	exec meson test -C build --suite slow --setup slow --print-errorlogs
fi
conf/configure.sh build-dev --native-file conf/dev.ini
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
status=0
meson test -C build-dev --suite unit --suite fuzz --suite prop --print-errorlogs || status=1
meson test -C build --no-suite slow --print-errorlogs || status=1
exit $status
