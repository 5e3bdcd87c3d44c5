#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# eh2sframe-cc and eh2sframe-ld: every way in that eh2sframe-cc(1) names, with the compilers and
# linkers of the machine. TAP.
#
#     wrappers.sh EH2SFRAME SHARED WRAPPERS [long]
#
# Without long it is gcc with two linkers and one cross compiler, and a smaller make.
eh2sframe=$1
wrappers=$(realpath "$3") shared=$(realpath "$2")
# shellcheck source-path=SCRIPTDIR/../shared source=cli_lib.sh
. "$2/cli_lib.sh"
compilers=gcc linkers='bfd lld' machines=aarch64 files=12
[ "${4-}" != long ] || compilers='gcc clang' linkers='bfd gold lld mold' machines='aarch64 s390x' files=40
unset EH2SFRAME_FLAGS EH2SFRAME_CC EH2SFRAME_LD EH2SFRAME_AS COMPILER_PATH COLLECT_GCC
export EH2SFRAME=$eh2sframe CCACHE_DIR=$scratch/ccache
plain_path=$PATH

# A folder with a space in it: everything below goes through it.
mkdir -p 'b in/link' 'b in/object' src
cp "$wrappers/eh2sframe-cc" 'b in/'
ln -s eh2sframe-cc 'b in/eh2sframe-ld'
for name in ld ld.bfd ld.gold ld.lld ld.mold cc c++ gcc g++ clang clang++; do
	ln -s ../eh2sframe-cc "b in/link/$name"
done
ln -s ../eh2sframe-cc 'b in/object/as'
cc=$scratch/b\ in/eh2sframe-cc
ld=$scratch/b\ in/eh2sframe-ld
# gcc takes the commas in -wrapper apart, and spaces in -B are kept.
cat >'src/pro gram.c' <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int twice(int n) { return printf("%d\n", 2 * n); }
int main(int argc, char **argv) { return twice(argc + 20) != 3 || !argv[0] || getenv("FAIL"); }
C
echo 'int both(int n) { return n + 1; }' >src/lib.c

# converted FILE: proven, and mapped.
converted() {
	"$eh2sframe" verify "$1" >.verify && readelf -lW "$1" | grep -q GNU_SFRAME
}
# shellcheck disable=SC2317 # called through is
plain() {
	[ -s "$1" ] && ! readelf -SW "$1" | grep -qF .sframe
}
# links NAME COMMAND...: makes "pro gram", which is converted and runs; nothing else is left behind.
links() {
	local name=$1 left
	shift
	rm -rf out && mkdir out && cd out || exit 99
	"$@" >../.out 2>&1
	status=$?
	left=$(ls -A)
	if [ $status = 0 ] && converted 'pro gram' 2>&1 && [ "$(./'pro gram')" = 42 ] &&
		[ "$left" = 'pro gram' ] && [ ! -s ../.out ]; then
		cd ..; ok "$name"
	else
		cd ..; not_ok "$name" "status $status, left: $left
$(cat .out)"
	fi
}
c="$scratch/src/pro gram.c"

### Programs.
for compiler in $compilers; do
	have $compiler || { skip "$compiler" "no $compiler"; continue; }
	links "eh2sframe-ld $compiler" "$ld" $compiler "$c" -o 'pro gram'
	links "eh2sframe-ld $compiler, -oNAME" "$ld" $compiler -O2 "$c" '-opro gram'
	links "eh2sframe-ld $compiler, -Wl" "$ld" $compiler "$c" -Wl,-O1,-o,'pro gram'
	links "eh2sframe-ld $compiler, -Xlinker" "$ld" $compiler "$c" -Xlinker -o -Xlinker 'pro gram'
	links "$compiler -B" $compiler -B "$scratch/b in/link" "$c" -o 'pro gram'
	for linker in $linkers; do
		have ld.$linker || { skip "$compiler -B -fuse-ld=$linker" "no ld.$linker"; continue; }
		links "$compiler -B -fuse-ld=$linker" \
			$compiler -B "$scratch/b in/link" -fuse-ld=$linker "$c" -o 'pro gram'
	done
	links "$compiler first in PATH" env PATH="$scratch/b in/link:$PATH" $compiler "$c" -o 'pro gram'
	printf '%s\n' "'$c'" '-o "pro gram"' >'src/args'
	links "eh2sframe-ld $compiler @FILE" "$ld" $compiler "@$scratch/src/args"
	printf '%s\n' "'$c'" '"-DX=\"a b\"" -o pro\ gram' >'src/escapes'
	links "eh2sframe-ld $compiler @FILE with escapes" "$ld" $compiler "@$scratch/src/escapes"
	links "$compiler -B @FILE" $compiler -B "$scratch/b in/link" "@$scratch/src/args"
