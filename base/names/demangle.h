/* SPDX-License-Identifier: MIT */
/* Readable names of C++ and Rust, by libiberty. */
#ifndef BASE_NAMES_DEMANGLE_H
#define BASE_NAMES_DEMANGLE_H

#include <stdbool.h>

#include "base/attr.h"

/* Longer ones do not help a reader; a hostile one doubles with every few characters of its own. */
#define SYMBOL_READABLE 16384

/* A readable name of a mangled one (C++, Rust), else a copy; caller frees with free().
 * NULL when memory runs out. */
char *symbol_demangle(const char *name);

/* As symbol_demangle, but allocates nothing; returns false when the name is not mangled. */
ATTR_MUST_CHECK bool symbol_readable(const char *name, char text[SYMBOL_READABLE]);

#endif
