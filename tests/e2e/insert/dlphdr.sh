#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Converted programs and libraries read their SFrame sections through their own mapping (insert_probe.c, which kinds.sh
# runs for each kind of program): the program can tell, and all files of a process are converted. TAP.
#
#     dlphdr.sh EH2SFRAME DIRECTORY MADE full|long
# shellcheck disable=SC2086,SC2154 # CC has words; kinds_lib.sh's
eh2sframe=$1 src=$2 made=$3 long=${4#full}
# shellcheck source-path=SCRIPTDIR source=kinds_lib.sh
. "$src/kinds_lib.sh"

# The program can tell: without a section, and with one that is damaged, it complains.
can_fail() {
	local off
	is "a program without a section" sh -c '! ./pie mapped >log && grep -q "main: 0 times PT_GNU_SFRAME" log'
	convert auto pie bad
	off=$(readelf -SW bad | sed -n 's/.* \.sframe *[^ ]* *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	printf '\0' | dd of=bad bs=1 seek=$((16#$off)) conv=notrunc status=none
	is "a damaged section" sh -c '! ./bad mapped >log && grep -q magic log'
	convert auto pie bad
	printf '\177' | dd of=bad bs=1 seek=$((16#$off + 31)) conv=notrunc status=none
	is "a function that is not code" sh -c '! ./bad mapped >log && grep -q "main: function" log'
}

# The program, its library, libc, ld.so and an opened library, all converted by one method.
everything() {
	local method=$1 loader libc name
	rm -rf all && mkdir all
	loader=$(readlink -f "$(readelf -lW plain | sed -n 's/.*interpreter: \(.*\)]/\1/p')")
	libc=$(readlink -f "$(ldd plain | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')")
	cp "$loader" all/ld.so && cp "$libc" all/libc.so.6 && cp plain libdl1.so libdl2.so all/
	for name in plain libdl1.so libdl2.so ld.so libc.so.6; do
		# Where this method has no place, the next one takes it. auto takes none for ld.so.
		convert "$method" all/$name all/$name || convert auto all/$name all/$name ||
			{ [ $name = ld.so ] && convert grow all/$name all/$name; } ||
			{ not_ok "everything, $method: $name" "$said"; return; }
	done
	is "everything, $method" all/ld.so --library-path all all/plain mapped -l "$PWD/all/libdl2.so" libdl1.so libdl2.so libc.so.6
	is "everything, $method: started as programs are" env LD_LIBRARY_PATH="$PWD/all" all/plain mapped -l libdl2.so \
		libdl1.so libdl2.so libc.so.6
}

# glibc knows all of the program, as before.
whole_program() {
	local name=$1 method
	shift
	build plain $CC "$@" -D_GNU_SOURCE -O1 "$src/find_object.c" || { skip "$name: _dl_find_object" "needs glibc"; return; }
	is "$name: _dl_find_object" ./plain
	for method in $methods; do
		if convert "$method" plain new; then
			is "$name, $method: _dl_find_object" ./new
		fi
	done
}

find_methods
[ "$long" ] || methods=' auto'
build_kinds pie
can_fail
for linker in bfd ${long:+lld mold}; do
	# shellcheck disable=SC2015 # continue when any of them fails
	build libdl1.so $CC -O1 -fPIC -shared -fuse-ld=$linker "$src/insert_library.c" &&
		build libdl2.so $CC -O1 -fPIC -shared -fuse-ld=$linker -Wl,-z,noseparate-code "$src/insert_library.c" &&
		build plain $CC -O1 -fuse-ld=$linker -DWITH_DLOPEN "$probe" -Wl,--no-as-needed -L. -ldl1 || continue
	for method in $methods; do everything "$method"; done
done
whole_program pie -fPIE -pie
whole_program nopie -no-pie
[ ! "$long" ] || all_methods_taken
plan
