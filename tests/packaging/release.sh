#!/bin/bash
# SPDX-License-Identifier: MIT
# What a release consists of, in bare roots of Debian. TAP, a line for each step.
#
#     release.sh SOURCE WORK RELEASE... [-- STEP...]
#
# SOURCE is a checkout with a clean commit. WORK keeps the roots, what the steps make, and their logs. A step that passed for
# this commit is not repeated, so a run that was stopped goes on. With STEPs only these run. Needs root, mmdebstrap, a network.
#
#     archive      `meson dist` makes an archive, and the same bytes again in another place, with another umask
#     root, deps   a root with what the tests need
#     gcc, clang   the archive builds there and passes its fast tests without a network
#     deb          the packages are built from it without a network
#     lintian      finds nothing in them
#     source       the source package builds in a root with its build dependencies alone. Path, time, jobs, umask, locale
#                  and time zone are others, and the packages have the same bytes
#     autopkgtest  the packages pass their tests in a root that has nothing else
source=$(realpath "$1")
mkdir -p "$2/logs" "$2/done" && work=$(realpath "$2") || exit 1
shift 2
here=$(dirname "$(realpath "$0")")
roots=$here/../distributions
releases=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	releases+=("$1")
	shift
done
[ $# -eq 0 ] || shift
chosen=" $* "
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$here/../shared/tap.sh"
for tool in mmdebstrap unshare git meson; do
	have $tool || skip_all "needs $tool"
done
[ "$(id -u)" = 0 ] || skip_all 'needs root'
commit=$(git -C "$source" rev-parse HEAD)

# step RELEASE STEP: runs do_STEP. A root is the same for each commit.
step() {
	local mark=$work/done/$1-$2 log=$work/logs/$1-$2.log for=$commit start=$SECONDS
	[ "$chosen" = '  ' ] || [[ $chosen = *" $2 "* ]] || return 0
	[ "$2" != root ] && [ "$2" != deps ] || for=all
	if [ "$(cat "$mark" 2>/dev/null)" = "$for" ]; then
		ok "$1: $2, done before"
	elif (try "do_$2" "$1") >"$log" 2>&1 </dev/null; then
		echo "$for" >"$mark"
		ok "$1: $2, $((SECONDS - start)) s$(sed -n 's/^Ok: */, tests: /p; s/^Skipped: */, skipped: /p' "$log" | tr -d '\n' | tr -s ' ')"
	else
		not_ok "$1: $2" "$(grep -aE '(FAIL|ERROR|TIMEOUT) |^[EWI]: ' "$log" | sort -u | head -n 40; tail -n 20 "$log")"
		return 1
	fi
}
# try FUNCTION RELEASE: in a shell of its own, because bash forgets `set -e` where a status is asked for.
try() {
	export -f "$1" fast inside offline new_root
	export source work roots install commit archive
	bash -euc "$1 $2"
}
# inside ROOT SCRIPT: as its root, in the folder /root.
inside() {
	nice unshare --mount --pid --fork --kill-child "$roots/in_root.sh" "$1" sh -euc "cd /root; $2"
}
# The same without a network.
offline() {
	nice unshare --net --mount --pid --fork --kill-child "$roots/in_root.sh" "$1" sh -euc "cd /root; $2"
}
# new_root RELEASE DIR
new_root() {
	rm -rf --one-file-system "$2"
	unshare --mount "$roots/make_root.sh" "$1" "$2"
}
install='export DEBIAN_FRONTEND=noninteractive; apt-get -qq update; apt-get -qq install -y --no-install-recommends'

# shellcheck disable=SC2317 # step calls the rest
do_archive() {
	local dir mask
	rm -rf "$work/dist" "$work/dist 2"
	for dir in "$work/dist" "$work/dist 2"; do
		mask=022
		[ "$dir" = "$work/dist" ] || mask=077
		(
			umask $mask
			mkdir "$dir"
			git clone -q "$source" "$dir/clone"
			git -C "$dir/clone" checkout -q "$commit"
			meson setup -Dtests=disabled "$dir/clone" "$dir/build"
			meson dist -C "$dir/build" --no-tests
		)
	done
	cmp "$work/dist/build/meson-dist/"*.tar.xz "$work/dist 2/build/meson-dist/"*.tar.xz
	cp "$work/dist/build/meson-dist/"*.tar.xz* "$work"
}
# shellcheck disable=SC2317
do_root() { new_root "$1" "$work/$1"; }
# shellcheck disable=SC2317
do_deps() {
	cp "$source/build.sh" "$work/$1/root"
	inside "$work/$1" './build.sh --tests'
}
# shellcheck disable=SC2317
fast() { # RELEASE COMPILER
	local to=$work/$1/root/$2
	rm -rf "$to"
	mkdir "$to"
	tar -C "$to" -xf "$archive"
	offline "$work/$1" "cd $2/*/ && CC=$2 meson setup -Dtests=enabled -Db_lto=false build && ninja -C build && meson test -C build --print-errorlogs"
	rm -rf "$to"
}
# shellcheck disable=SC2317
do_gcc() { fast "$1" gcc; }
# shellcheck disable=SC2317
do_clang() { fast "$1" clang; }
# shellcheck disable=SC2317
do_deb() {
	local to=$work/$1/root/deb
	rm -rf "$to" "$work/$1-packages"
	mkdir "$to"
	cp "$archive" "$to"
	tar -C "$to" -xf "$archive"
	offline "$work/$1" 'cd deb && */packaging/deb/build packages *.tar.xz'
	mv "$to/packages" "$work/$1-packages"
	cmp "$archive" "$work/$1-packages/"*.orig.tar.xz
}
# The packages are for unstable, whose policy is newer than that of other releases, and Debian 12 reads no watch file of version 5.
# shellcheck disable=SC2317
do_lintian() {
	rm -rf "$work/$1/root/lint"
	cp -r "$work/$1-packages" "$work/$1/root/lint"
	inside "$work/$1" 'lintian --allow-root -I --suppress-tags newer-standards-version,out-of-date-standards-version,older-debian-watch-file-standard \
		--fail-on error,warning,info lint/*.changes'
}
# A path with a space would switch off dpkg's -ffile-prefix-map.
# shellcheck disable=SC2317
do_source() {
	local deb to=$work/$1-clean
	new_root "$1" "$to"
	mkdir "$to/root/in"
	cp "$work/$1-packages/"*.dsc "$work/$1-packages/"*.tar.xz "$to/root/in"
	inside "$to" "$install dpkg-dev
		dpkg-source -x in/*.dsc another.place
		apt-get -qq build-dep -y --no-install-recommends ./another.place
		cd another.place
		umask 077
		LC_ALL=C TZ=Pacific/Kiritimati DEB_BUILD_OPTIONS=parallel=1 dpkg-buildpackage -b -us -uc"
	for deb in "$work/$1-packages/"*.deb; do
		cmp "$deb" "$to/root/${deb##*/}"
	done
	rm -rf --one-file-system "$to"
}
# shellcheck disable=SC2317
do_autopkgtest() {
	local to=$work/$1-test
	new_root "$1" "$to"
	mkdir "$to/root/in"
	cp "$work/$1-packages/"* "$to/root/in"
	inside "$to" "$install autopkgtest
		autopkgtest --no-built-binaries in/*[0-9]_*.deb in/*-dev_*.deb in/*.dsc -- null"
	rm -rf --one-file-system "$to"
}

archive=
step all archive || plan
archive=$(echo "$work"/eh2sframe-*.tar.xz)
for release in "${releases[@]}"; do
	step "$release" root && step "$release" deps || continue
	step "$release" gcc
	step "$release" clang
	step "$release" deb || continue
	step "$release" lintian
	step "$release" source
	step "$release" autopkgtest
done
# What a further run would need is kept where something is still to be done.
if [ $failed = 0 ] && [ "$chosen" = '  ' ]; then
	for release in "${releases[@]}"; do
		rm -rf --one-file-system "${work:?}/$release" "$work/done/$release-root" "$work/done/$release-deps"
	done
fi
plan
