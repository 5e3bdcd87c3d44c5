#!/bin/bash
# SPDX-License-Identifier: MIT
# by_shared.sh COMMAND BY_SHARED: compares the command that is linked with the shared library with the
# usual one. TAP.
set -- "$(realpath "$1")" "$(realpath "$2")"
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$(dirname "$(realpath "$0")")/../shared/tap.sh"
readelf -d "$2" | grep -q 'NEEDED.*libeh2sframe\.so\.1\]' || { echo "Bail out! $2 needs no library"; exit 1; }
readelf -d "$1" | grep -q 'NEEDED.*libeh2sframe' && { echo "Bail out! $1 needs the library"; exit 1; }
while read -r line; do
	for which in 1 2; do
		mkdir "$which" && cp /bin/ls "$which/in" && "$1" -q /bin/ls "$which/conv"
		# shellcheck disable=SC2086 # words
		(cd "$which" && "${!which}" $line >said 2>complained; echo $? >status)
	done
	if diff -r 1 2; then
		ok "$line: status $(cat 1/status)"
	else
		not_ok "$line"
	fi
	rm -rf 1 2
done <<'LINES'
-v in out
-v --format=3 --report-file=report in out
--optimize=size --witness=libdwarf in out
section --address=0x1000 in out
report -v in conv
report --json -o report in missing conv
dump conv in
verify -v conv
verify --cfi=in conv
lint conv
remove conv out
--refresh -v conv out
conv out
in /no/such/directory/out
--min-coverage=100 --min-coverage-of=text in out
--max-growth=0 in out
--exclude-symbol=nothing* in out
--help
--version
--nonsense
LINES
plan
