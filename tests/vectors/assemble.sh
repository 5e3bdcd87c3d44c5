#!/bin/sh
# SPDX-License-Identifier: MIT
# assemble.sh OUT SOURCE PREFIX ORDER [OPTION...]: SOURCE for the machine whose binutils are named
# PREFIX-as and PREFIX-ld; ORDER is -EB or -EL where these have a choice, else empty; the options,
# -shared unless given, are the linker's, which LINKER may name. DEFINE names a symbol that is 1.
set -eu
out=$1 source=$2 prefix=$3 order=$4
shift 4
[ $# -gt 0 ] || set -- -shared
"$prefix-as" ${order:+"$order"} ${DEFINE:+--defsym "$DEFINE=1"} -o "$out.o" "$source"
# ld tells of call frame instructions that it does not know, and leaves them as they are.
"${LINKER:-$prefix-ld}" ${order:+"$order"} -z noexecstack --build-id=none --no-eh-frame-hdr "$@" -o "$out" \
	"$out.o" 2>"$out.said" || {
	cat "$out.said" >&2
	exit 1
}
