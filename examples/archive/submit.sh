#!/bin/sh
# SPDX-License-Identifier: MIT
# submit.sh: packages as elements of an array job of Slurm, and a job that merges their reports after the last one.
set -eu
mkdir -p reports logs
array=$(sbatch --parsable --array="1-$(wc -l <list)" --output=logs/%a element.sh)
sbatch --parsable --dependency="afterany:$array" --output=logs/merge merge.sh
