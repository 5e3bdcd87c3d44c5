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

/* The version of the libdwarf that runs. */
const char *cfi_libdwarf_version(void);

/*
 * Opens the section, which is .eh_frame or .debug_frame alone (cfi_section_one). Returns an object that the caller frees with cfi_libdwarf_free(),
 * or NULL with an error: ERR_UNSUPPORTED when libdwarf refuses the whole section.
 * Borrows the section's bytes.
 */
struct cfi_libdwarf *cfi_libdwarf_new(const struct cfi_section *section,
    const struct cfi_machine *machine, struct err *err);
void cfi_libdwarf_free(struct cfi_libdwarf *reader);

size_t cfi_libdwarf_n_fdes(const struct cfi_libdwarf *reader);

/*
 * True if libdwarf lists the FDE whose length field is at off, from the start of the section; *i is
 * its number. It lists fewer than our reader, because libdwarf stops at a zero terminator.
 */
bool cfi_libdwarf_find(const struct cfi_libdwarf *reader, uint64_t off, size_t *i);

/*
 * The table of FDE number i (libdwarf's order) as libdwarf reads it: *start and *range
 * are libdwarf's, and *table (owned by the reader, valid until the next call) has the
 * rows. PC-dependent expressions are evaluated with cfi_expr_eval, on the bytes that
 * libdwarf returns. libdwarf does not show the RA-sign state: ra_signed is false in
 * every row. The function asks for at most max_rows rows, because libdwarf's cost is
 * quadratic. *end is the end of the FDE; when there are more rows, the table ends
 * before it. A function that the linker discarded from .debug_frame has the end 0.
 */
ATTR_MUST_CHECK bool cfi_libdwarf_table(struct cfi_libdwarf *reader, size_t i,
    size_t max_rows, const struct cfi_table **table, uint64_t *end, struct err *err);

#endif
