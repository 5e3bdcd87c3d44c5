#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The contract of the command (docs/eh2sframe.1.scd): options, exit statuses, what is printed. TAP.
#
#     cli.sh EH2SFRAME DIRECTORY [long]
#
# long has more tools, files and versions in cli_again.sh.
eh2sframe=$1
src=$2
tools='strip objcopy patchelf' whole='' formats=3
[ "${3-}" != long ] || tools='strip strip-g objcopy patchelf llvm-strip llvm-objcopy chrpath eu-strip' whole=whole formats='1 2 3'
# shellcheck source-path=SCRIPTDIR/../../shared source=cli_lib.sh
. "$src/../../shared/cli_lib.sh"

cat >prog.c <<'C'
#include <stdio.h>
__attribute__((noinline, section(".text.special"))) int special(int n)
{
	return printf("special %d\n", n);
}
int main(int argc, char **argv) { return special(argc) < 0 || !argv[0]; }
C
gcc -O2 -o good prog.c -Wl,--unique=.text.special || exit 99
echo 'what was here before' >out
cp good prog2
echo text >text
"$eh2sframe" report --json -o json good || exit 99
"$eh2sframe" good conv >summary || exit 99

### Usage: status 2, one line, nothing done.
# The picture is that of the first usage: each that follows leaves it as it is.
usage() {
	local name="usage: $*"
	run "$@"
	if [ "$status" = 2 ] && one_line 'eh2sframe: ' && [ ! -s .stdout ] && picture | cmp -s - .before; then
		ok "$name"
	else
		not_ok "$name" "$(streams)"
	fi
}
picture >.before
usage
usage good
usage good out more
for verb in report dump verify lint check merge; do
	usage $verb
	is 'says what to give' one_line "eh2sframe: $verb: give at least one "
done
for verb in convert section remove diff; do
	usage $verb good
	usage $verb good out more
	is 'says what to give' grep -qE "^eh2sframe: $verb: give (IN and OUT|two JSON reports, the old one first); see eh2sframe $verb --help$" .stderr
done
usage --format=0 good out
usage --format=1 --no-pcrel good out
usage --format=9 good out
is 'names the right values' one_line 'eh2sframe: --format=9: give 1, 2 or 3'
usage --format
is 'says what is missing' one_line 'eh2sframe: --format needs a value; see eh2sframe convert --help'
usage --method=back good out
usage --optimize=tiny good out
is 'names the right words' one_line 'eh2sframe: --optimize=tiny: give none, share or size'
usage --witness=readelf good out
usage --for=me good out
is 'names the readers' one_line 'eh2sframe: --for=me: give glibc, linux-user, linux-arm64, binutils-2.40, '
for option in --baseline --report-file --debug-file --debug-dir; do
	usage $option= good out
	is 'says what is missing' one_line "eh2sframe: $option has an empty name; give one"
done
usage verify --cfi= good
is 'says what is missing' one_line 'eh2sframe: --cfi has an empty name; give one'
usage report -o '' good
is 'says it of -o' one_line 'eh2sframe: -o has an empty name; give one'
usage --min-coverage=most good out
usage --min-coverage=101 good out
usage --min-coverage=nan good out
usage --min-coverage=-1 good out
usage --min-coverage= good out
usage --min-coverage-of=all --min-coverage=5 good out
usage --min-coverage-of=text good out
usage --max-growth=some good out
usage --max-size=4K good out
usage section --address=-1 good out
usage section --address=far good out
usage section '--address= -5' good out
usage report --json --html good
is 'says so' one_line 'eh2sframe: give --json or --html, not both'
usage report --functions --json good
usage report --debug-file=text good good
is 'says what is for several' one_line 'eh2sframe: --debug-file is for one program; give --debug-dir for several'
usage --witness=code --no-verify good out
usage --witness=libdwarf --no-verify good out

