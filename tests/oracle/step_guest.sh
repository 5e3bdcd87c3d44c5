#!/bin/bash
# SPDX-License-Identifier: MIT
# Steps a program of another machine under qemu-user, with a plug-in (step_guest.c) that compares its rows.
#
#   step_guest.sh PLUGIN MACHINE OPTION,... PROGRAM [ARG...]
#
# STEP_GUEST_ROOT is the root with its libraries (/usr/MACHINE-linux-gnu).
plugin=$1 machine=$2 options=$3
shift 3
qemu=qemu-$machine
# The option has had its new name since release 8.1.
single=-singlestep
"$qemu" --help | grep -q one-insn-per-tb && single=-one-insn-per-tb
folder=$(mktemp -d)
mkfifo "$folder/log" || exit 1
exec 3<>"$folder/log"
rm -r "$folder"
log=cpu
[ "$machine" != s390x ] || log=cpu,fpu # registers of floating point save others
exec "$qemu" -L "${STEP_GUEST_ROOT:-/usr/$machine-linux-gnu}" "$single" -d "nochain,$log" -D /dev/fd/3 \
	-plugin "$plugin,$options" "$@"
