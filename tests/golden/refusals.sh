#!/bin/sh
# SPDX-License-Identifier: MIT
# refusals.sh EH2SFRAME ROOT VECTORS: every refusal of gen/rows/refusal.h has a vector in
# tests/vectors, which was linked into VECTORS, a counter in the report on it, and a paragraph in
# the man page; and the man page has no refusal that does not exist.
set -eu
program=$1 root=$2 vectors=$3
status=0

complain() {
	echo "$*" >&2
	status=1
}

names=$(sed -n 's/^[[:space:]]*X([A-Z_]*, "\([a-z-]*\)".*/\1/p' "$root/gen/rows/refusal.h")
count=$(echo "$names" | wc -l)
declared=$(grep -c '^[[:space:]]*X(' "$root/gen/rows/refusal.h")
if [ "$count" -lt 20 ] || [ "$count" != "$declared" ]; then
	complain "gen/rows/refusal.h: $count of $declared lines of the table understood"
fi
paragraphs=$(sed -n '/^# REFUSALS/,/^# LINT/s/^\*\([a-z-]*\)\*$/\1/p' \
	"$root/docs/eh2sframe.1.scd")

for name in $names; do
	stem=$(echo "$name" | tr - _)
	source=$root/tests/vectors/refuse/$stem.S
	echo "$paragraphs" | grep -qx -e "$name" || complain "$name: no paragraph in eh2sframe(1)"
	if ! [ -f "$source" ] || ! [ -f "$vectors/$stem.elf" ]; then
		complain "$name: no vector refuse/$stem.S"
		continue
	fi
	options=$(sed -n 's/^ \* options: //p' "$source")
	# shellcheck disable=SC2086 # options are words
	(set -f && "$program" --report $options "$vectors/$stem.elf") |
		grep -q "^  refused: $name  *[1-9]" || complain "$name: not counted for refuse/$stem.S"
done
for paragraph in $paragraphs; do
	echo "$names" | grep -qx -e "$paragraph" || complain "eh2sframe(1): no refusal $paragraph"
done
[ "$status" != 0 ] || echo "$count refusals, each with a vector, a counter and a paragraph"
exit $status
