#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Our own Debian packages: built, held against lintian, unpacked, and what is in them used. TAP.
#
#     deb.sh EH2SFRAME TESTS_E2E PACKAGING
eh2sframe=$1
packaging=$(realpath "$3")
# shellcheck source-path=SCRIPTDIR/../shared source=cli_lib.sh
. "$2/cli_lib.sh"
for tool in dpkg-buildpackage dh scdoc; do
	have $tool || skip_all "needs $tool"
done
mkdir -p debs home
export HOME=$scratch/home
unset EH2SFRAME EH2SFRAME_FLAGS

if out=$("$packaging/deb/build" debs 2>&1); then
	ok 'packages are built'
else
	not_ok 'packages are built' "$out"
	plan
fi
printf '%s\n' eh2sframe eh2sframe-dbgsym libeh2sframe-dev libeh2sframe-walk-dev \
	libeh2sframe-walk1 libeh2sframe-walk1-dbgsym libeh2sframe1 libeh2sframe1-dbgsym >listed
find debs -name '*.deb' -printf '%f\n' | sed 's/_.*//' | sort >built
is 'those five, and their debug packages' diff listed built
version=$("$eh2sframe" --version | sed -n "1s/.* //p")
is 'the version is that of the command' test -e debs/eh2sframe_"${version/-/\~}"-1_*.deb
if have lintian; then
	lintian --allow-root -I --suppress-tags newer-standards-version,out-of-date-standards-version,older-debian-watch-file-standard \
		--fail-on error,warning,info debs/*.changes >lint 2>&1
	status=$?
	if [ $status = 0 ]; then ok 'lintian finds nothing'; else not_ok 'lintian finds nothing' "$(cat lint)"; fi
	sed 's/^/# /' lint
else
	skip lintian 'no lintian'
fi

# The build dependencies are what the development package depends on, so all is there.
is 'apt would install them' apt-get -s install ./debs/eh2sframe_*.deb ./debs/libeh2sframe*_*.deb
# Into a root of its own, in which nothing else is.
root_dpkg() {
	dpkg --root="$root" --log="$root/log" --force-not-root --force-depends "$@"
}
root=$scratch/root
mkdir -p root/var/lib/dpkg/{info,updates,triggers}
: >root/var/lib/dpkg/status
if [ "$(id -u)" = 0 ]; then
	is 'dpkg installs them' root_dpkg -i debs/{eh2sframe,libeh2sframe1,libeh2sframe-dev,libeh2sframe-walk1,libeh2sframe-walk-dev}_*.deb
	root_dpkg --verify >changed
	is 'as they were packed' diff /dev/null changed
else
	for deb in eh2sframe libeh2sframe1 libeh2sframe-dev libeh2sframe-walk1 libeh2sframe-walk-dev; do dpkg-deb -x debs/${deb}_*.deb root; done
	skip 'dpkg installs them' 'not root: unpacked'
fi
for deb in eh2sframe libeh2sframe1 libeh2sframe-dev libeh2sframe-walk1 libeh2sframe-walk-dev; do
	dpkg-deb -f debs/${deb}_*.deb Depends >depends.$deb
done
lib=$(dirname "$(echo "$root"/usr/lib/*/libeh2sframe.so.1)")
is 'the library is where this architecture has its own' \
	test "$lib" = "$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
is 'the command needs libelf' grep -q libelf1 depends.eh2sframe
is 'the development files need the library' grep -q "libeh2sframe1 (= ${version/-/\~}-1)" depends.libeh2sframe-dev
# What the flags of this distribution name is in the files. A program has IBT when all that is linked into it has.
parts=pie,now,protector,fortify
bash "$2/../packaging/hardening.sh" "$2" $parts "$root"/usr/bin/eh2sframe{,-record,-fold} "$lib"/lib*.so.1 >hardened 2>&1
if [ $? = 0 ]; then ok 'they are hardened'; else not_ok 'they are hardened' "$(grep '^not ok' hardened)"; fi
if dpkg-buildflags --get CFLAGS | grep -q -- -fcf-protection; then
	is 'with IBT and SHSTK' bash "$2/../packaging/hardening.sh" "$2" cet "$lib"/libeh2sframe-walk.so.1
