#!/bin/sh
# SPDX-License-Identifier: MIT
# compare.sh CFI_ROWS EXPECTED VECTOR [OPTION...]: what cfi_rows prints about VECTOR is EXPECTED.
cfi_rows=$1 expected=$2 vector=$3
shift 3
"$cfi_rows" --vector "$@" "$vector" | diff -u "$expected" -
