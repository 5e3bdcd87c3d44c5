/* SPDX-License-Identifier: MIT */
/* Names of functions by address, from .symtab, else from .dynsym and Go's table. */
#ifndef GEN_INPUT_SYMBOLS_READ_H
#define GEN_INPUT_SYMBOLS_READ_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/input/input.h"
#include "names/symbols.h"

/* Reads them; a damaged table gives what of it is readable. False only out of memory. */
ATTR_MUST_CHECK bool symbols_read(
    const struct image *image, struct symbols *symbols, struct err *err);

#endif