done
links 'gcc -wrapper' gcc -wrapper "$ld" "$c" -o 'pro gram'
links 'gcc -B -flto' gcc -B "$scratch/b in/link" -O2 -flto "$c" -o 'pro gram'
if have clang; then
	links 'clang --ld-path' clang --ld-path="$ld" "$c" -o 'pro gram'
	EH2SFRAME_LD=ld.lld links 'clang --ld-path, EH2SFRAME_LD' clang --ld-path="$ld" "$c" -o 'pro gram'
	is 'it was lld that linked' sh -c "readelf -p .comment 'out/pro gram' | grep -q LLD"
else
	skip 'clang --ld-path' 'needs clang'
fi
gcc -c "$c" -o src/pro.o
links 'eh2sframe-ld, a link alone' "$ld" gcc "$scratch/src/pro.o" -o 'pro gram'
cp src/pro.o .
is 'eh2sframe-ld is ld where it is not told otherwise' "$ld" -shared -o lib.so pro.o
is 'a shared library by ld is converted' converted lib.so
rm -f a.out
is 'a.out' "$ld" gcc pro.o
is 'a.out is converted' converted a.out
is 'a shared library' "$ld" gcc -shared -fPIC src/lib.c -o lib.so
is 'a shared library is converted' converted lib.so
is 'a version' "$ld" gcc --version
for machine in $machines; do
	have $machine-linux-gnu-gcc || { skip "cross gcc for $machine" "needs $machine-linux-gnu-gcc"; continue; }
	is "cross gcc for $machine" \
		$machine-linux-gnu-gcc -B "$scratch/b in/link" "$c" -o cross
	is "cross gcc for $machine: converted" converted cross
	rm cross
	is "cross gcc for $machine, eh2sframe-ld" "$ld" $machine-linux-gnu-gcc "$c" -o cross
	is "cross gcc for $machine, eh2sframe-ld: converted" converted cross
	rm cross
	is "cross gcc for $machine, -wrapper" $machine-linux-gnu-gcc -wrapper "$ld" "$c" -o cross
	is "cross gcc for $machine, -wrapper: converted" converted cross
done

### What is left alone.
is 'ld -r' "$ld" ld -r -o r.o pro.o
is 'ld -r is left' plain r.o
is 'a compilation' "$ld" gcc -c src/lib.c -o only.o
gcc -c src/lib.c -o same.o
is 'a compilation is left' cmp only.o same.o
is 'preprocessing' "$ld" gcc -E src/lib.c -o lib.i
gcc pro.o -o a.out
cp a.out kept
is 'no link at all' "$ld" gcc -E src/lib.c -o lib.i
"$ld" gcc --version >.out
"$ld" gcc '-###' pro.o -o a.out 2>.out
is 'an old output of another is left' cmp a.out kept
if echo 'int main(void) { return 0; }' | gcc -m32 -x c - -nostdlib -Wl,-emain -o m32 2>.out; then
	is '32 bits' sh -c "echo 'int main(void) { return 0; }' | '$ld' gcc -m32 -x c - -nostdlib -Wl,-emain -o m32"
	is '32 bits are left' plain m32
