/* SPDX-License-Identifier: MIT */
/* Sources of names: ELF files, found by their paths and build-ids, and the kernel. */
#ifndef PROFILE_SYMBOLS_NAMING_TABLE_H
#define PROFILE_SYMBOLS_NAMING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/names/symbols.h"
#include "include/eh2sframe.h"
#include "profile/profile.h"
#include "profile/symbols/naming.h"

/* Zeroed, then one of the functions below; all end with table_free. */
struct table {
	struct symbols symbols;
	struct symbols starts; /* of functions, without names */
	bool starts_known;
	struct eh2sframe_file *file; /* for its segments and .eh_frame; NULL: not there */
	char *text, *no_names; /* what the names of symbols, and of starts, point to */
};

/*
 * Reads the names of a module: .symtab of its file or of a separate debug file, else
 * .dynsym. No names when none of them can be read or is the right one. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool table_read_module(const struct profile_module *module,
    const struct naming_options *options, struct table *table, struct err *err);

/* Reads the names of table->file, which is open. ERR_NOMEM. */
ATTR_MUST_CHECK bool table_read_file(struct table *table, struct err *err);

/* Reads the starts of functions in .eh_frame of the module that was read, once. ERR_NOMEM. */
ATTR_MUST_CHECK bool table_read_starts(struct table *table, struct err *err);

/* Reads /proc/kallsyms, which is path. No names when it shows no addresses, or _text is not at begin, which is 0 or where it was in the recording: the kernel was started again.
 * ERR_NOMEM. */
ATTR_MUST_CHECK bool table_read_kernel(
    const char *path, uint64_t begin, struct table *table, struct err *err);

void table_free(struct table *table); /* accepts a zeroed one */

/* Files by their build-id: separate debug information, and perf's copies of what it recorded. */
enum { NAMING_DEBUG_PATH = 4096 }; /* bytes of a path, with its zero */

/*
 * Gives the place i of debug information for a build-id of n bytes: DIR/.build-id/ab/cdef.debug in each of the n_dirs folders, then
 * perf's, and perf's copy of the file itself. false: there are no more. The path is empty, which no file has, where it would be too long.
 */
ATTR_MUST_CHECK bool naming_debug_path(const char *const *dirs, size_t n_dirs, size_t i,
    const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH]);

/* Gives the place of perf's copy of the file itself. false: it has no build-id. */
ATTR_MUST_CHECK bool naming_copy_path(
    const uint8_t *build_id, size_t n, char path[NAMING_DEBUG_PATH]);

#endif
