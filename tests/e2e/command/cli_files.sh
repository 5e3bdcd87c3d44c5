# SPDX-License-Identifier: MIT
# Sourced by cli.sh: OUT appears complete or not at all, whatever the file system does.
# shellcheck shell=bash disable=SC2154 # src and eh2sframe are the caller's

### What kind of file OUT is.
install -m 4751 good special_mode
status_is 'an unusual mode' 0 -q special_mode moded
is 'is kept' test "$(stat -c %a moded)" = 4751
install -m 444 good readonly_input
status_is 'a read-only input' 0 -q readonly_input moded
is 'gives a read-only output' test "$(stat -c %a moded)" = 444
status_is 'a read-only output is replaced' 0 -q good moded
is 'with the mode of the input' test "$(stat -c %a moded)" = "$(stat -c %a good)"
cp good linked && ln linked link2
fails 'a hard link in place' 1 'hard links' linked linked
fails 'a hard link onto the other name' 1 'hard links' link2 linked
status_is 'a hard link to a new name' 0 -q linked elsewhere
is 'leaves the links alone' cmp good link2
cp good target && ln -s target symlink
status_is 'OUT a symbolic link' 0 -q good symlink
is 'stays one' test -L symlink
is 'to the result' cmp conv target
cp good target
status_is 'IN and OUT a symbolic link' 0 -q symlink symlink
is 'stays one, too' test -L symlink
is 'to the same result' cmp conv target
ln -s nowhere dangling
fails 'OUT a link to nothing' 1 'symbolic link' good dangling
mkdir -p directory
status_is 'OUT a directory' 0 good directory
is 'IN has its name there' cmp directory/good conv
for verb in remove section; do
	status_is "$verb, OUT a directory" 0 $verb ./conv directory/
	is 'and the name there' test -s directory/conv
