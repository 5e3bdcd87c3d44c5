/* SPDX-License-Identifier: MIT */
/* Sources of rows. The first source that describes code gives its rows. */
#ifndef GEN_OPTIONS_SOURCE_H
#define GEN_OPTIONS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"

/* In the order in which they are asked: what --source calls one, the name of its section, and what messages call it. */
#define SOURCES(X)                                                                       \
	X(SOURCE_EH_FRAME, "eh_frame", ".eh_frame", ".eh_frame")                         \
	X(SOURCE_GO, "go", ".gopclntab", "Go's table")                                   \
	X(SOURCE_DEBUG_FRAME, "debug_frame", ".debug_frame", ".debug_frame")             \
	X(SOURCE_DERIVED, "derived", NULL, NULL)

#define SOURCE_ENUM(id, name, section, words) id,
enum source {
	SOURCES(SOURCE_ENUM) N_SOURCES,
};
#undef SOURCE_ENUM

/* A set of sources has a bit for each. */
#define SOURCE_BIT(source) (1u << (source))
/* Sources that are used unless options say otherwise. A caller has to ask for derived rows,
 * because they are concluded and no record holds them. */
#define SOURCE_DEFAULT (SOURCE_BIT(SOURCE_DERIVED) - 1)

const char *source_name(enum source source);
/* Returns the name of the section, or NULL where the source is none. */
const char *source_section(enum source source);
const char *source_words(enum source source);

/* Reads names with commas between them. ERR_USAGE for others, and for none. */
ATTR_MUST_CHECK bool source_read(
    const char *list, unsigned int *sources, struct err *err);

#endif
