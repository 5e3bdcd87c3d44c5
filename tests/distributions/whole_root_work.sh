#!/bin/bash
# SPDX-License-Identifier: MIT
# whole_root_work.sh TASK: runs one piece of work inside of a root, and prints what must not depend on a
# conversion of the root's files. The tasks of the system are here, those of its languages and servers
# are in whole_root_tools.sh. `whole_root_work.sh --list` names all tasks.
set -u
export LC_ALL=C.UTF-8 HOME=/root TZ=UTC DEBIAN_FRONTEND=noninteractive PYTHONDONTWRITEBYTECODE=1
here=$(dirname "$0")
work=/tmp/whole-root
umask 022

no_addresses() { sed -E 's/0x[0-9a-f]+/0xX/g'; }

# elf_files DIR...: names of ELF files.
elf_files() {
	find "$@" -xdev -type f -size +63c -print0 | sort -z | python3 -c '
import sys
for name in sys.stdin.buffer.read().split(b"\0")[:-1]:
    with open(name, "rb") as file:
        if file.read(4) == b"\x7fELF":
            sys.stdout.buffer.write(name + b"\n")'
}

task_ldconfig() {
	ldconfig -p
	ldconfig -v 2>/dev/null
	ldconfig && sha256sum /etc/ld.so.cache
	ldconfig -X -C /tmp/another.cache && sha256sum /tmp/another.cache
}

# The same for a root that is read-only.
task_libraries() {
	ldconfig -p
	ldconfig -v -X -C /tmp/another.cache 2>/dev/null && sha256sum /tmp/another.cache
}

task_ldd() {
	elf_files /usr /opt /var/lib | while read -r file; do
		echo "$file"
		ldd "$file" 2>&1 | no_addresses
	done
}

task_dpkg() {
	dpkg --audit
	dpkg -l
	dpkg -S /usr/bin/gcc /usr/bin/perl /etc/nginx
	dpkg -L bash coreutils | sort
	dpkg --compare-versions 1.0~rc1 lt 1.0 && echo compared
	dpkg -s dpkg apt | grep -v '^Description'
	local deb
	for deb in /var/cache/apt/archives/{bash,openssl,hello}_*.deb; do
		dpkg-deb -I "$deb" && dpkg-deb -c "$deb"
		dpkg-deb -R "$deb" unpacked && SOURCE_DATE_EPOCH=1 dpkg-deb -Zxz -b unpacked built.deb
		sha256sum built.deb
		rm -r unpacked
	done
	apt-mark showmanual
	apt list --installed 2>/dev/null
	apt-cache policy bash
	apt-cache depends git
	apt-cache rdepends --installed libc6
	apt-get -s dist-upgrade | grep -E '^(Inst|Conf|Remv|[0-9])'
	apt-get check
	aptitude search '~i~nperl'
	debsums -l
	dpkg-reconfigure -f noninteractive debconf && echo reconfigured
	update-alternatives --get-selections
}

# apt_says: what apt prints, without times and progress.
apt_says() { grep -avE '^(Fetched|(Local|Universal) [Tt]ime is now|Reading|Building|Selecting|Get:|Hit:|Ign:|\(Reading|WARNING|Progress)|^$|in [0-9]+s'; }

# Packages from the archives that the root was made of, and of a local repository that has the same
# packages with a higher version.
task_packages() {
	apt-get -y remove --purge hello 2>&1 | apt_says
	apt-get -y --no-download install hello 2>&1 | apt_says
	hello
	# shellcheck disable=SC2046 # names of packages
	apt-get -y --no-download -o Dpkg::Options::=--force-unsafe-io --reinstall install $(cat "$here/reinstalled") 2>&1 | apt_says
	# shellcheck disable=SC2046 # names of packages
	echo "dpkg -V of reinstalled packages: $(dpkg -V $(cat "$here/reinstalled"))"
	local sources='-o Dir::Etc::sourcelist=/mnt/sources.list -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0'
	# shellcheck disable=SC2086 # options
	apt-get $sources update 2>&1 | apt_says
	# shellcheck disable=SC2086 # options
	apt-get $sources -y -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Options::=--force-confold dist-upgrade 2>&1 | apt_says | sort
	dpkg -l | grep -c sframe
	dpkg -l
	apt-get -y remove --purge bc cpio 2>&1 | apt_says
	apt-get -y autoremove 2>&1 | apt_says
	dpkg --audit
	apt-get check 2>&1 | apt_says
	debsums -s hello bash && echo "hello and bash have the sums of their packages"
}

# All packages become those of the next release, by the programs of the old one.
task_release() {
	local sources='-o Dir::Etc::sourcelist=/mnt/next.list -o Dir::Etc::sourceparts=-'
	# shellcheck disable=SC2086 # options
	apt-get $sources update 2>&1 | apt_says
	# shellcheck disable=SC2086 # options
	apt-get $sources -y -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Options::=--force-confnew dist-upgrade 2>&1 | apt_says | sort
	# shellcheck disable=SC2086 # options
	apt-get $sources -y autoremove --purge 2>&1 | apt_says | sort
	dpkg --audit
	dpkg -l
	cat /etc/debian_version
	ldconfig -p
	apt-get check
}

task_systemd() {
	systemctl --version
	systemctl --root=/ list-unit-files
	systemctl --root=/ is-enabled nginx ssh dbus
	systemctl --root=/ mask hello.service && systemctl --root=/ unmask hello.service
	systemctl --root=/ disable nginx 2>&1 && systemctl --root=/ enable nginx 2>&1
	find /usr/lib/systemd/system -name '*.service' ! -name '*@*' | sort | while read -r unit; do
		echo "$unit"
		systemd-analyze verify --man=no "$unit" 2>&1 | grep -v 'Failed to prepare filename'
	done
	systemd-analyze calendar --base-time=@0 'Mon *-*-* 04:00' 2>&1 | grep -vE 'From now|left|ago'
	systemd-analyze timespan '3h 4min'
	systemd-analyze syscall-filter @io-event
	systemd-analyze unit-paths
	systemd-escape --path /var/lib/a\ b
	systemd-id128 new | tr -d '\n' | wc -c
	systemd-sysusers --cat-config | sha256sum
	systemd-sysusers --root=/ && getent passwd
	mkdir tree && cp -a /etc tree/ && systemd-tmpfiles --root="$PWD/tree" --create --exclude-prefix=/dev --exclude-prefix=/proc >/dev/null 2>&1
	find tree | sort
	systemd-hwdb update --root="$PWD/tree" && sha256sum tree/etc/udev/hwdb.bin
	systemd-cat --version | head -n 1
	systemd-detect-virt --chroot; echo $?
	udevadm --version
	udevadm hwdb --test='usb:v046DpC52B*' 2>/dev/null
	udevadm test-builtin net_id /sys/class/net/lo 2>&1 | grep -vE 'ID_|context|Load|Skip|link_config'
	udevadm info --path=/sys/class/mem/null 2>/dev/null | grep -E '^[PN]:'
	systemd-path | sort
	systemd-ac-power; echo $?
	systemd-run --help | sha256sum
	busctl --help | sha256sum
	hostnamectl --version
}

. "$here/whole_root_tools.sh"
. "$here/whole_root_boot.sh"

if [ "${1-}" = --list ]; then
	declare -F | sed -n 's/^declare -f task_//p'
	exit 0
fi
ip link set lo up
hostname whole-root
rm -rf $work && mkdir -p $work && cd $work || exit 99
"task_$1" </dev/null
