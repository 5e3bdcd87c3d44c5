#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a build relies on to fail: shares of code, sizes, patterns that match nothing, files without a
# section. Every gate is shown to let pass, too. TAP.
#
#     gates.sh EH2SFRAME DIRECTORY
eh2sframe=$1
src=$2
# shellcheck source-path=SCRIPTDIR/../../shared source=cli_lib.sh
. "$src/../../shared/cli_lib.sh"

cat >prog.cc <<'C'
namespace ns { __attribute__((noinline)) int f(int n) { return n + 1; } }
extern "C" int bare(int);
int main(int argc, char **argv) { (void)argv; return ns::f(argc) + bare(argc) < 0; }
C
cat >bare.S <<'S'
	.globl bare
	.type bare, @function
bare:	.rept 1000
	incl %edi
	.endr
	mov %edi, %eax
	ret
	.size bare, .-bare
	.section .note.GNU-stack,"",@progbits
S
g++ -O2 -o good prog.cc bare.S || exit 99
g++ -O2 -Wl,--export-dynamic-symbol=bare -o stripped prog.cc bare.S && strip stripped || exit 99
g++ -O2 -static-pie -o static prog.cc bare.S && strip static || exit 99
"$eh2sframe" -q good conv || exit 99
echo 'what was here before' >out

# share FILE KEY: of the JSON report.
share() {
	"$eh2sframe" report --json "$1" | sed -n "s/.*\"$2\":\([0-9.]*\)[,}].*/\1/p"
}

### The shares, and what each is of.
is '_start has no row' test "$(share good outermost)" = 34
is 'and is not missing' test "$(share good percent_of_cfi)" = 100.0
least=$(share good executable)
is 'code without CFI is there' test "$((least - $(share good with_cfi)))" -gt 2000
status_is '--min-coverage=100' 0 --min-coverage=100 good new
status_is 'cfi is the default' 0 --min-coverage=100 --min-coverage-of=cfi good new2
is 'with the same result' cmp new new2
fails 'of the text' 5 '% of all executable code is covered; --min-coverage demands 50.0000%' \
	--min-coverage=50 --min-coverage-of=text good out
status_is 'less of the text' 0 --min-coverage=1 --min-coverage-of=text good new
fails 'less than all code with CFI' 5 '% of the code with CFI is covered; --min-coverage demands 100' \
	--min-coverage=100 --exclude-symbol=main good out
status_is 'report' 5 report --min-coverage=50 --min-coverage-of=text good
is 'has both shares' grep -Eq '^  executable +[0-9]+ bytes of code, [0-9]+ covered \([0-9.]+%\)$' .stdout
is 'says why _start is not missing' grep -q '^  outermost *34 bytes have no caller' .stdout
run good new
is 'the summary has both' grep -Eq ' 100.00% of code with CFI and [0-9]\.[0-9]+% of all executable code covered, ' .stdout

### The share of nothing is no number.
gcc -O2 -fno-asynchronous-unwind-tables -shared -fPIC -nostdlib -x assembler bare.S -o nothing.so || exit 99
echo 'const int data[9] = {1};' | gcc -shared -fPIC -nostdlib -x c - -o data.so || exit 99
no_cfi='no code has CFI; --min-coverage demands that 1.0000% of it is covered'
fails 'code without CFI' 5 "$no_cfi" --min-coverage=1 nothing.so out
fails 'with rows that are derived' 5 "$no_cfi" --derive --min-coverage=1 nothing.so out
status_is 'of all code they count' 0 --derive --min-coverage=1 --min-coverage-of=text nothing.so new
status_is 'beside another file' 5 report --min-coverage=1 good nothing.so
status_is 'no code at all' 6 --min-coverage=1 data.so new
status_is 'no code beside another file' 0 report --min-coverage=1 good data.so
mkdir bare && cp good nothing.so data.so bare
status_is 'in a tree' 5 tree convert --min-coverage=1 bare
is 'it is the one that fails' grep -q '^1 converted, 1 skipped (no-cfi 1), 1 failed' .stdout

mkdir tree && cp good tree/one && cp good tree/two
status_is 'tree convert' 5 tree convert --min-coverage=50 --min-coverage-of=text tree
is 'changes nothing' sh -c 'cmp good tree/one && cmp good tree/two'
status_is 'tree convert -v' 0 tree convert -v --min-coverage=100 --report-file=report.json tree
is 'has both, in each line' test "$(grep -Ec '100.00% of code with CFI and [0-9]\.[0-9]+% of all executable code covered' .stdout)" = 3
is 'and so has the report' test "$(grep -c '"percent_of_executable"' report.json)" = 3
cp good headerless
poke headerless $((0x28)) 8 0 # e_shoff
poke headerless $((0x3c)) 2 0 # e_shnum
poke headerless $((0x3e)) 2 0 # e_shstrndx
if run report headerless && [ "$status" = 0 ]; then
	is 'segments of a file without section headers' grep -q '^  executable' .stdout
fi

