/* SPDX-License-Identifier: MIT */
/* The parts of a record that only exceptions need. */
#include "cfi/augment.h"

#include "cfi/pointer.h"

/* Stands behind length and ID of a record that was read before. */
static void augment_begin(const struct cfi_frames *frames, uint64_t off, struct rd *rd)
{
	const struct cfi_section *sec = &frames->section;

	rd_init(rd, sec->data, sec->size, sec->big_endian);
	rd_seek(rd, off);
	if (rd_u32(rd) != UINT32_MAX) {
		rd_u32(rd);
		return;
	}
	rd_u64(rd);
	rd_u64(rd);
}

/* The letters after z, each with its data. */
static void augment_letters(struct rd *rd, const struct cfi_section *sec,
    const char *letters, struct cfi_augment *augment)
{
	for (const char *p = letters; *p && !rd->failed; p++) {
		uint8_t encoding;

		switch (*p) {
		case 'R':
			rd_u8(rd);
			break;
		case 'L':
			augment->lsda_encoding = rd_u8(rd);
			break;
		case 'P':
			encoding = rd_u8(rd);
			if (encoding != DW_EH_PE_omit)
				augment->personality =
				    cfi_pointer_read(rd, sec, encoding, 0).value;
			break;
		case 'S':
		case 'B':
		case 'G':
			break;
		default: /* it hides the layout of what follows */
			return;
		}
	}
}

struct cfi_augment cfi_augment_read(
    const struct cfi_frames *frames, const struct cfi_cie *cie)
{
	struct cfi_augment augment = {.lsda_encoding = DW_EH_PE_omit};
	const char *letters;
	struct rd rd;

	augment_begin(frames, cie->off, &rd);
	/* Exceptions go by .eh_frame alone. */
	if (cie->debug)
		return augment;
	rd_u8(&rd);
	letters = rd_cstr(&rd);
	if (!letters || letters[0] != 'z')
		return augment;
	if (cie->version == 4)
		rd_u16(&rd);
	rd_uleb(&rd);
	rd_sleb(&rd);
	if (cie->version == 1)
		rd_u8(&rd);
	else
		rd_uleb(&rd);
	rd_uleb(&rd);
	augment_letters(&rd, &frames->section, letters + 1, &augment);
	return augment;
}

uint64_t cfi_augment_lsda(const struct cfi_frames *frames, const struct cfi_fde *fde,
    const struct cfi_augment *augment)
{
	const struct cfi_section *sec = &frames->section;
	const struct cfi_cie *cie = &frames->cies[fde->cie];
	struct rd rd;

	if (augment->lsda_encoding == DW_EH_PE_omit || !cie->has_aug_data)
		return 0;
	augment_begin(frames, fde->off, &rd);
	cfi_pointer_read(&rd, sec, cie->fde_encoding, 0);
	cfi_pointer_read_size(&rd, sec, cie->fde_encoding);
	if (rd_uleb(&rd) == 0)
		return 0;
	return cfi_pointer_read(&rd, sec, augment->lsda_encoding, fde->pc).value;
}
