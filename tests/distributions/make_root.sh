#!/bin/sh
# SPDX-License-Identifier: MIT
# make_root.sh RELEASE DIR: a root of Debian with apt and what every system has. For a mount namespace
# of its own: mmdebstrap mounts in DIR. unstable's release file may have expired.
set -eu
mount --make-rprivate /
set -- "$@" --
[ "$1" != unstable ] || set -- "$@" --aptopt='Acquire::Check-Valid-Until "false"'
release=$1 dir=$2
shift 3
mmdebstrap --mode=root --variant=apt "$@" "$release" "$dir"
cp /etc/resolv.conf "$dir/etc/resolv.conf"
