/* SPDX-License-Identifier: MIT */
/* The libraries that the engine uses, for --version. */
#ifndef GEN_REPORT_LIBRARIES_H
#define GEN_REPORT_LIBRARIES_H

#include <stddef.h>

/*
 * Writes "NAME VERSION, NAME VERSION" as snprintf does, in the order of the alphabet. Versions
 * are those that run, and libelf's, which does not tell, is the one of the build.
 */
size_t report_libraries(char *text, size_t size);

#endif
