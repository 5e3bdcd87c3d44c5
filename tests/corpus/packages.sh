# SPDX-License-Identifier: MIT
# Sourced by slurm.sh and bazel.sh, which set tool, work and packages: that many packages of three programs of this system
# each, a list of them in list.all, and in single.json the report of one run over all of them.
# shellcheck shell=bash
make_packages() {
	local i=0 file
	while read -r file; do
		[ "$(head -c 5 "$file" | od -An -tx1 | tr -d ' ')" = 7f454c4602 ] || continue
		mkdir -p "tree$((i / 3))/usr/bin" "tree$((i / 3))/DEBIAN"
		cp "$file" "tree$((i / 3))/usr/bin"
		i=$((i + 1))
		[ "$i" -lt $((packages * 3)) ] || break
	done < <(find /usr/bin -maxdepth 1 -type f -size -300k | sort)
	for i in $(seq 0 $((packages - 1))); do
		printf 'Package: test%s\nVersion: 1\nArchitecture: all\nMaintainer: none <none@invalid>\nDescription: test\n' "$i" \
			>"tree$i/DEBIAN/control"
		dpkg-deb --root-owner-group -b "tree$i" "test$i.deb" >/dev/null || return 1
	done
	ls -- "$work"/test*.deb >list.all
}

# As one run does it.
single() {
	local deb
	mkdir single
	while read -r deb; do
		dpkg-deb -x "$deb" "single/$(basename "$deb" .deb)"
	done <list.all
	(cd single && "$tool" tree convert -q --report-file="$work/single.report" -- *)
	"$tool" merge -q -o single.json single.report
}

# status NAME WHY: of the command before.
status() {
	if [ $? = 0 ]; then ok "$1"; else not_ok "$1" "$2"; fi
}

is 'packages are made' make_packages
is 'one run over all of them' single
[ "$(grep -c '"path"' single.json)" = $((packages * 3)) ]
status 'it has every file' "$(head -c 1000 single.json)"
