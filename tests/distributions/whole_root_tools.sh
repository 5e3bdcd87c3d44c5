# SPDX-License-Identifier: MIT
# Sourced by whole_root_work.sh: tasks of languages, tools and servers.
# shellcheck shell=bash

# await COMMAND...: until the command succeeds, at most five minutes.
await() {
	local _
	for _ in {1..3000}; do "$@" && return || sleep 0.1; done
	echo "$*: never came true"
}

# Every module of perl and of python that has machine code is loaded.
task_perl() {
	perl -V:archname -V:version -V:usethreads
	find / -xdev -path '*/auto/*.so' -printf '%P\n' 2>/dev/null | sed -E 's|.*/auto/(.*)/[^/]*\.so$|\1|; s|/|::|g' |
		sort -u | while read -r module; do
		perl -e "eval { require $module; 1 } or print qq(\$@); print qq($module loaded\n)" 2>&1
	done
	perl -MDigest::SHA=sha512_hex -MStorable=freeze,thaw -MEncode -MPOSIX -MTime::HiRes -MList::Util=sum -e '
		my %h = map { $_ => [1 .. $_] } 1 .. 200;
		print sha512_hex(join ",", map { $_ . sum @{ thaw(freeze \%h)->{$_} } } sort { $a <=> $b } keys %h), "\n";
		print encode("UTF-16BE", "\x{263a}") eq "\x26\x3a" ? "encoded\n" : "wrong\n";
		printf "%.15g %s\n", POSIX::lgamma(12.5), strftime("%F", gmtime 86400);
		my $n = 0; $n += () = ("aXbXc" x 500) =~ /(?<=X)[a-c](?!X)|X+/g; print "$n\n"; local $SIG{ALRM} = sub { die "alarm\n" };
		eval { alarm 1; 1 while 1 }; print $@;'
	perl -Mthreads -Mthreads::shared -e 'my $n :shared = 0; $_->join for map { threads->create(sub { for (1 .. 500) { lock $n; $n++ } }) } 1 .. 8; print "$n\n"'
	perl -MDBI -MJSON::XS -MXML::LibXML -e '
		my $d = DBI->connect("dbi:SQLite:dbname=:memory:", "", "", { RaiseError => 1 });
		$d->do("create table t(a, b)"); $d->do("insert into t values(?, ?)", undef, $_, $_ ** 2) for 1 .. 99;
		$d->sqlite_create_function("twice", 1, sub { 2 * $_[0] });
		print JSON::XS->new->canonical->encode($d->selectall_arrayref("select twice(a), b from t order by a desc limit 3")), "\n";
		eval { $d->do("select nothing") }; print $@ ? "an error\n" : "none\n";
		print XML::LibXML->load_xml(string => "<a><b x=\"1\"/></a>")->findvalue("//b/\@x"), "\n"'
	perl -e 'fork or exec "true"; wait; print "status $?\n"; kill "SEGV", fork || do { sleep 60 }; wait; printf "signal %d\n", $? & 127'
	prove --version
}

task_python() {
	python3 -c '
import importlib, pkgutil, sys, sysconfig, glob, os, warnings
warnings.simplefilter("ignore")
where = [sysconfig.get_path("stdlib") + "/lib-dynload", "/usr/lib/python3/dist-packages"]
for top in where:
    for path in sorted(glob.glob(top + "/**/*.so", recursive=True)):
        name = os.path.relpath(path, top).split(".")[0].replace("/", ".")
        try:
            importlib.import_module(name)
            print(name, "imported")
        except BaseException as error:
            print(name, type(error).__name__)
'
	python3 -c '
import numpy, yaml, hashlib
from lxml import etree
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.asymmetric import ed25519
from cffi import FFI
a = numpy.arange(90000, dtype=float).reshape(300, 300) % 7 + numpy.eye(300)
print(round(float(numpy.linalg.slogdet(a)[1]), 6), float((a @ a).sum()), numpy.fft.fft(a[0])[3].round(6))
print(yaml.load("a: [1, {b: 2}]", Loader=yaml.CSafeLoader))
print(etree.tostring(etree.XSLT(etree.XML("<s:stylesheet version=\"1.0\" xmlns:s=\"http://www.w3.org/1999/XSL/Transform\"><s:template match=\"/\"><s:value-of select=\"sum(//i)\"/></s:template></s:stylesheet>"))(etree.XML("<a><i>3</i><i>4</i></a>"))))
print(AESGCM(bytes(32)).encrypt(bytes(12), b"text", b"more").hex())
print(ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32)).sign(b"text").hex())
ffi = FFI()
ffi.cdef("int abs(int); int atexit(void (*)(void));")
print(ffi.dlopen(None).abs(-5))
try:
    etree.XML("<a>")
