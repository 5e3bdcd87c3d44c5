/* SPDX-License-Identifier: MIT */
/* --report=html: the report as one page that needs nothing else. */
#ifndef CMD_BATCH_HTML_H
#define CMD_BATCH_HTML_H

#include "cmd/batch_report.h"

/* Writes the page, of files in order, to path; "-" is standard output. */
BATCH_CHECKED bool batch_html_write(
	const struct batch_report *report, const char *path, struct eh2sframe_error *err);

#endif