### Sizes.
size=$(section_size conv .sframe)
status_is '--max-size of what it is' 0 --max-size="$size" good new
fails '--max-size of less' 5 "\.sframe has $size bytes; --max-size allows $((size - 1))" --max-size=$((size - 1)) good out
fails 'section --max-size' 5 '--max-size allows' section --max-size=9 good out
status_is 'report --max-size' 5 report --max-size=9 good
fails '--max-growth' 5 'the file grows by .*; --max-growth allows 0.1000%' --max-growth=0.1 good out
was=$(stat -c %s good) now=$(stat -c %s conv)
percent=$((100 * (now - was) / was + 1))
status_is '--max-growth of more' 0 --max-growth="$percent" good new
is 'the result is the same' cmp conv new
fails '--refresh grows from the original' 5 '--max-growth allows' --refresh --max-growth=0.1 conv out
gcc -O2 -c -x c -o object.o - <<<'int f(int n) { return n; }'
fails 'an object grows, too' 5 'the file grows by' --max-growth=0.1 --format=3 object.o out
status_is 'an object that may' 0 --max-growth=1000 --max-size=1000 --format=3 object.o new.o
fails 'an object has a size, too' 5 '--max-size allows' --max-size=9 --format=3 object.o out

### Patterns.
missing() { fails "$1" 2 "$2" "${@:3}"; }
missing 'a typo' '--exclude-symbol=mian matches no function with CFI; --allow-unmatched permits it' \
	--exclude-symbol=mian good out
missing 'a section' '--exclude-section=.nosuch matches' --exclude-section=.nosuch good out
missing 'one of two' '--exclude-symbol=b matches' --exclude-symbol=main --exclude-symbol=b good out
missing 'section' 'matches no function' section --exclude-symbol=mian good out
missing 'a function without CFI' 'matches no function with CFI' --exclude-symbol=bare good out
missing 'no symbols' 'because the file has no symbols' --exclude-symbol=main static out
missing 'dynamic symbols' 'the file has only dynamic symbols' --exclude-symbol=main stripped out
status_is '--allow-unmatched' 0 --allow-unmatched --exclude-symbol=mian good new
is 'excludes nothing' cmp conv new
is 'and is silent' test ! -s .stderr
status_is 'two that match the same function' 0 --exclude-section=.text --exclude-symbol='ns::*' good new
status_is '--allow-unmatched without symbols' 0 --allow-unmatched --exclude-symbol=main static new
is 'says it' one_line 'eh2sframe: static: no symbols, so --exclude-symbol'
status_is 'and with dynamic ones' 0 --allow-unmatched --exclude-symbol=main stripped new
is 'says that' one_line 'eh2sframe: stripped: only dynamic symbols, so --exclude-symbol'
for name in '_ZN2ns1fEi' 'ns::f(int)' 'ns::*' '*(int)'; do
	status_is "--exclude-symbol=$name" 0 -v --exclude-symbol="$name" good new
	is "$name is left out" grep -q '^  excluded: .* ns::f(int)$' .stdout
	is "$name alone" test "$(grep -c '^  excluded: ' .stdout)" = 1
done

### Patterns, and several files.
status_is 'report: one of two files' 0 report --exclude-symbol=main good stripped
is 'and the other is named' grep -q '^eh2sframe: stripped: only dynamic symbols' .stderr
status_is 'report: none of two files' 2 report --exclude-symbol=mian good stripped
is 'is told once' test "$(grep -c 'mian matches no function with CFI in any file' .stderr)" = 1
status_is 'report of one' 2 report --json --exclude-symbol=mian good
is 'the report has it' grep -q '"pattern":"mian"' .stdout
fresh() { rm -rf tree && mkdir tree && cp good tree/one && cp "$@" tree/two; }
fresh stripped
status_is 'tree convert: one of two files' 0 tree convert --exclude-symbol=main tree
is 'counts files without symbols' one_line 'eh2sframe: --exclude-symbol: of 2 files, 0 have no symbols and 1 only dynamic ones'
status_is 'a second run, which converts none' 0 tree convert --exclude-symbol=main tree
fresh static
status_is 'tree convert -q: none of two files' 2 tree convert -q --exclude-symbol=mian --exclude-symbol=main tree
is 'says which' one_line 'eh2sframe: --exclude-symbol=mian matches no function with CFI in any file'
fresh stripped
status_is 'tree convert --allow-unmatched' 0 tree convert -q --allow-unmatched --exclude-symbol=mian tree
is 'is silent' test ! -s .stderr

### Nothing to look at.
cp conv added
for verb in verify lint dump; do
	status_is "$verb of a file without a section" 6 "$verb" good
	status_is "$verb of two without" 6 "$verb" good stripped
	status_is "$verb of one with, one without" 0 "$verb" conv good
	status_is "$verb of one without, one missing" 3 "$verb" good nowhere
done
gcc -O2 -c -fno-asynchronous-unwind-tables -x c -o nocfi.o - <<<'int f(int n) { return n; }'
status_is 'report of two without CFI' 6 report nocfi.o nocfi.o
status_is 'report of one with CFI' 0 report nocfi.o good
plan
