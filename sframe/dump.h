/* SPDX-License-Identifier: MIT */
/* A section as text, in the shape readelf --sframe prints. */
#ifndef SFRAME_DUMP_H
#define SFRAME_DUMP_H

#include <stdio.h>

#include "base/attr.h"
#include "base/err.h"
#include "sframe/decode.h"

/* Prints until the first damage; what came before it stands. name is the section's. */
ATTR_MUST_CHECK bool sf_dump(
    const struct sf_view *view, const char *name, FILE *out, struct err *err);

#endif
