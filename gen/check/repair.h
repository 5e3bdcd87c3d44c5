/* SPDX-License-Identifier: MIT */
/* Rows that may be written in place of one that the code contradicts. */
#ifndef GEN_CHECK_REPAIR_H
#define GEN_CHECK_REPAIR_H

#include "gen/check/judge.h"

/* True if tests have stepped rows that find their values in the ways of this one. */
bool validate_can_repair(const struct arch *arch, const struct cfi_row *row);

#endif
