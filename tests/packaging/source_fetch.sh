#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches a source package through the distribution's package manager and unpacks it.
#
#     source_fetch.sh PACKAGE DIR
#
# DIR/PACKAGE becomes the unpacked source. The machine's own package sources are read, as deb-src and
# by apt with lists of its own in DIR: nothing of the machine changes, nobody needs to be root. Exit
# status 77, with the reason, when nothing can be fetched.
set -u
package=$1 dir=$2

without() {
	echo "$package: $1"
	exit 77
}

[ ! -e "$dir/$package/debian/control" ] || exit 0
for tool in apt-get dpkg-source; do
	command -v $tool >/dev/null || without "needs $tool"
done
mkdir -p "$dir/lists/partial" "$dir/sources.d" "$dir/get" || exit 1
dir=$(readlink -f "$dir")

# Either way of writing sources down; those that have no source packages are passed over by apt.
: >"$dir/sources.list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ ! -e "$file" ] || sed -n 's/^deb[[:space:]]/deb-src /p' "$file" >>"$dir/sources.list"
done
for file in /etc/apt/sources.list.d/*.sources; do
	[ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$dir/sources.d/${file##*/}"
done
{
	[ ! -e /etc/apt/apt.conf ] || echo '#include "/etc/apt/apt.conf";'
	cat <<-CONF
	#clear APT::Update::Pre-Invoke;
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	APT::Sandbox::User "root";
	Acquire::Languages "none";
	Acquire::Retries "2";
	Acquire::http::Timeout "20";
	Dir::State::lists "$dir/lists";
	Dir::Cache::pkgcache "";
	Dir::Cache::srcpkgcache "";
	Dir::Etc::sourcelist "$dir/sources.list";
	Dir::Etc::sourceparts "$dir/sources.d";
	CONF
} >"$dir/main.conf"
echo "Dir::Etc::main \"$dir/main.conf\";" >"$dir/apt.conf"
export APT_CONFIG=$dir/apt.conf

cd "$dir/get" || exit 1
apt-get -q update >"$dir/log" 2>&1 </dev/null
if ! apt-get -q --download-only source "$package" >>"$dir/log" 2>&1 </dev/null; then
	without "no source: $(grep '^[EW]:' "$dir/log" | tail -n 1)"
fi
# Whole or not at all; the download's signatures were apt's to check.
rm -rf "$dir/$package.new"
dpkg-source --no-check -x "$package"_*.dsc "$dir/$package.new" >>"$dir/log" 2>&1 || without 'cannot unpack'
mv "$dir/$package.new" "$dir/$package"
