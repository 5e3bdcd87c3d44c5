#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every kind of program, library and file, converted by the command on every method: it runs as before,
# is proven, is clean to readelf, and comes back byte for byte. In the full tier four kinds, and by auto. TAP.
#
#     kinds.sh EH2SFRAME DIRECTORY MADE full|long
# shellcheck disable=SC2015,SC2086,SC2154,SC2317 # CC has words; kinds_lib.sh's; functions called by name
eh2sframe=$1 src=$2 made=$3 long=${4#full}
# shellcheck source-path=SCRIPTDIR source=kinds_lib.sh
. "$src/kinds_lib.sh"
mkdir at

problems=''
# trouble WHAT [DETAIL]
trouble() { problems+="$1${2:+: ${2:0:600}}"$'\n'; }

# same_bytes FILE FILE WHAT
same_bytes() { cmp -s "$1" "$2" || trouble "$3"; }

# must STATUS WHAT ARGUMENT...: what the command returns.
must() {
	local wanted=$1 what=$2 out status
	shift 2
	out=$("$eh2sframe" "$@" -q 2>&1)
	status=$?
	[ $status = "$wanted" ] || trouble "$what" "status $status: $out"
}

sframe_size() { readelf -SW "$1" 2>/dev/null | sed -n 's/.* \.sframe  *[^ ]* *[^ ]* [^ ]* \([0-9a-f]*\) .*/\1/p'; }

# The insertion's promises about FILE and OUT, which came of METHOD.
check_promises() {
	local file=$1 out=$2 method=$3 complaint grown
	must 0 verify verify "$out"
	complaint=$(sframe_mapped "$out") || trouble "$complaint"
	if clean_readelf "$file" >/dev/null; then
		complaint=$(clean_readelf "$out") || trouble readelf "$complaint"
	fi
	[ "$(build_id "$file")" = "$(build_id "$out")" ] || trouble "another build-id"
	[ "$(stat -c '%a %u %g' "$file")" = "$(stat -c '%a %u %g' "$out")" ] || trouble "mode or owner"
	cp -p "$out" twice
	must 6 "converted twice" --method="$method" twice twice
	same_bytes twice "$out" "converted twice: touched"
	must 0 remove remove "$out" back
	same_bytes "$file" back "remove: not the original"
	# What is not of the section: tables that move, and padding. Before a program header table that moves there may be
	# a hole as large as .bss.
	grown=$(($(stat -c %s "$out") - $(stat -c %s "$file") - 16#$(sframe_size "$out")))
	table_moved "$file" "$out" || [ $grown -lt 100000 ] || trouble "the file grows by $grown bytes and the section"
	must 0 refresh --refresh --method="$method" "$out" again
	same_bytes "$out" again "refresh: not what a fresh conversion gives"
	case $methods in
	*auto*)
		must 0 "refresh by auto" --refresh "$out" again
		same_bytes fresh again "refresh by auto: not what a fresh conversion gives"
		;;
	*) must 1 "refresh by auto, which takes no method" --refresh "$out" again ;;
	esac
	rm -f twice back again
}

# The caller's: a command by which the test programs tell what they see of themselves or of the library at @, and what
# qemu-user says, which has the AT_PHDR rule of kernels before 5.18.
mapped=() oldrule=''
check_probe() {
	local at=$1 out
	if [ ${#mapped[@]} != 0 ]; then
		out=$(run_at "$at" "${mapped[@]}")
		[ "${out##*status }" = 0 ] || trouble "not mapped" "$out"
	fi
	if [ "$oldrule" ]; then
		out=$(qemu-x86_64 "$at" 2>&1) && [ "$out" = "$oldrule" ] || trouble "old AT_PHDR rule" "$out"
	fi
}

# check NAME FILE COMMAND...: FILE is converted and COMMAND run with it, at the same path (@) before
# and after.
check() {
	local name=$1 file=$2 method at before after extra=''
	shift 2
	at=$scratch/at/${file##*/}
	cp -p "$file" "$at"
	before=$(run_at "$at" "$@")
	if [ "${before##*status }" -ge 124 ]; then
		not_ok "$name: the original does not run" "$before"
		return
	fi
	readelf -SW "$file" 2>/dev/null | grep -q ' \.sframe ' && extra=--refresh
	for method in ${by:-$methods}; do
		problems=''
		rm -f "$at" out
		convert "$method" "$file" out $extra
		case $? in
		1) continue ;;
		2) not_ok "$name, $method" "$said"; continue ;;
		esac
		if [ "$method" = auto ]; then
			cp -p out fresh
			[ -z "$got" ] || method="auto ($got)"
		elif cmp -s fresh out; then
			ok "$name, $method: as by auto"
			continue
		fi
		cp -p out "$at"
		after=$(run_at "$at" "$@")
		[ "$before" = "$after" ] || trouble "runs differently" "$(diff <(echo "$before") <(echo "$after"))"
		check_probe "$at"
		check_promises "$file" out "${method%% *}"
		if [ -z "$problems" ]; then ok "$name, $method"; else not_ok "$name, $method" "$problems"; fi
	done
	rm -f "$at" out fresh
}

# refused NAME FILE TEXT: by every method, and nothing happens.
refused() {
	local name=$1 file=$2 text=$3 method message status problems=''
	cp -p "$file" in
	for method in $methods; do
		rm -f out
		message=$("$eh2sframe" --method="$method" in out 2>&1)
		status=$?
		[[ $status = 1 && ! -e out && $message == *"$text"* ]] || trouble "$method" "status $status: $message"
		"$eh2sframe" -q --method="$method" in in 2>/dev/null
		[ $? = 1 ] || trouble "$method in place"
		same_bytes in "$file" "$method: touched"
	done
	if [ -z "$problems" ]; then ok "$name: refused"; else not_ok "$name: refused" "$problems"; fi
	rm -f in out
}

### What compilers and linkers make of the probe.
compiled() {
	local kind mapped oldrule
	if [ "$long" ]; then build_kinds; else build_kinds pie spare-nopie static-pie nocombreloc lld musl-static cxx; fi
	for kind in $kinds; do
		case $kind in cxx*) mapped=() ;; *) mapped=(@ mapped) ;; esac
		oldrule=''
		! have qemu-x86_64 || oldrule=$(qemu-x86_64 "./$kind" 2>&1) || oldrule=''
		check "$kind" "$kind" @
	done
}

