# SPDX-License-Identifier: MIT
# Sourced by the tests in bash, directly or by what several of them share: lines of TAP, and a
# scratch directory that is the current one from then on. The caller's paths are absolute by then.
# shellcheck shell=bash
set -u
export LC_ALL=C
scratch=$(mktemp -d "${TMPDIR:-/tmp}/e2e.XXXXXX")
trap 'cd /; chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
n=0 failed=0

ok() { n=$((n + 1)); echo "ok $n - $1"; }
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
plan() { echo "1..$n"; exit $failed; }
have() { command -v "$1" >/dev/null 2>&1; }

# not_ok NAME [WHY]
not_ok() {
	n=$((n + 1)) failed=1
	echo "not ok $n - $1"
	[ -z "${2-}" ] || printf '%s\n' "$2" | sed 's/^/# /'
}

# is NAME COMMAND...: the command must succeed; its output is shown when it does not.
is() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$* failed: $out"; fi
}