done
mkdir -p directory/text
fails 'OUT a directory with a directory of that name' 1 'not an ELF file' text directory
mkdir -p directory/conv2
fails 'the same, of a program' 1 'not a regular file' conv2 directory --refresh
rm -r directory/*
# stdout_refused NAME OUT: one sentence that says what to do.
stdout_refused() {
	run good "$2" && [ ! -e "$2" ]
	if [ "$status" = 2 ] && one_line "eh2sframe: $2: OUT cannot be standard output, " && [ ! -e ./- ]; then
		ok "$1"
	else
		not_ok "$1" "$(streams)"
	fi
}
stdout_refused 'OUT is -' -
stdout_refused 'OUT is /dev/stdout' /dev/stdout
"$eh2sframe" good /dev/fd/1 2>.stderr | cat >.stdout
is 'OUT is a pipe' one_line 'eh2sframe: /dev/fd/1: OUT cannot be standard output, '
fails 'OUT in a directory that is not' 3 'No such file' good missing/out
fails 'OUT inside a file' 3 'Not a directory' good text/out
mkfifo pipe
fails 'OUT a pipe' 1 'not a regular file; name another output' good pipe
long=$(printf 'x%.0s' {1..300})
fails 'OUT with a name that is too long' 3 'File name too long' good "$long"
status_is 'OUT with the longest name' 0 -q good "${long:0:255}"
rm -f "${long:0:255}"
status_is 'report -o where nothing can be' 3 report -o missing/report good
is 'one line for it' one_line 'eh2sframe: missing/report: cannot write'
status_is 'report -o -' 0 report -o - good
is 'writes to standard output' test -s .stdout -a ! -e -
status_is '--report-file where nothing can be' 3 -q --report-file=missing/report good spare
is 'names it' one_line 'eh2sframe: missing/report: cannot write'
is 'before the work' test ! -e spare
ln -s spare to-spare
status_is '--report-file a link to what will be OUT' 2 -q --report-file=to-spare good spare
is '--report-file a link to what will be OUT: nothing is made' test ! -e spare
mkdir piped
for words in 'report --json' report 'report --html' 'check --json'; do
	# shellcheck disable=SC2086 # words
	(exec 2> >(exec true); wait $!; "$eh2sframe" $words -o piped/report missing good >/dev/null) || :
	rm -f piped/report
	is "$words: standard error without a reader leaves nothing" test -z "$(ls -A piped)"
done
if [ -w /dev/full ]; then
	status_is 'report -o to a full device' 3 report -o /dev/full good
	is 'says so' one_line 'eh2sframe: /dev/full: cannot write'
	"$eh2sframe" report -q --json -o full.json good
	for arguments in 'dump conv' 'report good' 'report --json good' 'report --html good' 'tree report good' \
		'tree report --json good' 'merge full.json' 'merge --html full.json'; do
		# shellcheck disable=SC2086 # several words
		"$eh2sframe" $arguments >/dev/full 2>.stderr
		is "standard output full: $arguments" test $? = 3
		is 'told once' one_line 'eh2sframe: cannot write to standard output: '
	done
	rm -f full.json
fi
if [ "$(id -u)" = 0 ]; then
	cp good owned && chown 12345:23456 owned && chmod 6755 owned
	status_is 'another owner' 0 -q owned owned2
	is 'is kept' test "$(stat -c '%u:%g %a' owned2)" = '12345:23456 6755'
else
	skip 'another owner' 'not root'
fi

### Somebody else's directory. Root may do anything, so nobody does it.
as_nobody() {
	if [ "$(id -u)" != 0 ]; then "$@"; else setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; fi
}
chmod 755 .
mkdir locked && chmod 755 locked && cp good locked/in && chmod 555 locked
if as_nobody test -x "$eh2sframe" && as_nobody test -r locked/in; then
	as_nobody "$eh2sframe" locked/in locked/in >.stdout 2>.stderr
	status=$?
	if [ "$status" = 3 ] && one_line 'eh2sframe: locked/in: ' && cmp -s good locked/in &&
		[ "$(ls -A locked)" = in ]; then
		ok 'a directory that cannot be written to'
	else
		not_ok 'a directory that cannot be written to' "$(streams)"
	fi
else
	skip 'a directory that cannot be written to' "nobody cannot reach $eh2sframe or $PWD"
fi

### A full file system: a real one where that can be had.
cat >full.sh <<'S'
mount -t tmpfs -o size=24k none full || exit 77
cp good full/in 2>/dev/null || exit 77
"$1" full/in full/in; status=$?
[ $status = 3 ] && cmp -s good full/in && [ "$(ls -A full)" = in ]
S
mkdir full
unshare -m bash full.sh "$eh2sframe" >.stdout 2>.stderr
case $? in
0) is 'a full file system, in one line' one_line 'eh2sframe: full/in: ' ;;
77 | 1) if grep -q '^eh2sframe' .stderr; then not_ok 'a full file system' "$(cat .stderr)"; else
	skip 'a full file system' 'NOTHING CAN BE MOUNTED HERE; simulated below only'; fi ;;
*) not_ok 'a full file system' "$(cat .stderr)" ;;
esac

### Holes of the output take no room, also where looking at one through a mapping would.
echo 'int main(int argc, char **argv) { return argv[0][0] == argc; }' >apart.c
gcc -O1 -Wl,-z,max-page-size=0x200000 apart.c -o apart
cat >holes.sh <<'S'
mount -t tmpfs -o size=1m none full || exit 77
"$1" -q apart full/out && [ "$(du -k full/out | cut -f 1)" -lt 100 ]
S
unshare -m bash holes.sh "$eh2sframe" >.stdout 2>.stderr
case $? in
0) is 'holes take no room' test ! -s .stderr ;;
77) skip 'holes take no room' 'NOTHING CAN BE MOUNTED HERE' ;;
*) not_ok 'holes take no room' "$(cat .stderr)" ;;
esac

### A link that the kernel forbids to follow, as protected_symlinks does with one that somebody else planted.
cat >planted.sh <<'S'
mount -t tmpfs -o nosymfollow none planted && cp good planted/in && ln -s ../precious planted/out || exit 77
cat planted/out && exit 77
"$1" -q planted/in planted/out
S
mkdir planted && echo text >precious
unshare -m bash planted.sh "$eh2sframe" >.stdout 2>.stderr
case $? in
77 | 1) skip 'OUT a link that may not be followed' 'NOTHING CAN BE MOUNTED HERE' ;;
3) is 'OUT a link that may not be followed' test "$(cat precious)" = text ;;
*) not_ok 'OUT a link that may not be followed' "$(streams)" ;;
esac

### Calls that fail or never return, one by one.
if ! gcc -shared -fPIC -O1 -o shim.so "$src/../../shared/cli_shim.c" -ldl 2>shim.log; then
	not_ok 'the shim' "$(cat shim.log)"
	return
fi
# shimmed CALL NTH WHAT: one conversion of "in" in place; false when there was no NTH such call.
shimmed() {
	rm -f .hit
	# bash tells of every child that is killed.
	exec 3>&2 2>/dev/null
	ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0:detect_leaks=0" SHIM_LOG=.hit \
		SHIM_CALL=$1 SHIM_NTH=$2 SHIM_DO=$3 LD_PRELOAD=$PWD/shim.so \
		"$eh2sframe" -q in in >.stdout 2>.stderr
	status=$?
	exec 2>&3 3>&-
	[ -e .hit ]
}
# each CALL WHAT CHECK: CHECK after each call that met WHAT. At least one must have.
each() {
	local nth=1 wrong=
	while cp good in && shimmed "$1" $nth "$2"; do
		$3 || wrong+=" call $nth: $(streams)"
		# After a kill a temporary file may be left, nothing else.
		rm -f .eh2sframe.* in
		nth=$((nth + 1))
	done
	if [ $nth = 1 ]; then
		not_ok "$1: $2" 'there was no such call'
	elif [ -n "$wrong" ]; then
		not_ok "$1: $2" "$wrong"
	else
		ok "$1: $2 ($((nth - 1)) times)"
	fi
}
strays() { compgen -G '.eh2sframe.*' >/dev/null; }
gave_up() { [ "$status" = 3 ] && one_line 'eh2sframe: in: ' && cmp -s in good && ! strays; }
went_on() { [ "$status" = 0 ] && [ ! -s .stderr ] && cmp -s in conv && ! strays; }
killed() { [ "$status" = 137 ] && cmp -s in good; }
ended() { [ "$status" = 143 ] && cmp -s in good && ! strays; }
# Signals wait while names are replaced, or those of one file could separate.
ended_late() { [ "$status" = 143 ] && cmp -s in conv && ! strays; }
# The directory is synced after the rename: too late to give up.
gave_up_or_was_late() { [ "$status" = 3 ] && { cmp -s in good || cmp -s in conv; } && ! strays; }

each pwrite ENOSPC gave_up
each pwrite EIO gave_up
each pwrite EINTR went_on
each pwrite SHORT went_on
each pwrite KILL killed
each pwrite TERM ended
each fsync EIO gave_up_or_was_late
each fchmod EIO gave_up
each renameat EIO gave_up
each renameat KILL killed
each renameat TERM ended_late
each pwrite EFAULT gave_up
# What arrives on the disk is not what was written.
disproved() { [ "$status" = 4 ] && one_line 'eh2sframe: in: ' && cmp -s in good && ! strays; }
each section WRONG disproved
# So large that room is made for it first.
cp "$(realpath "$(command -v perl)")" good
[ "$(stat -c %s good)" -gt 1500000 ] || not_ok 'a large file' "$(stat -c %s good)"
"$eh2sframe" -q good conv
each fallocate ENOSPC gave_up
each fallocate EIO gave_up
each fallocate EINTR went_on
each fallocate EOPNOTSUPP went_on
each fallocate KILL killed
each clone EOPNOTSUPP went_on
each clone KILL killed
each pwrite SHORT went_on
each pwrite EIO gave_up
rm -f in .eh2sframe.*
