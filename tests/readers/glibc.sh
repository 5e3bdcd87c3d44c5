#!/bin/bash
# SPDX-License-Identifier: MIT
# backtrace(3) of a glibc with SFrame, built from unstable's source, on what eh2sframe converted: each frame
# that libgcc's unwinder finds. libgcc_s is out of reach, so there is no way round SFrame. TAP.
#
#     glibc.sh EH2SFRAME LOGS [ROOT]
#
# ROOT is a root of unstable in which glibc was built before; it is kept. Needs root, mmdebstrap, qemu-user
# and a network.
set -u
export LC_ALL=C
tool=$(realpath "$1")
mkdir -p "$2" && logs=$(realpath "$2") || exit 1
root=${3-}
here=$(dirname "$(realpath "$0")")
for need in mmdebstrap unshare qemu-aarch64; do
	command -v $need >/dev/null || { echo "1..0 # SKIP needs $need"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP needs root"; exit 0; }
# A root is too large for /tmp.
export TMPDIR=/var/tmp PYTHONPATH=$here/../shared
. "$here/../shared/tap.sh"
work=$PWD

result() { # STATUS NAME
	if [ "$1" = 0 ]; then ok "$2"; else not_ok "$2"; fi
}
if [ -z "$root" ]; then
	root=$work/root
	if ! unshare --mount "$here/../distributions/make_root.sh" unstable "$root" >"$logs/glibc-root.log" 2>&1; then
		if grep -qE 'resolve|connect|timed out|Temporary failure|unreachable' "$logs/glibc-root.log"; then
			skip "a root of unstable" "NO ROOT: THE NETWORK DOES NOT ANSWER"
		else
			not_ok "a root of unstable" "$(tail -n 5 "$logs/glibc-root.log")"
		fi
		plan
	fi
fi

# Copies a file of the built glibc under the name that programs know.
# libraries MACHINE DIR
libraries() {
	local build=$root/root/glibc dir=$2 gcc=$root/usr/lib/x86_64-linux-gnu
	if [ "$1" = aarch64 ]; then
		build=$root/root/glibc-aarch64 gcc=$root/usr/aarch64-linux-gnu/lib
	fi
	mkdir -p "$dir"
	cp "$build/libc.so" "$dir/libc.so.6"
	cp "$build/math/libm.so" "$dir/libm.so.6"
	cp "$build/elf/ld.so" "$dir/ld.so"
	cp "$build/backtrace" "$build/backtrace-cc" "$build/plugin.so" "$build/preload.so" "$dir"
	mkdir -p "$dir/c++"
	cp "$gcc/libstdc++.so.6" "$gcc/libgcc_s.so.1" "$dir/c++"
	# libstdc++ needs libgcc_s. Its unwinder for backtrace() finds nothing.
	python3 "$here/break_symbol.py" "$dir/c++/libgcc_s.so.1" _Unwind_Backtrace
}

# in_glibc MACHINE DIR PROGRAM [ARGUMENT...]: with the glibc of DIR, whose libraries are the only ones. The
# processor has no pointer authentication: this reader leaves the signature in a return address.
in_glibc() {
	local machine=$1 dir=$2 program=$3
	shift 3
	if [ "$machine" = aarch64 ]; then
		qemu-aarch64 -cpu cortex-a57 "$dir/ld.so" --inhibit-cache --library-path "$dir:$dir/c++" "$dir/$program" "$@"
	else
		"$dir/ld.so" --inhibit-cache --library-path "$dir:$dir/c++" "$dir/$program" "$@"
	fi
}

# one MACHINE NAME OPTION...: everything converted so.
one() {
	local machine=$1 name=$2 dir=$work/$2 file how said
	shift 2
	libraries "$machine" "$dir"
	for file in "$dir"/*.so* "$dir"/c++/*.so* "$dir"/backtrace*; do
		# A loader is converted when a method is named.
		how=$([ "${file##*/}" != ld.so ] || echo --method=grow)
		said=$("$tool" -q --refresh --for=glibc $how "$@" "$file" "$file" 2>&1) || {
			not_ok "$name: ${file##*/} is converted" "$said"
		}
	done
	in_glibc "$machine" "$dir" backtrace "$dir/plugin.so" >"$logs/glibc-$name.log" 2>&1
	result $? "$name: backtrace() finds each frame in C"
	sed 's/^/# /' "$logs/glibc-$name.log" | tail -n 30
	in_glibc "$machine" "$dir" backtrace-cc >"$logs/glibc-$name-cc.log" 2>&1
	result $? "$name: backtrace() finds each frame in C++"
	sed 's/^/# /' "$logs/glibc-$name-cc.log" | tail -n 30
}

# As it was built: version 3, by GNU as of the same root, which this reader does not read.
own() {
	local machine=$1 dir=$work/$1-own
	libraries "$machine" "$dir"
	in_glibc "$machine" "$dir" backtrace >"$logs/glibc-$1-own.log" 2>&1
	[ $? -ne 0 ] && grep -q '^main -1' "$logs/glibc-$1-own.log"
	result $? "$machine: as it was built, backtrace() finds no frame"
}

