#!/bin/bash
# SPDX-License-Identifier: MIT
# locale.sh TEST_LIB COMMAND: makes a locale with a decimal comma, and runs the test in it. TAP.
here=$PWD
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$(dirname "$(realpath "$0")")/../shared/tap.sh"
localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" >/dev/null 2>&1 ||
	skip_all 'no locale sources here (package locales)'
cd "$here" && LOCPATH=$scratch "$1" --locale "$2" /bin/ls