else
	skip '32 bits' 'gcc -m32 does not work'
fi
is 'no CFI is no error' "$ld" gcc -nostdlib -Wl,-emain -Wl,--build-id=none \
	-fno-asynchronous-unwind-tables -x c - -o nocfi <<<'int main(void) { return 0; }'
is 'already converted is no error' "$ld" gcc -B "$scratch/b in/link" pro.o -o twice
is 'converted by the inner one' converted twice
is '/dev/null' "$ld" gcc pro.o -o /dev/null
is 'is still there' test -c /dev/null

### Options and exit statuses.
EH2SFRAME_FLAGS='--format=3 --optimize=none' "$ld" gcc pro.o -o v3
is 'EH2SFRAME_FLAGS' sh -c "'$eh2sframe' dump v3 | grep -q 'SFRAME_VERSION_3\|Version: 3\|v3'"
exits() {
	local name=$1 wanted=$2
	shift 2
	"$@" >.out 2>.err
	status=$?
	if [ $status = "$wanted" ]; then ok "$name"; else not_ok "$name" "status $status
$(cat .out .err)"; fi
}
printf '#!/bin/sh\nexit 41\n' >exit41
printf '#!/bin/sh\nkill -SEGV $$\n' >crash
chmod +x exit41 crash
exits 'the status of the program' 41 "$ld" ./exit41 -o x
exits 'the status of the program, objects' 41 "$cc" ./exit41 -c x.c
exits 'a program that crashes' 139 "$ld" ./crash -o x
exits 'a link that fails' 1 "$ld" gcc -o x no-such.o
exits 'a program that is not there' 127 env PATH=/nowhere /bin/sh "$ld" -o x pro.o
EH2SFRAME_FLAGS=--format=9 exits 'the status of the command' 2 "$ld" gcc pro.o -o failed
is 'its message' grep -q '^eh2sframe: .*format' .err
is 'a file that was not converted is not left' test ! -e failed
EH2SFRAME_FLAGS='--min-coverage=100 --min-coverage-of=text' exits 'coverage' 5 "$ld" gcc pro.o -o failed
EH2SFRAME=/nowhere/eh2sframe exits 'no command' 127 "$ld" gcc pro.o -o failed
is 'nor then' test ! -e failed
printf '#!/bin/sh\nexit 0\n' >none && chmod +x none
(unset EH2SFRAME; cp "$eh2sframe" 'b in/eh2sframe'; "$ld" gcc pro.o -o beside)
is 'the command beside the wrapper' converted beside
rm 'b in/eh2sframe'
cp pro.o 'b in/pro.o'
gcc 'b in/pro.o' -o linked && ln linked other && cp linked before
cat >relink <<'S'
#!/bin/sh
# Writes into the output as it is, as ccache's links do.
cat before >linked
S
chmod +x relink
is 'an output with another name' "$ld" ./relink -o linked
is 'is converted' converted linked
is 'and the other name is left' cmp other before
# Another user of the folder could put a link where a temporary file will be.
cat >plant <<'S'
#!/bin/sh
cat before >linked
ln -sf victim "linked.eh2sframe-$PPID"
S
chmod +x plant
rm linked && ln other linked && cp before linked && echo precious >victim
is 'a link in the place of a temporary file' "$ld" ./plant -o linked
is 'is not followed' sh -c 'test "$(cat victim)" = precious && test ! -L linked'
rm -f linked.eh2sframe-*