### Libraries: found by the loader, opened by the program.
with_library() { LD_LIBRARY_PATH=${1%/*} timeout 30 ./user "${@:2}" && LD_LIBRARY_PATH=${1%/*} timeout 30 ./opener load "$1"; }
libraries() {
	local linker flags mapped=(with_library @ library libinsert.so)
	mkdir -p lib
	for linker in ${long:+lld gold mold} bfd; do
		for flags in -O1 "$src/insert_note.c" ${long:+-Wl,-z,max-page-size=0x200000 -Wl,-z,noseparate-code}; do
			# gold does not know that option.
			[ "$linker $flags" != "gold -Wl,-z,noseparate-code" ] || continue
			if build lib/libinsert.so $CC -fPIC -shared -fuse-ld=$linker $flags "$src/insert_library.c" &&
				build user $CC -O1 -DWITH_LIBRARY "$probe" -Llib -linsert &&
				build opener $CC -O1 -DWITH_DLOPEN "$probe" -ldl; then
				check "library, $linker ${flags##*/}" lib/libinsert.so with_library @
			else
				skip "library, $linker ${flags##*/}" "cannot be built here"
			fi
		done
	done
	[ "$long" ] || return
	# Nobody takes AT_PHDR from a library, so it needs no hole.
	mkdir -p bss && build bss/libinsert.so $CC -O1 -fPIC -shared -DBSS=1610612736 -mcmodel=large "$src/insert_library.c" &&
		by=' auto' check "library, 1.5 GB of .bss" bss/libinsert.so with_library @
	# The search is not by name only: one that really is the library.
	mapped=()
	if have openssl; then
		check "libcrypto" "$(readlink -f "$(ldd "$(command -v openssl)" | awk '/libcrypto/ { print $3 }')")" \
			crypto @
	fi
}
crypto() {
	mkdir -p crypto && rm -f crypto/* && cp "$1" crypto/libcrypto.so.3 &&
		LD_LIBRARY_PATH=crypto timeout 30 openssl dgst -sha256 "$src/insert_probe.c"
}

### What starts before everything else.
as_loader() {
	"$1" ./pie && "$1" --list ./pie | grep -c libc.so.6 && ./interp && { ! have qemu-x86_64 || qemu-x86_64 "$1" ./pie; }
}
as_libc() {
	mkdir -p sys && rm -f sys/* && cp "$1" sys/libc.so.6 &&
		LD_LIBRARY_PATH=sys ./pie && LD_LIBRARY_PATH=sys bash -c 'x=$(echo sub | cat); echo "$x"' && sys/libc.so.6
}
loader_and_libc() {
	local loader libc
	loader=$(readlink -f "$(readelf -lW pie | sed -n 's/.*interpreter: \(.*\)]/\1/p')")
	libc=$(readlink -f "$(ldd pie | sed -n 's/.*libc.so.6 => \([^ ]*\).*/\1/p')")
	build interp $CC -O1 "$probe" -Wl,--dynamic-linker="$scratch/at/${loader##*/}"
	methods=' slack grow' check "ld.so as a program and as interpreter" "$loader" as_loader @
	methods=' auto' refused "ld.so, without a method" "$loader" 'a program interpreter'
	check "libc.so.6" "$libc" as_libc @
}

