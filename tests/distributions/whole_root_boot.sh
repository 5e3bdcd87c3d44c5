# SPDX-License-Identifier: MIT
# Sourced by whole_root_work.sh: systemd as the first process, and core dumps.
# shellcheck shell=bash

# The first process of the namespace becomes systemd, as in a container. A service writes what it finds to
# /mnt/out/booted and ends the system.
task_boot() {
	mount -t tmpfs -o mode=755 tmpfs /run
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	cat >/etc/systemd/system/whole-root.service <<-END
		[Unit]
		After=nginx.service dbus.service
		[Service]
		Type=simple
		ExecStart=/bin/bash $here/whole_root_work.sh booted
		StandardOutput=truncate:/mnt/out/booted
		StandardError=inherit
		[Install]
		WantedBy=multi-user.target
	END
	cat >/etc/systemd/system/whole-root-fails.service <<-END
		[Service]
		Type=oneshot
		ExecStart=/bin/false
	END
	mkdir -p /var/log/journal
	echo 0123456789abcdef0123456789abcdef >/etc/machine-id
	systemctl --root=/ -q enable whole-root.service
	systemctl --root=/ set-default multi-user.target
	exec env container=whole-root /lib/systemd/systemd --log-target=null --show-status=no
}

task_booted() {
	timeout 90 systemctl is-system-running --wait
	systemctl list-units --all --no-legend --plain --type=service,socket,target,timer,path | awk '{ print $1, $2, $3, $4 }' | grep -vE 'run-|user@|session|^(init|dev-)' | sort
	systemctl --failed --no-legend --plain | awk '{ print $1 }'
	systemctl start whole-root-fails.service; systemctl show -P Result whole-root-fails.service
	curl -s http://127.0.0.1/ | sha256sum
	systemctl restart nginx && curl -s http://127.0.0.1/ | sha256sum
	systemd-run -q --wait --pipe -p DynamicUser=yes -p ProtectSystem=strict -p SystemCallFilter=@system-service id -u | wc -l
	systemd-run -q --wait --pipe -p MemoryDenyWriteExecute=yes -p PrivateTmp=yes perl -e 'print "in a service\n"'
	busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus ListActivatableNames
	busctl --no-pager get-property org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager Architecture
	loginctl list-sessions --no-legend | wc -l
	hostnamectl hostname
	systemd-notify --booted && echo booted
	systemctl daemon-reload && systemctl daemon-reexec && echo executed again
	systemctl is-active nginx dbus systemd-journald systemd-logind
	logger -t whole-root a message && journalctl --sync && journalctl -q -t whole-root -o cat | tail -n 1
	journalctl --rotate && journalctl --verify 2>&1 | grep -o PASS | sort -u
	journalctl -q --file '/var/log/journal/*/*.journal' -o json -n 5 | wc -l
	journalctl -q -o cat -p err --grep 'dumped core|SIGSEGV|code=killed' | sort
	systemd-analyze time >/dev/null && echo times
	systemd-analyze critical-chain --no-pager >/dev/null && echo chain
	systemctl exit 0
}

# blocked PID: whether the process waits in a system call; its stack is the same each time then.
blocked() { [ "$(cut -d' ' -f1 "/proc/$1/syscall" 2>/dev/null)" != running ] && grep -q '^State:.*sleeping' "/proc/$1/status" 2>/dev/null; }

waits_or_ended() { blocked "$1" || ! grep -s '^State:' "/proc/$1/status" | grep -qv zombie; }

# The stack, files and build-ids that gdb, elfutils and file read out of a core dump. gdb says that debug files
# lack the added sections (docs/BUILD-SYSTEMS.md).
read_core() { # PROGRAM CORE
	gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set print frame-arguments none' -ex bt -ex 'info sharedlibrary' "$1" "$2" 2>&1 |
		no_addresses | grep -vE '^(\[New LWP|\[Current thread|warning: (Unexpected size|core file may|Section .\.reg|section .* not found in))|^$'
	# A file can be there once more without its name.
	eu-unstrip -n --core="$2" 2>&1 | awk '$2 !~ /vdso/ && $NF !~ /vdso/ { sub("@.*", "", $2); if (!name[$2] || $NF != "[dso]") name[$2] = $NF }
		END { for (id in name) print id, name[id] }' | sed 's|/.*/||' | sort
	eu-stack --core="$2" -m 2>/dev/null | sed -E 's/0x[0-9a-f]+/X/; s/^TID [0-9]+/TID/' | grep -v 'PID [0-9]'
	file "$2" | sed -E 's/^[^:]*//; s/(real|effective) [ug]id: [0-9]+, //g'
}

# Programs are ended by a signal while they wait, or by themselves. Rust goes on after a SIGSEGV from outside.
end_programs() {
	local name pid program
	ulimit -c unlimited
	mkfifo pipe
	exec 9<>pipe
	cp "$here"/whole_root_sources/calls.c . && gcc -g -DALL -o calls calls.c
	while read -r program name; do
		echo "== $program $name"
		# shellcheck disable=SC2086 # words
		STOP=1 setarch -R $program $name <pipe >/dev/null 2>&1 9>&- &
		pid=$!
		await waits_or_ended $pid
		if ! grep -q zombie /proc/$pid/status 2>/dev/null; then
			gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set print frame-arguments none' -p $pid -ex bt -ex "gcore $work/gcore" 2>&1 | grep '^#' | no_addresses
			read_core "$(command -v "$program")" gcore
		fi
		kill -ABRT $pid 2>/dev/null
		wait $pid 2>/dev/null
		echo "status $?"
		set -- core*
		if [ -e "$1" ]; then read_core "$(command -v "$program")" "$1"; else echo 'no core dump by the kernel'; fi
		rm -f core* gcore
	done <<-'END'
		/usr/bin/sleep 999
		/usr/bin/cat
		/usr/bin/perl -e kill+ABRT,$$
		/usr/bin/perl -e <STDIN>
		/usr/bin/python3 -c __import__("os").abort()
		/usr/bin/python3 -c input()
		/usr/bin/sqlite3 :memory:
		/usr/bin/openssl s_server -nocert -accept 4433
		/usr/bin/git hash-object --stdin
		/usr/bin/gdb -nx -q
		/usr/bin/busybox cat
		/usr/lib/systemd/systemd-udevd
		/usr/bin/rg x -
		/usr/bin/ruby -e gets
		./calls
	END
}

# bash says which processes ended, with their numbers.
task_cores() { end_programs 2>&1 | grep -vE 'line [0-9]+: +[0-9]+ (Aborted|Segmentation|Terminated)'; }
