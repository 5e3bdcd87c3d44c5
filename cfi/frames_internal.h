/* SPDX-License-Identifier: MIT */
/* Shared by the files that read records: one record, and a CIE in it. */
#ifndef CFI_FRAMES_INTERNAL_H
#define CFI_FRAMES_INTERNAL_H

#include "base/rd.h"
#include "cfi/frames.h"

/*
 * One record, as the walk meets it. The two sections differ in what a CIE has where an FDE
 * has its CIE pointer: 0 in .eh_frame, all ones in .debug_frame (DWARF 5, 7.24).
 */
struct cfi_record {
	uint64_t off;	 /* of the length field */
	uint64_t id_off; /* of the CIE id or pointer */
	uint64_t body;	 /* offset after that */
	uint64_t end;	 /* offset after the record */
	/* FDE: in .eh_frame the distance from id_off back to the CIE, in .debug_frame the CIE's place. */
	uint64_t id;
	bool is_cie;
};

/* Returns a reader that stands at the record's contents and ends with the record; its
 * offsets count from the section's start. */
struct rd cfi_record_reader(
    const struct cfi_section *section, const struct cfi_record *rec);

/* Reads a CIE of .debug_frame or of .eh_frame. Returns why it cannot be used; NULL when it can. */
const char *cfi_cie_read(const struct cfi_section *section, const struct cfi_record *rec,
    bool debug, struct cfi_cie *cie);

#endif
