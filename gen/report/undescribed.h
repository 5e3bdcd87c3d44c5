/* SPDX-License-Identifier: MIT */
/* Executable bytes that no CFI describes: functions, tables and PLTs apart. */
#ifndef GEN_REPORT_UNDESCRIBED_H
#define GEN_REPORT_UNDESCRIBED_H

#include "gen/report/model.h"

/* Fills the members of the details about stretches, from the coverage, the sections and
 * the symbols. False when memory runs out. */
ATTR_MUST_CHECK bool report_undescribed_make(struct report *report);

#endif
