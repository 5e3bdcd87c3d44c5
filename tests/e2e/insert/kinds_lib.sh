# SPDX-License-Identifier: MIT
# Sourced by kinds.sh, afterwards.sh and dlphdr.sh: the whole command, with every method of the
# insertion that it knows. The caller has set eh2sframe and src.
# shellcheck shell=bash disable=SC2154,SC2034 # src, eh2sframe, scratch: the callers'
raw=$eh2sframe
# shellcheck source-path=SCRIPTDIR source=insert_lib.sh
. "$src/insert_lib.sh"
eh2sframe=$raw

# What it does not know is a usage error. auto comes first: the methods are compared with it.
find_methods() {
	local method
	methods=
	for method in auto slack grow append; do
		"$eh2sframe" -q --method=$method "$eh2sframe" known >known.log 2>&1
		[ $? = 2 ] || methods="$methods $method"
	done
	rm -f known
	echo "# methods:$methods"
	case "$methods " in
	*" auto "*"append "*) ;;
	*) not_ok "auto and append are known" "$methods $(cat known.log)" ;;
	esac
}

declare -A taken not_taken

# convert METHOD IN OUT [OPTION...]: 0, and counted as taken; 1, and counted as not taken, with the
# reason; 2 for all that must not be, with what was said in said.
convert() {
	local method=$1 status why
	said=$("$eh2sframe" -v --method="$1" "${@:4}" "$2" "$3" 2>&1 >.stdout)
	status=$?
	got=$(sed -n 's/^ *method: //p' .stdout)
	[ "$method" = auto ] || got=$method
	if [ $status = 0 ]; then
		taken[${got:-append}]=$((${taken[${got:-append}]:-0} + 1))
		return 0
	elif [ $status = 1 ] && [ "$method" != auto ] && [ "$said" != "${said%the method * does not apply*}" ]; then
		why=${said##*the method }
		not_taken[$why]=$((${not_taken[$why]:-0} + 1))
		return 1
	elif [ $status = 1 ] && [ "$method" != auto ]; then
		# A refusal that concerns the file and not the method; auto says the same, or that is a fault.
		why="$method: ${said##*: }"
		not_taken[$why]=$((${not_taken[$why]:-0} + 1))
		return 1
	fi
	said="status $status: $said"
	return 2
}

# Each method that the command knows must have been taken, or its tests prove nothing.
all_methods_taken() {
	local method why
	for method in $methods; do
		[ "$method" != auto ] || continue
		if [ "${taken[$method]:-0}" -gt 0 ]; then
			ok "method $method: taken ${taken[$method]} times"
		else
			not_ok "method $method: never taken"
		fi
	done
	for why in "${!not_taken[@]}"; do
		echo "# not taken ${not_taken[$why]} times: $why"
	done | sort
}

# run_at PATH COMMAND...: its output and status; @ in it stands for PATH.
run_at() {
	local path=$1 words=() word
	shift
	for word; do words+=("${word//@/$path}"); done
	if [ "$(type -t "${words[0]}")" = function ]; then
		"${words[@]}" 2>&1 </dev/null
	else
		timeout 60 "${words[@]}" 2>&1 </dev/null
	fi
	echo "status $?"
}

build_id() { readelf -nW "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'; }

# Whether PT_GNU_SFRAME is the section and inside a read-only PT_LOAD that maps it there.
sframe_mapped() {
	local type off addr size flags want=() loads=() line section
	section=$(readelf -SW "$1" 2>/dev/null | sed -n 's/^ *\[ *[0-9]*\] \.sframe  *[^ ]* *\([0-9a-f]* [0-9a-f]* [0-9a-f]*\) .*/\1/p')
	while read -r line; do
		# shellcheck disable=SC2086 # words
		set -- $line
		type=$1 off=$(($2)) addr=$(($3)) size=$(($5)) flags=${*:7:$#-7}
		case $type in
		GNU_SFRAME) want=($off $addr $size) ;;
		LOAD) [ "$flags" != R ] || loads+=("$off $addr $size") ;;
		esac
	done < <(readelf -lW "$1" 2>/dev/null | sed 's/LOOS+0x474e554\b/GNU_SFRAME/' | grep -E '^ +(LOAD|GNU_SFRAME) ')
	[ ${#want[@]} = 3 ] || { echo "no PT_GNU_SFRAME"; return 1; }
	# shellcheck disable=SC2086 # words
	set -- $section
	[ "$((16#${1:-0})) $((16#${2:-0})) $((16#${3:-0}))" = "${want[1]} ${want[0]} ${want[2]}" ] ||
		{ echo "PT_GNU_SFRAME is not .sframe: ${want[*]}, $section"; return 1; }
	for line in "${loads[@]}"; do
		# shellcheck disable=SC2086 # words
		set -- $line
		((want[0] >= $1 && want[0] + want[2] <= $1 + $3 && want[1] - want[0] == $2 - $1)) && return 0
	done
	echo "no read-only PT_LOAD maps ${want[*]}"
	return 1
}
