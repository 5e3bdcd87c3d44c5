#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's two commands in bare roots of Debian's releases: a minimal base, root and apt, nothing
# else. A line of TAP for each command.
#
#     distributions.sh SOURCE LOGS RELEASE... [-- OPTION-OF-TEST.SH...]
#
# SOURCE is a checkout, of which each root gets a clone; LOGS gets what the commands print. Needs root,
# mmdebstrap and a network. A root that cannot be made because the network does not answer is said and
# skipped; a command that fails in a root fails.
source=$(realpath "$1")
mkdir -p "$2" && logs=$(realpath "$2") || exit 1
shift 2
releases=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	releases+=("$1")
	shift
done
[ $# -eq 0 ] || shift
options=("$@")
shopt -s nullglob
here=$(dirname "$(realpath "$0")")
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$here/../shared/tap.sh"

failure() { # NAME LOG [TESTLOG...]
	local name=$1 log=$2
	shift 2
	not_ok "$name" "$(
		grep -aE '(FAIL|ERROR|TIMEOUT) ' "$log" | sort -u
		# What the tests themselves say of it.
		[ $# -eq 0 ] || grep -ahA 5 '^not ok' "$@"
		tail -n 30 "$log"
	)"
}

for tool in mmdebstrap unshare git; do
	have $tool || skip_all "needs $tool"
done
[ "$(id -u)" = 0 ] || skip_all 'needs root'

# Each root is made, used and left in a mount namespace of its own, so that nothing of the machine is
# mounted where the root is removed.
for release in "${releases[@]}"; do
	work=$(mktemp -d /var/tmp/eh2sframe-root.XXXXXX)
	chmod 755 "$work"
	log=$logs/$release
	start=$SECONDS
	if ! unshare --mount "$here/make_root.sh" "$release" "$work/root" >"$log-root.log" 2>&1; then
		if grep -qE 'resolve|connect|timed out|Temporary failure|unreachable' "$log-root.log"; then
			echo "# $release: NO ROOT: the network does not answer: $(grep -m1 -E 'resolve|connect|timed out|Temporary failure|unreachable' "$log-root.log")"
			skip "$release" "NO ROOT: THE NETWORK DOES NOT ANSWER"
		else
			failure "$release: a root" "$log-root.log"
		fi
		rm -rf --one-file-system "$work"
		continue
	fi
	ok "$release: a root, $((SECONDS - start)) s"
	# A path with a space.
	git clone -q "$source" "$work/root/root/a clone"
	for script in build.sh test.sh; do
		arguments=()
		[ $script = build.sh ] || arguments=("${options[@]}")
		start=$SECONDS
		unshare --mount --pid --fork --kill-child "$here/in_root.sh" "$work/root" \
			sh -c "cd '/root/a clone' && exec ./$script \"\$@\"" - "${arguments[@]}" \
			>"$log-$script.log" 2>&1 </dev/null
		status=$?
		tests=$(grep -aE '^[a-z]+: [0-9]+ passed' "$log-$script.log")
		name="$release: ./$script ${arguments[*]} $((SECONDS - start)) s $tests"
		if [ $status = 0 ]; then
			ok "$name"
		else
			failure "$name" "$log-$script.log" "$work/root/root/a clone"/build*/meson-logs/testlog-*.txt
		fi
		grep -aE '^skipped: ' "$log-$script.log" | sed 's/^/# /'
		[ $status = 0 ] || break
	done
	rm -rf --one-file-system "$work"
done
plan
