/* SPDX-License-Identifier: MIT */
/*
 * Procedure linkage tables. Where a linker describes its PLT by CFI, the rows of the
 * repeated entries are periodic and become one PCMASK function; where it describes them
 * not at all, the stubs are known by their bytes.
 */
#ifndef GEN_ROWS_PLT_H
#define GEN_ROWS_PLT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "cfi/row.h"
#include "cfi/ranges.h"
#include "gen/rows/coverage.h"
#include "gen/sources/input.h"
#include "gen/rows/policy.h"
#include "gen/rows/reduce.h"
#include "sframe/model.h"

/*
 * As reduce_table, for a table whose rules depend on the PC: what comes before the
 * dependence is a PCINC function (PLT0), the rest one PCMASK function if its rows repeat
 * at a power of two from 8 to 128 bytes; else all of it is reduced as any function.
 */
ATTR_MUST_CHECK bool plt_reduce(const struct target *target,
    const struct cfi_table *table, uint64_t start, uint64_t end,
    const struct reduce_sink *sink, struct sf_section *section);

/*
 * The functions of section (sorted) that are exactly a PLT section of equal entries with
 * one row for all, such as .plt.got and .plt.sec, become PCMASK functions of the
 * section's entry size.
 */
void plt_mark_repeated(const struct image *image, struct sf_section *section);

/*
 * Appends the functions of PLT sections, or of what follows the part that has CFI, where
 * the section matches a template of the machine in every byte that a template fixes.
 * coverage gets template_bytes, and the sections that match none.
 */
ATTR_MUST_CHECK bool plt_from_templates(const struct policy *policy,
    const struct cfi_ranges *ranges, struct sf_section *section,
    struct coverage *coverage);

#endif
