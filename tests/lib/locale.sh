#!/bin/bash
# SPDX-License-Identifier: MIT
# locale.sh TEST_LIB COMMAND: makes a locale with a decimal comma, and runs the test in it. TAP.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >/dev/null 2>&1 || {
	echo '1..0 # SKIP no locale sources here (package locales)'
	exit 0
}
LOCPATH=$work "$1" --locale "$2" /bin/ls
