#!/bin/sh
# SPDX-License-Identifier: MIT
# glibc_build.sh [aarch64]: in a root of unstable, builds glibc's released source with SFrame in /root/glibc
# (or /root/glibc-aarch64), and the test programs of /root/readers against the root's own glibc.
set -eu
machine=${1:-x86_64}
export DEBIAN_FRONTEND=noninteractive
triplet='' build=/root/glibc packages='gcc g++ rustc'
if [ "$machine" = aarch64 ]; then
	triplet=aarch64-linux-gnu- build=/root/glibc-aarch64 packages='gcc-aarch64-linux-gnu g++-aarch64-linux-gnu'
fi
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
apt-get -o Acquire::Check-Valid-Until=false -q update
# shellcheck disable=SC2086
apt-get -q -y install --no-install-recommends bison gawk python3 make xz-utils $packages
if [ ! -d /root/source ]; then
	mkdir /root/fetched
	cd /root/fetched
	# Only the released source is wanted: an older revision's description may be gone.
	apt-get -q source --download-only glibc || ls glibc_*.orig.tar.xz
	tar xf glibc_*.orig.tar.xz
	mv glibc-*/ /root/source
	# Debian's copy has no manual, for which the build looks.
	if [ ! -d /root/source/manual ]; then
		mkdir /root/source/manual
		printf 'subdir := manual\ninclude ../Makeconfig\ninclude ../Rules\n' >/root/source/manual/Makefile
	fi
fi
mkdir -p "$build"
cd "$build"
if [ ! -e libc.so ]; then
	../source/configure --prefix=/usr --enable-sframe --disable-werror --disable-nscd --without-selinux \
		${triplet:+--host=aarch64-linux-gnu}
	make -j"$(nproc)"
fi
cd /root/readers
"${triplet}gcc" -O2 -static-libgcc -Wl,-z,lazy -o "$build/backtrace" backtrace.c
"${triplet}g++" -O2 -static-libgcc -o "$build/backtrace-cc" backtrace.cc
"${triplet}gcc" -O2 -shared -fPIC -o "$build/plugin.so" plugin.c
if [ ! "$triplet" ]; then
	gcc -O2 -c -o "$build/ends.o" ends.c
	rustc --crate-type=staticlib -O -C panic=abort -o "$build/libends.a" ends.rs
	g++ -O2 -static-libgcc -o "$build/ends" ends.cc "$build/ends.o" "$build/libends.a"
fi
"${triplet}gcc" -O2 -shared -fPIC -static-libgcc -o "$build/preload.so" preload.c
