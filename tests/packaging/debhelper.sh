#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dh_eh2sframe and its add-on, by dpkg-buildpackage, on a package made here and on a real one: what is
# in the packages is proven and runs, debug packages still match, md5sums are those of the files. TAP.
#
#     debhelper.sh EH2SFRAME TESTS_E2E PACKAGING CACHE
eh2sframe=$1
packaging=$(realpath "$3")
cache=$(realpath -m "$4")
here=$(dirname "$(realpath "$0")")
# shellcheck source-path=SCRIPTDIR/../shared source=cli_lib.sh
. "$2/cli_lib.sh"
for tool in dh dpkg-buildpackage eu-readelf gdb python3; do
	have $tool || skip_all "needs $tool"
done
mkdir -p bin perl/Debian/Debhelper/Sequence home
ln -s "$eh2sframe" "$packaging/debhelper/dh_eh2sframe" bin/
cp "$packaging/debhelper/eh2sframe.pm" perl/Debian/Debhelper/Sequence/
export PATH=$scratch/bin:$PATH PERL5LIB=$scratch/perl HOME=$scratch/home

cat >crc.py <<'PY'
# crc.py FILE DEBUG-FILE: .gnu_debuglink of the one is the checksum of the other.
import subprocess, sys, zlib
subprocess.run(['objcopy', '--dump-section', '.gnu_debuglink=link', sys.argv[1], '/dev/null'], check=True)
link = open('link', 'rb').read()
want = zlib.crc32(open(sys.argv[2], 'rb').read())
sys.exit(0 if int.from_bytes(link[-4:], 'little') == want else 'checksum %s, not %08x' % (link[-4:].hex(), want))
PY

# build SOURCE OPTIONS: builds it in place; its packages appear beside it.
build() {
	(cd "$1" && DEB_BUILD_OPTIONS="nocheck parallel=2 $2" dpkg-buildpackage -d -b -us -uc) >build.log 2>&1
}
# unpack DEB DIR
unpack() {
	rm -rf "$2" && dpkg-deb -R "$1" "$2"
}
# proven NAME DIR FILE...: each of these files in an unpacked package; its debug file is in DIR.debug.
proven() {
	local name=$1 dir=$2 file id debug
	shift 2
	for file; do
		is "$name: $file is proven" "$eh2sframe" verify "$dir/$file"
		is "$name: $file has it mapped" sh -c "readelf -lW '$dir/$file' | grep -q GNU_SFRAME"
		id=$(eu-readelf -n "$dir/$file" | sed -n 's/.*Build ID: //p')
		debug=$dir.debug/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
		is "$name: $file has its debug file by build-id" test -f "$debug"
		is "$name: $file has the debug file's checksum" python3 crc.py "$dir/$file" "$debug"
		gdb -nx -batch -iex "set debug-file-directory $PWD/$dir.debug/usr/lib/debug" \
			-ex "info line $symbol" "$dir/$file" >lines 2>&1
		is "$name: $file: gdb has lines by it" grep -q '^Line [0-9]* of "' lines
	done
	is "$name: md5sums" sh -c "cd '$dir' && test -s DEBIAN/md5sums && md5sum --quiet -c DEBIAN/md5sums"
}

### A package with what real ones seldom have.
mkdir -p small/debian && cd small || exit 99
cat >main.c <<'C'
#include <stdio.h>
int main(int argc, char **argv) { return printf("%d\n", 41 + argc) != 3 || !argv[0]; }
C
cat >debian/control <<'C'
Source: small
Section: misc
Priority: optional
Maintainer: Nobody <nobody@example.org>
Build-Depends: debhelper-compat (= 13), dh-sequence-eh2sframe
Standards-Version: 4.6.2

Package: small
Architecture: any
Depends: ${shlibs:Depends}, ${misc:Depends}
Description: small program
 It prints a number.

Package: small-data
Architecture: all
Depends: ${misc:Depends}
Description: a program of another machine, as data
 It is not for this one.
C
cat >debian/changelog <<'C'
small (1) unstable; urgency=low

  * First.

 -- Nobody <nobody@example.org>  Sat, 01 Nov 2025 00:00:00 +0000
C
cat >debian/rules <<'M'
#!/usr/bin/make -f
d := debian/small/usr
%:
	dh $@
override_dh_auto_build:
	gcc -g -O2 main.c -o main
	gcc -g -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables main.c -o plain
override_dh_auto_install:
	mkdir -p $d/bin "$d/lib/small dir" debian/small-data/usr/share/small-data
	cp main $d/bin/small
	cp plain $d/bin/plain
	ln $d/bin/small "$d/bin/small one"
	cp main "$d/lib/small dir/left"
	gcc -c main.c -o $d/lib/object.o
	echo text >$d/lib/text.so
	cp main debian/small-data/usr/share/small-data/program
	mkdir -p $d/lib/debug/usr/lib
	cp main $d/lib/debug/usr/lib/whole
override_dh_strip:
	dh_strip $(STRIP)
override_dh_eh2sframe:
	dh_eh2sframe -X'small dir/' -- $(FLAGS)
