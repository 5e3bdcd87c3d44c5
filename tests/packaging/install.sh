#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# meson install into a DESTDIR: the files, links and modes of installed.txt and no others, and the
# links lead somewhere. TAP.
#
#     install.sh EH2SFRAME TESTS_E2E BUILD_DIR PREFIX LIBDIR LIST
#
# When what is installed changes on purpose: install.sh ... LIST bless writes the list.
eh2sframe=$1
build=$(realpath "$3")
prefix=$4
libdir=$5
list=$(realpath "$6")
bless=${7-}
# shellcheck source-path=SCRIPTDIR/../shared source=cli_lib.sh
. "$2/cli_lib.sh"

umask 022
is 'meson install' env DESTDIR="$scratch/root" meson install -C "$build" --no-rebuild --quiet
(cd "root$prefix" && find . ! -type d -printf '%P %m %l\n') |
	sed -e "s,^$libdir/,LIBDIR/," -e 's/ 777 / -> /' -e 's/ $//' | LC_ALL=C sort >installed
if [ "$bless" = bless ]; then cp installed "$list"; fi
is 'what is installed' diff "$list" installed
is 'nothing outside the prefix' sh -c "! find root ! -type d ! -path 'root$prefix/*' | grep ."
is 'no link leads nowhere' sh -c '! find root -xtype l | grep .'
# What pages refer to is installed, too; tests/ and packaging/ are the source's.
doc=root$prefix/share/doc/eh2sframe
for page in "$doc"/*.md "$doc"/docs/*.md "$doc"/kit/*.md; do
	grep -oE '\]\([^)#:]+\)' "$page" | tr -d '])(' | sed "s,^,${page%/*}/,"
done >named
cat "$doc"/*.md "$doc"/docs/*.md "$doc"/kit/*.md "root$prefix"/share/man/*/* | sed 's,\\&,,g' |
	grep -ohE '\b(docs|examples|kit)/[A-Za-z0-9_./-]*[A-Za-z0-9_/]' | sed "s,^,$doc/," >>named
is 'links and names of files lead somewhere' sh -c "sort -u named | while read -r file; do [ -e \"\$file\" ] || echo \"\$file\"; done | (! grep .)"
# As much of the man pages as man(1) would want.
for page in "root$prefix"/share/man/man[13]/*; do
	is "${page##*/} is a man page" grep -q '^\.TH ' "$page"
done
plan
