#!/bin/sh
# SPDX-License-Identifier: MIT
# make_root.sh RELEASE DIR [OPTION-OF-MMDEBSTRAP...]: a root of Debian with apt and what every system has.
# For a mount namespace of its own: mmdebstrap mounts in DIR. unstable's release file may have expired. dpkg syncs
# nothing there, because a root that a power failure spoils is made again.
set -eu
mount --make-rprivate /
release=$1 dir=$2
shift 2
[ "$release" != unstable ] || set -- "$@" --aptopt='Acquire::Check-Valid-Until "false"'
mmdebstrap --quiet --mode=root --variant=apt --dpkgopt=force-unsafe-io "$@" "$release" "$dir"
cp /etc/resolv.conf "$dir/etc/resolv.conf"
