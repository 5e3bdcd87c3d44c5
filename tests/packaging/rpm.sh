#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# brp-eh2sframe and its macro, by rpmbuild: what is in the package is proven and runs, the debug
# package still matches, digests are those of the files. TAP.
#
#     rpm.sh EH2SFRAME TESTS_E2E PACKAGING
eh2sframe=$1
packaging=$(realpath "$3")
# shellcheck source-path=SCRIPTDIR/../shared source=cli_lib.sh
. "$2/cli_lib.sh"
for tool in rpmbuild rpm2cpio cpio eu-readelf gdb find-debuginfo; do
	have $tool || skip_all "needs $tool"
done
export HOME=$scratch/home
# As installed below a prefix of which rpm does not know, and which is not in PATH.
mkdir -p home prefix/bin prefix/lib/rpm/macros.d
printf '%s\n' "%_topdir $scratch/top" "%_dbpath $scratch/db" >home/.rpmmacros
sed "s,@rpm@,$scratch/prefix/lib/rpm," "$packaging/rpm/macros.eh2sframe" >prefix/lib/rpm/macros.d/macros.eh2sframe
ln -s "$eh2sframe" prefix/bin/eh2sframe
cp "$packaging/rpm/brp-eh2sframe" prefix/lib/rpm/

echo "%{load:$scratch/prefix/lib/rpm/macros.d/macros.eh2sframe}" >small.spec
cat >>small.spec <<'SPEC'
Name: small
Version: 1
Release: 1
Summary: A program and its library
License: MIT
%global eh2sframe_exclude /usr/lib64/left*
%global eh2sframe_options --min-coverage=50
%global _find_debuginfo_dwz_opts --run-dwz
%eh2sframe
%debug_package

%description
A program and its library, to be converted.

%prep
rm -rf src && mkdir src && cd src
cat >lib.c <<'C'
#include <stdio.h>
int small(int n) { return printf("%d\n", n); }
C
cat >main.c <<'C'
int small(int n);
int main(int argc, char **argv) { return small(41 + argc) != 3 || !argv[0]; }
C

%build
cd src
gcc -g -O2 -fPIC -shared -Wl,-soname,libsmall.so.1 lib.c -o libsmall.so.1
gcc -g -O2 main.c libsmall.so.1 -Wl,-rpath,'$ORIGIN/../lib64' -o small

%install
cd src
mkdir -p '%{buildroot}/usr/bin' '%{buildroot}/usr/lib64' '%{buildroot}/usr/libexec'
install small %{buildroot}/usr/bin/small
ln %{buildroot}/usr/bin/small '%{buildroot}/usr/libexec/small one'
install libsmall.so.1 %{buildroot}/usr/lib64/
install libsmall.so.1 %{buildroot}/usr/lib64/left.so
ln -s libsmall.so.1 %{buildroot}/usr/lib64/libsmall.so
echo text >%{buildroot}/usr/lib64/text.so
gcc -c lib.c -o %{buildroot}/usr/lib64/object.o

%files
/usr/bin/small
"/usr/libexec/small one"
/usr/lib64/*
SPEC
# QA_RPATHS and the like are not rpmbuild's own; an rpath with $ORIGIN is fine.
if ! rpmbuild -bb --nodeps small.spec >build.log 2>&1; then
	not_ok 'rpmbuild' "$(tail -n 30 build.log)"
	plan
fi
ok 'rpmbuild'
is 'dwz and the split come before the conversion' test "$(grep -oE '^\+ .*(find-debuginfo|brp-eh2sframe)' build.log |
	grep -oE '[^/]*$' | tr '\n' ' ')" = 'find-debuginfo brp-eh2sframe '
is 'with dwz' grep -q '^+ .*find-debuginfo.* --run-dwz' build.log
rpm=$(ls top/RPMS/*/small-1-1.*.rpm)
debug=$(ls top/RPMS/*/small-debuginfo-1-1.*.rpm)
mkdir root debug && (cd root && rpm2cpio "../$rpm" | cpio -idm --quiet) &&
	(cd debug && rpm2cpio "../$debug" | cpio -idm --quiet)
is 'the program is proven' "$eh2sframe" verify root/usr/bin/small
is 'the library is proven' "$eh2sframe" verify root/usr/lib64/libsmall.so.1
is 'it is mapped' sh -c 'readelf -lW root/usr/bin/small | grep -q GNU_SFRAME'
is 'the program runs' test "$(root/usr/bin/small)" = 42
is 'a file that was left out' sh -c '! readelf -SW root/usr/lib64/left.so | grep -qF .sframe'
is 'an object is left' sh -c '! readelf -SW root/usr/lib64/object.o | grep -qF .sframe'
is 'text is left' grep -qx text root/usr/lib64/text.so
is 'hard links still are' test root/usr/bin/small -ef 'root/usr/libexec/small one'
is 'a symbolic link still is' test -L root/usr/lib64/libsmall.so
rpm -qp --nosignature --qf '[%{FILEDIGESTS} %{FILENAMES}\n]' "$rpm" | sed -n 's,^\([0-9a-f]\{64\}\) /\(.*\),\1  root/\2,p' >digests
# shellcheck disable=SC2016 # for that shell
is 'digests in the package' sh -c 'test "$(wc -l <digests)" -ge 6 && sha256sum --quiet -c digests'

# The debug file by build-id is the one gdb takes, and it brings the lines.
id=$(eu-readelf -n root/usr/bin/small | sed -n 's/.*Build ID: //p')
is 'the debug package has the build-id' test -e "debug/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
gdb -nx -batch -iex "set debug-file-directory $scratch/debug/usr/lib/debug" -ex 'info line main' \
	root/usr/bin/small >lines 2>&1
is 'gdb has lines by it' grep -q '^Line [0-9]* of "main.c"' lines
crc=$(readelf -p .gnu_debuglink root/usr/bin/small | sed -n 's/.*\] *\(small.*debug\)$/\1/p')
is 'the debug link names a file of the debug package' \
	test -n "$(find debug -name "${crc:-none}")"

# Without a pattern: everything, the separate debug files are known by what they are.
sed '/eh2sframe_exclude/d' small.spec >all.spec
if rpmbuild -bb --nodeps all.spec >build.log 2>&1; then
	rm -rf root && mkdir root && (cd root && rpm2cpio "../$rpm" | cpio -idm --quiet)
	is 'all: proven' "$eh2sframe" verify root/usr/bin/small root/usr/lib64/left.so
	is 'all: hard links still are' test root/usr/bin/small -ef 'root/usr/libexec/small one'
	is 'all: an object is left' sh -c '! readelf -SW root/usr/lib64/object.o | grep -qF .sframe'
else
	not_ok 'all: rpmbuild' "$(tail -n 30 build.log)"
fi

# A file that cannot be converted ends the build.
sed 's/--min-coverage=50/--min-coverage=100 --min-coverage-of=text/' small.spec >strict.spec
if rpmbuild -bb --nodeps strict.spec >build.log 2>&1; then
	not_ok 'a failed conversion'
else
	ok 'a failed conversion ends the build'
fi
is 'its reason is in the log' grep -q '^eh2sframe: .*demands 100.0000%' build.log
plan
