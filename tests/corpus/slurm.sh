#!/bin/bash
# SPDX-License-Identifier: MIT
# slurm.sh EH2SFRAME SOURCE: examples/archive on a Slurm with one and two nodes. A node is killed while it
# converts a package, and the merged report must be, byte for byte, that of one run over all packages. TAP.
set -u
tool=$(realpath "$1") source=$(realpath "$2")
here=$source/tests/corpus
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$source/tests/shared/tap.sh"
export PATH=$PATH:/usr/sbin:/sbin
for need in slurmctld slurmd munged sbatch ip unshare dpkg-deb; do
	have $need || skip_all "needs $need (slurm-wlm, munge, iproute2, util-linux, dpkg)"
done
[ "$(id -u)" = 0 ] || skip_all 'needs root, for namespaces'
unshare --mount --pid --net --fork true 2>/dev/null || skip_all 'the kernel gives no namespaces'
work=$PWD packages=12

# Inside of the namespaces, with a Slurm: submits, waits, and with kill kills node2 when it is in a package.
if_killed() {
	local pid parent
	until [ -s killed/pid ]; do
		[ -n "$(squeue -h)" ] || return 1
		sleep 0.2
	done
	pid=$(cat killed/pid)
	# The node is gone: its daemon, the job's keeper and all that the job started.
	kill -9 "$(cat "$NODES_DIR/node2.pid")"
	while [ -n "$pid" ] && [ "$pid" != 1 ] && ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q '^slurmd '; do
		parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
		kill -9 "$pid"
		pid=$parent
	done
	date +%s >killed/when
}
inside() {
	trap - EXIT
	./submit.sh >merge.id || return 1
	[ ! -e kill ] || if_killed || return 1
	while [ -n "$(squeue -h)" ]; do
		sleep 0.5
	done
	# Slurm forgets a job some minutes after its end.
	scontrol -o show job >jobs.txt
}
# shellcheck disable=SC2317 # in the namespaces the script runs itself
if [ "${3-}" = inside ]; then
	cd "$4" && inside
	exit
fi

# run NAME NODES: a folder with the example and the list, run on so many nodes.
run() {
	local start=$SECONDS
	mkdir -p "$1/bin" && cp "$source"/examples/archive/*.sh "$1" && cp list.all "$1/list"
	[ "$1" != killed ] || : >"$1/kill"
	# On node2 the first conversion is done, but not told, when the node dies.
	cat >"$1/bin/eh2sframe" <<-WRAP
	#!/bin/bash
	'$tool' "\$@" || exit
	[ ! -e '$work/$1/kill' ] || [ "\$SLURMD_NODENAME" != node2 ] || [ "\$1" = merge ] || ! mkdir '$work/$1/killed' 2>/dev/null || {
		echo "\$SLURM_ARRAY_TASK_ID" >'$work/$1/killed/element'
		echo \$\$ >'$work/$1/killed/pid.new'
		mv '$work/$1/killed/pid.new' '$work/$1/killed/pid'
		exec sleep 1000
	}
	WRAP
	chmod +x "$1/bin/eh2sframe"
	TMPDIR=$work PATH=$work/$1/bin:$PATH NODE_TIMEOUT=20 timeout -s KILL 300 unshare --mount --pid --net --fork --kill-child --mount-proc \
		"$here/cluster.sh" "$1/slurm" "$2" "$here/slurm.sh" "$tool" "$source" inside "$work/$1" >"$1.log" 2>&1
	echo "# $1: $2 nodes, $((SECONDS - start)) s with the start of Slurm"
	if cmp -s single.json "$1/all.json"; then
		ok "$1: the merged report is that of one run"
	else
		not_ok "$1: the merged report is that of one run" \
			"$(cat "$1.log"; cat "$1"/logs/*; tail -n 20 "$1"/slurm/slurmctld.log "$1"/slurm/nodes/*.log; diff single.json "$1/all.json" | head -n 5)"
	fi
	[ "$(find "$1/reports" -type f | wc -l)" = $packages ]
	status "$1: a report of each package, and no other file" "$(ls "$1/reports" "$1/logs")"
}
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$here/packages.sh"
run one 1
run two 2
grep -q 'NodeList=node1 ' two/jobs.txt && grep -q 'NodeList=node2 ' two/jobs.txt
status 'both nodes worked' "$(cat two/jobs.txt)"
run killed 2
element=$(cat killed/killed/element 2>/dev/null)
[ -s killed/killed/when ] && grep -qE "ArrayTaskId=$element .* Restarts=[1-9]" killed/jobs.txt
status "a node was killed in element ${element:-(none)}, which ran again" "$(cat killed/jobs.txt killed.log)"
plan
