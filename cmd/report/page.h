/* SPDX-License-Identifier: MIT */
/*
 * The page of a report: its lines before and after the data. page/embed.py makes them
 * from the files in page/.
 */
#ifndef CMD_REPORT_PAGE_H
#define CMD_REPORT_PAGE_H

#include "cmd/report/report.h"

extern const char *const report_page_head[], *const report_page_tail[];

#endif
