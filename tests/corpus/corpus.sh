#!/bin/bash
# SPDX-License-Identifier: MIT
# corpus.sh EH2SFRAME DIR [N]: package.py for each package of the corpus that has no report in DIR yet, or for N more
# of them; so it can be stopped and started again. Then the counts of all reports.
#
# The corpus is all packages with a machine of their own among those below and all that they depend on, in Debian 13 for
# amd64, arm64 and s390x. Their order is drawn with a fixed seed. With SLURM set, the packages are elements of an
# array job (examples/archive), and this only submits it.
set -eu
tool=$(realpath "$1")
mkdir -p "$2" && dir=$(realpath "$2") more=${3:-100000}
here=$(dirname "$(realpath "$0")")
server='build-essential cpio gdb git nginx openssh-server php-cli postgresql vim python3 ffmpeg'
desktop='gnome-core kde-standard'
if [ ! -s "$dir/list" ]; then
	[ -x "$dir/witnesses/readelf" ] || bash "$here/witnesses.sh" "$dir/witnesses"
	for machine in amd64 arm64 s390x; do
		packages=$server
		[ $machine != amd64 ] || packages="$server $desktop"
		POOL=$packages bash "$here/../e2e/machines/machines_fetch.sh" $machine pool "$dir/trixie" trixie
		ls "$dir/trixie/apt-$machine/debs/archives/"*_$machine.deb
	done | LC_ALL=C sort | shuf --random-source=<(yes 42) >"$dir/list.new"
	mv "$dir/list.new" "$dir/list"
fi
mkdir -p "$dir/reports" "$dir/logs"
# What element.sh of examples/archive starts for a package.
cat >"$dir/job" <<-JOB
	#!/bin/sh
	[ ! -s "\$1" ] || exit 0
	exec nice -n 10 python3 '$here/package.py' '$tool' '$dir/witnesses' "\$1" "\$2"
JOB
chmod +x "$dir/job"
if [ -n "${SLURM-}" ]; then
	cp "$here"/../../examples/archive/*.sh "$dir"
	cd "$dir" && PACKAGE_JOB=$dir/job ./submit.sh
	exit
fi
while read -r deb && [ "$more" -gt 0 ]; do
	name=$(basename "$deb" .deb)
	[ ! -s "$dir/reports/$name.json" ] || continue
	more=$((more - 1))
	"$dir/job" "$dir/reports/$name.json" "$deb" >"$dir/logs/$name" 2>&1 || tail -n 5 "$dir/logs/$name"
done <"$dir/list"
python3 "$here/counts.py" "$dir/reports" "$dir/list"
