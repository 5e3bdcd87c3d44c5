/* SPDX-License-Identifier: MIT */
/* Writes records in the form of .eh_frame, for sources that have another form, as Go's table. */
#ifndef CFI_RECORDS_H
#define CFI_RECORDS_H

#include "base/wr.h"

void cfi_put_uleb(struct wr *wr, uint64_t value);
void cfi_put_sleb(struct wr *wr, int64_t value);
/* The location moves on; the code alignment factor is 1. */
void cfi_put_advance(struct wr *wr, uint64_t bytes);

/* A CIE up to its initial instructions: factors of 1, and absolute addresses. The augmentation is
 * "" or begins with z. Returns where it begins. */
size_t cfi_begin_cie(struct wr *wr, const char *augmentation, uint8_t ra_reg);
/* An FDE up to its augmentation data, of the CIE that begins at cie. Returns where it begins. */
size_t cfi_begin_fde(struct wr *wr, size_t cie, uint64_t start, uint64_t size);
/* Sets the length of the record that begins at start, padded to 8 bytes. */
void cfi_end_record(struct wr *wr, size_t start);

#endif
