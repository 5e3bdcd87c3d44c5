/* SPDX-License-Identifier: MIT */
/* Finds the row that may be written in place of one that the code contradicts. */
#ifndef GEN_CHECK_REPAIR_H
#define GEN_CHECK_REPAIR_H

#include "gen/check/unit.h"

/* Makes the row that the code itself gives at the place. False: it is not known, or is of a kind that no test has
 * stepped. */
bool validate_repair(
    struct validate_worker *worker, const struct code_place *place, struct cfi_row *row);

#endif
