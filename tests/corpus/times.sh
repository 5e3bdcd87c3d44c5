#!/bin/bash
# SPDX-License-Identifier: MIT
# times.sh EH2SFRAME LIST N DIR: how long the first N packages of LIST take by examples/archive, alone, as Slurm's jobs on one
# and two nodes, and as Bazel's actions, one and two at once. Needs root, slurm-wlm and bazel.
set -eu
tool=$(realpath "$1") list=$(realpath "$2") n=$3
mkdir -p "$4/bin" && dir=$(realpath "$4")
here=$(dirname "$(realpath "$0")")
source=$(realpath "$here/../..")
ln -sf "$tool" "$dir/bin/eh2sframe"
export PATH=$dir/bin:$PATH
cd "$dir"

# timed NAME COMMAND...: a line with the seconds that pass, and those of processors of what is waited for.
timed() {
	local name=$1 TIMEFORMAT="%R s, %U s user, %S s system"
	shift
	echo "$name: $( { time "$@" >"$dir/log" 2>&1; } 2>&1 ), load $(cut -d' ' -f1 /proc/loadavg)"
}
alone() {
	mkdir -p alone/reports && head -n "$n" "$list" >alone/list
	while read -r deb; do
		"$source/examples/archive/package.sh" "alone/reports/$(basename "$deb" .deb).json" "$deb" || :
	done <alone/list
	(cd alone && "$source/examples/archive/merge.sh")
}
# In the namespaces of cluster.sh. The start of Slurm does not count.
jobs() {
	local start=$EPOCHREALTIME
	./submit.sh
	while [ -n "$(squeue -h)" ]; do
		sleep 0.2
	done
	awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s\n", b - a }'
}
if [ "${5-}" = jobs ]; then
	cd "$6" && jobs
	exit
fi
timed 'one after the other' alone
for nodes in 1 2; do
	mkdir -p "slurm$nodes" && cp "$source"/examples/archive/*.sh "slurm$nodes"
	head -n "$n" "$list" >"slurm$nodes/list"
	echo "Slurm, $nodes nodes: $(unshare --mount --pid --net --fork --kill-child --mount-proc "$here/cluster.sh" \
		"slurm$nodes/slurm" $nodes "$here/times.sh" "$tool" "$list" "$n" "$dir" jobs "$dir/slurm$nodes" | tail -n 1), load $(cut -d' ' -f1 /proc/loadavg)"
	cmp alone/all.json "slurm$nodes/all.json"
done
mkdir -p bazel && cd bazel
cp "$source/examples/archive/package.sh" .
: >WORKSPACE
sed -n '/^```starlark$/,/^```$/{/^```/!p}' "$source/docs/TREES.md" >trees.bzl
{
	echo 'load(":trees.bzl", "sframe_package", "sframe_report")'
	i=0 parts=
	while read -r deb; do
		i=$((i + 1)) name=$(basename "$deb")
		cp "$deb" .
		echo "sframe_package(name = \"p$i\", deb = \"$name\")"
		parts="$parts\"p$i\", "
	done < <(head -n "$n" "$list")
	echo "sframe_report(name = \"all\", parts = [$parts])"
} >BUILD.bazel
for jobs in 1 2; do
	bazel --batch --output_user_root="$dir/root$jobs" --version >/dev/null
	timed "Bazel, $jobs at once" bazel --batch --output_user_root="$dir/root$jobs" build --jobs=$jobs --action_env=PATH //:all
	cmp "$dir/alone/all.json" bazel-bin/all.json
	chmod -R u+w "$dir/root$jobs"
done