### Other languages.
# installed NAME PROGRAM ARGUMENT...: a program of the distribution.
installed() {
	local name=$1 file
	if ! file=$(command -v "$2"); then
		skip "$name" "NO $2 HERE"
		return
	fi
	shift 2
	check "$name" "$(readlink -f "$file")" @ "$@"
}

# made NAME COMMAND...: compiles ./NAME and checks it; skips when there is no such compiler.
made() {
	local name=$1
	if ! have "$2"; then
		skip "$name" "NO $2 HERE"
	elif ! "${@:2}" >"$name.log" 2>&1; then
		skip "$name" "$2 CANNOT MAKE IT: $(tr '\n' ' ' <"$name.log" | head -c 200)"
	else
		check "$name" "./$name" @
	fi
}

languages() {
	cat >cgo.go <<'G'
package main

// static int twice(int n) { return 2 * n; }
import "C"
import "fmt"

func main() {
	c := make(chan int)
	go func() { defer func() { recover(); c <- int(C.twice(21)) }(); panic("x") }()
	fmt.Println(<-c)
}
G
	cat >rust.rs <<'R'
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| {
        let v: Vec<i32> = std::env::args().map(|_| 1).collect();
        v[7]
    });
    let t = std::thread::spawn(|| 6 * 7);
    println!("{} {}", caught.is_err(), t.join().unwrap());
}
R
	cat >fortran.f90 <<'F'
program sums
  integer :: i
  real(8) :: a(9) = [(sqrt(real(i, 8)), i = 1, 9)]
  print '(f12.6)', sum(a)
  if (sum(a) < 0) error stop 1
end program
F
	cat >ada.adb <<'A'
with Ada.Text_IO; use Ada.Text_IO;
procedure Ada_Main is
   task Worker is entry Go; end Worker;
   task body Worker is begin accept Go do Put_Line ("task"); end Go; end Worker;
   function Value (S : String) return Integer is (Integer'Value (S));
begin
   Worker.Go;
   Put_Line (Integer'Image (Value ("no number")));
exception
   when Constraint_Error => Put_Line ("caught");
end Ada_Main;
A
	mv ada.adb ada_main.adb
	echo 'let () = try List.find (fun x -> x > 3) [1; 2] |> print_int with Not_found -> print_endline "caught"' >ocaml.ml
	echo 'main = mapM_ print (takeWhile (< 40) (filter even (map (^ 2) [1 ..])))' >haskell.hs
	GOCACHE=$scratch/gocache GOFLAGS=-mod=mod made cgo go build -o cgo cgo.go
	installed "Go of the distribution" fzf --version
	made rust rustc -O rust.rs
	installed "Rust of the distribution" rg --no-config -c root /etc/passwd
	installed "Haskell of the distribution" hasktags --help
	installed "OCaml of the distribution" unison -version
	installed "Ada of the distribution" music123 --help
	made fortran gfortran -O1 fortran.f90 -o fortran
	made fortran-static gfortran -O1 -static fortran.f90 -o fortran-static
	made ada_main gnatmake -q ada_main.adb
	made ocaml ocamlopt ocaml.ml -o ocaml
	made haskell ghc haskell.hs
}

# Without C there is no .eh_frame in Go, and with -w no .debug_frame: Go's table is left.
pure_go() {
	have go || return
	printf 'package main\nfunc main() { println("x") }\n' >pure.go
	CGO_ENABLED=0 GOCACHE=$scratch/gocache go build -ldflags=-w -o pure pure.go 2>/dev/null || return
	is "pure Go: by Go's table" sh -c "'$eh2sframe' -q pure pure.out && '$eh2sframe' verify pure.out && ./pure.out"
	rm -f pure.out
	is "pure Go: nothing else to do" sh -c "'$eh2sframe' -q --source=eh_frame,debug_frame pure pure.out 2>/dev/null; [ \$? = 6 ] && [ ! -e pure.out ]"
	CGO_ENABLED=0 GOCACHE=$scratch/gocache go build -o pure pure.go 2>/dev/null || return
	is "pure Go: by .debug_frame" sh -c "'$eh2sframe' -q --source=debug_frame pure pure.out && '$eh2sframe' verify --source=debug_frame pure.out && ./pure.out"
}

### Files that other tools have been at.
patched() {
	local file
	have patchelf || { skip "patchelf" "NOT INSTALLED"; return; }
	for file in pie nopie lib/libinsert.so; do
		cp "$file" patched
		patchelf --set-rpath "$(printf '/long%.0s' {1..200})" patched || continue
		case $file in
		*.so) mv patched lib/libpatched.so && check "patchelf --set-rpath, library" lib/libpatched.so with_renamed @ ;;
		*) check "patchelf --set-rpath, $file" patched @ ;;
		esac
	done
	cp pie patched && ln -sf "$(readelf -lW pie | sed -n 's/.*interpreter: \(.*\)]/\1/p')" loader &&
		patchelf --set-interpreter "$scratch/./././././././././././././././././././././loader" patched &&
		check "patchelf --set-interpreter" patched @
}
with_renamed() { rm -rf ren && mkdir ren && cp "$1" ren/libinsert.so && LD_LIBRARY_PATH=ren ./user; }