except etree.XMLSyntaxError as error:
    print(error.lineno)
'
	# Its own tests, those that Debian's package has the data of. Their times are not compared, nor their order.
	local tests='test_zlib test_bz2 test_lzma test_struct test_json test_hashlib test_ctypes test_signal
		test_exceptions test_generators test_decimal test_math test_re test_select test_mmap test_faulthandler
		test_thread test_threadsignals test_subprocess test_posix test_gc test_array test_unicode test_pyexpat'
	# shellcheck disable=SC2086 # names
	timeout 3000 python3 -m test $tests >tests.log 2>&1
	echo "python's own tests: status $?"
	grep -E '^(test_[a-z0-9_]+ (failed|skipped|crashed)|[0-9]+ tests? (OK|failed|skipped|omitted)|    test_|FAIL:|ERROR:)' tests.log | sed 's/ (.*//' | sort -u
}

# Programs as the compilers of the root make them. The programs must be the same byte for byte, and run.
task_gcc() {
	cp "$here"/whole_root_sources/* .
	local options
	for options in '-O0 -g' -O2 '-O2 -flto' '-O2 -static' '-O2 -static-pie' '-O2 -no-pie' '-O2 -fsanitize=address -g'; do
		# shellcheck disable=SC2086 # options
		g++ -std=c++17 $options -pthread -o throws throws.cc 2>&1 && sha256sum throws && ./throws
	done
	gcc -O2 -fPIC -shared -o liba.so -DLIBRARY calls.c && gcc -O2 -o calls calls.c -L. -la -Wl,-rpath,. && ./calls && sha256sum calls liba.so
	gcc -O2 -pg -o profiled -DALL calls.c && ./profiled && gprof -b -p profiled gmon.out | wc -l
	gcc --coverage -DALL -o covered calls.c && ./covered && gcov -t covered-calls.c | tail -n +5 | sha256sum
	gcc -S -O3 -o - calls.c | sha256sum
	gcc -E -dM - </dev/null | sha256sum
	printf 'int main(void) { return undeclared; }\n' | gcc -x c -fsyntax-only - 2>&1
	ar rcsD libb.a calls.c && nm throws | wc -l
	objdump -d calls | sha256sum
	readelf -aW calls | sha256sum
	objcopy --only-keep-debug throws throws.debug && strip -o stripped throws && ASAN_OPTIONS=detect_leaks=0 ./stripped
	addr2line -e throws.debug -f main 2>/dev/null | wc -l
	printf 'all: x.o\n%%.o: %%.c\n\tgcc -c $<\n' >Makefile && echo 'int x;' >x.c && make -j4 && make
	mkdir cm && printf 'cmake_minimum_required(VERSION 3.20)\nproject(p C CXX)\nadd_executable(t throws.cc)\n' >cm/CMakeLists.txt
	cp throws.cc cm && cmake -S cm -B cm/build 2>&1 | grep -v done && cmake --build cm/build && cm/build/t
	printf '%%%%\na+ puts("as"); \n%%%%\nint yywrap(void) { return 1; }\nint main(void) { return yylex(); }\n' >l.l && flex l.l && gcc -o lexer lex.yy.c && echo aaa | ./lexer
	printf '%%%%\ns: ;\n%%%%\n' >y.y && bison y.y 2>/dev/null && sha256sum y.tab.c
	valgrind -q --error-exitcode=3 ./calls
	valgrind -q --error-exitcode=3 /bin/ls /etc/passwd
	valgrind --tool=callgrind --callgrind-out-file=/dev/null ./calls 2>&1 | grep -c Collected
	strace -f -e trace=openat,exit_group -o trace ./calls && grep -oE '"[^"]*"|exited.*' trace
	ltrace -e qsort -o ltraced ./calls && tail -n 1 ltraced | cut -d' ' -f2-
	gdb -nx -batch -ex 'break compare' -ex run -ex bt -ex 'info sharedlibrary' ./covered 2>&1 | no_addresses | grep -vE 'Yes|process|Inferior|^warning: section .* not found in'
}

task_git() {
	export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
	git config --global user.name one && git config --global user.email one@example.org
	git config --global init.defaultBranch main && git config --global protocol.file.allow always
	git init -q a && cd a || return
	cp -r /usr/share/perl5/Debconf /etc/apt . && git add . && git commit -qm first && git log --format='%H %T'
	git mv apt other && sed -i 1,3d Debconf/*.pm && git commit -qam second && git diff --stat -M HEAD~
	git checkout -q -b side HEAD~ && echo x >x && git add x && git commit -qm x && git merge -q main -m merge && git log --graph --format='%h %s'
	git rebase -q main && git cherry-pick main~ 2>&1 | tail -n 1
	git cherry-pick --abort 2>/dev/null
	git gc -q --aggressive && git fsck --strict && git verify-pack -v .git/objects/pack/*.idx | grep -c '^[0-9a-f]*40\|commit'
	git bundle create -q ../a.bundle --all && git bundle verify ../a.bundle 2>&1 | tail -n 1
	git format-patch -q -o ../patches main~ main && git archive main | sha256sum
	cd .. && git clone -q file://"$PWD"/a b && git -C b rev-parse HEAD && git -C b blame Debconf/Config.pm | sha256sum
	git -C b submodule --quiet add file://"$PWD"/a sub && git -C b submodule status | cut -c2-42
	git -C b grep -c sub | sort | sha256sum
	git -C b stash list && git -C b worktree add -q ../w HEAD && git -C w status --short | head -n 3
	git daemon --base-path="$PWD" --export-all --reuseaddr --listen=127.0.0.1 --port=9418 --detach --pid-file="$PWD"/pid
	await test -s pid
	await git ls-remote git://127.0.0.1/a 2>/dev/null
	git clone -q git://127.0.0.1/a c && git -C c rev-parse HEAD
	kill "$(cat pid)"
}

task_sqlite() {
	{
		echo 'create table t(i integer primary key, a, b text); create index x on t(b);'
		echo "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000) insert into t select i, i * 7919 % 1000, hex(i * 31) from n;"
		echo "select count(*), sum(a), min(b), max(b), avg(a) from t; update t set a = a + 1 where i % 3 = 0; delete from t where i % 7 = 0;"
		echo "create virtual table f using fts5(w); insert into f select b from t limit 5000; select count(*) from f where f match '39*';"
		echo "select json_group_array(a) from (select distinct a from t order by a limit 9); vacuum; pragma integrity_check;"
		echo "select a, row_number() over (partition by a % 3 order by i) from t limit 5; explain query plan select * from t where b = 'x';"
	} >bench.sql
	sqlite3 base.db <bench.sql
	sqlite3 base.db .dump | sha256sum
	sqlite3 base.db .schema 'pragma quick_check' '.mode json' 'select * from t limit 2'
	sqlite3 base.db 'select * from missing' 2>&1
	sqlite3 :memory: '.read bench.sql' | sha256sum
}

task_openssl() {
	local name key
	openssl version
	seq 1 9999 >text
	for name in $(openssl list -digest-commands); do openssl dgst "-$name" text 2>&1; done
	for name in $(openssl list -cipher-commands); do
		openssl enc "-$name" -K 00112233445566778899aabbccddeeff -iv 00112233445566778899aabbccddeeff -in text -out "$name.enc" 2>/dev/null &&
			sha256sum "$name.enc" && openssl enc -d "-$name" -K 00112233445566778899aabbccddeeff -iv 00112233445566778899aabbccddeeff -in "$name.enc" 2>/dev/null | cmp - text
	done
	openssl list -providers -public-key-algorithms
	for key in 'RSA -pkeyopt rsa_keygen_bits:2048' 'EC -pkeyopt ec_paramgen_curve:P-256' 'EC -pkeyopt ec_paramgen_curve:secp384r1' ED25519; do
		# shellcheck disable=SC2086 # options
		openssl genpkey -algorithm $key -out key.pem 2>/dev/null && openssl req -x509 -new -key key.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 3650 -out cert.pem
		openssl verify -CAfile cert.pem cert.pem && openssl pkcs12 -export -in cert.pem -inkey key.pem -passout pass:x -out p12 && openssl pkcs12 -in p12 -passin pass:x -nokeys | openssl x509 -noout -subject
		for name in -tls1_2 -tls1_3; do
			rm -f server.log
			openssl s_server -accept 4433 -cert cert.pem -key key.pem -www $name >server.log 2>&1 &
			await grep -qs ACCEPT server.log
			printf 'GET / HTTP/1.0\r\n\r\n' | timeout 60 openssl s_client -connect 127.0.0.1:4433 -servername localhost -CAfile cert.pem -ign_eof 2>/dev/null | grep -aE '^(HTTP|New,|Verif|Verification)'
			kill $! && wait $! 2>/dev/null
		done
	done
	openssl prime -generate -bits 256 | wc -l
	openssl speed -seconds 1 -bytes 1024 sha256 2>&1 | grep -c sha256
}

task_nginx() {
	nginx -V 2>&1
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -subj /CN=localhost -addext subjectAltName=DNS:localhost -days 3650 -out cert.pem 2>/dev/null
	mkdir www && seq 1 200000 >www/large && ln -s large www/other && chmod -R a+rX . && chmod 755 /tmp/whole-root
	cat >nginx.conf <<-END
		pid $PWD/pid; error_log $PWD/error.log warn; user www-data;
		events {}
		http {
			access_log $PWD/access.log; root $PWD/www; gzip on; gzip_types application/octet-stream;
			server { listen 127.0.0.1:8080; location /list { alias $PWD/www/; autoindex off; } location ~ /re(.*)\$ { return 200 "a\$1"; } }
			server { listen 127.0.0.1:8443 ssl http2; ssl_certificate $PWD/cert.pem; ssl_certificate_key $PWD/key.pem;
				location /proxy/ { proxy_pass http://127.0.0.1:8080/; } }
		}
	END
	nginx -t -c "$PWD/nginx.conf" 2>&1 | grep -v deprecated
	nginx -c "$PWD/nginx.conf" 2>/dev/null
	local url options
	for options in -s '-s --compressed' '-s --http2' '-s -r 5-99'; do
		for url in http://localhost:8080/large http://localhost:8080/other https://localhost:8443/large https://localhost:8443/proxy/large http://localhost:8080/re/x http://localhost:8080/no; do
			# shellcheck disable=SC2086 # options
			curl $options --cacert cert.pem -w '%{http_code} %{http_version} %{size_download}\n' -o got "$url" && sha256sum got
		done
	done
	nginx -s reload -c "$PWD/nginx.conf" 2>/dev/null
	curl -s http://localhost:8080/large | sha256sum
	nginx -s quit -c "$PWD/nginx.conf" 2>/dev/null
	cut -d' ' -f1,6- access.log | sort | uniq -c
}

task_tools() {
	seq 1 60000 | sha256sum
	local packer
	for packer in gzip bzip2 xz zstd; do seq 1 60000 | $packer -c >packed && $packer -dc packed | sha256sum; sha256sum packed; done
	tar --sort=name --mtime=@0 -C /etc -cf etc.tar apt debian_version && sha256sum etc.tar && tar -tf etc.tar | wc -l
	find /etc/apt | sort | cpio --quiet -o | cpio -it 2>/dev/null | wc -l
	awk 'BEGIN { for (i = 1; i < 9999; i++) s += sin(i); print s }' && gawk -M 'BEGIN { print 2 ^ 200 }'
	sed -E 's/(a)(b)/\2\1/' <<<abab && grep -Po 'a(?=b)' <<<abab && sort -R --random-source=/etc/passwd /etc/group | sha256sum
	ruby -e 'require "json"; require "zlib"; require "openssl"; puts JSON.generate({a: Zlib.crc32("x"), b: (1..30).inject(:*)}); begin; raise "r"; rescue => e; puts e.message; end; puts Fiber.new { 3 }.resume; Thread.new { puts 4 }.join'
	lua5.4 -e 'print(pcall(error, "e")); print(string.rep("x", 3), 7 // 2, select("#", coroutine.resume(coroutine.create(function() end))))'
	echo 'puts [expr {2 ** 70}]; puts [catch {error x}]; puts [clock format 0 -gmt 1]' | tclsh
	php -r 'echo hash("sha256", "x"), json_encode([1.5]), preg_replace("/a+/", "b", "caat"), "\n"; try { throw new Exception("e"); } catch (Exception $e) { echo $e->getMessage(), "\n"; }'
	jq -c 'map(. * 2) | add' <<<'[1, 2, 3]' && echo '2 ^ 300; scale=30; 4*a(1)' | bc -l
	xmllint --format - <<<'<a><b/></a>' && printf '#: a\nmsgid "a"\nmsgstr "b"\n' | msgfmt -o - - | sha256sum
	echo 'digraph { a -> b -> c; a -> c }' | dot -Tsvg | grep -v Generated | sha256sum
	convert -size 60x60 gradient:red-blue -rotate 30 -blur 0x2 x.ppm && sha256sum x.ppm && identify x.ppm | sed 's/ [0-9.]*u [0-9:.]*$//' # its times
	convert x.ppm x.png && convert x.png x.jpg && convert x.jpg y.ppm && sha256sum y.ppm
	ssh-keygen -q -t ed25519 -N '' -f key && echo text >text && ssh-keygen -q -Y sign -f key -n file text && ssh-keygen -Y check-novalidate -n file -s text.sig <text | cut -d' ' -f1-5
	ssh -G -F /dev/null localhost | sha256sum
	gpg --batch --quiet --passphrase '' --quick-gen-key one@example.org ed25519 default never 2>/dev/null && gpg --batch --quiet -s -o signed text && gpg --batch --verify signed 2>&1 | grep -c Good
	gpg --batch --passphrase x --pinentry-mode loopback -c -o sealed text && gpg --batch --quiet --passphrase x --pinentry-mode loopback -d sealed
	gpgconf --kill all
	rsync -a --stats /etc/apt/ copied/ | grep -E 'files|literal' && diff -r /etc/apt copied && echo same
	truncate -s 8M disk && mkfs.ext4 -q -U 00000000-0000-0000-0000-000000000001 disk && fsck.ext4 -fn disk 2>&1 | tail -n 1 && debugfs -R 'ls -p /' disk 2>/dev/null | cut -d/ -f2-7
	vim.tiny -u NONE -es -c 's/t/T/g' -c wq text; cat text; less -F text; file text x.png key etc.tar
	man -P cat true | sha256sum
	rg -c . /usr/share/perl5/Debconf --sort path | sha256sum && ls /usr/bin | fzf -f gcc && hasktags --version
	echo 'echo $x' | shellcheck -s sh -f gcc - ; unison -version
	busybox --list | while read -r packer; do echo "$packer"; busybox "$packer" --help 2>&1 </dev/null | sha256sum; done
	sudo -n id && su -s /bin/sh -c id www-data && sudo -u www-data ping -c 1 -q 127.0.0.1 | grep -c '0% packet loss'
	setfattr -n user.a -v b text && getfattr -d text && setfacl -m u:1:r text && getfacl text
	getcap -r /usr && ls -l /usr/bin/sudo /usr/bin/su | cut -c1-10
	ps -o comm= -p $$ && lsof -p $$ | awk 'NR > 1 { print $4, $9 }' | grep -E 'txt|cwd' && pstree -V 2>&1 | head -n 1
	ip -br address | cut -c1-30 && patchelf --print-interpreter --print-needed /usr/bin/git && eu-readelf -n /usr/bin/git | grep -A1 Build
	getent passwd root && locale -a && date -d @0 && timeout 1 sleep 5; echo $?
}
