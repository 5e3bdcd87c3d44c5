/* SPDX-License-Identifier: MIT */
/*
 * For tests: one rule as a word. The letters are readelf's where it has any:
 *   -         no rule          u         undefined       s        same value
 *   c-16      *(cfa - 16)      v+8       cfa + 8         =5       the constant 5
 *   r7+8      r7 + 8           *(r7+8)+4 *(r7 + 8) + 4   ?        opaque
 */
#ifndef TESTS_ORACLE_RULE_TEXT_H
#define TESTS_ORACLE_RULE_TEXT_H

#include <stdio.h>

#include "cfi/row.h"

/* "cfa=... sp=... fp=... ra=..." and the RA-sign state when there is one. */
void row_print(FILE *out, const struct cfi_row *row);

#endif
