#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The version is written in meson.build. All other places that name it agree. TAP.
#
#     version.sh EH2SFRAME TESTS_E2E SOURCE LIBRARY WALK_LIBRARY
eh2sframe=$1
source=$(realpath "$3")
libraries=("$(realpath "$4")" "$(realpath "$5")")
# shellcheck source-path=SCRIPTDIR/../shared source=cli_lib.sh
. "$2/cli_lib.sh"

# one PATTERN FILE: what the first group of the pattern is, in the first line that has it.
one() { sed -nE "s/$1/\\1/p" "$source/$2" | head -n 1; }
version=$(one "^  version: '(.*)',\$" meson.build)
debian=${version/-/\~}
number=${version%%-*}
major=${number%%.*}
names=(libeh2sframe libeh2sframe-walk)
nodes=(EH2SFRAME EH2SFRAME_WALK)
deb=packaging/deb/debian

is "meson.build has a version: $version" grep -qxE '[0-9]+\.[0-9]+\.[0-9]+(-rc[0-9]+)?' <<<"$version"
is 'no other file of meson names one' sh -c "! grep -rnE --include=meson.build \"version: '[0-9]\" '$source'/[a-z]*/ | grep -v dependency"
is '--version' test "$("$eh2sframe" --version | head -n 1)" = "eh2sframe $version"
is 'NEWS.md begins with it' test "$(one '^## ([^,]*).*' NEWS.md)" = "$version"
is 'the changelog of Debian' test "$(one '^eh2sframe \((.*)-[0-9]+\) .*' $deb/changelog)" = "$debian"
is 'the spec file: the version' test "$(one '^Version: (.*)' packaging/rpm/eh2sframe.spec)" = "$debian"
is 'the spec file: the archive' test "$(one '^%global archive eh2sframe-(.*)' packaging/rpm/eh2sframe.spec)" = "$version"
is 'the example in the header' test "$(one '.*such as "([0-9][^"]*)"\. \*\/$' include/eh2sframe.h)" = "$version"
is 'the list of packages in docs' test "$(one '^ *eh2sframe_([^-]*)-[0-9]+_amd64\.deb.*' docs/BUILD-SYSTEMS.md)" = "$debian"
for i in 0 1; do
	name=${names[$i]}
	soname=$(readelf -dW "${libraries[$i]}" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
	is "$name: the soname has the major number" test "$soname" = "$name.so.$major"
	# Symbols of later minor releases get versions of their own, and of none to come.
	last=$(readelf -VW "${libraries[$i]}" | sed -n "s/.*Name: ${nodes[$i]}_\([0-9.]*\)\$/\1/p" | sort -V | tail -n 1)
	is "$name: versions of symbols begin with it, up to $last" test "${last%%.*}" = "$major"
	is "$name: and are not of later releases" sh -c "printf '%s\n' '$last' '$number' | sort -CV"
	is "$name: the package for Debian" grep -qx "Package: $name$major" "$source/$deb/control"
	is "$name: its files" test "$(cat "$source/$deb/$name$major.install")" = "usr/lib/*/$name.so.*"
	is "$name: its symbols" test "$(head -n 1 "$source/$deb/$name$major.symbols")" = "$soname $name$major #MINVER#"
	is "$name: versions of its symbols" test "$(sed -n "s/^ (symver)${nodes[$i]}_\([0-9.]*\) .*/\1/p" \
		"$source/$deb/$name$major.symbols" | sort -V | tail -n 1)" = "$last"
	is "$name: no package of another soname" test "$(grep -cE "^Package: $name[0-9]" "$source/$deb/control")" = 1
done
plan
