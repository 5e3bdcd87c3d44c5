/* SPDX-License-Identifier: MIT */
/* --report=html: the report as one page that needs nothing else. */
#ifndef CMD_REPORT_HTML_H
#define CMD_REPORT_HTML_H

#include "cmd/report/report.h"

/* The page, by batch_report_save. */
ATTR_MUST_CHECK bool batch_html_write(
    const struct batch_report *report, const char *path, struct eh2sframe_error *err);

#endif
