#!/bin/sh
# SPDX-License-Identifier: MIT
# man_page.sh SCDOC: what scdoc makes of standard input, behind the line by which man(1) knows that the page has tables.
set -eu
printf "'\\\\\" t\n"
exec "$1"
