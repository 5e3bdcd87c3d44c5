#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of other machines do the same under qemu-user after conversion as before, with every
# library of their root converted. TAP.
#
#     machines_run.sh EH2SFRAME DIRECTORY CACHE
# shellcheck disable=SC2016,SC2317 # other shells' words; what is() calls
eh2sframe=$1 src=$(readlink -f "$2")
mkdir -p "$3" && cache=$(readlink -f "$3")
# shellcheck source-path=SCRIPTDIR/../../shared source=cli_lib.sh
. "$src/../../shared/cli_lib.sh"
unset LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH PERL5LIB
export TZ=UTC PYTHONDONTWRITEBYTECODE=1 HOME=$scratch

# No binfmt: what a program starts would be this machine's. So every program is started by us.
emulate() {
	local program=$1
	shift
	"$emulator" -L "$root" "$root$program" "$@"
}

jobs_of() {
	case $1 in
	bash) cat <<-'SH' >job.sh
		set -u
		declare -A count
		fib() { (($1 < 2)) && { echo "$1"; return; }; echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2))))); }
		trap 'echo caught; caught=1' USR1
		kill -USR1 $$
		for word in a b a c b a; do count[$word]=$((${count[$word]:-0} + 1)); done
		for word in a b c; do printf '%s=%s\n' "$word" "${count[$word]}"; done
		[[ "key = value" =~ ^([a-z]+)\ =\ ([a-z]+)$ ]] && echo "${BASH_REMATCH[2]^^}"
		(exit 3) || echo "status $?"
		while read -r line; do echo "<$line>"; done < <(printf '%s\n' x y)
		fib 7
		printf '%.3f %q\n' 3.14159 "a b"
		exit ${caught:-9}
		SH
		emulate /bin/bash job.sh ;;
	sort) emulate /usr/bin/sort -n -k 2 numbers && emulate /usr/bin/sort -u -r numbers ;;
	parallel-sort) emulate /usr/bin/sort --parallel=2 -S 100k numbers ;;
	sha256sum) emulate /usr/bin/sha256sum numbers "$eh2sframe" && emulate /usr/bin/b2sum numbers ;;
	factor) emulate /usr/bin/factor 18446744073709551557 600851475143 340282366920938463463374607431768211455 ;;
	ls) emulate /bin/ls -lR --time-style=+%s tree ;;
	text) emulate /usr/bin/tr a-z A-Z <tree/machines_fetch.sh && emulate /usr/bin/od -A x -t x8 numbers ;;
	cp) emulate /bin/cp -r tree copied && emulate /usr/bin/du -sb copied && emulate /bin/rm -r copied ;;
	perl) cat <<-'PERL' >job.pl
		use strict; use warnings; use List::Util qw(sum first); use POSIX qw(floor);
		use Data::Dumper; use Time::Local; $Data::Dumper::Sortkeys = 1;
		sub depth { my $n = shift; die { depth => 200 } if $n == 200; return depth($n + 1) + 1 }
		no warnings 'recursion';
		eval { depth(0) }; print Dumper($@);
		local $SIG{ALRM} = sub { die "alarm\n" };
		eval { alarm 1; my $x = 0; $x++ while 1 }; print "caught $@";
		my %h = map { $_ => $_ ** 2 } 1 .. 50; print sum(values %h), " ", floor(2.7), "\n";
		print join(",", sort { $h{$b} <=> $h{$a} } keys %h), "\n";
		my $text = "aaa bbb " x 100; (my $other = $text) =~ s/(\w)(\w+)/$2$1/g; print length $other, "\n";
		print scalar(gmtime(0)), sprintf(" %.10f %e\n", atan2(1, 1) * 4, 12345.678);
		exit 5;
		PERL
		emulate /usr/bin/perl job.pl ;;
	python) cat <<-'PY' >job.py
		import ctypes, decimal, hashlib, json, re, signal, sys, threading, traceback, zlib
		def deep(n):
		    if n == 0:
		        raise KeyError("bottom")
		    return deep(n - 1) + 1
		try:
		    deep(200)
		except KeyError as error:
		    print(len(traceback.extract_tb(error.__traceback__)), error)
		try:
		    deep(10 ** 6)
		except RecursionError as error:
		    print(type(error).__name__)
		def on_alarm(*_):
		    raise TimeoutError
		signal.signal(signal.SIGALRM, on_alarm)
		signal.setitimer(signal.ITIMER_REAL, 0.3)
		try:
		    while True:
		        sorted(range(1000), key=lambda n: -n)
		except TimeoutError:
		    print("time")
		compare = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.POINTER(ctypes.c_int)] * 2)
		numbers = (ctypes.c_int * 50)(*[n * 37 % 101 for n in range(50)])
		ctypes.CDLL("libc.so.6").qsort(numbers, 50, 4, compare(lambda a, b: a[0] - b[0]))
		print(list(numbers))
		frames = (ctypes.c_void_p * 500)()
		print(ctypes.CDLL("libc.so.6").backtrace(frames, 500))
		print(hashlib.sha256(b"x" * 100000).hexdigest(), zlib.crc32(b"y" * 1000))
		print(json.dumps({"pi": str(decimal.Decimal(2).sqrt()), "match": re.findall(r"\w+", "a bc d")}))
		results = []
		threads = [threading.Thread(target=lambda n=n: results.append(sum(range(n)))) for n in range(4)]
		[thread.start() for thread in threads], [thread.join() for thread in threads]
		print(sorted(results), sys.byteorder)
		sys.exit(6)
		PY
		emulate /usr/bin/python3 job.py ;;
	modules) cat <<-'PY' >job.py
		import asyncio, bz2, csv, email, lzma, pickle, ssl, unittest, xml.dom.minidom
		print(pickle.loads(pickle.dumps({1: [2, 3]})), ssl.OPENSSL_VERSION)
		print(lzma.decompress(lzma.compress(b"z" * 99)), bz2.decompress(bz2.compress(b"y" * 9)))
		async def add(a, b):
		    return a + b
		print(asyncio.run(add(1, 2)), xml.dom.minidom.parseString("<a><b/></a>").toxml())
		PY
		emulate /usr/bin/python3 job.py ;;
	llvm) cat <<-'PY' >job.py
		import ctypes, glob, os, sys
		llvm = ctypes.CDLL(os.path.basename(glob.glob(sys.argv[1] + "/usr/lib/*/libLLVM*.so.*")[0]))
		llvm.LLVMContextCreate.restype = llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy.restype = ctypes.c_void_p
		llvm.LLVMPrintModuleToString.restype = ctypes.c_char_p
		context = ctypes.c_void_p(llvm.LLVMContextCreate())
		text = b"define i32 @f(i32 %a) {\n  %b = mul i32 %a, 6\n  ret i32 %b\n}\n"
		buffer = llvm.LLVMCreateMemoryBufferWithMemoryRangeCopy(text, len(text), b"text")
		module, message = ctypes.c_void_p(), ctypes.c_char_p()
		print(llvm.LLVMParseIRInContext(context, ctypes.c_void_p(buffer), ctypes.byref(module), ctypes.byref(message)))
		print(llvm.LLVMPrintModuleToString(module).decode())
		PY
		emulate /usr/bin/python3 job.py "$root" ;;
	rust) emulate /usr/bin/rg --no-config --sort path -c 'return|exit' tree ;;
	go) emulate /usr/bin/fzf --filter=12 <numbers ;;
	esac
	echo "status $?"
}

