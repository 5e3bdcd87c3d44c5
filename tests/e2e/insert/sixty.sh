#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sixty real programs (sixty.list) do the same after conversion, by every method that applies, as before:
# output, errors, status and every file they make. So do compilers and libraries in programs that were not converted. With
# names only these programs, and by auto. TAP.
#
#     sixty.sh EH2SFRAME DIRECTORY [NAME...]
# shellcheck disable=SC2016,SC2154,SC2317 # dollars for others; kinds_lib.sh's; functions called by name
eh2sframe=$1 src=$2 chosen=${*:3}
# shellcheck source-path=SCRIPTDIR source=kinds_lib.sh
. "$src/kinds_lib.sh"
least=55
[ ! "$chosen" ] || least=$((($# - 2) / 2))
export HOME=$scratch TZ=UTC
GCC=$(readlink -f "$(command -v gcc)")
CC1=$(gcc -print-prog-name=cc1)
CC1PLUS=$(gcc -print-prog-name=cc1plus)
GCC_DIR=$(dirname "$CC1")
export GCC CC1 CC1PLUS GCC_DIR

fixtures() {
	printf '%s\n' one two two three four five seven eleven thirteen >words
	sed 's/four/4/' words >words2
	diff -u words words2 | sed 's/words2/words/' >changes
	printf '%s %s\n' c 30000 a 1 b 20 d 4000 >numbers
	printf '%s\n' a:b:c d:e:f >colons
	printf '%s\n' 'a b' 'b c' 'a d' 'd c' >pairs
	head -c 100000 "$GCC" >binary
	mkdir -p tree/a/b tree/c && cp words tree/a/b/w && cp numbers tree/c/ab
	cat >prog.c <<'C'
static int square(int x) { return x * x; }
int sum(const int *a, int n);
int sum(const int *a, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += square(a[i]);
	return s;
}
int main(void) { int a[] = {1, 2, 3}; return sum(a, 3); }
C
	cat >templates.cc <<'C'
template <int N> struct fib { enum { value = fib<N - 1>::value + fib<N - 2>::value }; };
template <> struct fib<0> { enum { value = 0 }; };
template <> struct fib<1> { enum { value = 1 }; };
int f(int n) { try { if (n) throw n; } catch (int e) { return e + fib<30>::value; } return 0; }
C
	gcc -O1 -g -c prog.c -o prog.o && gcc -O1 -S prog.c -o prog.s && gcc -E -P prog.c -o prog.i
	printf 'all: x y\n\t@cat x y\nx y:\n\t@echo $@ >$@\n' >rules
	printf 'rule cp\n  command = cp $in $out\nbuild copy: cp words\n' >rules.ninja
}

# run_in LINE: both streams, status and every file, of the program that is at $at now.
run_in() {
	rm -rf "$scratch/run" && cp -r "$scratch/fixtures" "$scratch/run" && cd "$scratch/run" || return
	bash -c "$1" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
	echo "status $?"
	cd "$scratch" || return
	cat stdout
	sed 's/^/stderr: /' stderr
	# What git and sqlite write has times in it; what they print does not.
	find run -type f ! -path 'run/repo/.git/*' ! -name data.db -exec cksum {} + | sort -k 3
}

# The placeholder of a line is a word of its own; dates have an @, too.
expand() { sed -E "s#(^|[ (])@( |\$)#\1\$at\2#g" <<<"$1"; }

try() {
	local wanted=$1 name=$2 line=$3 file method before after
	name=${name//\$CC1PLUS/$CC1PLUS}
	name=${name//\$CC1/$CC1}
	case " ${chosen:-${name##*/}} " in *" ${name##*/} "*) ;; *) return ;; esac
	if ! file=$(command -v "$name"); then
		skip "${name##*/}" "NO SUCH PROGRAM HERE"
		return
	fi
	file=$(readlink -f "$file") name=${name##*/}
	present=$((present + 1))
	at=$scratch/at/$name
	export at
	cp -p "$file" "$at"
	line=$(expand "$line")
	before=$(run_in "$line")
	if [ "${before%%$'\n'*}" != "status $wanted" ]; then
		not_ok "$name: the original does not do what it should" "${before:0:1500}"
		return
	fi
	for method in $methods; do
		rm -f out
		convert "$method" "$file" out
		case $? in
		1) continue ;;
		2) not_ok "$name, $method" "$said"; continue ;;
		esac
		if [ "$method" = auto ]; then
			mv out auto
			cp -p auto "$at"
		elif cmp -s auto out; then
			continue
		else
			cp -p out "$at"
		fi
		after=$(run_in "$line")
		if [ "$before" = "$after" ] && "$eh2sframe" verify -q "$at" && sframe_mapped "$at" >/dev/null; then
			ok "$name, $method${got:+ ($got)}"
		else
			not_ok "$name, $method" "$(diff <(echo "$before") <(echo "$after") | head -n 30)"
		fi
	done
	rm -f "$at" out auto
}

# A compiler whose every stage is converted still makes the same object.
toolchain() {
	local stage path
	mkdir tools
	for stage in cc1 as collect2 ld; do
		# gcc prints a bare name for what it looks up in PATH.
		path=$(gcc -print-prog-name="$stage")
		"$eh2sframe" -q "$(readlink -f "$(command -v "$path")")" "tools/$stage" || return
	done
	gcc -O2 -c fixtures/prog.c -o before.o && gcc -B "$scratch/tools" -O2 -c fixtures/prog.c -o after.o && cmp before.o after.o
}

# Libraries that do real work, in the process of programs that were not converted.
libraries() {
	local lib path before
	mkdir lib
	for lib in libcrypto.so.3 libc.so.6 libstdc++.so.6 libz.so.1; do
		path=$(readlink -f "/usr/lib/x86_64-linux-gnu/$lib")
		[ ! -e "$path" ] || "$eh2sframe" -q "$path" "lib/$lib" || return
	done
	before=$(openssl dgst -sha256 /bin/sh && openssl version) || return
	export LD_LIBRARY_PATH=$scratch/lib
	[ "$(ldd "$(command -v openssl)" | grep -c "$scratch/lib")" -ge 2 ] && [ "$(openssl dgst -sha256 /bin/sh; openssl version)" = "$before" ]
}

find_methods
[ ! "$chosen" ] || methods=' auto'
mkdir at fixtures run
(cd fixtures && fixtures) || { not_ok "the files to work on"; plan; }
present=0 listed=0
while read -r wanted name line; do
	case $wanted in '#'* | '') continue ;; esac
	listed=$((listed + 1))
	try "$wanted" "$name" "$line"
done <"$src/sixty.list"
echo "# $present of $listed programs are here"
is "sixty programs are listed" test $listed = 60
is "at least $least of them are here" test $present -ge $least
is "gcc with converted cc1, as, collect2 and ld" toolchain
if have openssl; then
	is "openssl with converted libcrypto and libc" libraries
else
	skip "openssl with converted libcrypto and libc" "needs openssl"
fi
plan