# The verb is the first word, and names that are near are told.
usage tree
usage tree good
is 'tells the verbs of trees' one_line 'eh2sframe: tree: no verb good; say what to do: eh2sframe tree convert, remove, '
usage tree dump good
usage tree reprot good
is 'tells the one that is meant' one_line 'eh2sframe: tree: no verb reprot; did you mean report?'
usage help reprot
usage help report extra
is 'takes one verb' one_line 'eh2sframe: help: extra is one word too many; give one verb'
usage -q help report
is 'says how' one_line 'eh2sframe: the verb comes first: eh2sframe help report'
for verb in section merge diff dump verify remove check lint report; do
	usage --$verb good out
	is 'knows the verb' one_line "eh2sframe: no option --$verb; did you mean the verb $verb?"
done
usage report --dump=3 good
is 'says where the options are' one_line 'eh2sframe: report: unknown option --dump; see eh2sframe report --help'
usage -q report good
is 'says how' one_line 'eh2sframe: the verb comes first: eh2sframe report -q good'
usage -q tree report good
is 'says how' one_line 'eh2sframe: the verb comes first: eh2sframe tree report -q good'
usage reprot good
is 'tells the one that is meant' one_line 'eh2sframe: reprot: neither a verb nor a file; did you mean the verb report?'
usage --refersh good out
is 'tells the option that is meant' one_line 'eh2sframe: unknown option --refersh; did you mean --refresh?'
usage --refre good out
is 'takes no short name of it' one_line 'eh2sframe: unknown option --refre; did you mean --refresh?'
usage report --jsn good
is 'tells the option that is meant' one_line 'eh2sframe: report: unknown option --jsn; did you mean --json?'
usage --nonsense good out
is 'tells where they are' one_line 'eh2sframe: unknown option --nonsense; see eh2sframe convert --help'
usage -x good out
usage -zq good out
is 'names the letter' one_line 'eh2sframe: unknown option -z;'
usage report --json=3 good
is 'knows the option' one_line 'eh2sframe: report: --json=3: it takes no value'

# Options go with the verbs that they mean something to. A limit where nothing is measured would seem to have passed.
# goes_not VERB OPTION...
goes_not() {
	local verb=$1 option
	shift
	for option; do
		# shellcheck disable=SC2086 # words
		usage $verb $option json json
		is 'says what it goes with' one_line "eh2sframe: $verb: no option ${option%%=*} (it goes with "
	done
}
usage -o file good out
is 'says what it goes with' one_line \
	'eh2sframe: no option -o (it goes with report, merge, diff, check and tree report); see eh2sframe convert --help'
goes_not convert --address=0x1000 --cfi=good --include=lib --dry-run --json
goes_not section --max-growth=5 --refresh --method=grow --object-sections=one
goes_not report --max-growth=5 --refresh --report-file=new --no-verify --cfi=good
for verb in merge diff; do
	goes_not $verb --min-coverage=100 --max-size=1 --exclude-symbol=zz --for=glibc --functions --baseline=json --jobs=1
done
for verb in remove dump lint; do
	goes_not $verb --min-coverage=1 --max-size=1000000 --exclude-symbol=main --report-file=new --refresh --baseline=json
done
goes_not verify --min-coverage=1 --max-size=1000000 --refresh --report-file=new --include=lib --allow-unmatched
goes_not check --exclude-symbol=main --refresh --max-size=1
goes_not 'tree report' --report-file=new --dry-run --debug-file=text
goes_not 'tree convert' --json -o --debug-file=text
for verb in verify lint remove; do
	goes_not "tree $verb" --cfi=good --report-file=new --refresh --min-coverage=1 --max-size=1 --dry-run
done
usage tree convert --exclude= good
usage tree convert --include
usage tree convert --exclude=lib/ good
is 'says what to write' one_line 'eh2sframe: --exclude=lib/ matches no file; write lib/* for all files below it'

# No file takes the place of another.
usage section good good
usage section good ./good
usage --report-file=out good out
usage --report-file=./new good new
usage section --report-file=new good "$PWD/new"
usage report -o good good
usage report -o text conv good text
usage tree report -o good good
for words in "tree check --report-file=good" "tree convert --report-file=good" "report -o good"; do
	# shellcheck disable=SC2086 # words
	usage $words conv
	is 'says why' one_line 'eh2sframe: good: is an ELF file, an archive or a recording, which this would replace; give another name'