payload() {
	cp pie appimage && head -c 70000 /dev/urandom >>appimage
	refused "appended payload" appimage "appended payload"
	cp pie zip && printf 'PK\005\006%018d' 0 >>zip
	refused "22 bytes appended" zip "appended payload"
}

### Files as files.
# A program that shows whose rights it runs with.
whose() { setpriv --reuid=65534 --regid=65534 --clear-groups "$1"; }
privileged() {
	if [ "$(id -u)" != 0 ]; then skip "setuid" "NOT ROOT"; return; fi
	cat >suid.c <<'C'
#include <stdio.h>
#include <unistd.h>
int main(void) { return printf("%d %d\n", getuid(), geteuid()) < 0; }
C
	gcc -O1 suid.c -o suid && chown 4321:4321 suid && chmod 6755 suid
	chmod 755 . at
	if [ "$(whose "$PWD/suid" 2>&1)" = "65534 4321" ]; then
		check "setuid" suid whose @
	else
		skip "setuid" "NOBODY CANNOT RUN A SETUID PROGRAM HERE"
	fi
}

# How much of FILE is really there, in KiB.
allocated() { du -k "$1" | cut -f 1; }
sparse() {
	local method out='' before after
	# There a hole that is read through a mapping gets its pages.
	if [ "$(stat -f -c %T .)" = tmpfs ]; then skip "sparse" "TMPFS FILLS HOLES"; return; fi
	echo 'char zeros[16 << 20] = {1}; int main(void) { return zeros[0] + zeros[9 << 20] - 1; }' >sparse.c
	gcc -O1 sparse.c -o dense && cp --sparse=always dense sparse
	before=$(allocated sparse)
	if [ "$before" -gt 1000 ]; then skip "sparse" "NO HOLES ON THIS FILE SYSTEM"; return; fi
	for method in $methods; do
		convert "$method" sparse out || continue
		after=$(allocated out)
		is "sparse, $method: $before KiB before, $after after" test "$after" -lt 1000
		"$eh2sframe" remove -q out back
		is "sparse, $method: and back" test "$(allocated back)" -lt 1000
	done
	check sparse sparse @
}

# A terabyte of holes is neither read nor copied, by whatever way the file is opened.
holes() {
	local words
	mkdir -p vast
	gcc -O1 -x c - -o vast/in <<<'int main(void) { return 0; }'
	if ! truncate -s 1T vast/in; then skip "holes" "NO SUCH FILES HERE"; return; fi
	for words in "report vast/in" "vast/in out" "check vast/in" "remove vast/in out" "tree convert -q vast"; do
		# shellcheck disable=SC2086
		timeout 60 "$eh2sframe" $words >said 2>&1
		is "holes, $words: one line" test "$? $(wc -l <said) $(grep -c ' are holes, .*; copy the file again or leave it out' said)" = "1 1 1"
	done
	# Only files of more than 64 MiB with less than a 64th of data.
	truncate -s 64M vast/in
	is "holes: 64 MiB" "$eh2sframe" report -q vast/in
	truncate -s 65M vast/in
	is "holes: 65 MiB" bash -c '! "$0" report -q vast/in 2>said' "$eh2sframe"
	head -c 1100000 /dev/zero | dd of=vast/in bs=1M seek=50 conv=notrunc status=none
	is "holes: a 64th of 65 MiB is data" "$eh2sframe" report -q vast/in
	rm -r vast
}

