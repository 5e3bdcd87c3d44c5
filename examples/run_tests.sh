#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one example from a copy, with eh2sframe installed into a place of its own, first in PATH.
#
#     run_tests.sh EXAMPLES_DIR BUILD_DIR PREFIX EXAMPLE [long]
#
# With long, backtrace is one of AArch64, and jit makes ten times as many functions.
set -eu
examples=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
DESTDIR=$work/root meson install -C "$2" --no-rebuild --quiet
installed=$work/root$3
PATH=$installed/bin:$PATH
export PATH
unset EH2SFRAME EH2SFRAME_FLAGS EH2SFRAME_LD EH2SFRAME_CC EH2SFRAME_AS

need() {
	command -v "$1" >/dev/null || {
		echo "needs $1"
		exit 77
	}
}

# proven FILE...: the section is mapped, and says what the CFI says.
proven() {
	for file; do
		eh2sframe verify "$file"
		readelf -lW "$file" | grep -q GNU_SFRAME
	done
}

# fails COMMAND...: its errors are in the file errors.
fails() {
	if "$@" 2>errors; then
		echo "should have failed: $*"
		exit 1
	fi
}

runs() {
	test "$("$1")" = '10! = 3628800'
}

case $4 in
make)
	cp -r "$examples/make" "$work/make"
	make -C "$work/make" check
	proven "$work/make/hello"
	make -C "$work/make" all | grep -q 'Nothing to be done'
	;;
meson)
	cp -r "$examples/meson" "$work/meson"
	meson setup "$work/b" "$work/meson"
	meson test -C "$work/b"
	DESTDIR=$work/to meson install -C "$work/b"
	proven "$work/to/usr/local/bin/hello"
	;;
cmake)
	need cmake
	cp -r "$examples/cmake" "$work/cmake"
	cd "$work/cmake"
	for generator in Ninja 'Unix Makefiles'; do
		rm -rf b "$work/to"
		cmake -G "$generator" -B b -DCMAKE_PREFIX_PATH="$installed" -DCMAKE_BUILD_TYPE=RelWithDebInfo
		grep "^EH2SFRAME_EXECUTABLE:.*=$installed/bin/eh2sframe\$" b/CMakeCache.txt
		cmake --build b -j 2
		(cd b && ctest --output-on-failure)
		DESTDIR=$work/to cmake --install b --strip --prefix /usr
		proven "$work/to/usr/bin/hello" "$work/to/usr/lib/libfactorial.so"
		runs "$work/to/usr/bin/hello"
		# A conversion that fails leaves nothing that the next build would take for finished.
		cmake -B b -DEH2SFRAME_OPTIONS=--format=9
		fails cmake --build b
		test ! -e b/libfactorial.so
		fails cmake --build b
		cmake -B b -DEH2SFRAME_OPTIONS=
		cmake --build b
		proven b/hello
	done
	# A project that knows nothing of it.
	sed -i.all '/[Ee]h2sframe/d' CMakeLists.txt
	cmake -B plain -DCMAKE_C_LINKER_LAUNCHER=eh2sframe-ld
	cmake --build plain
	proven plain/hello plain/libfactorial.so
	mv CMakeLists.txt.all CMakeLists.txt
	# What is refused, by name.
	printf '%s\n' 'add_library(archive STATIC factorial.c)' 'eh2sframe_add(archive)' >>CMakeLists.txt
	fails cmake -B b
	grep -q 'eh2sframe_add: archive is not linked (STATIC_LIBRARY)' errors
	# Too new a version is not found.
	sed -i 's/Eh2sframe 1.0/Eh2sframe 1.99/' CMakeLists.txt
	fails cmake -B b
	grep -q 'compatible with requested version "1.99"' errors
	;;
cargo)
	need cargo
	cp -r "$examples/cargo" "$work/cargo"
	cd "$work/cargo"
	CARGO_HOME=$work/home
	export CARGO_HOME
	for profile in dev release; do
		cargo build --offline --profile $profile
		program=target/release/hello
		[ $profile = release ] || program=target/debug/hello
		proven $program
		runs $program
	done
	touch src/main.rs
	# The environment variable counts before the configuration's.
	EH2SFRAME_FLAGS=--format=9 fails cargo build --offline
	grep -q "eh2sframe: .*format" errors
	;;
bazel)
	if ! command -v bazel >/dev/null; then
		# Starlark's syntax is within Python's: it parses, and that is all that is known here.
		python3 -c 'import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]' \
			"$examples/bazel/eh2sframe.bzl" "$examples/bazel/BUILD.bazel"
		echo 'no bazel: the rule was parsed and not run'
		exit 77
	fi
	cp -r "$examples/bazel" "$work/bazel"
	cd "$work/bazel"
	# From 7 on Bazel asks a registry on the network for modules, even for none, unless it reads WORKSPACE.
	workspace=
	# Debian's 4.2 has no version to tell.
	case $(bazel --version) in
	*no_version*) ;;
	*) workspace='--noenable_bzlmod --enable_workspace' ;;
	esac
	bazel() {
		# shellcheck disable=SC2086 # words
		command bazel --batch --output_user_root="$work/bazel.root" "$@" $workspace --action_env=PATH
	}
	bazel build //:hello
	proven bazel-bin/hello
	runs bazel-bin/hello
	bazel run //:hello | grep -qx '10! = 3628800'
	sed -i 's/--min-coverage=50/--max-size=100/' BUILD.bazel
	fails bazel build //:hello
	grep -q '^eh2sframe: .*--max-size allows 100' errors
	# Bazel makes its folders read-only.
	chmod -R u+w "$work/bazel.root"
	;;
backtrace)
	build=$(realpath "$2")
	cp -r "$examples/backtrace" "$work/backtrace"
	cd "$work/backtrace"
	cc=cc run=
	if [ -n "${5-}" ]; then
		cc=aarch64-linux-gnu-gcc run=qemu-aarch64
		need $cc
		need $run
	fi
	make check CC=$cc RUN=$run WALK="$build/walk" INCLUDE="$installed/include"
	;;
jit)
	[ "$(uname -m)" = x86_64 ] || {
		echo 'the code is of x86-64'
		exit 77
	}
	cp -r "$examples/jit" "$work/jit"
	libraries=$(dirname "$(find "$installed" -name libeh2sframe-walk.pc)")/..
	PKG_CONFIG_PATH=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$work/root LD_LIBRARY_PATH=$libraries \
		make -C "$work/jit" check N=10000${5:+0}
	;;
walkthrough)
	"$examples/walkthrough.sh" eh2sframe >"$work/out"
	cat "$work/out"
	grep -q '^the same file$' "$work/out"
	test "$(grep -c ': 0 differences' "$work/out")" = 2
	;;
summary)
	cd "$work"
	cp /bin/true 'a|b<i>`.so'
	echo '| a text' >text
	eh2sframe report --json -o report.json text "$installed/bin/eh2sframe" 'a|b<i>`.so' || test $? = 1
	"$examples/summary.py" report.json report.json >page
	cat page
	test "$(sed -n '4,$p' page | tr -cd '|\n' | sort | uniq -c | tr -d ' ')" = '8||||||||'
	sed -n '6,7p' page | grep -c '^| text | .*ELF.* |  |  |  |  |  |$' | grep -qx 2
	test "$(grep -c '^| a&#124;b&#60;i&#62;&#96;&#46;so | done | [0-9.]* % | [0-9.]* % | [0-9]* | [0-9]* | [0-9]* |$' page)" = 2
	;;
*)
	echo "no example $4" >&2
	exit 1
	;;
esac