# real: programs of the root, and all libraries of theirs.
real() {
	local dir=$work/real count=0 same=0 walks=0 program said libs
	libraries x86_64 "$dir"
	mkdir "$dir/bin" "$dir/libs"
	for program in "$root"/usr/bin/*; do
		[ $count -lt 60 ] || break
		[ -L "$program" ] || [ -u "$program" ] || ! readelf -lW "$program" 2>/dev/null | grep -q INTERP && continue
		libs=$("$dir/ld.so" --inhibit-cache --library-path "$dir:$root/usr/lib/x86_64-linux-gnu" --list "$program" 2>/dev/null) || continue
		# Programs that say their version and nothing else.
		(cd "$work" && timeout 300 "$dir/ld.so" --inhibit-cache --library-path "$dir:$root/usr/lib/x86_64-linux-gnu" \
			"$program" --version </dev/null >/dev/null 2>&1) || continue
		cp "$program" "$dir/bin"
		echo "$libs" | awk -v r="$root/" 'index($3, r) == 1 { print $3 }' | xargs -r cp -n -t "$dir/libs"
		count=$((count + 1))
	done
	mv "$dir/c++/libgcc_s.so.1" "$dir/libs"
	said=$("$tool" tree convert -q --refresh --for=glibc "$dir" 2>&1)
	result $? "real: $count programs and their libraries are converted"
	[ -z "$said" ] || echo "$said" | sed 's/^/# /'
	for program in "$dir"/bin/*; do
		said=$(cd "$work" && timeout 300 "$dir/ld.so" --inhibit-cache --library-path "$dir:$dir/libs" --preload "$dir/preload.so" \
			"$program" --version 9>&1 2>"$logs/glibc-real.log" >/dev/null </dev/null)
		case $said in
		[1-9]*' same, '*', 0 differ')
			same=$((same + 1))
			walks=$((walks + ${said%% *}))
			;;
		*)
			echo "# ${program##*/}: $said"
			head -n 12 "$logs/glibc-real.log" | sed 's/^/# /'
			;;
		esac
	done
	[ $count -eq 60 ] && [ $same -eq 60 ]
	result $? "real: in $same of $count programs each walk is that of libgcc, $walks walks"
}

# ends NAME OPTION...: traces out of functions that end in a call, with everything converted so. Sets same, differ, touched.
ends() {
	local dir=$work/$1 file
	shift
	libraries x86_64 "$dir"
	cp "$root/root/glibc/ends" "$dir"
	for file in "$dir"/*.so* "$dir"/c++/*.so* "$dir/ends"; do
		"$tool" -q --refresh "$@" "$file" "$file" || return
	done
	read -r same _ differ _ touched _ < <(in_glibc x86_64 "$dir" ends 2>"$logs/glibc-ends.log")
	echo "# $*: $same the same, $differ not, $touched where another function begins at the return address"
}

# The time of a frame, beside the way through .eh_frame.
timed() {
	local dir=$work/timed
	libraries x86_64 "$dir"
	cp "$root/usr/lib/x86_64-linux-gnu/libgcc_s.so.1" "$dir/c++"
	echo "# .eh_frame: $(in_glibc x86_64 "$dir" backtrace 2>/dev/null | tail -n 1)"
	echo "# share: $(in_glibc x86_64 "$work/x86_64-share" backtrace 2>/dev/null | grep frame)"
	echo "# size: $(in_glibc x86_64 "$work/x86_64-size" backtrace 2>/dev/null | grep frame)"
}

mkdir -p "$root/root/readers"
cp "$here"/*.c "$here"/*.cc "$here"/*.rs "$here"/*.h "$here/glibc_build.sh" "$root/root/readers"
for machine in x86_64 aarch64; do
	unshare --mount --pid --fork --kill-child "$here/../distributions/in_root.sh" "$root" \
		sh /root/readers/glibc_build.sh "$machine" >"$logs/glibc-$machine-build.log" 2>&1 </dev/null
	status=$?
	result $status "$machine: glibc is built"
	[ $status = 0 ] || {
		tail -n 20 "$logs/glibc-$machine-build.log" | sed 's/^/# /'
		continue
	}
	own "$machine"
	one "$machine" "$machine-share"
	one "$machine" "$machine-size" --optimize=size
done
[ ! -e "$root/root/glibc/libc.so" ] || {
	real
	timed
	ends ends-before --for=binutils-2.45
	before=$same
	ends ends --for=glibc
	[ $((same + differ + touched)) = 1120 ] && [ $((100 * same)) -ge $((98 * (same + differ))) ] && [ "$before" -lt $((same / 2)) ]
	result $? "$same of $((same + differ)) traces out of calls that do not return are complete, and $before where no row reaches behind them"
}
plan