done
ar rc good.a good && picture >.before
usage tree report --objects --json -o good.a .
is 'says it of an archive' one_line 'eh2sframe: good.a: is an ELF file, an archive or a recording, which this would replace; give another name'
rm good.a && picture >.before
usage tree convert --report-file=good .

### Options that ask about the program itself.
status_is '--help' 0 --help
is '--help goes to standard output' grep -q '^Usage: eh2sframe' .stdout
is 'in one screen' test "$(wc -l <.stdout)" -le 40 -a "$(wc -L <.stdout)" -le 100
cp .stdout help
for words in -h help 'help help' 'help --help' 'help -h' '-q -h'; do
	# shellcheck disable=SC2086 # words
	status_is "$words" 0 $words
	is "$words is --help" cmp help .stdout
done
for verb in convert section remove report merge diff dump verify lint check \
	tree\ convert tree\ remove tree\ report tree\ verify tree\ lint tree\ check tree; do
	# shellcheck disable=SC2086 # words
	status_is "$verb --help" 0 $verb --help
	is "$verb --help begins with the usage" grep -q "^Usage: eh2sframe $verb " .stdout
	is "$verb --help fits a screen" test "$(wc -l <.stdout)" -le 60 -a "$(wc -L <.stdout)" -le 100
	cp .stdout of-verb
	# shellcheck disable=SC2086 # words
	status_is "help $verb" 0 help $verb
	is "help $verb is the same" cmp of-verb .stdout
	[[ $verb == tree\ * ]] || is "--help has $verb" grep -q "^  $verb [A-Z]" help
done
status_is '--version' 0 --version
is '--version begins with the version' sh -c 'head -n 1 .stdout | grep -qxE "eh2sframe [0-9]+\.[0-9]+\.[0-9]+(-rc[0-9]+)?"'
is '--version tells whether x86-64 code is decoded' grep -qE '^(with|without) Zydis: ' .stdout
for part in zstd seccomp Landlock; do
	is "--version tells of $part" grep -qE "^(with|without) $part: " .stdout
done
for library in jansson libdwarf libelf zlib; do
	is "--version tells the version of $library" grep -qE "^libraries: .*\b$library [0-9]+(\.[0-9]+)*(,|$)" .stdout
done
for part in Zydis zstd; do
	is "and of $part, where it is there" test "$(grep -c "^with $part: " .stdout)" = "$(grep -cE "^libraries: .*\b$part [0-9]+\.[0-9.]+(,|$)" .stdout)"
done
# The file that runs has its version in its name.
runs=$(realpath "$(ldd "$eh2sframe" | sed -n 's/.*libz\.so\.1 => \([^ ]*\).*/\1/p')" | sed -n 's/.*\.so\.//p')
is '--version tells the zlib that runs' grep -qF ", zlib $runs" .stdout
cp .stdout version
status_is '-V' 0 -V
is '-V is --version' cmp version .stdout
status_is 'tree --version' 0 tree --version
is 'is the same' cmp version .stdout

### Conversion.
line="^good: [0-9]* functions, [0-9.]*% of code with CFI and [0-9.]*% of all executable code covered, [0-9]* bytes .sframe v2 ([0-9.]* of .eh_frame), [0-9]* refused$"
is 'the summary line' grep -q "$line" summary
is 'one line is all' test "$(wc -l <summary)" = 1
is 'the result runs' test "$(./conv)" = 'special 1'
is 'the result has a loaded section' test "$(readelf -lW conv | grep -c '^ *GNU_SFRAME')" = 1
status_is 'a second run' 0 good conv2
is 'is byte-identical' cmp conv conv2
cp good place
status_is 'IN and OUT the same' 0 place place
is 'gives the same' cmp conv place
status_is '-q' 0 -q good conv2
is '-q prints nothing' test ! -s .stdout -a ! -s .stderr
status_is '-v' 0 -v good conv2
is '-v names what is refused' grep -q '^  ra-undefined: 0x.* of the function at 0x.* _start' .stdout
for option in --format=2 --method=auto --optimize=share --no-verify \
	--witness=own --witness=libdwarf; do
	status_is "$option" 0 "$option" good conv2
	is "$option changes nothing here" cmp conv conv2
