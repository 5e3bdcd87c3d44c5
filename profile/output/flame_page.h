/* SPDX-License-Identifier: MIT */
/* The page of a profile: its lines before and after the data. base/page/embed.py makes
 * them from the files in page/. */
#ifndef PROFILE_OUTPUT_FLAME_PAGE_H
#define PROFILE_OUTPUT_FLAME_PAGE_H

extern const char *const output_page_head[], *const output_page_tail[];

#endif
