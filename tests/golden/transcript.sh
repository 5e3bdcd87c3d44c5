#!/bin/sh
# SPDX-License-Identifier: MIT
# transcript.sh EH2SFRAME VECTOR NAME: what the program says of VECTOR, called NAME. The size of .eh_frame
# depends on the assembler, so that size and what is divided by it are left out.
set -eu
program=$(realpath "$1") vector=$(realpath "$2") name=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cp "$vector" "$name"

say() {
	echo "\$ eh2sframe $*"
	status=0
	"$program" "$@" >said 2>&1 || status=$?
	sed -E 's/^( *\.eh_frame +)[0-9]+ bytes/\1N bytes/; s/[0-9.]+ (of \.eh_frame)/R \1/g' said
	[ "$status" = 0 ] || echo "status $status"
	echo
}
say report "$name"
say report -v "$name"
say report --functions "$name"
say -v "$name" out
say verify out
say dump out
# What is about pieces is said for size, too.
if [ "${name#neighbours}" != "$name" ]; then
	say report --optimize=none "$name"
	for version in 2 3; do
		say report --optimize=size --format=$version "$name"
		say --optimize=size --format=$version "$name" out
		say verify out
		say dump out
	done
fi
for version in 1 3; do
	say --format=$version "$name" out$version
	say verify out$version
	say dump out$version
done