### Objects: what the command is called with, by one that only writes it down.
cat >record <<'S'
#!/bin/sh
printf '<%s>' "$@" >>"$RECORD"
echo >>"$RECORD"
S
chmod +x record
export RECORD=$scratch/recorded
# objects NAME EXPECTED COMMAND...: EXPECTED are the objects the command is called for, in order.
objects() {
	local name=$1 wanted=$2 got
	shift 2
	: >recorded
	if out=$(EH2SFRAME=$scratch/record EH2SFRAME_FLAGS=--format=1 "$@" 2>&1) &&
		got=$(sed 's/^<convert><-q><--format=1><\(.*\)><\(.*\)>$/\1=\2/; s,'"${TMPDIR:-/tmp}"'/[^=]*\.o,tmp,g' recorded) &&
		[ "$got" = "$wanted" ]; then
		ok "$name"
	else
		not_ok "$name" "wanted $wanted, got $(cat recorded)
$out"
	fi
}
cp "$c" 'a b.c'; cp src/lib.c lib.c
printf '%s\n' "-c 'a b.c'" "-o 'r s.o'" >args
for compiler in $compilers; do
	have $compiler || { skip "objects by $compiler" "needs $compiler"; continue; }
	objects "eh2sframe-cc $compiler -c -o" 'x y.o=x y.o' "$cc" $compiler -c 'a b.c' -o 'x y.o'
	objects "eh2sframe-cc $compiler -c" 'a b.o=a b.o
lib.o=lib.o' "$cc" $compiler -c 'a b.c' lib.c
	objects "eh2sframe-cc $compiler @FILE" 'r s.o=r s.o' "$cc" $compiler @args
	objects "eh2sframe-cc $compiler, a link" '' "$cc" $compiler 'a b.c' -o x
	objects "eh2sframe-cc $compiler -S" '' "$cc" $compiler -S lib.c -o lib.s
	objects "eh2sframe-cc $compiler -c lib.s" 'lib.o=lib.o' "$cc" $compiler -c lib.s
done
objects 'eh2sframe-cc is cc' 'lib.o=lib.o' "$cc" -c lib.c
# What is a source is not known by its suffix alone.
cp lib.c lib.inc && cp lib.c lib.CPP && cp lib.c ./-lib.c
printf '%s\n' '"-DX=\"a\"" -c' "lib.c 'a b.c'" >sources
objects 'sources in a response file' 'lib.o=lib.o
a b.o=a b.o' "$cc" gcc @sources
printf '%s\n' '-c -I "" lib.c' >empty
objects 'an empty word in a response file' 'lib.o=lib.o' "$cc" gcc @empty
objects 'a source by -x' 'lib.o=lib.o' "$cc" gcc -x c -c lib.inc
objects 'a name that begins with -' './-lib.o=./-lib.o' "$cc" gcc -c ./-lib.c
objects 'a suffix of C++' 'lib.o=lib.o' "$cc" g++ -c lib.CPP
# Values of options are no sources.
mkdir -p include && echo >config.h
objects 'a header is no source' 'lib.o=lib.o' "$cc" gcc -include config.h -I include -D config -MD -MF config.d -MT config.o -c lib.c
# Meanwhile another job makes an object of that name.
printf '%s\n' '#!/bin/sh' 'gcc "$@" && cp lib.o config.o' >busy && chmod +x busy
objects 'a header is no source, and an object of its name stays' 'lib.o=lib.o' "$cc" ./busy -include config.h -D config -MD -MF config.d -c lib.c
rm config.o
# A linker has options of these names that have no value.
is 'ld -x -o' "$ld" ld -shared -x -o discarded.so lib.o
is 'is converted' converted discarded.so
# What a cache gives back has the time of before.
gcc -c lib.c && cp -p lib.o lib.kept
printf '%s\n' '#!/bin/sh' 'cp -p lib.kept lib.new && mv lib.new lib.o' >restore && chmod +x restore
objects 'an object of the same time' 'lib.o=lib.o' "$cc" ./restore -c lib.c
# What the compiler did not make stays as it is.
gcc -c lib.c && cp lib.o lib.before
for what in -fsyntax-only -M '-E -o lib.i'; do
	# shellcheck disable=SC2086 # words
	objects "eh2sframe-cc gcc -c $what" '' "$cc" gcc -c $what lib.c
