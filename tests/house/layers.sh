#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh ROOT: who may include whom. cmd -> the public header; gen -> {cfi, sframe} -> base;
# libdwarf in one file only.
cd "$1" || exit 1
status=0
# forbid WHERE WHAT: no file under WHERE includes a header that matches WHAT.
forbid() {
	found=$(grep -rnE --include='*.[ch]' "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<]$2" "$1") || return 0
	echo "$found: not allowed in $1"
	status=1
}
forbid base '(cfi|sframe|gen)/'
forbid cfi '(sframe|gen)/'
forbid sframe '(cfi|gen)/'
# The command is a program like any other to the library, and the header stands alone.
forbid cmd '(base|cfi|sframe|gen|lib|config)'
forbid include '(base|cfi|sframe|gen|cmd|lib|config|lib[a-z]*/|gelf|jansson)'
for folder in base cfi sframe gen; do
	forbid "$folder" 'cmd/'
done
for folder in base cfi sframe gen cmd; do
	forbid "$folder" '(tests|\.)'
	[ -n "$(find "$folder" -name '*.c')" ] || { echo "$folder: no sources"; status=1; }
done
users=$(grep -rlE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include.*dwarf' \
	base cfi sframe gen cmd include tests examples)
[ "$users" = cfi/witness.c ] || { echo "libdwarf is included by: $users"; status=1; }
exit $status
