/* SPDX-License-Identifier: MIT */
/*
 * The page of a report: its lines before and after the data. page/embed.py makes them
 * from the files in page/.
 */
#ifndef CMD_REPORT_PAGE_H
#define CMD_REPORT_PAGE_H

#include "cmd/report/report.h"

extern const char *const report_page_head[], *const report_page_tail[];

/* Room for the reports of all files. A browser reads this much in a moment. */
enum { REPORT_PAGE_ROOM = 6 << 20 };

/* Bytes of text in the page, where some characters are escaped. */
size_t report_page_size(const char *text);

/* How many bytes a file may have, so that all files fit; size sorts sizes. */
size_t report_page_share(size_t *sizes, size_t n, size_t room);

/* The object has nothing that the page does not show: most need not be parsed. */
bool report_page_is_plain(const char *text);

/* Takes away what the page does not show. */
void report_page_strip(json_t *file);

/*
 * Takes away the entries of least code until the file fits share, and adds
 * "page_left_out", which counts them. False: memory ran out.
 */
ATTR_MUST_CHECK bool report_page_trim(json_t *file, size_t share);

#endif
