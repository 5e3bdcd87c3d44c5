#!/bin/sh
# SPDX-License-Identifier: MIT
# assemble.sh OUT SOURCE PREFIX [ORDER]: SOURCE as a shared library of the machine whose binutils are
# named PREFIX-as and PREFIX-ld; ORDER is -EB or -EL where these have a choice.
set -eu
out=$1 source=$2 prefix=$3 order=${4:-}
"$prefix-as" $order -o "$out.o" "$source"
"$prefix-ld" $order -shared -z noexecstack --no-eh-frame-hdr -o "$out" "$out.o"
