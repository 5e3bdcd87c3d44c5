#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The completions, in bash and zsh: every verb and option of the helps is offered, and the reverse, with
# the values that the help names. docs/options.py holds the man pages of eh2sframe against its table. TAP.
#
#     completions.sh EH2SFRAME TESTS_E2E COMPLETIONS DOCS RECORD FOLD
eh2sframe=$1
completions=$(realpath "$3")
docs=$(realpath "$4")
record=$(realpath "$5")
fold=$(realpath "$6")
# shellcheck source-path=SCRIPTDIR/../shared source=cli_lib.sh
. "$2/cli_lib.sh"
mkdir bin files
ln -s "$eh2sframe" bin/eh2sframe
ln -s "$record" bin/eh2sframe-record
ln -s "$fold" bin/eh2sframe-fold
PATH=$scratch/bin:$PATH
: >'files/one file' && : >files/two

# options COMMAND: by two ways: headings and synopsis of the man page, and the help.
options() {
	# Pages name options of other commands, too.
	sed -e '/^# EXIT STATUS/,$d' "$docs/$1.1.scd" | grep -E '^\*' |
		sed -e 's/\\//g' -e 's/\*eh2sframe-[a-z]* [^*]*\*//g' |
		grep -oE -- '(^|[^a-zA-Z-])--?[a-zA-Z][a-z-]*' | grep -oE -- '-.*' | sort -u >of.page
	in_help "$1" >of.help
	is "$1: the help has the options of the man page, and the reverse" diff of.page of.help
}
# in_help COMMAND VERB...: the options in the first column of its help.
in_help() { "$@" --help | sed -n '/^ *-/s/^\( *[^ ]*\( --[^ ]*\)*\).*/\1/p' | grep -oE -- '(^| )--?[a-zA-Z][a-z-]*' | grep -oE -- '-.*' | sort -u; }

