# SPDX-License-Identifier: MIT
# Sourced by the insert_*.sh tests and kinds_lib.sh: tap.sh, and the kinds of program.
# The caller has set: raw (the driver), src (this directory).
raw=$(realpath "$raw") src=$(realpath "$src")
CC="${CC:-gcc} -D_GNU_SOURCE"
# shellcheck source-path=SCRIPTDIR/../../shared source=tap.sh
. "$src/../../shared/tap.sh"

# run PROGRAM ARGS...: its output and status.
run() { "$@" 2>&1; echo "status $?"; }

# same_run OLD NEW ARGS...: both do the same, whatever their names.
same_run() {
	local old=$1 new=$2 a b
	shift 2
	a=$(run "$old" "$@" | sed "s#$old#PROG#g")
	b=$(run "$new" "$@" | sed "s#$new#PROG#g")
	[ "$a" = "$b" ] && return 0
	printf 'before: %s\nafter: %s\n' "$a" "$b" | head -c 2000
	return 1
}

# readelf has something to say about a broken table, on either stream.
clean_readelf() {
	local out
	out=$(readelf -lSW "$1" 2>&1 | grep -iE '^readelf: |overlap|invalid|corrupt|not in ')
	[ -z "$out" ] && return 0
	echo "$out"
	return 1
}

# build NAME COMPILER ARGS...: one program per kind; false when this machine cannot link it.
build() {
	local name=$1
	shift
	"$@" -o "$name" >"$name.log" 2>&1
}

# A compiler whose output has a PT_NULL in place of its last PT_NOTE: two spare program headers.
spare_cc() {
	$CC "$@" && python3 - "${@: -1}" <<-'EOF'
		import sys
		with open(sys.argv[1], "r+b") as file:
		    data = file.read()
		    start, n = int.from_bytes(data[32:40], "little"), data[56]
		    file.seek([at for at in range(start, start + 56 * n, 56) if data[at] == 4][-1])
		    file.write(bytes(4))
	EOF
}

# musl's startup code has .debug_frame. Rows of it could not be proven once strip has been there.
musl_cc() {
	musl-gcc "$@" && objcopy --remove-section=.debug_frame "${@: -1}"
}

# The methods to try on each kind; those that a file gives no place for are skipped in silence.
methods="slack grow append"
# For the compilers of programs that other tools edit.
extra=
# What small programs have room for in the slack.
size=600

probe=$src/insert_probe.c
# kind NAME COMMAND...; sets kinds to those that could be built, of those in only (empty: all).
kinds= only=
kind() {
	case " ${only:-$1} " in *" $1 "*) ;; *) return ;; esac
	if build "$@"; then
		kinds="$kinds $1"
	elif [ "$1" = pie ]; then
		not_ok "pie: cannot be built, and nothing would be tested" "$(cat pie.log)"
	else
		skip "$1" "cannot be built here"
	fi
}

build_kinds() {
	kind pie $CC $extra -O1 -fPIE -pie "$probe"
	kind nopie $CC $extra -O1 -no-pie "$probe"
	kind static $CC -O1 -static "$probe"
	kind static-pie $CC -O1 -static-pie "$probe"
	kind spare spare_cc $extra -O1 -fPIE -pie "$probe"
	kind spare-nopie spare_cc -O1 -no-pie "$probe"
	kind spare-static spare_cc -O1 -static "$probe"
	kind spare-static-pie spare_cc -O1 -static-pie "$probe"
	kind relro-now $CC -O1 -Wl,-z,relro,-z,now "$probe"
	kind norelro $CC -O1 -Wl,-z,norelro "$probe"
	kind noseparate $CC -O1 -Wl,-z,noseparate-code "$probe"
	kind maxpage2m $CC -O1 -Wl,-z,max-page-size=0x200000 "$probe"
	kind nopie-2m-nosep $CC -O1 -no-pie -Wl,-z,max-page-size=0x200000,-z,noseparate-code "$probe"
	kind relr $CC -O1 -Wl,-z,pack-relative-relocs "$probe"
	kind bss60 $CC -O1 -DBSS=62914560 "$probe"
	kind nopie-bss60 $CC -O1 -no-pie -DBSS=62914560 "$probe"
	kind lld $CC $extra -O1 -fuse-ld=lld "$probe"
	kind lld-nopie $CC -O1 -no-pie -fuse-ld=lld "$probe"
	kind lld-static-pie $CC -O1 -static-pie -fuse-ld=lld "$probe"
	kind gold $CC -O1 -fuse-ld=gold "$probe"
	kind gold-static $CC -O1 -static -fuse-ld=gold "$probe"
	kind mold $CC $extra -O1 -fuse-ld=mold "$probe"
	kind mold-static $CC -O1 -static -fuse-ld=mold "$probe"
	kind clang clang -D_GNU_SOURCE -O1 -fPIE -pie "$probe"
	kind musl musl_cc -D_GNU_SOURCE -O1 "$probe"
	kind musl-static musl_cc -D_GNU_SOURCE -O1 -static "$probe"
	kind linker-made $CC $extra -O1 -Wa,--gsframe "$probe"
	kind cxx g++ $extra -O1 "$src/insert_throw.cc"
	kind cxx-static g++ -O1 -static "$src/insert_throw.cc"
}
