/* SPDX-License-Identifier: MIT */
/*
 * Limits of each version and ABI for a row. The writer asks here too, so that it cannot
 * write less than is promised.
 */
#include "sframe/layout.h"

static const char *const texts[] = {[SF_CAN] = "nothing",
#define SF_CANNOT_TEXT(id, text) [SF_CANNOT_##id] = (text),
    SF_CANNOTS(SF_CANNOT_TEXT)
#undef SF_CANNOT_TEXT
};

const char *sf_cannot_text(enum sf_cannot cannot)
{
	return texts[cannot];
}

static bool is_s390x(const struct sf_abi *abi)
{
	return abi->id == SFRAME_ABI_S390X_ENDIAN_BIG;
}

/* The one place where the CFA of a default row may be. */
static bool cfa_is_plain(const struct sf_abi *abi, const struct sf_row *row)
{
	return row->cfa.kind == SF_LOC_REG &&
	       (row->cfa.reg == abi->sp || row->cfa.reg == abi->fp);
}

bool sf_row_needs_flex(const struct sf_abi *abi, const struct sf_row *row)
{
	if (row->outermost)
		return false;
	if (!cfa_is_plain(abi, row))
		return true;
	if (sf_row_has_ra(abi, row) &&
	    (abi->fixed_ra_off != 0 || row->ra.kind != SF_LOC_AT_CFA || row->ra_off == 0))
		return true;
	return row->fp.kind != SF_LOC_NONE && row->fp.kind != SF_LOC_AT_CFA;
}

static enum sf_cannot cfa_can_say(
    const struct sf_abi *abi, const struct sf_row *row, bool flex)
{
	if (row->cfa.kind != SF_LOC_REG && row->cfa.kind != SF_LOC_AT_REG)
		return SF_CANNOT_NO_CFA;
	if (!flex && !cfa_is_plain(abi, row))
		return SF_CANNOT_CFA_BASE;
	if (row->cfa.reg > SF_REG_MAX)
		return SF_CANNOT_REGISTER;
	if (is_s390x(abi) && row->cfa_off % SFRAME_S390X_CFA_SCALE != 0)
		return SF_CANNOT_CFA_OFFSET;
	return SF_CAN;
}

/*
 * Checks the place of RA or FP, which has a rule; returns elsewhere if there is no way to write that place.
 */
static enum sf_cannot save_can_say(const struct sf_layout *layout,
    const struct sf_abi *abi, struct sf_loc loc, int32_t off, enum sf_cannot elsewhere)
{
	bool regs = layout->has_regs && is_s390x(abi);

	if (layout->has_flex && abi->has_flex)
		return loc.reg > SF_REG_MAX ? SF_CANNOT_REGISTER : SF_CAN;
	if (loc.kind == SF_LOC_AT_CFA)
		/* Bit 0 of the word is what tells a slot from a register. */
		return regs && (off & 1) ? SF_CANNOT_SLOT : SF_CAN;
	if (loc.kind != SF_LOC_REG || off != 0 || !regs)
		return elsewhere;
	return loc.reg > SF_REG_MAX ? SF_CANNOT_REGISTER : SF_CAN;
}

static enum sf_cannot ra_can_say(
    const struct sf_layout *layout, const struct sf_abi *abi, const struct sf_row *row)
{
	bool flex = layout->has_flex && abi->has_flex;

	if (!sf_row_has_ra(abi, row))
		return SF_CAN;
	if (abi->fixed_ra_off != 0 && !flex)
		return SF_CANNOT_RA_NOT_FIXED;
	/* In a default row readers take a word of 0 for padding, on every ABI. */
	if (!flex && row->ra.kind == SF_LOC_AT_CFA && row->ra_off == 0)
		return SF_CANNOT_RA_AT_0;
	return save_can_say(layout, abi, row->ra, row->ra_off, SF_CANNOT_RA_PLACE);
}

static enum sf_cannot fp_can_say(
    const struct sf_layout *layout, const struct sf_abi *abi, const struct sf_row *row)
{
	bool has_padding = abi->fixed_ra_off != 0 || is_s390x(abi);

	if (row->fp.kind == SF_LOC_NONE)
		return SF_CAN;
	if (row->ra.kind == SF_LOC_NONE && !has_padding)
		return SF_CANNOT_FP_ALONE;
	return save_can_say(layout, abi, row->fp, row->fp_off, SF_CANNOT_FP_PLACE);
}

enum sf_cannot sf_layout_can_express(
    const struct sf_layout *layout, const struct sf_abi *abi, const struct sf_row *row)
{
	enum sf_cannot cannot;

	if (row->outermost)
		return layout->outermost == SF_OUTERMOST_ALWAYS ? SF_CAN
								: SF_CANNOT_OUTERMOST;
	if (row->ra_signed && !abi->has_pauth)
		return SF_CANNOT_SIGNED;
	cannot = ra_can_say(layout, abi, row);
	if (cannot == SF_CAN)
		cannot = cfa_can_say(abi, row, layout->has_flex && abi->has_flex);
	return cannot == SF_CAN ? fp_can_say(layout, abi, row) : cannot;
}

enum sf_cannot sf_can_express(uint8_t version, uint8_t abi, const struct sf_row *row)
{
	const struct sf_layout *layout = sf_layout_find(version);
	const struct sf_abi *facts = sf_abi_find(abi);

	if (!layout)
		return SF_CANNOT_VERSION;
	if (!facts || version < facts->since)
		return SF_CANNOT_ABI;
	return sf_layout_can_express(layout, facts, row);
}
