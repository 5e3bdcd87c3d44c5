/* SPDX-License-Identifier: MIT */
/* The numbers of __unwind_info (mach-o/compact_unwind_encoding.h), for writer and reader. */
#ifndef TESTS_BENCH_COMPARE_UNWIND_INFO_H
#define TESTS_BENCH_COMPARE_UNWIND_INFO_H

#include "tests/bench/compare/unwind.h"

enum {
	UNWIND_VERSION = 1,
	UNWIND_HEADER_BYTES = 28,
	UNWIND_INDEX_BYTES = 12, /* function, page, first language-specific data */
	UNWIND_LSDA_BYTES = 8,	 /* function, data */

	UNWIND_PAGE_BYTES = 4096,
	UNWIND_PAGE_REGULAR = 2, /* kind */
	UNWIND_PAGE_COMPRESSED = 3,
	UNWIND_REGULAR_HEADER = 8,
	UNWIND_COMPRESSED_HEADER = 12,

	UNWIND_MAX_COMMON = 127, /* encodings that all pages share */
	UNWIND_MAX_CHOICES = 256,
	UNWIND_COMPRESSED_REACH = 0xffffff, /* from a page's first function, bytes */
};

#endif
