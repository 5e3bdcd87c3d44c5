/* SPDX-License-Identifier: MIT */
/* Writes records as LSB core, "Exception Frames", and DWARF 5, 6.4.1 and 7.24, define them. */
#include "cfi/records.h"

#include <string.h>

#include "cfi/opcodes.h"

void cfi_put_uleb(struct wr *wr, uint64_t value)
{
	do {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		wr_u8(wr, value ? byte | 0x80 : byte);
	} while (value);
}

void cfi_put_sleb(struct wr *wr, int64_t value)
{
	for (;;) {
		uint8_t byte = (uint64_t)value & 0x7f;
		bool last;

		value >>= 7;
		last = value == (byte & 0x40 ? -1 : 0);
		wr_u8(wr, last ? byte : byte | 0x80);
		if (last)
			return;
	}
}

void cfi_put_advance(struct wr *wr, uint64_t bytes)
{
	if (bytes < 0x40) {
		wr_u8(wr, (uint8_t)(DW_CFA_advance_loc | bytes));
	} else if (bytes <= UINT8_MAX) {
		wr_u8(wr, DW_CFA_advance_loc1);
		wr_u8(wr, (uint8_t)bytes);
	} else if (bytes <= UINT16_MAX) {
		wr_u8(wr, DW_CFA_advance_loc2);
		wr_u16(wr, (uint16_t)bytes);
	} else {
		wr_u8(wr, DW_CFA_advance_loc4);
		wr_u32(wr, (uint32_t)bytes);
	}
}

size_t cfi_begin_cie(struct wr *wr, const char *augmentation, uint8_t ra_reg)
{
	const size_t start = wr->size;

	wr_u32(wr, 0); /* length */
	wr_u32(wr, 0); /* a CIE */
	wr_u8(wr, 1);  /* version */
	wr_bytes(wr, augmentation, strlen(augmentation) + 1);
	cfi_put_uleb(wr, 1);
	cfi_put_sleb(wr, 1);
	wr_u8(wr, ra_reg);
	if (augmentation[0])
		cfi_put_uleb(wr, 0); /* z: no data */
	return start;
}

size_t cfi_begin_fde(struct wr *wr, size_t cie, uint64_t start, uint64_t size)
{
	const size_t at = wr->size;

	wr_u32(wr, 0); /* length */
	wr_u32(wr, (uint32_t)(at + 4 - cie));
	wr_u64(wr, start);
	wr_u64(wr, size);
	return at;
}

void cfi_end_record(struct wr *wr, size_t start)
{
	while (!wr->failed && wr->size % 8)
		wr_u8(wr, DW_CFA_nop);
	if (!wr->failed)
		wr_patch_u32(wr, start, (uint32_t)(wr->size - start - 4));
}
