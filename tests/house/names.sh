#!/bin/bash
# SPDX-License-Identifier: MIT
# names.sh ROOT: names as docs/ARCHITECTURE.md ("Names") says, and functions, files and folders that one can overlook.
root=$(cd "$1" && pwd) || exit 99
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$(dirname "$(realpath "$0")")/../shared/tap.sh"
functions=$PWD/functions
cd "$root" || exit 99

# empty NAME TEXT: passes when there is nothing to complain of.
empty() { if [ -z "$2" ]; then ok "$1"; else not_ok "$1" "$2"; fi; }

# Lines of NAME KIND FOLDER FILE LENGTH, where KIND is static or global. A definition has type and name at the
# start of a line, and its body starts with a line that is `{`. The test "format" sees to that.
mapfile -t files < <(find base cfi code sframe gen walk cmd profile -name '*.[ch]')
awk '
	FNR == 1 { name = "" }
	/^[A-Za-z_].*\(/ && !/;$/ {
		name = $0
		gsub(/(ATTR|CMD)_[A-Z]+(\([^)]*\))? /, "", name)
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		kind = /(^| )static / ? "static" : "global"
		first = FNR
	}
	/^\{/ { body = name != "" }
	/^\}/ && body {
		folder = FILENAME
		sub(/\/[^\/]*$/, "", folder)
		print name, kind, folder, FILENAME, FNR - first + 1
	}
	/^\}/ || /;$/ && !body { name = ""; body = 0 }
' "${files[@]}" >"$functions"

# Or this test does not understand the style any more.
empty 'most files have functions' "$(awk -v files=${#files[@]} 'END { if (NR < 4 * files) print NR " only" }' "$functions")"

empty 'each function that other files see, but main, is defined in one file' "$(grep ' global ' "$functions" | sort -u | awk '
	$1 == name && $4 != file && name != "main" { print $1 " is in " file " and in " $4 }
	{ name = $1; file = $4 }')"

empty 'a function has at most 60 lines, but for the interpreter of CFI' "$(awk '
	$5 > 60 && $1 != "run_program" { print $1 " in " $4 " has " $5 }' "$functions")"
empty 'a file has at most 500 lines' "$(wc -l "${files[@]}" | awk '$1 > 500 && $2 != "total"')"
empty 'a folder has at most 20 sources' "$(printf '%s\n' "${files[@]}" |
	sed -n 's,/[^/]*\.c$,,p' | sort | uniq -c | awk '$1 > 20')"

empty "only base/rd.h sets a reader's position" "$(
	grep -nE '(rd|at|reader)(\.|->)pos(\+\+|--| [-+]?= )' "${files[@]}" | grep -v '^base/rd\.[ch]:')"

# begin FOLDER WORD...: functions of FOLDER that other files see begin with one of the words and _.
begin() {
	local folder=$1
	shift
	known="$known $folder"
	empty "$folder: functions for other files begin with $*" "$(awk -v folder="$folder" -v words="$*" '
		BEGIN { n = split(words, word, " ") }
		$2 == "global" && $3 == folder {
			for (i = 1; i <= n && index($1 "_", word[i] "_") != 1; i++)
				;
			if (i > n)
				print $1 " in " $4
		}' "$functions")"
}
known=
begin base err hash newfile percent plain rd regular slots stream task vec wr
begin cfi cfi
begin code code
begin code/machines code
begin base/names symbol symbols lines
begin base/program cmd print temporary
begin sframe sf
begin sframe/compact sf compact
begin gen/sources/go go
begin gen convert install
begin gen/arch arch
begin gen/elf image
begin gen/elf/object object
begin gen/sources cfi_sources debug_file image symbols
begin gen/insert insert undo
begin gen/object object
begin gen/options options method obstacle reader source
begin gen/report report
begin gen/rows cfi_input collect corrections coverage derived last_call last_calls optimize padding plt policy reduce refusal
begin gen/check callee need needs validate
begin gen/check/derive derive
begin gen/verify lint meaning prove verify
begin gen/lib api eh2sframe
begin walk walk eh2sframe_walk
begin cmd run main
begin cmd/archive archive
begin cmd/batch batch
begin cmd/common args cmd
begin base/sandbox apart main sandbox
begin cmd/report report
begin profile jit owner profile spent
begin profile/perfdata event perfdata
begin profile/stacks facts load profile rows space spaces unwinder
begin profile/record main names perf proc queue record recorder
begin profile/symbols inlined naming table
begin profile/output json_text output tree
begin profile/fold fold main
empty 'each folder has its words' "$(cut -d' ' -f3 "$functions" | sort -u | while read -r folder; do
	case " $known " in *" $folder "*) ;; *) echo "$folder" ;; esac
done)"
plan
