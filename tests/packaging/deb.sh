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
packages='eh2sframe eh2sframe-conformance eh2sframe-doc eh2sframe-profiler libeh2sframe-dev libeh2sframe-walk-dev libeh2sframe-walk1 libeh2sframe1'
# shellcheck disable=SC2086 # a list
printf '%s\n' $packages eh2sframe-dbgsym eh2sframe-profiler-dbgsym libeh2sframe-walk1-dbgsym libeh2sframe1-dbgsym | sort >listed
find debs -name '*.deb' -printf '%f\n' | sed 's/_.*//' | sort >built
is 'those eight, and their debug packages' diff listed built
version=$("$eh2sframe" --version | sed -n "1s/.* //p")
is 'the version is that of the command' test -e debs/eh2sframe_"${version/-/\~}"-1_*.deb
if have lintian; then
	lintian --allow-root -I --pedantic --suppress-tags newer-standards-version,out-of-date-standards-version,older-debian-watch-file-standard \
		--fail-on error,warning,info,pedantic debs/*.changes >lint 2>&1
	status=$?
	if [ $status = 0 ]; then ok 'lintian finds nothing'; else not_ok 'lintian finds nothing' "$(cat lint)"; fi
	sed 's/^/# /' lint
else
	skip lintian 'no lintian'
fi

# The build dependencies are what the development package depends on, so all is there.
is 'apt would install them' sh -c "apt-get -s install \$(ls ./debs/*.deb | grep -v dbgsym)"
# Into a root of its own, in which nothing else is.
root_dpkg() {
	dpkg --root="$root" --log="$root/log" --force-not-root --force-depends "$@"
}
root=$scratch/root
mkdir -p root/var/lib/dpkg/{info,updates,triggers}
: >root/var/lib/dpkg/status
if [ "$(id -u)" = 0 ]; then
	is 'dpkg installs them' root_dpkg -i $(printf 'debs/%s_*.deb ' $packages)
	root_dpkg --verify >changed
	is 'as they were packed' diff /dev/null changed
else
	for deb in $packages; do dpkg-deb -x debs/${deb}_*.deb root; done
	skip 'dpkg installs them' 'not root: unpacked'
fi
for deb in $packages; do
	dpkg-deb -f debs/${deb}_*.deb Depends >depends.$deb
done
lib=$(dirname "$(echo "$root"/usr/lib/*/libeh2sframe.so.1)")
is 'the library is where this architecture has its own' \
	test "$lib" = "$root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)"
is 'the command needs libelf' grep -q libelf1 depends.eh2sframe
is 'the profiler needs no other package of ours, the kit neither' sh -c '! grep eh2sframe depends.eh2sframe-profiler depends.eh2sframe-conformance'
dpkg-deb -x debs/eh2sframe-profiler_*.deb alone
is 'the profiler shows a recording' sh -c 'alone/usr/bin/eh2sframe-record -F 999 -o r sh -c "i=0; while [ \$i -lt 300000 ]; do i=\$((i + 1)); done" &&
	alone/usr/bin/eh2sframe-fold r | grep "^sh;"'
dpkg-deb -x debs/eh2sframe-conformance_*.deb alone
is 'the kit runs' sh -c 'python3 alone/usr/share/eh2sframe/conformance/run.py --help | grep -i usage'
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
	is 'dpkg removes them' root_dpkg -P $packages
	is 'and leaves nothing' sh -c '! find root/usr ! -type d 2>/dev/null | grep .'
fi
plan
