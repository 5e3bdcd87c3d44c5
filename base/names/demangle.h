/* SPDX-License-Identifier: MIT */
/* Readable names of C++ and Rust, by libiberty. */
#ifndef BASE_NAMES_DEMANGLE_H
#define BASE_NAMES_DEMANGLE_H

#include <stdbool.h>

#include "base/attr.h"

/* Longer names do not help a reader, and the name that a hostile file demangles to doubles every
 * few characters. */
#define SYMBOL_READABLE 16384

/* Returns the readable name of a mangled one (C++, Rust), else a copy; the caller frees
 * it. NULL when memory runs out. */
char *symbol_demangle(const char *name);

/* As symbol_demangle, but allocates nothing; returns false when the name is not mangled. */
ATTR_MUST_CHECK bool symbol_readable(const char *name, char text[SYMBOL_READABLE]);

#endif
