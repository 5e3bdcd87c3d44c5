#!/bin/bash
# SPDX-License-Identifier: MIT
# job.sh EH2SFRAME SOURCE LIBDW_ROWS: package.py, counts.py and survey.py over packages of this system's programs, with elfutils as a witness. A
# witness that is lied to must say so, and so must a program that leaves a byte behind. TAP.
set -u
tool=$(realpath "$1") source=$(realpath "$2") libdw=$(realpath "$3")
# shellcheck source-path=SCRIPTDIR/../shared source=tap.sh
. "$source/tests/shared/tap.sh"
have dpkg-deb || skip_all 'needs dpkg-deb'
export PYTHONDONTWRITEBYTECODE=1
work=$PWD packages=2
# shellcheck source-path=SCRIPTDIR source=packages.sh
. "$source/tests/corpus/packages.sh"
mkdir true lying reports
ln -s "$libdw" true/libdw
printf '#!/bin/sh\nsed "s/ r7+16 / r7+24 /" | "%s" "$@"\n' "$libdw" >lying/libdw
printf '#!/bin/sh\n"%s" "$@" || exit\ncase " $* " in " tree remove "*) echo >>"$(find . -type f -path "*bin*" | head -n 1)" ;; esac\n' \
	"$tool" >forgetful
chmod +x lying/libdw forgetful
job() { # TOOL WITNESSES REPORT DEB
	python3 "$source/tests/corpus/package.py" "$@" 2>&1
}
said=$(job "$tool" true reports/test0_1_amd64.json test0.deb)
status 'a package without a difference' "$said"
said=$(job "$tool" true reports/test1_1_amd64.json test1.deb)
status 'another one' "$said"
if said=$(job "$tool" lying lied.json test0.deb); then
	not_ok 'a witness that is lied to differs' "$said"
else
	[[ $said == *'libdw: '*'section r7+24'*', witness r7+16'* ]]
	status 'a witness that is lied to differs' "$said"
fi
if said=$(job "$work/forgetful" true left.json test0.deb); then
	not_ok 'a byte that is left behind is found' "$said"
else
	[[ $said == *'not as it was after remove'* ]]
	status 'a byte that is left behind is found' "$said"
fi
printf '%s\n' pool/test0_1_amd64.deb pool/test1_1_amd64.deb pool/test2_1_amd64.deb >list
said=$(python3 "$source/tests/corpus/counts.py" reports list)
status 'the counts have no problem' "$said"
[[ $said == '2 of 3 packages'*'amd64: 2 packages, 0 problems, 6 converted'* ]]
status 'the counts are those of two packages' "$said"
asked=$(echo "$said" | sed -n 's/^| amd64 | elfutils | 18 | \([0-9,]*\) .*/\1/p' | tr -d ,)
[ "${asked:-0}" -gt 1500 ]
status 'elfutils was asked for rows' "$said"

# The survey of sections in use: a program that has one, an object in an archive that has one, and three files that have none.
mkdir -p shipped/usr/lib shipped/usr/bin
cp tree0/usr/bin/* shipped/usr/bin && cp -r tree0/DEBIAN shipped
"$tool" -q --refresh --format=2 "$(find tree0/usr/bin -type f | sort | head -n 1)" shipped/usr/bin/has
printf 'int f(void);\nint g(void) { return f() + 1; }\n' | cc -O2 -fasynchronous-unwind-tables -x c -c -o plain.o -
"$tool" -q --format=2 plain.o member.o && ar rc shipped/usr/lib/libx.a member.o
dpkg-deb --root-owner-group -b shipped shipped.deb >/dev/null
said=$(python3 "$source/tests/readers/survey.py" "$tool" survey.json shipped.deb 2>&1)
[[ $said == *'1 packages, 5 ELF files, 2 with .sframe' ]]
status 'the survey finds both sections' "$said"
grep -q '"path": "/usr/bin/has"' survey.json && grep -q '"path": "/usr/lib/libx.a(member.o)"' survey.json
status 'the survey names both' "$(cat survey.json)"
[ "$(grep -c '"verify": 0' survey.json)" = 2 ] && [ "$(grep -c '"differences": 0' survey.json)" = 2 ]
status 'the survey tells what verify and --refresh say' "$(cat survey.json)"
plan