M
chmod +x debian/rules
cd .. || exit 99
symbol=main
if build small ''; then
	ok 'small: dpkg-buildpackage'
	is 'small: dwz, strip, then the conversion, then checksums' test "$(sed -n \
		's/^ *\(dh_dwz\|dh_strip\|debian.rules override_dh_strip\|debian.rules override_dh_eh2sframe\|dh_md5sums\)\( .*\)*$/\1/p' build.log |
		uniq | tr '\n' ' ')" = 'dh_dwz debian/rules override_dh_strip dh_strip debian/rules override_dh_eh2sframe dh_md5sums '
	unpack small_1_*.deb s
	unpack small-dbgsym_1_*.deb s.debug
	unpack small-data_1_all.deb data
	proven small s usr/bin/small
	is 'small: runs' test "$(s/usr/bin/small)" = 42
	is 'small: hard links still are' test s/usr/bin/small -ef 's/usr/bin/small one'
	for left in 's/usr/lib/small dir/left' s/usr/lib/object.o data/usr/share/small-data/program s/usr/lib/debug/usr/lib/whole; do
		is "small: left: $left" sh -c "test -s '$left' && ! readelf -SW '$left' | grep -qF .sframe"
	done
	is 'plain: main has rows by the .debug_frame of its debug package' sh -c \
		'test "$("$0" verify --debug-dir=s.debug/usr/lib/debug s/usr/bin/plain | sed -n "s/.* \\([0-9]*\\) could have a row.*/\\1/p")" = 0' "$eh2sframe"
	is 'small: text is left' grep -qx text s/usr/lib/text.so
else
	not_ok 'small: dpkg-buildpackage' "$(tail -n 30 build.log)"
fi
# Reproducible: the same package again, byte for byte, whatever ran beside it.
sha256sum small_1_*.deb small-dbgsym_1_*.deb >first
rm -f ./*.deb
is 'small: built again' build small ''
is 'small: the same packages' sha256sum --quiet -c first
rm -f ./*.deb
if STRIP=-k build small ''; then
	unpack small_1_*.deb s
	is 'plain: dh_strip -k leaves its debug file in the package' sh -c \
		'test "$("$0" verify --debug-dir=s/usr/lib/debug s/usr/bin/plain | sed -n "s/.* \\([0-9]*\\) could have a row.*/\\1/p")" = 0' "$eh2sframe"
else
	not_ok 'dh_strip -k: dpkg-buildpackage' "$(tail -n 30 build.log)"
fi
rm -f ./*.deb
if build small nosframe; then
	unpack small_1_*.deb s
	is 'DEB_BUILD_OPTIONS=nosframe' sh -c '! readelf -SW s/usr/bin/small | grep -qF .sframe'
else
	not_ok 'nosframe: dpkg-buildpackage' "$(tail -n 30 build.log)"
fi
if FLAGS='--min-coverage=100 --min-coverage-of=text' build small ''; then
	not_ok 'a failed conversion ends the build'
else
	ok 'a failed conversion ends the build'
fi
is 'its reason is in the log' grep -q '^eh2sframe: .*demands' build.log
is 'and the status' grep -q 'dh_eh2sframe: error: eh2sframe tree convert .* returned exit code 5' build.log

### A real one: a program, a shared library, a package of headers and a static library.
"$here/source_fetch.sh" xxhash "$cache" >fetch.log 2>&1
status=$?
if [ $status = 77 ]; then
	skip xxhash "$(cat fetch.log)"
	plan
elif [ $status != 0 ]; then
	not_ok 'xxhash: source' "$(cat fetch.log)"
	plan
fi
rm -f ./*.deb
cp -a "$cache/xxhash" xxhash
sed -i 's/dh \$@/dh $@ --with eh2sframe/' xxhash/debian/rules
if build xxhash ''; then
	ok 'xxhash: dpkg-buildpackage'
	unpack xxhash_*.deb x
	unpack xxhash-dbgsym_*.deb x.debug
	unpack libxxhash0_*.deb l
	unpack libxxhash0-dbgsym_*.deb l.debug
	unpack libxxhash-dev_*.deb d
	symbol=main
	proven xxhash x usr/bin/xxhsum
	symbol=XXH64
	proven libxxhash0 l "$(cd l && echo usr/lib/*/libxxhash.so.0.*)"
	: >empty
	is 'xxhash: the known hash of nothing' \
		test "$(x/usr/bin/xxhsum -H64 empty | cut -d' ' -f1)" = ef46db3751d8e999
	cat >use.c <<-'C'
		#include <stdio.h>
		#include <xxhash.h>
		int main(void) { printf("%016llx\n", (unsigned long long)XXH64("", 0, 0)); return 0; }
	C
	gcc -I d/usr/include use.c -o use "$(echo l/usr/lib/*/libxxhash.so.0.*)" &&
		LD_LIBRARY_PATH=$(echo l/usr/lib/*) ./use >used
	is 'libxxhash0: a program with the library' grep -qx ef46db3751d8e999 used
	is 'libxxhash-dev: the static library is left' \
		sh -c '! readelf -SW d/usr/lib/*/libxxhash.a | grep -qF .sframe'
else
	not_ok 'xxhash: dpkg-buildpackage' "$(tail -n 30 build.log)"
fi
plan
