#!/bin/bash
# SPDX-License-Identifier: MIT
# memcheck.sh COMMAND OBJECT some|all: what the command does, under Valgrind: every mode on real files, and on damaged ones.
# No invalid access, no use of unset bytes, no leak; the workers of eh2sframe tree and their sandbox, too. some: the modes that
# have most code of their own. TAP.
here=$(dirname "$(realpath "$0")")
eh2sframe=$(realpath "$1") object=$(realpath "$2") which=$3
# shellcheck source-path=SCRIPTDIR/../../shared source=tap.sh
. "$here/../../shared/tap.sh"
have valgrind || skip_all 'needs valgrind'

# clean STATUS ARGUMENT...
clean() {
	local want=$1 got
	shift
	valgrind --quiet --trace-children=yes --child-silent-after-fork=no --error-exitcode=99 --leak-check=full \
		--log-file=said.%p "$eh2sframe" "$@" >printed 2>&1
	got=$?
	if [ $got = "$want" ] && [ ! -s "$(find . -name 'said.*' -size +0 | head -n 1)" ]; then
		ok "$*"
	else
		not_ok "$*" "status $got; $(cat said.* printed | head -n 30)"
	fi
	rm -f said.*
}

cp "$(command -v gzip)" in
cp "$object" object.o
mkdir tree
cp object.o tree/b.o
head -c 3000 in >tree/cut
clean 0 --format=3 --optimize=size --derive --code=repair in rich
clean 0 --format=3 object.o new.o
clean 1 tree convert -j2 --sandbox=auto tree
clean 0 remove new.o back.o
clean 2 --no-such-option
[ "$which" = all ] || plan
clean 0 -j2 in out
clean 0 verify out
clean 0 lint out
clean 0 dump out
clean 0 check in
clean 0 report --json -v in
clean 0 --witness=libdwarf in proven
clean 0 section in section
clean 0 --refresh --for=glibc out again
clean 0 remove out back
clean 0 verify new.o
cp in tree/a
cp object.o tree/b.o
clean 1 tree convert -j2 --sandbox=auto tree
clean 0 report --json -o report.json in rich
clean 0 merge --html -o merged.html report.json
clean 1 tree remove tree
clean 1 tree/cut nothing
clean 1 /etc/passwd nothing
clean 6 remove in nothing
plan