fi
is 'no link leads nowhere' sh -c "! find '$root' -xtype l | grep ."

export PATH=$root/usr/bin:$PATH
cat >main.c <<'C'
#include <stdio.h>
int main(int argc, char **argv) { return printf("%d\n", 41 + argc) != 3 || !argv[0]; }
C
gcc -O2 main.c -o plain
is 'the command converts' "$root/usr/bin/eh2sframe" plain converted
is 'what this tree converts to' sh -c "'$eh2sframe' -q plain same && cmp converted same"
is 'the linker wrapper' "$root/usr/bin/eh2sframe-ld" gcc main.c -o linked
is 'and by -B' gcc -B "$root/usr/libexec/eh2sframe/link" main.c -o by-b
is 'both have found the command beside them' eh2sframe verify linked by-b
is 'manual pages' sh -c "for page in eh2sframe eh2sframe-convert eh2sframe-tree eh2sframe-merge eh2sframe-cc eh2sframe-ld dh_eh2sframe; do
	zcat '$root'/usr/share/man/man1/\$page.1.gz | grep -q '^.TH' || exit 1; done"
is 'the add-on is where dh looks' perl -I"$root/usr/share/perl5" -MDebian::Debhelper::Dh_Lib -e \
	'sub insert_after { print "@_\n" } require Debian::Debhelper::Sequence::eh2sframe'
if have cmake; then
	mkdir cm
	printf '%s\n' 'cmake_minimum_required(VERSION 3.16)' 'project(x C)' 'find_package(Eh2sframe REQUIRED)' \
		'add_executable(x ../main.c)' 'eh2sframe_add(x)' >cm/CMakeLists.txt
	is 'the CMake module' sh -c "cmake -S cm -B cm/b -DCMAKE_PREFIX_PATH='$root/usr' && cmake --build cm/b"
	is 'it converted' eh2sframe verify cm/b/x
	for options in --help -qV; do
		sed -i "s/eh2sframe_add(x.*/eh2sframe_add(x OPTIONS $options)/" cm/CMakeLists.txt
		is "OPTIONS $options are refused" sh -c "! cmake -S cm -B cm/c -DCMAKE_PREFIX_PATH='$root/usr' 2>err &&
			grep -q 'and $options is none' err"
	done
else
	skip 'the CMake module' 'no cmake'
fi

# A program with the development files, by the shared library and by the static one.
cat >use.c <<'C'
#include <eh2sframe.h>
#include <stdio.h>
int main(void) { return puts(eh2sframe_version()) < 0; }
C
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$lib/pkgconfig
# shellcheck disable=SC2046 # lists of options
gcc use.c -o shared $(pkg-config --cflags --libs libeh2sframe) >out 2>&1
is 'a program by the shared library' sh -c "LD_LIBRARY_PATH='$lib' ./shared | grep -qF '$version'"
# shellcheck disable=SC2046
gcc use.c -o static $(pkg-config --cflags libeh2sframe) "$lib/libeh2sframe.a" \
	$(pkg-config --static --libs libeh2sframe | sed 's/-leh2sframe//') >out 2>&1
is 'a program by the static library' sh -c "./static | grep -qF '$version'"
is 'which needs no other' sh -c '! readelf -d static | grep -q libeh2sframe'
printf '%s\n' '#include <eh2sframe-walk.h>' 'int main(void) { return !eh2sframe_walk_why_text(0); }' >walk.c
# shellcheck disable=SC2046
gcc walk.c -o walk $(pkg-config --cflags --libs libeh2sframe-walk) >out 2>&1
is 'a program by the library of walks' env LD_LIBRARY_PATH="$lib" ./walk

if [ "$(id -u)" = 0 ]; then
	is 'dpkg removes them' root_dpkg -P eh2sframe libeh2sframe-dev libeh2sframe1 libeh2sframe-walk-dev libeh2sframe-walk1
	is 'and leaves nothing' sh -c '! find root/usr ! -type d 2>/dev/null | grep .'
fi
plan
