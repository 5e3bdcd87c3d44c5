/* SPDX-License-Identifier: MIT */
/* The page of a profile: its lines before and after the data. base/page/embed.py makes
 * them from the files in page/. */
#ifndef PROFILE_OUTPUT_FLAME_PAGE_H
#define PROFILE_OUTPUT_FLAME_PAGE_H

extern const char *const output_page_head[], *const output_page_tail[];

/* A browser shows this many nodes within a moment. Above, those of least samples are left out. */
enum { OUTPUT_PAGE_NODES = 2 * 1000 * 1000 };

#endif