done
is 'leaves an older object' cmp lib.o lib.before
EH2SFRAME_FLAGS='--format=2 --max-size=1' exits 'an object over a limit' 5 "$cc" gcc -c lib.c
is 'is not left either' test ! -e lib.o
objects 'gcc -B' 'x y.o=x y.o' gcc -B "$scratch/b in/object" -c 'a b.c' -o 'x y.o'
objects 'gcc -B -pipe, with a link' 'tmp=tmp' gcc -pipe -B "$scratch/b in/object" 'a b.c' -o x
objects 'gcc -wrapper' 'x y.o=x y.o' gcc -wrapper "$cc" -c 'a b.c' -o 'x y.o'
if have clang; then
	objects 'clang -fno-integrated-as -B' 'x y.o=x y.o' clang -fno-integrated-as -B "$scratch/b in/object" -c 'a b.c' -o 'x y.o'
else
	skip 'clang -fno-integrated-as -B' 'needs clang'
fi
gcc -S lib.c -o lib.s
objects 'as' 'x y.o=x y.o' "$cc" as lib.s -o 'x y.o'
for machine in $machines; do
	have $machine-linux-gnu-gcc || { skip "as of $machine" "needs $machine-linux-gnu-gcc"; continue; }
	objects "as of $machine" 'x y.o=x y.o' \
		$machine-linux-gnu-gcc -B "$scratch/b in/object" -c 'a b.c' -o 'x y.o'
done
if have ccache; then
	objects 'ccache behind, filled' 'c.o=c.o' "$cc" ccache gcc -c lib.c -o c.o
	objects 'ccache behind, found' 'c.o=c.o' "$cc" ccache gcc -c lib.c -o c.o
	objects 'ccache in front of -B, filled' 'c.o=c.o' ccache gcc -B "$scratch/b in/object" -c lib.c -o c.o
	objects 'ccache in front of -B, found' '' ccache gcc -B "$scratch/b in/object" -c lib.c -o c.o
	is 'ccache did find' sh -c 'ccache --print-stats | grep -q "^direct_cache_hit.2\$"'
	links 'a link through ccache' "$ld" ccache gcc "$scratch/src/pro.o" -o 'pro gram'
	if have clang; then
		links 'clang through ccache, and -B' ccache clang -B "$scratch/b in/link" "$scratch/src/pro.o" -o 'pro gram'
	else
		skip 'clang through ccache, and -B' 'needs clang'
	fi
	mkdir masks && ln -s "$(command -v ccache)" masks/gcc
	links 'links first in PATH, ccache second' \
		env PATH="$scratch/b in/link:$scratch/masks:$plain_path" gcc "$c" -o 'pro gram'
	links 'ccache first in PATH, links second' \
		env PATH="$scratch/masks:$scratch/b in/link:$plain_path" gcc "$c" -o 'pro gram'
else
	skip 'ccache' 'no ccache'
fi

### Objects: by the command itself, as GNU ld merges them, in the version that it knows.
merged=$(PYTHONPATH=$shared python3 -c 'import binutils; print(*binutils.merged("ld"))')
# shellcheck disable=SC2317 # called through is
merged() {
	readelf -SW "$1" | grep -qF .sframe && "$eh2sframe" verify "$1" && [ "$(./"$1")" = 42 ]
}
EH2SFRAME_FLAGS=$merged is 'an object' "$cc" gcc -c 'a b.c' -o ours.o
is 'an object is converted' sh -c 'readelf -SW ours.o | grep -qF .rela.sframe'
# No PIE: what GNU ld 2.41 to 2.47 says of .plt.got, which others have not, is wrong.
gcc -no-pie ours.o -o ours && is 'GNU ld merges it' merged ours
is 'eh2sframe-ld after that has nothing to do' "$ld" gcc -no-pie ours.o -o ours2
is 'the section is the one the linker made' cmp ours ours2
EH2SFRAME_FLAGS=$merged is 'compiled and linked at once' \
	gcc -B "$scratch/b in/object" -no-pie 'a b.c' -o at-once
