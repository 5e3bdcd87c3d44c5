#!/bin/bash
# SPDX-License-Identifier: MIT
# The parts of real_packages.py that run in a root; /mnt is a folder that the parts share.
#
#     inside.sh setup                 the root itself: sources and a user
#     inside.sh ours                  our packages, which /mnt/source makes; they go to /mnt/out
#     inside.sh fetch PACKAGE         our packages, build dependencies and source; /mnt/version says which
#     inside.sh build OUT ENVIRONMENT...   builds /build/*/ by the user; the packages go to /mnt/out/OUT
set -eu
here=$(dirname "$0")
# shellcheck disable=SC1091 # the one of the root
. /etc/os-release
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt() { eatmydata apt-get -q -o APT::Sandbox::User=root -o Dpkg::Options::=--force-unsafe-io "$@" </dev/null; }

setup() {
	# A mirror may lack a source package of this release. Then an earlier release or unstable has it.
	sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
	for release in bookworm unstable; do
		[ $release = "$VERSION_CODENAME" ] || echo "deb-src [check-valid-until=no] http://deb.debian.org/debian $release main"
	done >/etc/apt/sources.list.d/others.list
	apt update
	id builder 2>/dev/null || useradd -m builder
	mkdir -p /build
	chown builder /build
}

ours() { /mnt/source/packaging/deb/build /mnt/out; }

# The versions of a source, the preferred one first: those of this release from the newest on, then others. The list of
# unstable also has former versions of this release.
versions() { # PACKAGE
	local list name
	for list in /var/lib/apt/lists/*_{trixie*,bookworm*,unstable}_main_source_Sources*; do
		[ ! -e "$list" ] || case $list in *_"$VERSION_CODENAME"*) name=1 ;; *_bookworm_*) name=3 ;; *) name=2 ;; esac
		[ ! -e "$list" ] || /usr/lib/apt/apt-helper cat-file "$list" |
			awk -v want="$1" -v name=$name -v own="deb${VERSION_ID}u" '$1 == "Package:" { p = $2 }
				$1 == "Version:" && p == want { print index($2, own) ? 1 : name, $2; p = "" }'
	done | sort -u | sort -k1,1n -k2,2Vr
}

fetch() { # PACKAGE
	local package=$1 release version
	dpkg -i /mnt/debs/*.deb
	mkdir -p /build/get && cd /build/get
	while read -r release version; do
		rm -f -- *
		if apt source --download-only "$package=$version" && apt -y build-dep --arch-only ./*.dsc; then
			case $release in 1) release=$VERSION_ID ;; 3) release=12 ;; *) release=unstable ;; esac
			echo "$version $release" >/mnt/version
			break
		fi
	done < <(versions "$package")
	[ -s /mnt/version ] || { echo "$package: the mirror has no version of it"; exit 77; }
	dpkg-source --no-check -x ./*.dsc "/build/$package"
	cd "/build/$package"
	# One hook of dh; where debian/rules has no dh, one call after dh_strip with the packages that it names.
	sed -E -i "s/^(\\t@?dh +'?\\\$[@*{(][^ ]*)/\\1 --with eh2sframe/" debian/rules
	if ! grep -q 'with eh2sframe' debian/rules; then
		sed -E -i 's/^\tdh_strip((  *-[^ ]*)*).*$/&\n\tdh_eh2sframe\1/' debian/rules
		sed -E -i '/^\tdh_eh2sframe/s/ (--dbg|-k|--keep|--ddeb|--no-auto)[^ ]*//g' debian/rules
	fi
	[ ! -e "$here/rules/$package.sed" ] || sed -E -i -f "$here/rules/$package.sed" debian/rules
	[ ! -e "$here/rules/$package.mk" ] || cat "$here/rules/$package.mk" >>debian/rules
	grep -E 'eh2sframe' debian/rules
	chown -R builder "/build/$package"
}

build() { # OUT ENVIRONMENT...
	local out=/mnt/out/$1
	shift
	ip link set lo up
	cd /build/*/debian/..
	mkdir -p "$out" && chmod 777 "$out" /mnt/out
	cat /proc/loadavg
	setpriv --reuid=builder --regid=builder --clear-groups env HOME=/home/builder LC_ALL=C.UTF-8 \
		PATH="$here/bin:$PATH" "$@" \
		dpkg-buildpackage -B -us -uc </dev/null
	cat /proc/loadavg
	mv ../*.deb "$out"
}

look() { # OUT
	PYTHONDONTWRITEBYTECODE=1 python3 "$here/check.py" "/mnt/out/$1" >/mnt/out/look.json
}

"$@"
