# SPDX-License-Identifier: MIT
# Sourced by cli.sh, bad_input.sh and others: tap.sh, and one run of the command with all that can be
# seen of it. The caller has set eh2sframe.
# shellcheck shell=bash disable=SC2154 # eh2sframe is the caller's
eh2sframe=$(realpath "$eh2sframe")
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "${BASH_SOURCE[0]%/*}/tap.sh"
status=

# run ARGUMENT...: sets status; standard output and error are in the files .stdout and .stderr.
run() {
	"$eh2sframe" "$@" >.stdout 2>.stderr </dev/null
	status=$?
}

# The streams of the last run, for a report.
streams() {
	printf 'status %s\n' "$status"
	sed 's/^/stdout: /' .stdout | head -n 20
	sed 's/^/stderr: /' .stderr | head -n 40
}

# All that a failed command must not change: names, contents, modes, owners. One process, because it runs often.
picture() {
	tar -c --sort=name --mtime=@0 --exclude=./.stdout --exclude=./.stderr --exclude=./.before --ignore-failed-read . \
		2>/dev/null
}

# status_is NAME STATUS ARGUMENT...
status_is() {
	local name=$1 wanted=$2
	shift 2
	run "$@"
	if [ "$status" = "$wanted" ]; then ok "$name"; else not_ok "$name" "$(streams)"; fi
}

# Whether standard error is one line that begins with the words.
one_line() {
	local lines
	mapfile lines <.stderr
	[[ ${#lines[@]} = 1 && ${lines[0]} == "$1"*$'\n' ]]
}

# fails NAME STATUS WORDS ARGUMENT...: exactly one line on standard error, which contains the words
# and begins "eh2sframe: IN: " where IN is the first file among the arguments, behind the verb; nothing changed.
fails() {
	local name=$1 wanted=$2 words=$3 in=
	shift 3
	for argument; do
		[[ $argument == -* || $argument =~ ^(convert|section|remove|report|dump|verify|lint|check)$ ]] ||
			{ in=$argument; break; }
	done
	picture >.before
	run "$@"
	if [ "$status" = "$wanted" ] && one_line "eh2sframe: $in: " && grep -q -- "$words" .stderr &&
		[ ! -s .stdout ] && picture | cmp -s - .before; then
		ok "$name"
	else
		not_ok "$name" "wanted status $wanted, one line with '$words', and no change
$(streams)
$(diff <(tar -tvf .before) <(picture | tar -tv))"
	fi
}

# poke FILE OFFSET WIDTH VALUE: little-endian.
poke() {
	local bytes='' i
	for ((i = 0; i < $3; i++)); do
		bytes+=$(printf '\\x%02x' $((($4 >> (8 * i)) & 255)))
	done
	# shellcheck disable=SC2059 # the bytes are the format
	printf "$bytes" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# peek FILE OFFSET WIDTH: as a decimal number.
peek() {
	od -A n -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# shdr FILE NAME: the offset of the header of a section.
shdr() {
	local index
	index=$(readelf -SW "$1" | sed -n 's/^ *\[ *\([0-9]*\)\] \([^ ]*\) .*/\1 \2/p' |
		awk -v name="$2" '$2 == name { print $1; exit }')
	[ -n "$index" ] || { echo "no section $2 in $1" >&2; return 1; }
	echo $(($(peek "$1" 40 8) + 64 * index))
}

# section_offset FILE NAME: where its bytes are in the file.
section_offset() {
	peek "$1" $(($(shdr "$1" "$2") + 24)) 8
}

# section_size FILE NAME
section_size() {
	peek "$1" $(($(shdr "$1" "$2") + 32)) 8
}