done
for option in --format=1 --no-pcrel --format=3; do
	status_is "$option" 0 "$option" good conv3
	is "$option is proven" "$eh2sframe" verify -q conv3
	is "$option is another section" test "$(cmp conv conv3 >&2 || echo differs)" = differs
	status_is "$option gives way to --refresh" 0 --refresh conv3 conv3
	is "$option, and back" cmp conv conv3
	status_is "$option takes the place" 0 --refresh "$option" conv conv3
	is "$option is proven then" "$eh2sframe" verify -q conv3
done
status_is '--method=grow' 0 --method=grow good conv3
is '--method=grow is proven' "$eh2sframe" verify -q conv3
status_is '--optimize=none' 0 --optimize=none good conv2
is '--optimize=none is proven' "$eh2sframe" verify -q conv2
is '--optimize=none stores more' test "$(section_size conv2 .sframe)" -gt "$(section_size conv .sframe)"

### Coverage, exclusion.
status_is '--min-coverage=10' 0 --min-coverage=10 good conv2
address() { nm good | awk -v name="$1" '$3 == name { print $1 }' | sed 's/^0*//'; }
# has FILE NAME: whether dump shows a function at the address of a symbol.
has() { "$eh2sframe" dump "$1" | grep -Eq "pc = 0x0*$(address "$2")[, ]"; }
lacks() { ! has "$@"; }
is 'main is there' has conv main
is 'special is there' has conv special
status_is '--exclude-symbol' 0 --exclude-symbol='mai?' good conv2
is 'main is left out' lacks conv2 main
is 'special still is' has conv2 special
status_is '--exclude-section' 0 --exclude-section='.text.sp*' -v good conv2
is 'is told' grep -q '^  excluded: ' .stdout
is 'special is left out' lacks conv2 special
is 'main still is' has conv2 main
status_is '--exclude-symbol twice' 0 --exclude-symbol=main --exclude-symbol=special good conv2
is 'main is left out again' lacks conv2 main
is 'and so is special' lacks conv2 special

### The bare section.
status_is 'section' 0 section good section
is 'starts with the magic number and version 2' test "$(peek section 0 4)" = $((0x0502dee2))
status_is 'section again' 0 section -q good section2
is 'is byte-identical' cmp section section2
objcopy --add-section .sframe=section --set-section-flags .sframe=alloc,readonly good added 2>/dev/null
status_is 'objcopy --add-section: dump' 0 dump added
status_is 'objcopy --add-section: verify' 0 verify added
status_is '--address' 0 section --address=0x100000 good section2
if cmp -s section section2; then not_ok 'another address, other bytes'; else ok 'another address, other bytes'; fi

### The verbs dump, verify and report.
status_is 'dump' 0 dump conv
is 'dump shows functions' grep -q 'func idx' .stdout
status_is 'verify' 0 verify conv
is 'verify says so' grep -q '^conv: 0 differences' .stdout
status_is 'verify -q' 0 verify -q conv
is 'verify -q prints nothing' test ! -s .stdout -a ! -s .stderr
status_is 'verify --witness=libdwarf' 0 verify --witness=libdwarf conv
# A function of more rows than libdwarf is asked for.
cat >rows.S <<'S'
	.globl main
main:	.cfi_startproc
	.rept 5000
	nop
	.cfi_adjust_cfa_offset 8
	.endr
	ret
	.cfi_endproc
	.section .note.GNU-stack,"",@progbits
