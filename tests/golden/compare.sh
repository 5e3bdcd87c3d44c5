#!/bin/sh
# SPDX-License-Identifier: MIT
# compare.sh EH2SFRAME VECTOR NAME EXPECTED: the transcript is EXPECTED, word for word.
"$(dirname "$0")/transcript.sh" "$1" "$2" "$3" | diff -u "$4" -
