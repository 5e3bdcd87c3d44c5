#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files that are no good: the exit status, one line that says why, nothing written. TAP.
#
#     bad_input.sh EH2SFRAME DIRECTORY [long]
#
# DIRECTORY holds the sources of damaged .eh_frame sections (bad_input_*.S) and ../../vectors/rows/raw.h.
eh2sframe=$1
src=$2
cuts=16 outs=(out new)
[ "${3-}" != long ] || cuts=64 outs=('out new')
# shellcheck source-path=SCRIPTDIR/../../shared source=cli_lib.sh
. "$src/../../shared/cli_lib.sh"

cat >prog.c <<'C'
#include <stdio.h>
int main(int argc, char **argv) { return printf("%d %s\n", argc, argv[0]) < 0; }
C
gcc -O2 -o good prog.c || exit 99
strip -o stripped good
echo 'what was here before' >out

# refused NAME STATUS WORDS [OPTION...]: file NAME, converted to a name that exists and to one that does not; without
# long to each in turn.
refused() {
	local name=$1 wanted=$2 words=$3 out
	shift 3
	for out in ${outs[n % ${#outs[@]}]}; do
		fails "$name to $out" "$wanted" "$words" "$@" "$name" "$out"
	done
}

# Reading commands on NAME end with a status of the contract, and without a second line.
readable() {
	local verb
	for verb in report dump verify remove; do
		if [ $verb = remove ]; then run remove "$1" new; else run $verb "$1"; fi
		if [ "$status" -le 6 ] && [ "$(wc -l <.stderr)" = $((status != 0)) ] && [ ! -e new ]; then
			ok "$1, $verb"
		else
			not_ok "$1, $verb" "$(streams)"
			rm -f new
		fi
	done
}

### No files of ours at all.
fails 'missing' 3 'No such file' missing out
mkdir directory
refused directory 1 'a directory; eh2sframe tree '
: >empty
refused empty 1 'not an ELF file'
printf '!<arch>\n' >no-members
refused no-members 6 'no member has CFI, nothing to do'
printf '!<thin>\n' >no-members
refused no-members 1 'a thin archive has only the names of its members'
fails 'dump of an archive' 1 'this is an archive; convert, remove, report' dump no-members
printf '!<arch>' >no-members
refused no-members 1 'not an ELF file: 7 bytes'
echo '#!/bin/sh' >script && chmod +x script
refused script 1 'not an ELF file'
head -c 4096 /dev/zero >zeros
refused zeros 1 'not an ELF file'
mkfifo pipe
refused pipe 1 'not a regular file'
if [ "$(id -u)" != 0 ]; then
	install -m 000 good unreadable
	fails 'unreadable' 3 'Permission denied' unreadable out
	rm -f unreadable
else
	skip 'unreadable' 'needs a user other than root'
fi

### ELF, but not for us.
printf '\t.text\n\t.globl _start\n_start: ret\n' >bits32.s
if as --32 -o bits32.o bits32.s && ld -m elf_i386 -o elf32 bits32.o; then
	refused elf32 1 'SFrame has no ABI for this machine: little-endian, 32-bit i386'
else
	skip elf32 'no 32-bit linker'
fi
gcc -O2 -c -o relocatable.o prog.c
refused relocatable.o 2 "--format=1"
# copy NAME OFFSET WIDTH VALUE...: good with bytes changed.
copy() {
	local name=$1
	shift
	cp good "$name"
	while [ $# -gt 0 ]; do
		poke "$name" "$1" "$2" "$3"
		shift 3
	done
}
copy machine 18 2 0xfedc
refused machine 1 'machine'
copy core 16 2 4
refused core 1 'core'
copy etnone 16 2 0
refused etnone 1 'type'
copy class 4 1 9
refused class 1 'class'
copy order 5 1 7
refused order 1 'byte order'
copy oldversion 6 1 0
refused oldversion 1 'version'
# A whole header in the other byte order: no x86-64 has it.
copy bigendian 5 1 2 16 2 0x0300 18 2 0x3e00 20 4 0x01000000 32 8 0 40 8 0 52 2 0x4000 \
	54 2 0x3800 56 2 0 58 2 0x4000 60 2 0 62 2 0
refused bigendian 1 'SFrame has no ABI for this machine: big-endian, 64-bit x86-64'

### Machines that SFrame has no ABI for: class, e_machine, name.
while read -r class machine name; do
	copy "machine$machine-$class" 4 1 "$class" 18 2 "$machine"
	refused "machine$machine-$class" 1 \
		"SFrame has no ABI for this machine: little-endian, .*-bit $name"
done <<-EOF
	1 62 x32
	1 3 i386
	1 40 ARM
	1 22 31-bit s390
	1 183 AArch64 ILP32
	1 243 RISC-V
	2 243 RISC-V
	2 258 LoongArch
	2 21 PowerPC64
	2 22 s390x
	2 8 MIPS
	2 0xfedc machine 0xfedc
EOF

### Tables that lie.
copy shoff 40 8 0x7fffffffffffffc0
refused shoff 1 'section header table'
copy shoff2 40 8 $(($(stat -c %s good) - 63))
refused shoff2 1 'section header table'
copy shnum 60 2 0xfeff
refused shnum 1 'section header table'
copy shentsize 58 2 0
refused shentsize 1 'section header table'
copy shstrndx 62 2 0xfe
refused shstrndx 1 'no section has a readable name'
copy phoff 32 8 0xffffffffffffffff
refused phoff 1 'program header table'
copy phentsize 54 2 1
refused phentsize 1 'program header table'
copy phnum0 56 2 0
refused phnum0 1 'no segment maps its bytes'
copy xnum 56 2 0xffff
refused xnum 1 'no segment maps its bytes'
copy xnum_huge 56 2 0xffff $(($(peek good 40 8) + 44)) 4 0xffffffff
refused xnum_huge 1 'program header table'
copy shnum_huge 60 2 0 $(($(peek good 40 8) + 32)) 8 0x400000000000001
refused shnum_huge 1 'section header table'
text=$(shdr good .text) || exit 99
eh_frame=$(shdr good .eh_frame) || exit 99
copy overlap $((text + 24)) 8 "$(section_offset good .rodata)"
refused overlap 1 'overlap'
copy beyond $((text + 24)) 8 0x7fffffff00000000
refused beyond 1 'past the end of the file'
copy frame_beyond $((eh_frame + 32)) 8 0xfffffffffffffff0
refused frame_beyond 1 '\.eh_frame, .* past the end of the file'
copy wraps $((text + 16)) 8 0xfffffffffffffff0
refused wraps 1 'address space' --method=grow
# The last PT_LOAD, that of the data, over the others.
data=$(readelf -lW good | awk '$1 ~ /^[A-Z]/ && $2 ~ /^0x/ { if ($1 == "LOAD") at = i; i++ } END { print at }')
data=$((64 + data * 56))
copy loads $((data + 16)) 8 $(($(peek good $((data + 8)) 8) & 0xfff))
refused loads 1 'PT_LOAD'
copy align $((data + 48)) 8 0x3001
refused align 1 'power of two'
copy filesz $((data + 32)) 8 0xffffffffffff
refused filesz 1 'past the end of the file'
copy memsz $((data + 40)) 8 0xffffffffffffff00
refused memsz 1 'impossible sizes'
# A section name is no place for a second line.
copy newline $((text + 24)) 8 "$(section_offset good .rodata)" \
	$(($(section_offset good .shstrtab) + $(peek good "$text" 4))) 2 0x0a0a
refused newline 1 'overlap'
for name in core phnum0 xnum_huge beyond frame_beyond wraps newline; do readable "$name"; done

### Truncated at equal parts of its length, with section headers and without.
cp good bare
poke bare 40 8 0
poke bare 58 2 0
poke bare 60 4 0
for file in good bare; do
	size=$(stat -c %s "$file")
	wrong=
	for ((i = 0; i < cuts; i++)); do
		head -c $((size * i / cuts)) "$file" >partial
		picture >.before
		run partial out
		if [ "$status" != 1 ] || ! one_line 'eh2sframe: partial: ' || ! picture | cmp -s - .before; then
			# What is cut off behind the last loaded byte is not missed without sections.
			if [ "$file $status" = 'bare 0' ] && "$eh2sframe" verify -q out; then
				echo 'what was here before' >out
				continue
			fi
			wrong+=" $i/$cuts: $(streams)"
		fi
	done
	rm -f partial
	if [ -z "$wrong" ]; then ok "$file truncated"; else not_ok "$file truncated" "$wrong"; fi
done

### Nothing to do, and what must not be touched.
objcopy --only-keep-debug good good.debug
refused good.debug 6 'no CFI'
gcc -nostdlib -static -Wl,--build-id=none -o noframe -x assembler - <<'S' || exit 99
	.text
	.globl _start
_start:	ret
S
refused noframe 6 'no CFI'
"$eh2sframe" -q good converted || exit 99
refused converted 6 'has .sframe'
fails 'verify without .sframe' 6 'no .sframe' verify good
fails 'dump without .sframe' 6 'no .sframe' dump good
fails 'remove without .sframe' 6 'no .sframe' remove good new
cp good payload
echo 'an archive that is looked for at the end' >>payload
refused payload 1 'payload'

# shellcheck source-path=SCRIPTDIR source=bad_input_frames.sh
. "$src/bad_input_frames.sh"
plan
