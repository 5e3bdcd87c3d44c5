#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh ROOT: which folder may include headers of which others, docs/ARCHITECTURE.md says why;
# libdwarf in one header only.
cd "$1" || exit 1
status=0

# may FOLDER OTHER...: the files of FOLDER, not of folders in it, include headers of FOLDER and of the
# OTHER folders alone. "." is config.h.
may() {
	folder=$1
	shift
	[ -n "$(find "$folder" -maxdepth 1 -name '*.[ch]')" ] || { echo "$folder: no sources"; status=1; }
	seen="$seen $folder"
	used=$(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$folder"/*.[ch] |
		sed -e 's,^[^/]*$,.,' -e 's,/[^/]*$,,' | sort -u)
	for other in $used; do
		case " $folder $* " in
		*" $other "*) ;;
		*)
			grep -nE "include[[:space:]]*\"$other/[^/]*\"" "$folder"/*.[ch]
			echo "$folder may not include $other/"
			status=1
			;;
		esac
	done
}
seen=
may include . # each other, as installed
may base
may cfi base
may base/names base base/names
may sframe base
may code base
may code/machines . base code
may sframe/compact base sframe
may gen/options base sframe sframe/compact
may gen/arch cfi code sframe
may gen/elf . base cfi gen/arch
may gen/elf/object base cfi gen/arch gen/elf sframe
may gen/sources/go base cfi code
may gen/sources base base/names cfi gen/arch gen/elf gen/elf/object gen/options gen/sources/go
may gen/rows base base/names cfi sframe sframe/compact gen/arch gen/elf/object gen/options gen/sources gen/sources/go
may gen/insert base gen/elf gen/options
may gen/object base gen/elf/object gen/sources gen/insert gen/options gen/rows sframe
may gen/verify base cfi gen/elf/object gen/sources gen/options gen/rows gen/check gen/check/derive sframe sframe/compact
may gen/check base cfi code gen/arch gen/sources gen/options gen/rows
may gen/check/derive base cfi code gen/arch gen/sources gen/options gen/rows gen/check
may gen/report . base cfi code base/names gen/arch gen/elf/object gen/sources gen/insert gen/options gen/rows gen/check gen/verify sframe sframe/compact
may gen base sframe gen/check/derive gen/sources gen/insert gen/object gen/options gen/report gen/rows gen/check gen/verify
# It stands alone, also in the source trees of others.
may walk include
may gen/lib . base gen gen/arch gen/elf/object gen/sources gen/options gen/report gen/rows gen/verify include
# The command uses the library as any program does; base has no domain knowledge.
may cmd/common base include
may cmd/sandbox . cmd/common include
may cmd/report base cmd/common
may cmd/batch base cmd/common cmd/report cmd/sandbox
may cmd base cmd/batch cmd/common cmd/report cmd/sandbox
# A profiler is a program on top, too.
may profile base
may profile/stacks base include base/names profile
may profile/preload include profile/preload walk
may profile/record base include base/names profile profile/preload profile/stacks
may profile/symbols base base/names profile
may profile/output base profile profile/symbols
may profile/fold . base cmd/common include profile profile/output profile/symbols
# Other formats, built on request, beside the engine that is not to know them.
may tests/bench/compare base cfi gen/rows sframe
for folder in $(find base cfi code sframe gen walk cmd include profile tests/bench/compare -name '*.[ch]' -exec dirname {} + | sort -u); do
	case " $seen " in
	*" $folder "*) ;;
	*) echo "$folder: no rule says what it may include"; status=1 ;;
	esac
done
# The public header stands alone.
if grep -nE '#[[:space:]]*include[[:space:]]*<(lib[a-z]*/|gelf|jansson)' include/*.h; then status=1; fi
users=$(grep -rlE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*<[^>]*libdwarf' \
	base cfi sframe gen walk cmd include tests examples)
[ "$users" = cfi/libdwarf_internal.h ] || { echo "libdwarf is included by: $users"; status=1; }
exit $status
