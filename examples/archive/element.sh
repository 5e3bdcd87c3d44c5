#!/bin/sh
# SPDX-License-Identifier: MIT
# element.sh: an element of the array is a line of the file list. Slurm starts it again when its node fails.
#SBATCH --requeue
set -eu
deb=$(sed -n "${SLURM_ARRAY_TASK_ID}p" list)
exec "${PACKAGE_JOB:-./package.sh}" "reports/$(basename "$deb" .deb).json" "$deb"
