#!/bin/sh
# SPDX-License-Identifier: MIT
# merge.sh: one report of all packages of the file list, all.json. Each must have left its report: a missing one is an error.
#SBATCH --requeue
set -eu
sed 's,.*/,reports/,; s,\.deb$,.json,' list | split -l 500 - reports/group.
for group in reports/group.*; do
	# shellcheck disable=SC2046 # names of packages have no spaces
	eh2sframe merge -q -o "$group.json" $(cat "$group")
done
eh2sframe merge -q -o all.json reports/group.*.json
rm reports/group.*
