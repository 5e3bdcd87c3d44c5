#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches another architecture's packages through the distribution's package manager and unpacks
# them.
#
#     machines_fetch.sh ARCH quick|full DIR
#
# DIR/ARCH becomes the root of a small system of that architecture. apt keeps its lists in DIR, so
# that the machine's own architectures, lists and packages stay as they are and nobody needs to be
# root; the sources, keys and proxies are the machine's. Exit status 77, with the reason, when nothing
# can be fetched, or 1 where MACHINES_REQUIRED is set: the test command sets it.
set -u
arch=$1 which=$2 dir=$3

packages='libc6 libgcc-s1 libstdc++6'
[ "$which" = quick ] || packages="$packages
	bash coreutils perl perl-base libperl5.36 perl-modules-5.36 libcrypt1 libdb5.3 libbz2-1.0
	python3.11 python3.11-minimal libpython3.11 libpython3.11-minimal libpython3.11-stdlib
	libexpat1 libffi8 liblzma5 libssl3 zlib1g libtinfo6 libacl1 libattr1 libselinux1 libpcre2-8-0
	libgmp10 libllvm14 libz3-4 libbsd0 libmd0 libedit2 libxml2 libicu72 libzstd1 ripgrep fzf
	libstd-rust-1.63"

without() {
	if [ -n "${MACHINES_REQUIRED-}" ]; then
		echo "machines_fetch.sh: $arch: $1" >&2
		exit 1
	fi
	echo "$arch: $1"
	exit 77
}

for tool in apt-get dpkg-deb flock; do
	command -v $tool >/dev/null || without "needs $tool"
done
mkdir -p "$dir/$arch" "$dir/apt-$arch/lists/partial" "$dir/apt-$arch/debs/partial" || exit 1
dir=$(readlink -f "$dir")
apt=$dir/apt-$arch

# Tests that run at once share the root.
exec 9>"$apt/lock"
flock 9

missing=()
for package in $packages; do
	[ -e "$apt/$package.done" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# What follows an update is for the machine's own lists.
{
	[ ! -e /etc/apt/apt.conf ] || echo '#include "/etc/apt/apt.conf";'
	cat <<-CONF
	#clear APT::Architectures;
	#clear APT::Update::Pre-Invoke;
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	APT::Architecture "$arch";
	APT::Architectures { "$arch"; };
	APT::Sandbox::User "root";
	Acquire::Languages "none";
	Acquire::Retries "2";
	Acquire::http::Timeout "20";
	Dir::State "$apt";
	Dir::State::lists "$apt/lists";
	Dir::State::status "$apt/status";
	Dir::Cache "$apt/debs";
	CONF
} >"$apt/main.conf"
echo "Dir::Etc::main \"$apt/main.conf\";" >"$apt/apt.conf"
: >"$apt/status"
export APT_CONFIG=$apt/apt.conf

cd "$apt/debs" || exit 1
if ! { apt-get -q update && apt-get -q download "${missing[@]}"; } >"$apt/log" 2>&1 </dev/null; then
	without "no packages: $(grep '^[EW]:' "$apt/log" | tail -n 1)"
fi
# Programs read the first: none of the machine's own libraries belong to this root.
mkdir -p "$dir/$arch/etc" && : >"$dir/$arch/etc/ld.so.cache"
for package in "${missing[@]}"; do
	dpkg-deb -x "$apt/debs/${package}"_*.deb "$dir/$arch" && : >"$apt/$package.done" || exit 1
done
rm -f "$apt"/debs/*.deb
