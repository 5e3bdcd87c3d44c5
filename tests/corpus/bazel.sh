#!/bin/bash
# SPDX-License-Identifier: MIT
# bazel.sh EH2SFRAME SOURCE: the Bazel rules of docs/TREES.md, run by Bazel without a network, over packages and
# over a tree. The first build is killed in the middle. The merged reports must be, byte for byte, those of one run. TAP.
set -u
tool=$(realpath "$1") source=$(realpath "$2")
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$source/tests/shared/tap.sh"
for need in bazel dpkg-deb; do
	have $need || skip_all "needs $need"
done
work=$PWD packages=6
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$source/tests/corpus/packages.sh"

mkdir bin project
# With the file kill, the first conversion is done, but not told, when the build dies.
cat >bin/eh2sframe <<WRAP
#!/bin/bash
"$tool" "\$@" || exit
[ ! -e "$work/kill" ] || [ "\$1" = merge ] || ! mkdir "$work/killed" 2>/dev/null || {
	echo \$\$ >"$work/killed/pid.new"
	mv "$work/killed/pid.new" "$work/killed/pid"
	exec sleep 1000
}
WRAP
chmod +x bin/eh2sframe
export PATH=$work/bin:$PATH
cp test*.deb "$source/examples/archive/package.sh" project
: >project/WORKSPACE
sed -n '/^```starlark$/,/^```$/{/^```/!p}' "$source/docs/TREES.md" >project/trees.bzl
for name in sframe_tree sframe_package sframe_report; do
	grep -q "^def $name(" project/trees.bzl
	status "docs/TREES.md has $name" "$(cat project/trees.bzl)"
done
# A tree with the same files, whose names begin at its top.
mkdir tree && cp -r tree0/usr tree/usr && tar -C tree -cf project/tree.tar usr
{
	echo 'load(":trees.bzl", "sframe_package", "sframe_report", "sframe_tree")'
	echo 'exports_files(["package.sh"])'
	for i in $(seq 0 $((packages - 1))); do
		echo "sframe_package(name = \"test$i\", deb = \"test$i.deb\")"
	done
	echo "sframe_report(name = \"all\", parts = [$(printf '"test%s", ' $(seq 0 $((packages - 1))))])"
	echo 'sframe_tree(name = "converted", src = "tree.tar")'
} >project/BUILD.bazel

# From 7 on Bazel asks a registry on the network for modules, even for none. Debian's 4.2 has no version to tell.
options=(--action_env=PATH)
case $(cd project && bazel --batch --output_user_root="$work/root" --version) in
*no_version*) ;;
*) options+=(--noenable_bzlmod --enable_workspace) ;;
esac
build() {
	(cd project && bazel --batch --output_user_root="$work/root" build "$@" "${options[@]}" 2>&1)
}
# Killed while it converts a package, with all that it started; outside of a sandbox, where the wrapper can leave its mark.
touch kill
set -m
build --spawn_strategy=local //:all >killed.log &
bazel=$!
set +m
until [ -s killed/pid ] || ! kill -0 $bazel 2>/dev/null; do
	sleep 0.2
done
kill -9 -- -$bazel "$(cat killed/pid)"
wait $bazel 2>/dev/null
rm kill
[ -s killed/pid ] && [ ! -e project/bazel-bin/all.json ]
status 'a build is killed while it converts a package' "$(cat killed.log)"
if said=$(build //:all //:converted); then ok 'Bazel builds'; else not_ok 'Bazel builds' "$said"; fi
cmp -s single.json project/bazel-bin/all.json
status 'the merged report is that of one run' "$(diff single.json project/bazel-bin/all.json | head -n 5)"
(cd tree && "$tool" tree convert -q --report-file="$work/tree.json" .)
cmp -s tree.json project/bazel-bin/converted.json
status "a tree's report is that of one run" "$(diff tree.json project/bazel-bin/converted.json | head -n 5)"
mkdir unpacked && tar -C unpacked -xf project/bazel-bin/converted.tar
diff -r tree unpacked >differences
status "a tree's files are those of one run" "$(cat differences)"

# A package that changes is done again, and no other.
echo changed >>tree1/usr/bin/text && dpkg-deb --root-owner-group -b tree1 project/test1.deb >/dev/null
said=$(build //:all)
# The package and the report.
echo "$said" | grep -qE '[( ]2 (processwrapper|linux)-sandbox|2 (local|.*sandbox)'
status 'only what changed is done again' "$said"
printf 'damaged' >project/test2.deb
if said=$(build //:all); then not_ok 'a damaged package ends the build' "$said"; else ok 'a damaged package ends the build'; fi
# Bazel makes its folders read-only.
chmod -R u+w root
plan
