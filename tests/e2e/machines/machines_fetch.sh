#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches another architecture's packages through the distribution's package manager and unpacks
# them.
#
#     machines_fetch.sh ARCH quick|full|corpus|faults|step|step-hidden|go DIR [RELEASE]
#     POOL='PACKAGE...' machines_fetch.sh ARCH pool DIR RELEASE
#
# DIR/ARCH becomes the root of a small system of that architecture. apt keeps its lists in DIR, so
# that the machine's own architectures, lists and packages stay as they are and root is not needed.
# The sources, keys and proxies are the machine's; with RELEASE the sources are those of that release
# of Debian. pool unpacks nothing: the packages of POOL, and all that they depend on, are then in
# DIR/apt-ARCH/debs/archives. Exit status 77, with the reason, when nothing can be fetched.
set -u
arch=$1 which=$2 dir=$3 release=${4-}

packages='libc6 libgcc-s1 libstdc++6'
[ "$which" = quick ] || packages="$packages
	bash coreutils perl python3 llvm libstd-rust-dev ripgrep fzf"
# What compilers, interpreters, databases and players of videos depend on: C, C++, Fortran, assembly.
[ "$which" != corpus ] || packages="$packages
	bat binutils cmake default-jre-headless fd-find ffmpeg g++ gdb gfortran git imagemagick nginx
	nodejs ocaml-nox openssl php-cli postgresql rustc ruby util-linux vim"
# Programs whose CFI is known to be wrong somewhere (docs/FAULTS.md).
[ "$which" != faults ] || packages='libasan8 libc6 ocaml-nox libssl-dev ripgrep bash'
# Programs that run much code without CFI (tests/oracle/step_code.sh).
[ "$which" != step ] || packages='libc6 ffmpeg x264 x265 dav1d vpx-tools aom-tools libgmp-dev nettle-dev openssl
	g++ llvm ocaml-nox python3 ripgrep sqlite3'
[ "$which" != step-hidden ] || packages='libc6 bash gawk mawk perl-base python3 sqlite3 openssl xz-utils bc ripgrep'
[ "$which" != go ] || packages='age buildah caddy containerd docker.io fzf gh golang-docker-credential-helpers
	rclone restic runc skopeo syncthing'
[ "$which" != pool ] || packages=$POOL
# These are not there for each machine.
[ "$which/$arch" != faults/amd64 ] || packages="$packages lzop mold shellcheck valgrind"
[ "$which/$arch/$release" != faults/arm64/trixie ] || packages="$packages libavcodec61"

without() {
	echo "$arch: $1"
	exit 77
}

for tool in apt-get dpkg-deb flock; do
	command -v $tool >/dev/null || without "needs $tool"
done
mkdir -p "$dir/$arch" "$dir/apt-$arch/lists/partial" "$dir/apt-$arch/debs/archives/partial" || exit 1
dir=$(readlink -f "$dir")
apt=$dir/apt-$arch

# Tests that run at once share the root.
exec 9>"$apt/lock"
flock 9

[ ! -e "$apt/$which.done" ] || exit 0

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
	[ -z "$release" ] || cat <<-CONF
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "$apt/none";
	Acquire::Check-Valid-Until "false";
	CONF
} >"$apt/main.conf"
echo "Dir::Etc::main \"$apt/main.conf\";" >"$apt/apt.conf"
: >"$apt/status"
if [ -n "$release" ]; then
	keys='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
	# Where this machine has Debian from.
	# shellcheck disable=SC2016 # apt-get replaces it
	mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 '/debian/$')
	echo "deb $keys $mirror $release main"
	[ "$release" = unstable ] || cat <<-LIST
	deb $keys $mirror $release-updates main
	deb $keys ${mirror%/}-security $release-security main
	LIST
fi >"$apt/sources.list"
export APT_CONFIG=$apt/apt.conf

# To apt nothing is installed, so it takes all that these packages depend on.
fetch() {
	# A mirror may lack the list of one suite, such as updates; the others are enough then.
	apt-get -q update
	# shellcheck disable=SC2086 # a list of names
	apt-get -q -y --no-install-recommends --download-only install $packages
}
# A mirror that fails once is asked again a little later.
for pause in 10 30 0; do
	! fetch >"$apt/log" 2>&1 </dev/null || break
	[ $pause != 0 ] || without "no packages: $(grep '^[EW]:' "$apt/log" | tail -n 1)"
	sleep $pause
done
if [ "$which" = pool ]; then
	: >"$apt/$which.done"
	exit 0
fi
# Programs read the first: none of the machine's own libraries belong to this root.
mkdir -p "$dir/$arch/etc" && : >"$dir/$arch/etc/ld.so.cache"
for file in "$apt"/debs/archives/*.deb; do
	dpkg-deb -x "$file" "$dir/$arch" || exit 1
done
# Since Debian 13 packages have nothing outside of /usr.
for folder in bin lib lib64 sbin; do
	[ ! -d "$dir/$arch/usr/$folder" ] || [ -e "$dir/$arch/$folder" ] || ln -s "usr/$folder" "$dir/$arch/$folder"
done
rm -f "$apt"/debs/archives/*.deb
: >"$apt/$which.done"
