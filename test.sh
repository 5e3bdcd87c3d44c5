#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the tests need, builds with sanitizers and as released, and runs the tests.
#     ./test.sh           all but the slow ones
#     ./test.sh --quick   without those that take long, nor sanitizers
#     ./test.sh --slow    the slow suite: every ELF file under /usr, other releases of Debian
set -eu
cd "$(dirname "$0")"
case ${1:-} in
'' | --quick | --slow) ;;
*)
	echo "test.sh: unknown option $1; give --quick, --slow or nothing" >&2
	exit 2
	;;
esac

./build.sh --tests
conf/configure.sh build -Dtests=enabled
# Another machine's packages or compiler missing: a test that skips, but not here.
export MACHINES_REQUIRED=1
# Half as many more tests as processors at once, because a conversion waits for the disk when it ends.
export MESON_TESTTHREADS=$((($(nproc) * 3 + 1) / 2))
meson compile -C build
case ${1:-} in
--slow) exec meson test -C build --suite slow --setup slow --print-errorlogs ;;
--quick) exec meson test -C build --setup full --no-suite long --print-errorlogs ;;
esac
conf/configure.sh build-dev --native-file conf/dev.ini
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
# One process for all cases of a unit test, because the search for leaks at its end takes long.
export CK_FORK=no
status=0
meson test -C build-dev --setup full --suite unit --suite fuzz --suite prop --print-errorlogs || status=1
unset CK_FORK
meson test -C build --setup full --print-errorlogs || status=1
exit $status