is 'and merged' merged at-once
exits 'an object without --format' 2 "$cc" gcc -c 'a b.c' -o failed.o
is 'is not left' test ! -e failed.o
EH2SFRAME_FLAGS=$merged is 'an object without CFI' "$cc" gcc -fno-asynchronous-unwind-tables \
	-c lib.c -o nocfi.o
is 'is left' plain nocfi.o

### Mistakes: one sentence, and the linker does not run.
# mistake NAME STATUS SENTENCE COMMAND...
mistake() {
	local name=$1 wanted=$2 sentence=$3
	shift 3
	rm -f mistaken
	"$@" >.out 2>&1
	status=$?
	if [ $status = "$wanted" ] && [ "$(cat .out)" = "$sentence" ] && [ ! -e mistaken ]; then
		ok "$name"
	else
		not_ok "$name" "status $status: $(head -n 5 .out)"
	fi
}
mistake 'a compiler that does not exist' 127 'eh2sframe-ld: nosuchcc is neither a program in PATH nor a file' \
	"$ld" nosuchcc lib.c -o mistaken
mistake 'the same of eh2sframe-cc' 127 'eh2sframe-cc: nosuchcc is neither a program in PATH nor a file' \
	"$cc" nosuchcc -c lib.c -o mistaken
mistake 'a name with control characters' 127 'eh2sframe-ld: a?b?[31m\0101 is neither a program in PATH nor a file' \
	"$ld" $'a\nb\e[31m\\0101' lib.c -o mistaken
for flag in -h --help --version -qV -vh; do
	mistake "EH2SFRAME_FLAGS with $flag" 2 \
		"eh2sframe-ld: EH2SFRAME_FLAGS is for options of a conversion, and $flag is none" \
		env EH2SFRAME_FLAGS="--format=3 $flag" "$ld" gcc "$c" -o mistaken
done
for flags in "--exclude-symbol='a b'" '--exclude-symbol="a"' 'a\ b'; do
	mistake "EH2SFRAME_FLAGS=$flags" 2 "eh2sframe-ld: EH2SFRAME_FLAGS is split at blanks and must have no quotes \
or backslashes; in patterns, ? stands for a blank" env EH2SFRAME_FLAGS="$flags" "$ld" gcc "$c" -o mistaken
done
mistake 'an unknown option in EH2SFRAME_FLAGS' 2 "eh2sframe-ld: the next line is about EH2SFRAME_FLAGS='--foo'
eh2sframe: convert: unknown option --foo; did you mean --for?" env EH2SFRAME_FLAGS=--foo "$ld" gcc "$c" -o mistaken
mistake 'a verb in EH2SFRAME_FLAGS' 2 "eh2sframe-ld: the next line is about EH2SFRAME_FLAGS='report'
eh2sframe: convert: give IN and OUT; see eh2sframe convert --help" env EH2SFRAME_FLAGS=report "$ld" gcc "$c" -o mistaken
is 'eh2sframe-ld --help says what it is' sh -c "'$ld' --help | head -n 1 | grep -q '^eh2sframe-ld .PROGRAM. ARGUMENT'"
is 'and has the help of ld, for scripts' sh -c "'$ld' --help | grep -q 'supported targets:.* elf'"
is 'eh2sframe-ld gcc --help is that of gcc' sh -c "'$ld' gcc --help | head -n 1 | grep -q '^Usage: gcc'"
# A file to be linked may have any name.
gcc -c "$c" -o object && is 'a file without a suffix' "$ld" -r object -o linked

