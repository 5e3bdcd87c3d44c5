# SPDX-License-Identifier: MIT
# Sourced by bad_input.sh: damaged call frame information, assembled from bad_input_*.S.
# shellcheck shell=bash disable=SC2154,SC2034 # src and eh2sframe are the caller's

# assemble NAME [OPTION...]: links bad_input_NAME.S; its .cfi_bytes become .eh_frame, because
# assemblers and linkers repair or refuse what is damaged.
assemble() {
	local name=$1
	shift
	gcc -nostdlib -static -Wl,--build-id=none -Wl,--no-eh-frame-hdr -Wl,--no-warn-rwx-segments \
		-Wl,-e,func -I "$src/../../vectors/rows" "$@" -o "$name.linked" "$src/bad_input_$name.S" &&
		objcopy --rename-section .cfi_bytes=.eh_frame "$name.linked" "$name" &&
		rm "$name.linked"
}

# damaged NAME WORDS [OPTION...]: nothing can be made of it; one line says why.
damaged() {
	local name=$1 words=$2
	shift 2
	if ! assemble "$name"; then
		not_ok "$name" 'cannot be assembled'
		return
	fi
	refused "$name" 1 "$words" "$@"
}

# spared NAME WORDS: the damage costs what it describes, is named, and the rest is converted.
spared() {
	if ! assemble "$1"; then
		not_ok "$1" 'cannot be assembled'
		return
	fi
	run "$1" "$1.out"
	if [ "$status" = 0 ] && grep -q -- "^eh2sframe: $1: .*$2" .stderr &&
		! grep -qv "^eh2sframe: $1: " .stderr && [ "$(wc -l <.stdout)" = 1 ] &&
		"$eh2sframe" verify -q "$1.out"; then
		ok "$1"
	else
		not_ok "$1" "$(streams)"
	fi
	# Demanding more than there is: one line all the same.
	fails "$1, --min-coverage" 5 'demands' --min-coverage=100 "$1" new
	rm -f "$1.out"
}

damaged lengths 'passes the end of the section'
damaged loops 'CIE'
damaged leb 'no FDE can be read; the first problem: augmentation data passes the record'
damaged periodic 'rules that depend on the PC'
damaged giant_periodic 'no function'
spared some_bad 'left out'

### Files that are no more than unusual.
# converted NAME: is, proven, within a minute of processor time; without bounds it would be hours.
converted() {
	if ! assemble "$1"; then
		not_ok "$1" 'cannot be assembled'
		return
	fi
	(ulimit -t 60; "$eh2sframe" -q "$1" "$1.out" && "$eh2sframe" verify -q "$1.out") >.stdout 2>.stderr
	status=$?
	if [ $status = 0 ]; then ok "$1"; else not_ok "$1" "$(streams)"; fi
	rm -f "$1.out"
}
converted period
# The signal frames leave operations for the PLT behind them.
converted budget
converted ranges
# Nobody agrees on what two of the records count from.
assemble bases
status_is bases 0 bases bases.out
for at in 18 4c; do
	is "bases, $at" grep -q "relative to text or data, which has no defined base, .eh_frame+0x$at; left out" .stderr
done
is 'bases: only the third has a row' grep -q ': 1 function,' .stdout
rm -f bases.out
# Nothing is wrong with it but that it is nowhere near its file.
converted giant
status_is 'giant, section' 0 section -q giant giant.section
rm -f giant.section

### A symbol name whose plain form doubles with every pair: 251 bytes stood for 570 MB.
name=_Z1f1PIiiES_IS0_S0_E
for c in 1 2 3 4 5 6 7 8 9 A B C D E F G H I J K L M N O P Q R S T U V W X Y Z; do
	name+="S_IS${c}_S${c}_E"
done
sed "s/@NAME@/$name/g" "$src/bad_input_name.S" >name.S
gcc -nostdlib -static -o name name.S
status_is 'a name that doubles, report -v' 0 report -v name
is 'a name that doubles is given as it is' grep -q "$name" .stdout
