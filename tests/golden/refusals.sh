#!/bin/sh
# SPDX-License-Identifier: MIT
# refusals.sh EH2SFRAME ROOT VECTORS: every refusal of gen/rows/refusal.h has a vector in
# tests/vectors/refuse/refusals.S, which was linked into VECTORS. It has a counter in the report on that
# vector, a paragraph in the man page, and a sentence in the HTML report. Neither of these has a refusal that
# does not exist.
set -eu
program=$1 root=$2 vectors=$3
table=$root/tests/vectors/refuse/refusals.S
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
paragraphs=$(sed -n '/^# REFUSALS/,/^# READERS/s/^\*\([a-z-]*\)\*$/\1/p' \
	"$root/docs/eh2sframe-sframe.7.scd")
sentences=$(sed -n "s/^	'\([a-z-]*\)': '.*',\$/\1/p" "$root/cmd/report/page/reasons.js")

for name in $names; do
	stem=$(echo "$name" | tr - _)
	echo "$paragraphs" | grep -qx -e "$name" || complain "$name: no paragraph in eh2sframe-sframe(7)"
	echo "$sentences" | grep -qx -e "$name" || complain "$name: no sentence in cmd/report/page/reasons.js"
	if ! grep -q "^ \* [a-z0-9_]* $stem\$" "$table" || ! [ -f "$vectors/$stem.elf" ]; then
		complain "$name: no vector in $table"
		continue
	fi
	options=$(sed -n "/^ \* [a-z0-9_]* $stem\$/,/\*\//s/^ \* options: //p" "$table")
	# shellcheck disable=SC2086 # options are words
	(set -f && "$program" report $options "$vectors/$stem.elf") |
		grep -q "^  refused: $name  *[1-9]" || complain "$name: not counted for its vector"
done
for paragraph in $paragraphs; do
	echo "$names" | grep -qx -e "$paragraph" || complain "eh2sframe-sframe(7): no refusal $paragraph"
done
for sentence in $sentences; do
	echo "$names" | grep -qx -e "$sentence" || complain "reasons.js: no refusal $sentence"
done
[ "$status" != 0 ] || echo "$count refusals, each with a vector, a counter, a paragraph and a sentence"
exit $status
