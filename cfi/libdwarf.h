/* SPDX-License-Identifier: MIT */
/*
 * libdwarf's reading of the same section, as an independent check. libdwarf is given
 * the one section in memory (dwarf_object_init_b), so that nothing of its ELF reader is
 * involved.
 */
#ifndef CFI_LIBDWARF_H
#define CFI_LIBDWARF_H

#include "base/attr.h"
#include "base/err.h"
#include "cfi/interp.h"
#include "cfi/row.h"
#include "cfi/section.h"

struct cfi_libdwarf; /* heap object */

/*
 * Opens the section; returns an object the caller frees with cfi_libdwarf_free(), or NULL
 * with an error: ERR_UNSUPPORTED when libdwarf refuses the section as a whole. Borrows
 * section bytes.
 */
struct cfi_libdwarf *cfi_libdwarf_new(const struct cfi_section *section,
    const struct cfi_machine *machine, struct err *err);
void cfi_libdwarf_free(struct cfi_libdwarf *reader);

size_t cfi_libdwarf_n_fdes(const struct cfi_libdwarf *reader);

/*
 * The table of FDE number i (libdwarf's order) in libdwarf's words: *start and *range
 * as libdwarf gives them, rows through *table (owned by the reader, valid until the next
 * call). PC-dependent expressions are evaluated with cfi_expr_eval, on the bytes libdwarf
 * returns. RA-sign state is not visible to libdwarf: ra_signed is false in every row. At
 * most max_rows rows are asked for (libdwarf's cost is quadratic); *end is where the FDE
 * ends, which the table does before that when there were more.
 */
ATTR_MUST_CHECK bool cfi_libdwarf_table(struct cfi_libdwarf *reader, size_t i,
    size_t max_rows, const struct cfi_table **table, uint64_t *end, struct err *err);

#endif