all_jobs='bash sort parallel-sort sha256sum factor ls text cp perl python modules llvm rust go'
# Their exit statuses where not 0.
declare -A expected=([bash]=1 [perl]=5 [python]=6)

# What a process has mapped of its own machine is converted: the libraries of the list are mapped,
# and PT_GNU_SFRAME is in each.
all_mapped() {
	local file n=0
	emulate /usr/bin/python3 -c 'import hashlib, ctypes, ssl; ctypes.CDLL("libstdc++.so.6")
print(open("/proc/self/maps").read())' >maps || return
	while read -r file; do
		n=$((n + 1))
		readelf -lW "$file" | grep -q GNU_SFRAME || { echo "$file has no section"; return 1; }
	done < <(grep -o "$root/.*" maps | grep -E '\.so|/bin/' | sort -u)
	echo "$n files"
	[ "$n" -ge 10 ]
}

# convert_root FROM TO FORMAT: hard links but for what is converted.
convert_root() {
	local file status said
	rm -rf "$2"
	cp -al "$1" "$2" || return
	while read -r file; do
		rm "$2/$file"
		said=$("$eh2sframe" -q --format="$3" "$1/$file" "$2/$file" 2>&1)
		status=$?
		# A loader is converted when a method is named.
		if [[ $said = *'program interpreter'* ]]; then
			said=$("$eh2sframe" -q --format="$3" --method=grow "$1/$file" "$2/$file" 2>&1)
			status=$?
		fi
		# No CFI, or none that a row can have: three libraries of LLVM for s390x.
		[[ $status = 1 && $said = *'no function of this file can be described'* ]] && status=6
		[ $status = 0 ] || { [ $status = 6 ] && ln "$1/$file" "$2/$file"; } || { echo "$said"; return 1; }
	done < <(cd "$1" && find . -type f -size +1 -exec sh -c \
		'for f; do [ "$(head -c 4 "$f" | od -A n -c | tr -d " ")" = 177ELF ] && echo "$f"; done' - {} +)
}

# same ARCH FORMAT JOB: its output as it was without conversion; in the file before.JOB.
same() {
	local after
	after=$(jobs_of "$3" 2>&1)
	if [ "$(cat "before.$3")" = "$after" ]; then
		ok "$1, version $2: $3"
	else
		not_ok "$1, version $2: $3" "$(diff "before.$3" <(echo "$after") | head -n 20)"
	fi
}

# runs MACHINE ARCH
runs() {
	local job format
	emulator=qemu-$1
	have "$emulator" || { skip "$1" "needs $emulator"; return; }
	for job in $all_jobs; do
		root=$cache/$2
		jobs_of "$job" >"before.$job" 2>&1
		is "$2: $job" grep -qx "status ${expected[$job]:-0}" "before.$job"
	done
	for format in 2 3; do
		root=$cache/$2-converted
		is "$2: a root of version $format" convert_root "$cache/$2" "$root" $format
		is "$2, version $format: what is mapped is converted" all_mapped
		for job in $all_jobs; do same "$2" $format "$job"; done
		rm -rf "$root"
	done
}

for i in $(seq 20000); do echo "line $((i * 7919 % 100003)) $i"; done >numbers
cp -r "$src" tree
for arch in arm64 s390x; do
	why=$("$src/machines_fetch.sh" $arch full "$cache" 2>&1)
	case $? in
	0) if [ $arch = arm64 ]; then runs aarch64 arm64; else runs s390x s390x; fi ;;
	77) skip $arch "$why" ;;
	*) not_ok $arch "$why" ;;
	esac
done
plan
