#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Random instructions on their machine: what is known of registers and of the stack behind each is so (words.c). TAP.
#
#     words.sh WORDS DIRECTORY MACHINE COUNT
#
# x86-64 runs on the processor itself, the others under qemu.
words=$(readlink -f "$1") src=$(readlink -f "$2") machine=$3 count=$4
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$src/../shared/tap.sh"
ulimit -c 0
prefix=$machine-linux-gnu runner=()
have "$prefix-gcc" || skip_all "$prefix-gcc is not installed"
if [ "$machine" != x86_64 ]; then
	have "qemu-$machine" || skip_all "qemu-$machine is not installed"
	runner=("qemu-$machine" -L "/usr/$prefix" -cpu "max$([ "$machine" = s390x ] || echo ,pauth-impdef=on)")
elif [ "$(uname -m)" != x86_64 ]; then
	skip_all 'this is another processor'
fi
# No address in it has 32 bits, and the first call of a function needs no linker that lives by a thread's register.
"$prefix-gcc" -O2 -fPIE -pie -Wl,-z,now -fno-stack-protector "$src/words_run.c" -o run &&
	"$prefix-gcc" -nostdlib -static "$src/effects_$machine.S" -o program &&
	"$prefix-objcopy" -O binary -j .text program text
[ -s text ] || skip_all 'cannot be built'

# compares COUNT SEED [lie]
compares() {
	"$words" "$machine" make "$1" "$2" text 2>/dev/null | "${runner[@]}" ./run 2>/dev/null |
		"$words" "$machine" check "$1" "$2" text "${@:3}"
}

# Adds up the lines of counts.
sum() {
	awk '/^wrong/ { print; next }
		{ for (i = 1; i <= NF; i++) if ($i + 0 == $i) sum[i] += $i; n = split($0, words) }
		END { for (i = 1; i <= n; i++) printf "%s%s", words[i] + 0 == words[i] ? sprintf("%.0f", sum[i]) : words[i], i < n ? " " : "\n" }'
}

# Some words make some releases of qemu abort, and take those behind them along: then there are more seeds.
some=$((count < 100000 ? count : 100000)) compared=0
for ((seed = 1; compared < count && seed <= count * 11 / 10 / some + 1; seed++)); do
	compares "$some" "$seed" >>counts
	compared=$((compared + $(sed -n '$s/ words,.*//p' counts)))
done
sum <counts >out
if ! grep -q '^wrong' out && [ "$compared" -ge "$count" ]; then
	ok "$machine: $(tail -n 1 out)"
else
	not_ok "$machine: $count random instructions" "$(cat out)"
fi
compares 5000 1 lie >out
if grep -q '^wrong' out; then ok "$machine: a wrong effect is found"; else not_ok "$machine: a wrong effect is found" "$(cat out)"; fi
plan
