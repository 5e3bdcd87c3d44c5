#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Our own RPM packages: built by rpmbuild, and what is in them used. TAP.
#
#     rpm_spec.sh EH2SFRAME TESTS_E2E SOURCE
eh2sframe=$1
source=$(realpath "$3")
here=$(dirname "$(realpath "$0")")
# shellcheck source-path=SCRIPTDIR/../shared source=cli_lib.sh
. "$2/cli_lib.sh"
for tool in rpmbuild rpm2cpio cpio meson scdoc; do
	have $tool || skip_all "needs $tool"
done
version=$("$eh2sframe" --version | sed -n '1s/.* //p')
export HOME=$scratch/home
mkdir -p home top/SOURCES
printf '%s\n' "%_topdir $scratch/top" "%_dbpath $scratch/db" '%debug_package %{nil}' >home/.rpmmacros

# As `meson dist` packs it.
mkdir "eh2sframe-$version"
(cd "$source" && find . -mindepth 1 -maxdepth 1 ! -name .git ! \( -name 'build*' -type d \) -exec tar -c {} +) |
	tar -x -C "eh2sframe-$version"
tar -cJf "top/SOURCES/eh2sframe-$version.tar.xz" "eh2sframe-$version"
# The names of packages in BuildRequires are those of other distributions.
if ! rpmbuild -ba --nodeps "$source/packaging/rpm/eh2sframe.spec" >build.log 2>&1; then
	not_ok 'rpmbuild' "$(tail -n 40 build.log)"
	plan
fi
ok 'rpmbuild'
mv top/RPMS/*/*.rpm top/SRPMS/*.rpm .
number=${version/-/\~}-1
is 'a source package' mv eh2sframe-"$number".src.rpm source.rpm
for name in eh2sframe eh2sframe-profiler eh2sframe-conformance eh2sframe-doc eh2sframe-libs eh2sframe-devel; do
	file=$(echo $name-"$number".*.rpm)
	is "$name has the version" test -e "$file"
	mv "$file" $name.rpm
	mkdir $name && (cd $name && rpm2cpio ../$name.rpm | cpio -idm --quiet)
	rpm -qp --nosignature --qf '[%{FILENAMES}\n]' $name.rpm | sort >$name.files
	rpm -qp --nosignature --requires $name.rpm >$name.requires
done
libdir=$(rpm -E '%{_libdir}')
# rpm itself adds the folders of links by build-id to each package.
is 'no file is in two packages' test -z "$(cat ./*.files | grep -v -e '/licenses/' -e '^/usr/lib/\.build-id' | sort | uniq -d)"
# What meson installs is in a package. rpm may compress manual pages.
sed -e 's/ .*//' -e "s,^LIBDIR,$libdir," -e '/^[^/]/s,^,/usr/,' "$here/installed.txt" |
	sort >wanted
sed 's,\(/man[13]/.*\)\.gz$,\1,' ./*.files | sort -u >packed
is 'each file that meson installs is packed' test -z "$(comm -23 wanted packed)"
is 'the program is in eh2sframe' grep -qx /usr/bin/eh2sframe eh2sframe.files
is 'the libraries are in eh2sframe-libs' test "$(grep -c "^$libdir/lib.*\.so\.1\.0\.0$" eh2sframe-libs.files)" = 2
is 'headers are in eh2sframe-devel' grep -qx /usr/include/eh2sframe-walk.h eh2sframe-devel.files
is 'the license is in each package that may be alone' bash -c '! grep -L LICENSE eh2sframe{,-profiler,-conformance,-doc,-libs}.files | grep .'
is 'what is new is there' test -s "eh2sframe-doc$(grep -m1 'NEWS.md$' eh2sframe-doc.files)"
is 'programs need none of the libraries' sh -c '! grep libeh2sframe eh2sframe.requires eh2sframe-profiler.requires'
is 'eh2sframe-devel needs the libraries of its version' grep -q "^eh2sframe-libs.* = $number\$" eh2sframe-devel.requires
mapfile -t elf < <(echo eh2sframe/usr/bin/eh2sframe eh2sframe-profiler/usr/bin/* eh2sframe-libs"$libdir"/lib*.so.*.*.* | tr ' ' '\n')
bash "$here/hardening.sh" "$here/../shared" pie,now,protector "${elf[@]}" >hardened 2>&1
is 'they are hardened' test $? = 0
is 'the program tells its version' test "$(eh2sframe/usr/bin/eh2sframe --version | head -n 1)" = "eh2sframe $version"
is 'it converts' sh -c 'eh2sframe/usr/bin/eh2sframe -q /bin/ls ls && eh2sframe/usr/bin/eh2sframe verify ls && ./ls -d /'
printf '%s\n' '#include <eh2sframe.h>' '#include <stdio.h>' 'int main(void) { return puts(eh2sframe_version()) < 0; }' >use.c
# The links of eh2sframe-devel lead to eh2sframe-libs.
cp -a eh2sframe-libs/. eh2sframe-devel/
is 'a program by the library' sh -c "gcc use.c -o use -Ieh2sframe-devel/usr/include -Leh2sframe-devel$libdir -leh2sframe &&
	LD_LIBRARY_PATH=eh2sframe-devel$libdir ./use | grep -qxF '$version'"
if have rpmlint; then
	rpmlint ./*.rpm >lint 2>&1
	is 'rpmlint finds no error' sh -c '! grep -E ": E: " lint'
	sed 's/^/# /' lint | tail -n 20
else
	skip rpmlint 'no rpmlint'
fi
plan
