#!/bin/bash
# SPDX-License-Identifier: MIT
# names.sh ROOT: a newcomer finds a function or a file by its name alone. docs/ARCHITECTURE.md has the rule.
root=$(cd "$1" && pwd) || exit 99
. "$root/tests/shared/tap.sh"
cd "$root" || exit 99
folders='base cfi sframe gen lib cmd'

# Lines of NAME KIND FILE. A definition is a `{` at the start of a line, after a line that starts with
# the type and the name. The style of clang-format sees to that.
functions() {
	find $folders -name '*.[ch]' -exec awk '
		/^[A-Za-z].*\(/ && !/;$/ {
			head = $0
			sub(/\(.*/, "", head)
			sub(/.*[ *]/, "", head)
			kind = /^static/ ? "static" : "seen"
		}
		/^\{/ && head { print head, kind, FILENAME }
		/^[{}]/ || /;$/ { head = "" }
	' {} +
}
functions >"$scratch/functions"

found=$(wc -l <"$scratch/functions")
