/* SPDX-License-Identifier: MIT */
/* One CIE of either section. */
#include "cfi/frames_internal.h"

#include <string.h>

#include "cfi/pointer.h"

struct rd cfi_record_reader(
    const struct cfi_section *section, const struct cfi_record *rec)
{
	struct rd rd;

	rd_init(&rd, section->data, rec->end, section->big_endian);
	rd_seek(&rd, rec->body);
	return rd;
}

/* The letters are read again for each FDE. Six have a meaning. */
enum { MAX_LETTERS = 32 };

/* The reasons why a CIE cannot be used; NULL when it can. */
typedef const char *cie_fault;
#define BEHIND_UNKNOWN "unknown augmentation before R, S or B"

/*
 * Letters and their data. rd ends with the augmentation data (or the record, without z).
 *
 * An unknown letter under z hides the layout of what follows it, and libgcc does not read on. So no letter
 * behind it may say what rows depend on.
 */
static cie_fault read_augmentation_letters(struct rd *rd, const struct cfi_section *sec,
    const char *letters, struct cfi_cie *cie)
{
	bool hidden = false;

	for (const char *p = letters; *p; p++) {
		switch (*p) {
		case 'R':
			if (hidden)
				return BEHIND_UNKNOWN;
			cie->fde_encoding = rd_u8(rd);
			break;
		case 'L':
			if (!hidden)
				rd_u8(rd);
			break;
		case 'P':
			if (!hidden) {
				uint8_t encoding = rd_u8(rd);

				/* A bad personality does not matter, except that what
				 * follows is lost. */
				if (encoding != DW_EH_PE_omit &&
				    cfi_pointer_read(rd, sec, encoding, 0).status ==
					CFI_POINTER_BAD)
					return "unreadable personality pointer";
			}
			break;
		case 'S':
			if (hidden)
				return BEHIND_UNKNOWN;
			cie->signal_frame = true;
			break;
		case 'B':
			if (hidden)
				return BEHIND_UNKNOWN;
			cie->b_key = true;
			break;
		case 'G': /* AArch64 MTE tagged frame: nothing that a row shows */
			break;
		default:
			if (!cie->has_aug_data)
				return "unknown augmentation without z";
			hidden = true;
		}
	}
	return rd->failed ? "augmentation data ends too early" : NULL;
}

/* .debug_frame is not loaded: nothing is relative to its place, nor to what is. */
static bool usable_encoding(uint8_t encoding, bool debug)
{
	uint8_t application = encoding & DW_EH_PE_application_mask;

	if (debug && application != DW_EH_PE_absptr)
		return false;

	/* funcrel is relative to the value of pc_begin itself; indirect needs the
	 * memory. */
	return encoding != DW_EH_PE_omit && application != DW_EH_PE_funcrel &&
	       !(encoding & DW_EH_PE_indirect);
}

/* Reads what version 4 inserts between the augmentation and the factors (DWARF 5, 6.4.1).
 * In .eh_frame addresses have the size of the file. */
static cie_fault read_sizes(
    struct rd *rd, const struct cfi_section *sec, struct cfi_cie *cie)
{
	cie->addr_size = rd_u8(rd);
	cie->segment_size = rd_u8(rd);
	if (cie->addr_size == sec->addr_size && !cie->segment_size)
		return NULL;
	if (!cie->debug || (cie->addr_size != 4 && cie->addr_size != 8) ||
	    cie->addr_size > sec->addr_size)
		return "CIE has another address size";
	cie->fde_encoding = cie->addr_size == 4 ? DW_EH_PE_udata4 : DW_EH_PE_absptr;
	return NULL;
}

/* Reads from the version to the factors; *letters becomes the augmentation. */
static cie_fault read_cie_head(struct rd *rd, const struct cfi_section *sec,
    struct cfi_cie *cie, const char **letters)
{
	cie->version = rd_u8(rd);
	if (cie->version != 1 && cie->version != 3 && cie->version != 4)
		return "unknown CIE version";
	*letters = rd_cstr(rd);
	if (!*letters)
		return "augmentation string does not end";
	if (strnlen(*letters, MAX_LETTERS) == MAX_LETTERS)
		return "augmentation string is too long";
	if ((*letters)[0] == 'e' && (*letters)[1] == 'h') {
		/* gcc 2: the address of an exception table */
		rd_skip(rd, sec->addr_size);
		*letters += 2;
	}
	return cie->version == 4 ? read_sizes(rd, sec, cie) : NULL;
}

const char *cfi_cie_read(const struct cfi_section *sec, const struct cfi_record *rec,
    bool debug, struct cfi_cie *cie)
{
	struct rd rd = cfi_record_reader(sec, rec), aug;
	const char *letters;
	cie_fault fault;

	*cie = (struct cfi_cie){.off = rec->off,
	    .fde_encoding = DW_EH_PE_absptr,
	    .addr_size = sec->addr_size,
	    .debug = debug};
	fault = read_cie_head(&rd, sec, cie, &letters);
	if (fault)
		return fault;
	cie->code_align = rd_uleb(&rd);
	cie->data_align = rd_sleb(&rd);
	cie->ra_reg = cie->version == 1 ? rd_u8(&rd) : rd_uleb(&rd);
	aug = rd;
	if (letters[0] == 'z') {
		uint64_t len = rd_uleb(&rd);

		letters++;
		cie->has_aug_data = true;
		aug = rd;
		if (!rd_skip(&rd, len))
			return "augmentation data passes the record";
		aug.size = rd.pos;
	}
	if (rd.failed)
		return "truncated CIE";
	fault = read_augmentation_letters(&aug, sec, letters, cie);
	if (fault)
		return fault;
	if (!usable_encoding(cie->fde_encoding, debug))
		return "address encoding that cannot be resolved";
	cie->program_off = cie->has_aug_data ? rd.pos : aug.pos;
	cie->program_len = rec->end - cie->program_off;
	return NULL;
}
