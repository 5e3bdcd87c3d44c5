#!/bin/bash
# SPDX-License-Identifier: MIT
# What happens to the file as a file: mode, owner, attributes, links, full disks, signals.
# usage: insert_files.sh DRIVER SOURCE_DIR
raw=$1 src=$2
. "$src/insert_lib.sh"

build prog $CC -O1 "$probe" || { not_ok "cannot build"; plan; }
# Where somebody else may run it from.
cp "$raw" driver && raw=$scratch/driver
root=; [ "$(id -u)" = 0 ] && root=yes
# Somebody who owns nothing here.
other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
chmod 755 .

same_attributes() {
	[ "$(stat -c '%a %u %g' "$1")" = "$(stat -c '%a %u %g' "$2")" ] && return 0
	stat -c '%n %a %u %g' "$1" "$2"
	return 1
}
no_stray() { [ -z "$(find . -name '.eh2sframe*')" ]; }

# fails STATUS TEXT COMMAND...: that status, that text, no temporary file.
fails() {
	local status=$1 text=$2 out got
	shift 2
	out=$("$@" 2>&1)
	got=$?
	echo "status $got: $out"
	[ $got = "$status" ] && no_stray && case $out in *"$text"*) ;; *) false ;; esac
}
kept() { "$raw" add in out && same_attributes in out && ./out >/dev/null; }

modes() {
	local mode
	for mode in 755 700 555 4755 2755 6711 1755; do
		rm -f in out
		cp prog in && chmod $mode in
		is "mode $mode" kept
	done
	rm -f in out
	if [ $root ]; then
		cp prog in && chown 1234:4321 in && chmod 4755 in
		is "owner and setuid" kept
		rm -f out
		mkdir -m 777 open
		is "setuid of somebody else is not quietly lost" fails 3 "setuid" other "$raw" add in open/out
		chmod 755 in
		is "owner not ours to give" sh -c \
			"setpriv --reuid 65534 --regid 65534 --clear-groups '$raw' add in open/out && [ \$(stat -c %a:%u open/out) = 755:65534 ]"
		mkdir -m 755 closed
		is "directory not writable" fails 3 "cannot create" other "$raw" add in closed/out
		cp -p in closed/in
		is "in place, directory not writable" fails 3 "cannot create" other "$raw" add closed/in closed/in
		is "input untouched" cmp in closed/in
	else
		skip "owners" "not root"
	fi
	rm -f in out
}

attributes() {
	cp prog in
	if have setfattr && setfattr -n user.test -v value in 2>/dev/null; then
		"$raw" add in out
		is "user attribute" sh -c 'getfattr -n user.test out | grep -q value'
	else
		skip "user attribute" "not possible here"
	fi
	if have setfacl && setfacl -m u:1234:r in 2>/dev/null; then
		"$raw" add in out
		is "access control list" sh -c 'getfacl -c in >a; getfacl -c out >b; cmp a b && grep -q 1234 b'
	else
		skip "access control list" "not possible here"
	fi
	if have setcap && setcap cap_net_raw+ep in 2>/dev/null; then
		"$raw" add in out
		is "file capability" sh -c 'getcap out | grep -q cap_net_raw'
		mkdir -p -m 777 open
		is "file capability is not quietly lost" fails 3 "" other "$raw" add in open/out2
	else
		skip "file capability" "not possible here"
	fi
	rm -f in out
}

links() {
	cp prog real && ln -s real link && ln -s nowhere dangling
	is "symlink: target rewritten, link kept" sh -c "'$raw' add link link && [ -L link ] && ! cmp -s prog real && ./link"
	is "symlink: dangling" fails 1 "symbolic link" "$raw" add prog dangling
	cp prog one && ln one two
	is "hard link: refused in place" fails 1 "hard links" "$raw" add one one
	is "hard link: refused by the other name" fails 1 "hard links" "$raw" add one two
	is "hard link: another path" "$raw" add one three
	mkdir dir && mkfifo fifo
	is "into a directory" fails 1 "not a regular file" "$raw" add prog dir
	is "into a fifo" fails 1 "not a regular file" "$raw" add prog fifo
	is "from a fifo" fails 1 "not a regular file" "$raw" add fifo out
	is "from nothing" fails 3 "cannot open" "$raw" add missing out
	is "into no directory" fails 3 "cannot write" "$raw" add prog missing/out
	is "into an empty name" fails 1 "not the name" "$raw" add prog ""
	(umask 077; cp prog mine; "$raw" add mine mine)
	is "in place" sh -c '[ $(stat -c %a mine) = 700 ] && ./mine mapped'
	# It runs when it has answered.
	cp "$(command -v cat)" running
	coproc ./running
	echo >&"${COPROC[1]}" && read -r _ <&"${COPROC[0]}"
	is "in place, while running" "$raw" add running running
	kill "$COPROC_PID"
	rm -rf real link dangling one two three dir fifo mine running
}

full_disk() {
	mkdir -p small
	if ! { [ $root ] && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; }; then
		skip "full disk" "cannot mount"
		return
	fi
	cp prog small/in
	head -c 40000 /dev/zero >small/filler 2>/dev/null
	is "full disk: refused" fails 3 "No space" "$raw" add small/in small/in
	is "full disk: input intact" cmp prog small/in
	is "full disk: nothing left" no_stray small
	umount small
}

# Every call that changes a file fails, or the process dies before it.
faults() {
	local kind at status failures= points=0
	if ! build fault.so $CC -O1 -shared -fPIC "$src/insert_fault.c" -ldl; then
		skip "faults" "cannot build the shim"
		return
	fi
	cp prog in
	setfattr -n user.test -v value in 2>/dev/null
	"$raw" add in new
	for kind in fail kill term; do
		for at in $(seq 1 100); do
			rm -f .eh2sframe*
			cp -p --preserve=all in work
			ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 LD_PRELOAD=$scratch/fault.so \
				FAULT_KIND=$kind FAULT_AT=$at "$raw" add work work >log 2>&1
			status=$?
			grep -q fault log || break
			points=$((points + 1))
			cmp -s work in || cmp -s work new || failures="$failures $kind:$at:damaged"
			[ $kind = kill ] || no_stray || failures="$failures $kind:$at:stray"
			# What can be done in another way may fail without harm.
			[ $kind = fail ] || [ $status -ge 128 ] || failures="$failures $kind:$at:survived"
		done
		[ $at -gt 8 ] || failures="$failures $kind: only $at points"
	done 2>/dev/null
	is "faults: $points points, old or new file and no stray" test -z "$failures"
	[ -z "$failures" ] || echo "#$failures"
}

modes
attributes
links
full_disk
faults
plan
