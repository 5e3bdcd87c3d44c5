#!/bin/sh
# SPDX-License-Identifier: MIT
# installed.sh few|some|all|all:I/N COMMAND...: runs COMMAND with installed ELF files as arguments, or with each N-th of them; "some" is
# about thirty with unlike CFI: C, C++, assembler, signal frames, PLTs of several linkers. "few" has
# the small ones of each kind, for a slow COMMAND. COMMAND runs once, so that it can tell when it has compared nothing.
set -eu
which=$1
shift

some() {
	for lib in /lib/x86_64-linux-gnu /usr/lib64 /usr/lib; do
		if [ -e "$lib/libc.so.6" ]; then break; fi
	done
	for name in libc.so.6 ld-linux-x86-64.so.2 libm.so.6 libpthread.so.0 libresolv.so.2 \
		libgcc_s.so.1 libcrypt.so.1 libstdc++.so.6 libcrypto.so.3 libssl.so.3 libgmp.so.10 \
		libnettle.so.8 libgnutls.so.30 libelf.so.1 libdw.so.1 libdwarf.so.1 libz.so.1 \
		libzstd.so.1 liblzma.so.5 libffi.so.8 libpcre2-8.so.0 libglib-2.0.so.0 \
		libsqlite3.so.0 libperl.so.5.36 libgfortran.so.5 libasan.so.8; do
		echo "$lib/$name"
	done
	for name in bash dash ls true perl python3 ld readelf gdb git openssl; do
		command -v "$name" || :
	done
}

few() {
	some | grep -E '/(libc|libm|libgcc_s|libcrypt|libgmp|libnettle|libffi|libz|libelf|libgfortran|ld-linux-x86-64)\.so|/(bash|ls|openssl|ld)$'
}

list() {
	if [ "$which" = few ]; then
		few
	elif [ "${which%:*}" = all ]; then
		find -L /usr -xdev -type f \( -perm -u+x -o -name '*.so*' \) ! -name '*.debug' \
			2>/dev/null || :
	else
		some
	fi
}

list | while read -r path; do
	if [ -f "$path" ]; then readlink -f "$path"; fi
done | sort -u | awk -v part="${which#all:}" '
	BEGIN { if (split(part, of, "/") < 2) of[1] = of[2] = 1 }
	NR % of[2] == of[1] % of[2]' | xargs -d '\n' -x -n 100000 -s 1800000 "$@"