S
gcc -o rows rows.S
status_is 'more rows than libdwarf is asked for' 0 --witness=libdwarf rows rows.conv
is 'it says what was not compared' grep -Eq '^eh2sframe: rows: 90[0-9] bytes of code not compared with libdwarf, because their functions have too many rows; ' .stderr
status_is 'and verify' 0 verify --witness=libdwarf rows.conv
is 'says so' grep -Eq '; 90[0-9] bytes not compared with libdwarf' .stdout
# Fewer rows of a longer program.
sed -i 's/\.rept 5000/nop\n\t.cfi_adjust_cfa_offset 8\n\t.rept 100000\n\t.cfi_def_cfa_offset 8\n\t.endr\n\t.rept 2000/' rows.S
gcc -o rows rows.S
status_is 'a program of 200 KB' 0 --witness=libdwarf rows rows.conv
is 'it looks at few of its rows' grep -Eq '^eh2sframe: rows: 13[0-9][0-9] bytes of code not compared with libdwarf' .stderr
rm -f rows rows.S rows.conv
status_is 'verify --cfi' 0 verify --cfi=good conv
fails '--cfi of another program' 1 '--cfi=/bin/ls is another program: its build-id differs' verify conv --cfi=/bin/ls
objcopy --remove-section .note.gnu.build-id good nameless
status_is '--cfi without a build-id' 0 verify --cfi=nameless conv
status_is 'verify --cfi=missing' 3 verify --cfi=missing conv
status_is 'report' 0 report good
is 'report prints coverage' grep -q 'code with CFI' .stdout
status_is 'report -v' 0 report -v good
is 'report -v names functions' grep -q 'ra-undefined: .*_start' .stdout
status_is 'report -o' 0 report -o report good
is 'report -o writes there' grep -q 'code with CFI' report
is 'report -o prints nothing' test ! -s .stdout
status_is 'report --output' 0 report --output=report2 good
is 'report --output is the same' cmp report report2
status_is 'report of a file that has a section' 0 report conv

### A section that says something else than the CFI: one byte of one CFA offset.
cp conv altered
at=$(section_offset altered .sframe)
row=$((at + 28 + $(peek altered $((at + 8)) 4) * 20))
poke altered $((row + 2)) 1 $((($(peek altered $((row + 2)) 1) + 8) & 127))
fails_verify() {
	run "$@"
	if [ "$status" = 4 ] && one_line 'eh2sframe: altered: 1 difference between .sframe and CFI; --refresh replaces the section' && grep -q "^altered: 0x.*, \.sframe+0x$(printf %x $((row - at))): .* is .* in .sframe, .* in CFI\$" .stdout; then
		ok "status 4: $*"
	else
		not_ok "status 4: $*" "$(streams)"
	fi
}
fails_verify verify altered
fails_verify verify -q altered
fails_verify verify --witness=libdwarf altered

### Several inputs: the highest of 1 to 5.
status_is 'several, all good' 0 verify conv added
status_is 'several, one without a section' 0 verify conv good
status_is 'several, none with a section' 6 dump good good prog2
is 'one line for each that failed' test "$(wc -l <.stderr)" = 3
status_is 'several, one no ELF file' 1 verify text conv good
status_is 'several, one altered' 4 verify text altered conv good
status_is 'several, one missing' 3 dump conv missing text
is 'those that are good are printed' grep -q 'func idx' .stdout
status_is 'several reports' 1 report good text conv

### Back and again.
status_is 'remove' 0 remove conv back
is 'gives the input' cmp good back
cp conv place
status_is 'remove in place' 0 remove place place
is 'gives the input, too' cmp good place
fails 'remove without a section' 6 'no .sframe' remove good out
fails 'remove what objcopy added' 6 'no .sframe' remove added out
strip -o rewritten conv 2>/dev/null
fails 'remove after strip' 1 'is void; --refresh replaces the section, objcopy --remove-section' remove rewritten out
cp conv rewritten && echo >>rewritten
fails 'remove before a payload, where --refresh is refused' 1 'is void; objcopy --remove-section' remove rewritten out
fails 'a second conversion' 6 '--refresh' conv out
status_is '--refresh' 0 --refresh conv conv2
is '--refresh gives what a conversion gives' cmp conv conv2
status_is '--refresh of a file without' 0 --refresh good conv2
is 'is a conversion' cmp conv conv2
"$eh2sframe" -q --exclude-symbol=main good other
status_is '--refresh with other options' 0 --refresh other conv2
is 'leaves nothing of the first' cmp conv conv2
status_is '--refresh of what objcopy added' 0 --refresh added conv2
is 'is proven' "$eh2sframe" verify -q conv2

# shellcheck source-path=SCRIPTDIR source=cli_again.sh
. "$src/cli_again.sh"
# shellcheck source-path=SCRIPTDIR source=cli_tree.sh
. "$src/cli_tree.sh"
# shellcheck source-path=SCRIPTDIR source=cli_files.sh
. "$src/cli_files.sh"
plan
