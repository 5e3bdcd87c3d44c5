#!/bin/bash
# SPDX-License-Identifier: MIT
# What a release consists of, in bare roots of Debian: the archive of `meson dist` builds and passes its fast tests
# without a network, with gcc and with clang; the source package builds in a root that has its build dependencies
# alone, a second time with the same bytes; lintian finds nothing; the packages pass their autopkgtest. TAP.
#
#     release.sh SOURCE LOGS RELEASE...
#
# SOURCE is a checkout with a clean commit; LOGS gets what the commands print. Needs root, mmdebstrap and a network.
source=$(realpath "$1")
mkdir -p "$2" && logs=$(realpath "$2") || exit 1
shift 2
here=$(dirname "$(realpath "$0")")
roots=$here/../distributions
export TMPDIR=${TMPDIR:-/var/tmp} # roots are large
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$here/../shared/tap.sh"
for tool in mmdebstrap unshare git meson; do
	have $tool || skip_all "needs $tool"
done
[ "$(id -u)" = 0 ] || skip_all 'needs root'

work=$scratch
chmod 755 "$work"

# step NAME LOG COMMAND...
step() {
	local name=$1 log=$logs/$2.log start=$SECONDS
	shift 2
	if "$@" >"$log" 2>&1 </dev/null; then
		ok "$name, $((SECONDS - start)) s"
	else
		not_ok "$name" "$(grep -aE '(FAIL|ERROR|TIMEOUT) |^[EWI]: ' "$log" | sort -u; tail -n 20 "$log")"
		return 1
	fi
}
# shellcheck disable=SC2317 # step calls them
# inside ROOT SCRIPT: as its root, in the folder /root.
inside() {
	unshare --mount --pid --fork --kill-child "$roots/in_root.sh" "$1" sh -euc "cd /root; $2"
}
# shellcheck disable=SC2317
# The same without a network.
offline() {
	unshare --net --mount --pid --fork --kill-child "$roots/in_root.sh" "$1" sh -euc "cd /root; $2"
}

git clone -q "$source" "$work/clone"
step 'meson dist makes an archive' dist sh -euc "cd '$work/clone' && meson setup -Dtests=disabled ../dist &&
	meson dist -C ../dist --no-tests" || plan
archive=$(echo "$work"/dist/meson-dist/*.tar.xz)
tree=$(basename "$archive" .tar.xz)
for release; do
	root=$work/$release
	step "$release: a root" "$release-root" unshare --mount "$roots/make_root.sh" "$release" "$root" || continue
	tar -C "$root/root" -xf "$archive"
	step "$release: the packages for tests" "$release-deps" inside "$root" \
		"cd $tree && ./build.sh --tests" || continue
	for compiler in gcc clang; do
		step "$release: builds and passes its fast tests by $compiler without a network" "$release-$compiler" \
			offline "$root" "cd $tree && CC=$compiler meson setup -Dtests=enabled -Db_lto=false b-$compiler &&
			ninja -C b-$compiler && meson test -C b-$compiler --no-rebuild"
	done
	step "$release: packages" "$release-deb" offline "$root" "cd $tree && rm -rf b-* && packaging/deb/build /root/one" ||
		continue
	step "$release: lintian finds nothing" "$release-lintian" inside "$root" \
		'lintian --allow-root -I --fail-on info one/*.changes'
	# A root with the build dependencies alone.
	step "$release: a second root" "$release-clean" unshare --mount "$roots/make_root.sh" "$release" "$root-clean" ||
		continue
	mkdir "$root-clean/root/in" && cp "$root"/root/one/*.dsc "$root"/root/one/*.tar.xz "$root-clean/root/in"
	step "$release: the source package builds there" "$release-source" inside "$root-clean" \
		'export DEBIAN_FRONTEND=noninteractive
		apt-get -qq update
		apt-get -qq install -y --no-install-recommends dpkg-dev
		dpkg-source -x in/*.dsc tree
		apt-get -qq build-dep -y --no-install-recommends ./tree
		cd tree && dpkg-buildpackage -b -us -uc'
	for deb in "$root"/root/one/*.deb; do
		is "$release: the same bytes: ${deb##*/}" cmp "$deb" "$root-clean/root/${deb##*/}"
	done
	step "$release: autopkgtest" "$release-autopkgtest" inside "$root-clean" \
		'export DEBIAN_FRONTEND=noninteractive
		apt-get -qq install -y --no-install-recommends autopkgtest
		autopkgtest in/*.dsc *.deb -- null'
	rm -rf --one-file-system "$root" "$root-clean"
done
plan
