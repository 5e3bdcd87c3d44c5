/* SPDX-License-Identifier: MIT */
/* Names of functions by address, from .symtab, else from .dynsym and Go's table. */
#ifndef GEN_SOURCES_SYMBOLS_READ_H
#define GEN_SOURCES_SYMBOLS_READ_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/sources/input.h"
#include "base/names/symbols.h"

/* Reads them; a damaged table gives what of it is readable. False only out of memory. */
ATTR_MUST_CHECK bool symbols_read(
    const struct image *image, struct symbols *symbols, struct err *err);

#endif
