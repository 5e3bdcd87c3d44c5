# SPDX-License-Identifier: MIT
# Sourced by the tests of this folder: tap.sh, the kinds of program, and conversions by every method that the
# command knows. The caller has set eh2sframe and src, this folder; and made, where kinds of program are kept
# from one test to the next, if it wants any.
# shellcheck shell=bash disable=SC2034,SC2086,SC2154 # the callers'; CC has words
eh2sframe=$(realpath "$eh2sframe") src=$(realpath "$src") made=${made:+$(realpath -m "$made")}
CC="${CC:-gcc} -D_GNU_SOURCE"
# shellcheck source-path=SCRIPTDIR/../../shared source=tap.sh
. "$src/../../shared/tap.sh"
probe=$src/insert_probe.c
long_path=/nonexistent/a/rather/long/path/that/needs/more/room/than/there/is
llvm=$(find /usr/lib/llvm-*/bin/llvm-strip 2>/dev/null | sort -V | tail -n 1) llvm=${llvm%/*}

# build NAME COMPILER ARGS...: false when this machine cannot link it.
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

# kind NAME COMMAND...: one of those in only, or of all where only is empty. A test that needs it first keeps it for the
# others. Sets kinds to those that could be built.
kinds='' only=''
kind() {
	case " ${only:-$1} " in *" $1 "*) ;; *) return ;; esac
	if [[ ! ($made/$1 -nt $src/kinds_lib.sh && $made/$1 -nt $probe && $made/$1 -nt $src/insert_throw.cc) ]]; then
		if ! build "$@"; then
			if [ "$1" = pie ]; then not_ok "pie: cannot be built, and nothing would be tested" "$(cat pie.log)"; fi
			skip "$1" "cannot be built here"
			return
		fi
		# Another test may be at it.
		mkdir -p "$made" && cp "$1" "$made/$1.$$" && mv "$made/$1.$$" "$made/$1"
	fi
	cp "$made/$1" "$1"
	kinds="$kinds $1"
}

# build_kinds [NAME...]: these, or all. Some have what debugedit, dwz and chrpath change.
build_kinds() {
	local extra="-g -Wl,-rpath,$long_path"
	only=$* kinds=''
	kind pie $CC $extra -O1 -fPIE -pie "$probe"
	kind nopie $CC $extra -O1 -no-pie "$probe"
	kind static $CC -g -O1 -static "$probe"
	kind static-pie $CC -O1 -static-pie "$probe"
	# DT_RELA leads to several sections that follow each other.
	kind nocombreloc $CC -O1 -static-pie -Wl,-z,nocombreloc "$probe"
	kind spare spare_cc $extra -O1 -fPIE -pie "$probe"
	kind spare-nopie spare_cc -O1 -no-pie "$probe"
	kind spare-static spare_cc -O1 -static "$probe"
	kind spare-static-pie spare_cc -O1 -static-pie "$probe"
	kind relro-now $CC -O1 -Wl,-z,relro,-z,now "$probe"
	kind norelro $CC -O1 -Wl,-z,norelro "$probe"
	kind separate $CC -O1 -Wl,-z,separate-code "$probe"
	kind noseparate $CC -O1 -Wl,-z,noseparate-code "$probe"
	kind nopie-noseparate $CC -O1 -no-pie -Wl,-z,noseparate-code "$probe"
	kind maxpage2m $CC -O1 -Wl,-z,max-page-size=0x200000 "$probe"
	kind nopie-2m-nosep $CC -O1 -no-pie -Wl,-z,max-page-size=0x200000,-z,noseparate-code "$probe"
	kind relr $CC -O1 -Wl,-z,pack-relative-relocs "$probe"
	kind no-build-id $CC -O1 -Wl,--build-id=none "$probe"
	kind note $CC -O1 "$probe" "$src/insert_note.c"
	kind stripped $CC -O1 -s "$probe"
	kind bss60 $CC -O1 -DBSS=62914560 "$probe"
	kind nopie-bss60 $CC -O1 -no-pie -DBSS=62914560 "$probe"
	# large_bss.py has more of these.
	kind nopie-bss300 $CC -O1 -no-pie -DBSS=314572800 "$probe"
	kind medium-bss300 $CC -O1 -no-pie -mcmodel=medium -DBSS=314572800 "$probe"
	kind nosep-static-bss300 $CC -O1 -static -Wl,-z,noseparate-code -DBSS=314572800 "$probe"
	kind musl-static-bss300 musl_cc -D_GNU_SOURCE -O1 -static -DBSS=314572800 "$probe"
	kind lld $CC $extra -O1 -fuse-ld=lld "$probe"
	kind lld-nopie $CC -O1 -no-pie -fuse-ld=lld "$probe"
	kind lld-static $CC -O1 -static -fuse-ld=lld "$probe"
	kind lld-static-pie $CC -O1 -static-pie -fuse-ld=lld "$probe"
	kind lld-relr $CC -O1 -static-pie -fuse-ld=lld -Wl,--pack-dyn-relocs=relr "$probe"
	kind lld-note $CC $extra -O1 -fuse-ld=lld "$probe" "$src/insert_note.c"
	kind lld-2m $CC -O1 -fuse-ld=lld -Wl,-z,max-page-size=0x200000 "$probe"
	kind gold $CC -O1 -fuse-ld=gold "$probe"
	kind gold-nopie $CC -O1 -no-pie -fuse-ld=gold "$probe"
	kind gold-static $CC -O1 -static -fuse-ld=gold "$probe"
	kind gold-note $CC -O1 -fuse-ld=gold "$probe" "$src/insert_note.c"
	kind mold $CC $extra -O1 -fuse-ld=mold "$probe"
	kind mold-nopie $CC -O1 -no-pie -fuse-ld=mold "$probe"
	kind mold-static $CC -O1 -static -fuse-ld=mold "$probe"
	kind mold-note $CC $extra -O1 -fuse-ld=mold "$probe" "$src/insert_note.c"
	kind clang clang -D_GNU_SOURCE -O1 -fPIE -pie "$probe"
	kind musl musl_cc -D_GNU_SOURCE -O1 "$probe"
	kind musl-static musl_cc -D_GNU_SOURCE -O1 -static "$probe"
	kind linker-made $CC $extra -O1 -Wa,--gsframe "$probe"
	kind cxx g++ $extra -O1 "$src/insert_throw.cc"
	kind cxx-static g++ -O1 -static "$src/insert_throw.cc"
}

# A method that the command does not know is a usage error. auto comes first: the methods are compared with it.
find_methods() {
	local method
	methods=
	for method in auto slack grow; do
		"$eh2sframe" -q --method=$method "$eh2sframe" known >known.log 2>&1
		[ $? = 2 ] || methods="$methods $method"
	done
	rm -f known
	echo "# methods:$methods"
	case "$methods " in
	*" auto "*"grow "*) ;;
	*) not_ok "auto and grow are known" "$methods $(cat known.log)" ;;
	esac
}

declare -A taken not_taken

# convert METHOD IN OUT [OPTION...]: 0, and counted as taken; 1, and counted as not taken, with the
# reason; 2 for all that must not be, with what was said in said.
convert() {
	local method=$1 status why
	said=$("$eh2sframe" -v --method="$1" "${@:4}" "$2" "$3" 2>&1 >.stdout)
	status=$?
	got=$(sed -n 's/^ *method: //p' .stdout)
	[ "$method" = auto ] || got=$method
	if [ $status = 0 ]; then
		taken[$got]=$((${taken[$got]:-0} + 1))
		return 0
	elif [ $status = 1 ] && [ "$method" != auto ]; then
		# The method does not apply; or the file is refused, and then auto says the same, or that is a fault.
		why="$method: ${said##*: }"
		[[ $said != *"the method "*" does not apply"* ]] || why=${said##*the method }
		not_taken[$why]=$((${not_taken[$why]:-0} + 1))
		return 1
	fi
	said="status $status: $said"
	return 2
}

# Each method that the command knows must have been taken, or its tests prove nothing.
all_methods_taken() {
	local method why
	for method in $methods; do
		[ "$method" != auto ] || continue
		if [ "${taken[$method]:-0}" -gt 0 ]; then
			ok "method $method: taken ${taken[$method]} times"
		else
			not_ok "method $method: never taken"
		fi
	done
	for why in "${!not_taken[@]}"; do
		echo "# not taken ${not_taken[$why]} times: $why"
	done | sort
}

# run_at PATH COMMAND...: its output and status; @ in it stands for PATH.
run_at() {
	local path=$1 words=() word
	shift
	for word; do words+=("${word//@/$path}"); done
	if [ "$(type -t "${words[0]}")" = function ]; then
		"${words[@]}" 2>&1 </dev/null
	else
		timeout 60 "${words[@]}" 2>&1 </dev/null
	fi
	echo "status $?"
}

# readelf has something to say about a broken table, on either stream.
clean_readelf() {
	local out
	out=$(readelf -lSW "$1" 2>&1 | grep -iE '^readelf: |overlap|invalid|corrupt|not in ')
	[ -z "$out" ] && return 0
	echo "$out"
	return 1
}
# Whether the program headers of two files stand at different places.
table_at() { readelf -hW "$1" 2>/dev/null | sed -n 's/.*Start of program headers: *\([0-9]*\) .*/\1/p'; }
table_moved() { [ "$(table_at "$1")" != "$(table_at "$2")" ]; }
build_id() { readelf -nW "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }

# Whether PT_GNU_SFRAME is the section and inside a read-only PT_LOAD that maps it there.
sframe_mapped() {
	local type off addr size flags want=() loads=() line section
	section=$(readelf -SW "$1" 2>/dev/null | sed -n 's/^ *\[ *[0-9]*\] \.sframe  *[^ ]* *\([0-9a-f]* [0-9a-f]* [0-9a-f]*\) .*/\1/p')
	while read -r line; do
		# shellcheck disable=SC2086 # words
		set -- $line
		type=$1 off=$(($2)) addr=$(($3)) size=$(($5)) flags=${*:7:$#-7}
		case $type in
		GNU_SFRAME) want=($off $addr $size) ;;
		LOAD) [ "$flags" != R ] || loads+=("$off $addr $size") ;;
		esac
	done < <(readelf -lW "$1" 2>/dev/null | sed 's/LOOS+0x474e554\b/GNU_SFRAME/' | grep -E '^ +(LOAD|GNU_SFRAME) ')
	[ ${#want[@]} = 3 ] || { echo "no PT_GNU_SFRAME"; return 1; }
	# shellcheck disable=SC2086 # words
	set -- $section
	[ "$((16#${1:-0})) $((16#${2:-0})) $((16#${3:-0}))" = "${want[1]} ${want[0]} ${want[2]}" ] ||
		{ echo "PT_GNU_SFRAME is not .sframe: ${want[*]}, $section"; return 1; }
	for line in "${loads[@]}"; do
		# shellcheck disable=SC2086 # words
		set -- $line
		((want[0] >= $1 && want[0] + want[2] <= $1 + $3 && want[1] - want[0] == $2 - $1)) && return 0
	done
	echo "no read-only PT_LOAD maps ${want[*]}"
	return 1
}