# In place, through names that are not the file's own.
places() {
	local method problems
	for method in $methods; do
		problems=''
		convert "$method" pie fresh || continue
		rm -rf real links && mkdir -p real/deep links && cp pie real/deep/prog
		ln -s ../real/deep links/folder && ln -s folder/prog links/prog && ln -s prog links/again
		must 0 "through three links" --method="$method" links/again links/again
		same_bytes real/deep/prog fresh "the target of the links"
		[[ -L links/prog && -L links/again ]] || trouble "a link is gone"
		must 0 "remove through links" remove links/prog links/again
		same_bytes real/deep/prog pie "remove: the target of the links"
		ln real/deep/prog real/name
		must 1 "a hard link in place" --method="$method" real/name real/name
		same_bytes real/deep/prog pie "the other name"
		must 0 "a hard link elsewhere" --method="$method" real/name real/out
		same_bytes real/out fresh "a hard link elsewhere: bytes"
		(cd real/deep && "$eh2sframe" -q --method="$method" prog ../out) || trouble "relative"
		if [ -z "$problems" ]; then ok "links, $method"; else not_ok "links, $method" "$problems"; fi
	done
}

nobody() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
closed() {
	local method out status
	# Where nobody can reach it; conversions of before do not count.
	cp "$eh2sframe" tool && mkdir -p closed && cp pie closed/prog && chmod 555 closed && chmod 755 .
	nobody test -x tool || { skip "read-only directory" "NOBODY CANNOT REACH $PWD"; return; }
	for method in $methods; do
		convert "$method" pie fresh || continue
		out=$(nobody ./tool --method="$method" closed/prog closed/prog 2>&1)
		status=$?
		is "read-only directory, $method: $out" test "$status $(ls closed)" = "3 prog"
		is "read-only directory, $method: as it was" cmp pie closed/prog
	done
	chmod 755 closed
}

# A file system with less and less room: the old file or the new one, and nothing else.
cat >full.sh <<'F'
mount -t tmpfs -o size="$3" none full 2>/dev/null || exit 77
cp pie full/prog 2>/dev/null || exit 78
"$1" -q --method="$2" full/prog full/prog 2>full.log
status=$?
[ "$(ls -A full)" = prog ] || exit 1
case $status in
0) cmp full/prog fresh && exit 79 ;;
3) cmp full/prog pie && grep -q 'No space' full.log ;;
*) exit 1 ;;
esac
F
full() {
	local method size wrong refused made
	mkdir -p full
	unshare -m true 2>/dev/null || { skip "full file system" "NOTHING CAN BE MOUNTED HERE"; return; }
	for method in $methods; do
		convert "$method" pie fresh || continue
		wrong='' refused=0 made=0
		for size in 16k 20k 24k 28k 32k 36k 40k 44k 48k 52k 56k 60k 64k 80k; do
			unshare -m bash full.sh "$eh2sframe" "$method" $size >full.out 2>&1
			case $? in
			0) refused=$((refused + 1)) ;;
			77) skip "full file system" "NOTHING CAN BE MOUNTED HERE"; return ;;
			78) ;;
			79) made=$((made + 1)) ;;
			*) wrong="$wrong $size: $(cat full.out full.log)" ;;
			esac
		done
		is "full file system, $method: $refused refused, $made made" test "$wrong$((refused * made > 0))" = 1
	done
}

# -v tells what kept a program from slack, and a line why the table moves. lld leaves nothing behind it that can make room.
says_why() {
	"$eh2sframe" -v pie said >said.log && grep '^  method: slack$' said.log || return
	[ "$long" ] && ./lld-static >/dev/null 2>&1 || return 0
	"$eh2sframe" -v lld-static said >said.log 2>said.err && grep '^  method: grow$' said.log && table_moved lld-static said &&
		[ "$(grep -c '^  method slack does not apply: ' said.log)" = 1 ] &&
		grep -q 'the program header table moves, so core dumps no longer show the build-id: too little can move' said.err
}

find_methods
[ "$long" ] || methods=' auto'
compiled
libraries
is "-v says why" says_why
payload
privileged
places
closed
full
holes
if [ "$long" ]; then
	loader_and_libc
	languages
	pure_go
	patched
	sparse
	all_methods_taken
fi
plan