### Signals: the wrapper ends by them, after its program, and leaves no output that is not converted.
# Each program says in a pipe that it has begun, and waits for another one.
mkfifo started gate
cat >slow-link <<'S'
#!/bin/sh
cp before slow
[ "$1" = at-once ] || { echo >started; read -r _ <gate; }
S
chmod +x slow-link
# signalled NAME SIGNAL COMMAND...
signalled() {
	local name=$1 signal=$2 pid
	shift 2
	rm -f slow
	"$@" >.out 2>&1 &
	pid=$!
	read -r _ <started
	kill -s "$signal" $pid
	echo >gate
	wait $pid
	status=$?
	if [ $status = $((128 + $(kill -l "$signal"))) ] && [ ! -e slow ] && ! compgen -G '*eh2sframe-*' >.out; then
		ok "$name"
	else
		not_ok "$name" "status $status, slow: $(ls -l slow 2>&1)"
	fi
}
signalled 'TERM while linking' TERM "$ld" ./slow-link wait -o slow
signalled 'HUP while linking' HUP "$ld" ./slow-link wait -o slow
# What the command does then is its own affair (files.sh); one that is killed has not converted.
printf '#!/bin/sh\necho >started\nread -r _ <gate\nkill -TERM $$\n' >slow-killed && chmod +x slow-killed
signalled 'TERM while converting' TERM env EH2SFRAME="$scratch/slow-killed" "$ld" ./slow-link at-once -o slow
# From a terminal everyone has the signal, the program too. An asynchronous command of a script
# ignores INT, and so would everything below it.
cat >interrupt.py <<'PY'
import os, signal, subprocess, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
child = subprocess.Popen(sys.argv[1:], start_new_session=True)
open('started').read()
os.killpg(child.pid, signal.SIGINT)
sys.exit(0 if child.wait() == -signal.SIGINT and not os.path.exists('slow') else 1)
PY
rm -f slow
is 'INT for the whole group' python3 interrupt.py "$ld" ./slow-link wait -o slow

### make -j8, a clean second run, and one that was killed in the middle.
mkdir many && cd many || exit 99
for ((i = 0; i < files; i++)); do
	echo "int f$i(int n) { return n ? f$i(n - 1) + $i : 0; }" >f$i.c
done
cp "$c" main.c
mapfile -t objects < <(printf 'f%s.o\n' $(seq 0 $((files - 1))) && echo main.o)
cat >Makefile <<'M'
OBJECTS := $(patsubst %.c,%.o,$(wildcard f*.c)) main.o
PROGRAMS := $(addprefix p,0 1 2 3 4 5 6 7 8 9)
all: $(PROGRAMS) lib.so
$(PROGRAMS): $(OBJECTS)
	$(CC) -o $@ $^
lib.so: $(filter-out main.o,$(OBJECTS))
	$(CC) -shared -o $@ $^
%.o: %.c
	$(CC) -fPIC -w -c -o $@ $<
M
is 'make -j8' make -s -j8 CC="gcc -B '$scratch/b in/link'"
for f in p? lib.so; do converted "$f" || not_ok "make -j8: $f"; done
is 'nothing to be done' sh -c 'make -j8 | grep -q "Nothing to be done"'
rm -f ./p? lib.so ./*.o
# The compiler alone makes the objects: what it leaves after a signal is its own affair.
make -s -j8 CC=gcc "${objects[@]}"
cat >slow-link <<'S'
#!/bin/sh
gcc "$@" && echo >../started && read -r _ <../gate
S
chmod +x slow-link
setsid make -s -j8 CC="'$ld' ./slow-link" >.out 2>&1 &
pid=$!
for _ in {1..8}; do read -r _; done <>../started
kill -s TERM -- -$pid
wait $pid
is 'a signal to make leaves no output that is not converted' sh -c '! ls | grep -E "^(p[0-9]|lib.so)$"'
is 'make again after a signal' make -s -j8 CC="'$ld' gcc"
for f in p? lib.so; do converted "$f" || not_ok "make again: $f"; done
: >"$RECORD"
rm -f ./*.o
EH2SFRAME=$scratch/record make -s -j8 CC="'$cc' gcc" "${objects[@]}"
cd ..
is 'make -j8, objects: each once' test "$(sort -u recorded | wc -l) $(wc -l <recorded)" = "$((files + 1)) $((files + 1))"
plan
