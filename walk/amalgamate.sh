#!/bin/sh
# SPDX-License-Identifier: MIT
# amalgamate.sh ROOT OUT FILE...: makes one C file of the sources in walk, which needs eh2sframe-walk.h beside it and
# nothing else of this project. Each internal header stands where it is included first.
set -eu
root=$1
case $2 in /*) out=$2 ;; *) out=$PWD/$2 ;; esac
shift 2
cd "$root"
LC_ALL=C awk '
	function put(file,    line, name) {
		if (seen[file]++)
			return
		while ((getline line < file) > 0) {
			if (line ~ /^#[ \t]*include "walk\//) {
				name = line
				sub(/^[^"]*"/, "", name)
				sub(/".*/, "", name)
				put(name)
			} else if (line ~ /^#[ \t]*include "include\/eh2sframe-walk.h"/) {
				continue
			} else if (line !~ /^\/\* SPDX-License-Identifier/) {
				print line
			}
		}
		close(file)
	}
	BEGIN {
		print "/* SPDX-License-Identifier: MIT */"
		print "/* libeh2sframe-walk in one file, made by walk/amalgamate.sh. */"
		print "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif"
		print "#include \"eh2sframe-walk.h\""
		for (i = 1; i < ARGC; i++)
			put("walk/" ARGV[i])
	}
' "$@" >"$out.part"
mv "$out.part" "$out"
