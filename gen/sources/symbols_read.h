/* SPDX-License-Identifier: MIT */
/* Functions by address: their names from .symtab, else from .dynsym and Go's table, entries of PLTs, or starts from FDEs. */
#ifndef GEN_SOURCES_SYMBOLS_READ_H
#define GEN_SOURCES_SYMBOLS_READ_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/sources/input.h"
#include "base/names/symbols.h"

/* Reads the names; of a damaged table, the readable part. False only out of memory. */
ATTR_MUST_CHECK bool symbols_read(
    const struct image *image, struct symbols *symbols, struct err *err);

/* As symbols_read, without a search of all bytes for Go's table where no section has its name. */
ATTR_MUST_CHECK bool symbols_read_tables(
    const struct image *image, struct symbols *symbols, struct err *err);

/* Reads the entries of PLTs, with the names of the functions that they go to. Headers and entries of indirect functions have the
 * name "". False also where the file has become shorter (ERR_IO). */
ATTR_MUST_CHECK bool symbols_read_plt(
    const struct image *image, struct symbols *symbols, struct err *err);

/* Reads what the FDEs of .eh_frame describe; the names are "". Without CFI, nothing. False also where
 * .eh_frame cannot be read: ERR_MALFORMED, ERR_UNSUPPORTED. */
ATTR_MUST_CHECK bool symbols_read_starts(
    const struct image *image, struct symbols *starts, struct err *err);

#endif