# The verbs, of eh2sframe and below tree.
verbs='section remove report merge diff dump verify lint check convert'
uses=$verbs
for verb in convert remove report verify lint check; do uses+=" tree:$verb"; done
for use in $uses; do
	# shellcheck disable=SC2086 # words
	in_help eh2sframe ${use//:/ } >of.help."$use"
	while read -r option; do
		# Whatever is wrong with the rest of the line, it is not the option.
		# shellcheck disable=SC2086 # words
		eh2sframe ${use//:/ } "$option" --help >unknown 2>&1 </dev/null
		! grep -qE 'unknown option|no option' unknown || echo "$option"
	done <of.help."$use" >unknown.all
	is "$use: takes the options of its help" diff /dev/null unknown.all
done

# complete_words WORD...: what bash would offer for the last word, one to a line.
# shellcheck source=/dev/null
. "$completions/eh2sframe"
# shellcheck disable=SC2317 # called by the completion
compopt() { :; }
complete_words() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	"$(complete -p "$1" | sed 's/.* -F \([^ ]*\) .*/\1/')" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}"
}
# offers NAME EXPECTED WORD...
offers() {
	local name=$1 wanted=$2 got
	shift 2
	got=$(complete_words "$@" | sort)
	if [ "$got" = "$wanted" ]; then ok "$name"; else not_ok "$name" "wanted $wanted
got $got"; fi
}
for use in $uses; do
	# shellcheck disable=SC2086 # words
	complete_words eh2sframe ${use//:/ } - | grep -oE -- '^--?[a-zA-Z-]+' | sort -u >of.bash
	is "bash: $use: the options of the help, and the reverse" diff of.help."$use" of.bash
done
complete_words eh2sframe - | grep -oE -- '^--?[a-zA-Z-]+' | sort -u >of.bash
is 'bash: without a verb: those of convert' diff of.help.convert of.bash
is 'bash: all verbs' test "$(for verb in tree help $verbs; do complete_words eh2sframe "$verb"; done | tr '\n' ' ')" = "tree help $verbs "
offers 'bash: a file in place of a verb' 'files' eh2sframe fil
offers 'bash: a verb, begun' 'remove
report' eh2sframe re
offers 'bash: the verbs of help' 'verify' eh2sframe help v
offers 'bash: the verbs of tree' 'check
convert
lint
remove
report
verify' eh2sframe tree ''
offers 'bash: and of its help' 'remove
report' eh2sframe help tree re
offers 'bash: an option that has a value' '--format=' eh2sframe --form
offers 'bash: one that has none' '--json ' eh2sframe report --js
offers 'bash: one whose value can be left out' '--sandbox 
--sandbox=' eh2sframe report --sand
offers 'bash: values after =' '1
2
3' eh2sframe --format =
offers 'bash: values, one begun' 'grow' eh2sframe --method = g
offers 'bash: a long list of values' 'linux-arm64
linux-user' eh2sframe lint --for = linux
offers 'bash: the first of a list' 'debug_frame
derived' eh2sframe --source = de
offers 'bash: a value as a word of its own' 'none
share
size' eh2sframe tree convert --optimize ''
offers 'bash: a number' '' eh2sframe -j ''
offers 'bash: files after -o' 'files/one file
files/two' eh2sframe report -o files/
offers 'bash: files after =' 'files/two' eh2sframe verify --cfi = files/t
offers 'bash: files' 'files/one file
files/two' eh2sframe files/
offers 'bash: files of a tree' 'files/two' eh2sframe tree lint files/t
offers 'bash: files after an option whose value can be left out' 'files/two' eh2sframe --sandbox files/t
is 'bash: as bash loads it' bash --norc -c "set -u; . '$completions/eh2sframe'; complete -p eh2sframe"

for command in eh2sframe-record eh2sframe-fold; do
	options $command
	complete_words $command - | grep -oE -- '^--?[a-zA-Z-]+' | sort -u >of.bash
	is "bash: $command: the options of the man page, and the reverse" diff of.page of.bash
	cp of.page of.page.$command
	offers "bash: $command: files after a short option" 'files/two' $command -o files/t
done 2>&1
offers 'bash: folders' 'files' eh2sframe-fold --debug-dir = fil
offers 'bash: formats' 'firefox
folded
html' eh2sframe-fold --format = ''
offers 'bash: a recording' 'files/two' eh2sframe-fold --format = html files/t
offers 'bash: events' 'cycles' eh2sframe-record -e cy
is 'bash: a process' grep -qx $$ <(complete_words eh2sframe-record -p $$)
offers 'bash: the command that is recorded' 'eh2sframe-fold' eh2sframe-record --user -F 99 eh2sframe-f
offers 'bash: and behind --' 'eh2sframe-fold' eh2sframe-record --output = x -- eh2sframe-f
offers 'bash: its files' 'files/two' eh2sframe-record -o x ls -l files/t
offers 'bash: its options are not ours' '' eh2sframe-record ls --outp
if have zsh; then
	cat >zsh_offers <<-'Z'
		# zsh_offers DIR LINE: what is offered for a line, one to a line.
		zmodload zsh/zpty
		zpty z zsh -f -i
		zpty -w z "fpath=(${(q)1} \$fpath); autoload -Uz compinit && compinit -D -u; PS1=; unset zle_bracketed_paste"
		# Whatever would be added is printed; functions that ask for arrays keep theirs.
		zpty -w z 'compadd() {
			if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
			local -a hits
			builtin compadd -A hits "$@"
			print -rl -- "${hits[@]/#/HIT }"
		}
		null-line() { print BEGIN; }
		done-line() { print END; }
		compprefuncs=(null-line); comppostfuncs=(done-line)'
		# The line editor says itself when it reads: what is typed before that can be lost.
		zpty -w z 'zle-line-init() { print REA""DY; }; zle -N zle-line-init'
		zpty -r -m z seen '*READY*'
		zpty -w -n z "$2"$'\t'
		zpty -r -m z seen '*BEGIN*END*'
		print -r -- "${${seen##*BEGIN}//$'\r'/}" | sed -n 's/^.*HIT //p' | sort -u
		zpty -d z
	Z
	zsh_offers() { zsh -f zsh_offers "$completions" "$1" </dev/null; }
	zoffers() {
		local got
		got=$(zsh_offers "$3")
		if [ "$got" = "$2" ]; then ok "$1"; else not_ok "$1" "wanted $2
got $got"; fi
	}
	is 'zsh: reads it' zsh -f -n "$completions/_eh2sframe"
	# Each start of zsh takes a while, and it reads the helps as bash does.
	for use in convert lint tree:report; do
		{ zsh_offers "eh2sframe ${use//:/ } --"; zsh_offers "eh2sframe ${use//:/ } -"; } | grep -oE -- '^--?[a-zA-Z-]+' | sort -u >of.zsh
		is "zsh: $use: the options of the help, and the reverse" diff of.help."$use" of.zsh
	done
	zoffers 'zsh: a verb, begun' 'remove
report' 'eh2sframe re'
	zoffers 'zsh: the verbs of tree' 'remove
report' 'eh2sframe tree re'
	zoffers 'zsh: the verbs of help' 'verify' 'eh2sframe help v'
	zoffers 'zsh: a long list of values' 'linux-arm64
linux-user' 'eh2sframe lint --for=linux'
	zoffers 'zsh: files of a tree' 'two' 'eh2sframe tree lint files/t'
	for command in eh2sframe-record eh2sframe-fold; do
		{ zsh_offers "$command --"; zsh_offers "$command -"; } | grep -oE -- '^--?[a-zA-Z-]+' | sort -u >of.zsh
		is "zsh: $command: the options of the man page, and the reverse" diff "of.page.$command" of.zsh
	done
	zoffers 'zsh: the first of a list' 'debug_frame
derived' 'eh2sframe --source=de'
	zoffers 'zsh: values' '1
2
3' 'eh2sframe --format='
	zoffers 'zsh: files' 'one\ file
two' 'eh2sframe files/'
	zoffers 'zsh: files after =' 'two' 'eh2sframe verify --cfi=files/t'
	zoffers 'zsh: events' 'cpu-clock
cycles' 'eh2sframe-record --event='
	zoffers 'zsh: the command that is recorded' 'eh2sframe-fold' 'eh2sframe-record --user -F 99 eh2sframe-f'
	zoffers 'zsh: its files' 'two' 'eh2sframe-record -o x ls -l files/t'
	zoffers 'zsh: a recording' 'two' 'eh2sframe-fold --format=html files/t'
else
	skip zsh 'no zsh'
fi
plan
