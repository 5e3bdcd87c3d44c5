#!/bin/sh
# SPDX-License-Identifier: MIT
# man_page.sh SCDOC: what scdoc makes of standard input, behind the line by which man(1) knows that the page has tables, and
# without the paragraphs that scdoc leaves empty around headings.
set -eu
page=$("$1")
printf "'\\\\\" t\n%s\n" "$page" | awk '
	/^\.P$/ { waits = !begins; next }
	/^\.RE$/ { print; next }
	waits && !/^\.(SH|SS|TH)/ { print ".P" }
	{ print; waits = 0; begins = /^\.(SH|SS|TH)/ }'
