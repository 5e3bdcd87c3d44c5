#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh ROOT: every C file is as clang-format 14 writes it. Other versions write other things.
cd "$1" || exit 1
if ! command -v clang-format-14 >/dev/null; then
	echo "needs clang-format-14 (Debian 12: clang-format-14)"
	exit 77
fi
git ls-files -z '*.c' '*.h' 2>/dev/null | grep -zv '^tests/vectors/' |
	xargs -0 clang-format-14 --dry-run -Werror
