/* SPDX-License-Identifier: MIT */
/* Encoded pointers, DW_EH_PE_* (LSB core, "DWARF Exception Header Encoding"). */
#ifndef CFI_POINTER_H
#define CFI_POINTER_H

#include "base/rd.h"
#include "cfi/section.h"

enum {
	DW_EH_PE_absptr = 0x00,
	DW_EH_PE_uleb128 = 0x01,
	DW_EH_PE_udata2 = 0x02,
	DW_EH_PE_udata4 = 0x03,
	DW_EH_PE_udata8 = 0x04,
	DW_EH_PE_signed = 0x08, /* an address-sized signed value */
	DW_EH_PE_sleb128 = 0x09,
	DW_EH_PE_sdata2 = 0x0a,
	DW_EH_PE_sdata4 = 0x0b,
	DW_EH_PE_sdata8 = 0x0c,
	DW_EH_PE_format_mask = 0x0f,
	DW_EH_PE_pcrel = 0x10,
	DW_EH_PE_textrel = 0x20,
	DW_EH_PE_datarel = 0x30,
	DW_EH_PE_funcrel = 0x40,
	DW_EH_PE_aligned = 0x50,
	DW_EH_PE_application_mask = 0x70,
	DW_EH_PE_indirect = 0x80,
	DW_EH_PE_omit = 0xff,
};

enum cfi_pointer_status {
	CFI_POINTER_OK,
	CFI_POINTER_NULL,	/* the stored value is 0, which means "no address" in any
				   encoding */
	CFI_POINTER_BAD,	/* truncated, or an encoding that does not exist */
	CFI_POINTER_UNRESOLVED, /* indirect, or relative to a base that is not known */
};

struct cfi_pointer {
	uint64_t value; /* the address; for DW_EH_PE_indirect the address it is stored at
			 */
	enum cfi_pointer_status status;
};

/*
 * Reads one pointer at rd->pos. rd must be a reader over the whole section (pos is the
 * offset from sec->data), because pcrel and aligned depend on the place. func_addr is the
 * base of DW_EH_PE_funcrel. On BAD and NULL value is 0. The caller need not look at
 * rd->failed.
 */
struct cfi_pointer cfi_pointer_read(
    struct rd *rd, const struct cfi_section *sec, uint8_t encoding, uint64_t func_addr);

/* As cfi_pointer_read, but takes the format only and adds no base: FDEs store the size of their range so. */
struct cfi_pointer cfi_pointer_read_size(
    struct rd *rd, const struct cfi_section *sec, uint8_t encoding);

#endif
