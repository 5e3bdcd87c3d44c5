#!/bin/bash
# SPDX-License-Identifier: MIT
# built.sh ROOT PROGRAM COMMAND...: builds PROGRAM in the build ROOT, then runs COMMAND.
ninja -C "$1" "${2#"$1"/}" >&2 || exit 99
shift 2
exec "$@"
