/* SPDX-License-Identifier: MIT */
/* "The same answer", defined once. */
#include "gen/verify/meaning.h"

#include <inttypes.h>
#include <stdio.h>

/* Gives a register that SFrame's reader could not name a number. CFI can have that one, too. */
static uint16_t meaning_reg(struct sf_loc loc)
{
	return loc.reg == SF_REG_NONE ? UINT16_MAX : loc.reg;
}

static inline bool meaning_reg_is(const struct cfi_rule *rule, struct sf_loc loc)
{
	return rule->reg == loc.reg && loc.reg != SF_REG_NONE;
}

static struct cfi_rule meaning_of_loc(struct sf_loc loc, int32_t off)
{
	switch ((enum sf_loc_kind)loc.kind) {
	case SF_LOC_NONE:
		return (struct cfi_rule){.kind = CFI_SAME};
	case SF_LOC_AT_CFA:
		return (struct cfi_rule){.kind = CFI_AT_CFA, .off = off};
	case SF_LOC_REG:
		return (struct cfi_rule){
		    .kind = CFI_REG_PLUS, .reg = meaning_reg(loc), .off = off};
	case SF_LOC_AT_REG:
		return (struct cfi_rule){
		    .kind = CFI_AT_REG, .reg = meaning_reg(loc), .off = off};
	}
	return (struct cfi_rule){.kind = CFI_OPAQUE};
}

struct cfi_rule meaning_rule_of(
    const struct arch *arch, const struct sf_row *row, enum meaning_column column)
{
	if (column == MEANING_CFA)
		return meaning_of_loc(row->cfa, row->cfa_off);
	if (column == MEANING_FP)
		return meaning_of_loc(row->fp, row->fp_off);
	if (column == MEANING_SP)
		return (struct cfi_rule){.kind = CFI_CFA_PLUS, .off = arch->sp_from_cfa};
	if (row->outermost)
		return (struct cfi_rule){.kind = CFI_UNDEFINED};
	if (row->ra.kind == SF_LOC_NONE && !arch->ra_tracked)
		return (struct cfi_rule){.kind = CFI_AT_CFA, .off = arch->fixed_ra_off};
	return meaning_of_loc(row->ra, row->ra_off);
}

/* True if rule says what meaning_of_loc would: asked for every row of a file, so without
 * making one. */
static inline bool meaning_is(const struct cfi_rule *rule, struct sf_loc loc, int32_t off)
{
	switch ((enum sf_loc_kind)loc.kind) {
	case SF_LOC_NONE:
		return rule->kind == CFI_SAME;
	case SF_LOC_AT_CFA:
		return rule->kind == CFI_AT_CFA && rule->off == off;
	case SF_LOC_REG:
		return rule->kind == CFI_REG_PLUS && meaning_reg_is(rule, loc) &&
		       rule->off == off;
	case SF_LOC_AT_REG:
		return rule->kind == CFI_AT_REG && meaning_reg_is(rule, loc) &&
		       rule->off == off && rule->add == 0;
	}
	return false;
}

/* RA and FP: own is the register that holds the caller's value when nobody touched it. */
static inline bool meaning_kept(
    const struct cfi_rule *rule, struct sf_loc loc, int32_t off, uint16_t own)
{
	bool same = loc.kind == SF_LOC_NONE ||
		    (loc.kind == SF_LOC_REG && loc.reg == own && off == 0);

	if (rule->kind == CFI_UNSPECIFIED || rule->kind == CFI_SAME ||
	    (rule->kind == CFI_REG_PLUS && rule->reg == own && rule->off == 0))
		return same;
	return meaning_is(rule, loc, off);
}

static inline bool meaning_ra(
    const struct arch *arch, const struct sf_row *row, const struct cfi_rule *rule)
{
	if (row->ra.kind == SF_LOC_NONE && !arch->ra_tracked)
		return rule->kind == CFI_AT_CFA && rule->off == arch->fixed_ra_off;
	return meaning_kept(rule, row->ra, row->ra_off, arch->ra_reg);
}

/*
 * True if CFI's rule for SP gives the caller's SP as the row's reader computes it: from
 * the CFA, or by the same expression of the same registers as the CFA, or from wherever a
 * callee saved the SP that it was called with. A CFA that came back to SP says that SP is back, so a saved one contradicts it.
 */
static inline bool meaning_sp_is_cfa(
    const struct target *target, const struct cfi_row *cfi)
{
	const struct arch *arch = target->arch;
	const struct cfi_rule *sp = &cfi->sp, *cfa = &cfi->cfa;
	const bool is_at_entry = cfa->kind == CFI_REG_PLUS &&
				 cfa->reg == arch->cfi.sp_reg &&
				 cfa->off + arch->sp_from_cfa == 0;

	if (sp->kind == CFI_UNSPECIFIED ||
	    (sp->kind == CFI_CFA_PLUS && sp->off == arch->sp_from_cfa))
		return true;
	if (arch->sp_saved && !target->signal_frame && !(is_at_entry && cfi->cfa_moved) &&
	    (sp->kind == CFI_AT_CFA || (sp->kind == CFI_REG_PLUS && sp->off == 0 &&
					   sp->reg != arch->cfi.sp_reg)))
		return true;
	return arch->sp_from_cfa == 0 && sp->kind != CFI_OPAQUE &&
	       cfi_rule_equal(sp, &cfi->cfa);
}

enum meaning_column meaning_compare(
    const struct target *target, const struct sf_row *sframe, const struct cfi_row *cfi)
{
	const struct arch *arch = target->arch;

	/* In an outermost frame nothing but the missing return address is asked for. */
	if (sframe->outermost || cfi->ra.kind == CFI_UNDEFINED)
		return sframe->outermost && cfi->ra.kind == CFI_UNDEFINED ? MEANING_SAME
									  : MEANING_RA;
	if (cfi->doubtful || !meaning_is(&cfi->cfa, sframe->cfa, sframe->cfa_off))
		return MEANING_CFA;
	if (!meaning_sp_is_cfa(target, cfi))
		return MEANING_SP;
	if (!meaning_ra(arch, sframe, &cfi->ra))
		return MEANING_RA;
	if (!meaning_kept(&cfi->fp, sframe->fp, sframe->fp_off, arch->cfi.fp_reg))
		return MEANING_FP;
	if (sframe->ra_signed != cfi->ra_signed || cfi->ra_signed_with_pc)
		return MEANING_RA_SIGNED;
	return MEANING_SAME;
}

const char *meaning_column_name(enum meaning_column column)
{
	switch (column) {
	case MEANING_SAME:
		return "nothing";
	case MEANING_CFA:
		return "CFA";
	case MEANING_SP:
		return "SP";
	case MEANING_RA:
		return "RA";
	case MEANING_FP:
		return "FP";
	case MEANING_RA_SIGNED:
		return "RA state";
	}
	return "?";
}

/* " + 8", " - 8", or nothing. */
static const char *meaning_plus(int64_t off, char buf[24])
{
	uint64_t size = off < 0 ? -(uint64_t)off : (uint64_t)off;

	buf[0] = 0;
	if (off)
		snprintf(buf, 24, " %c %" PRIu64, off < 0 ? '-' : '+', size);
	return buf;
}

void meaning_rule_text(
    const struct arch *arch, const struct cfi_rule *rule, char *buf, size_t size)
{
	char reg[16], off[24], add[24];

	if (rule->reg < arch->n_reg_names)
		snprintf(reg, sizeof(reg), "%s", arch->reg_names[rule->reg]);
	else if (rule->reg == UINT16_MAX)
		snprintf(reg, sizeof(reg), "unknown");
	else
		snprintf(reg, sizeof(reg), "register %u", rule->reg);
	meaning_plus(rule->off, off);
	switch ((enum cfi_rule_kind)rule->kind) {
	case CFI_UNSPECIFIED:
		snprintf(buf, size, "unspecified");
		return;
	case CFI_UNDEFINED:
		snprintf(buf, size, "undefined");
		return;
	case CFI_SAME:
		snprintf(buf, size, "unchanged");
		return;
	case CFI_AT_CFA:
		snprintf(buf, size, "*(CFA%s)", off);
		return;
	case CFI_CFA_PLUS:
		snprintf(buf, size, "CFA%s", off);
		return;
	case CFI_REG_PLUS:
		snprintf(buf, size, "%s%s", reg, off);
		return;
	case CFI_AT_REG:
		snprintf(buf, size, "*(%s%s)%s", reg, off, meaning_plus(rule->add, add));
		return;
	case CFI_AT_SUM:
		snprintf(buf, size, "*(%s + %s * %u%s)%s", reg,
		    cfi_rule_index(rule) < arch->n_reg_names
			? arch->reg_names[cfi_rule_index(rule)]
			: "?",
		    1u << cfi_rule_shift(rule), off, meaning_plus(rule->add, add));
		return;
	case CFI_CONST:
		snprintf(buf, size, "0x%" PRIx64, rule->off);
		return;
	case CFI_OPAQUE:
		snprintf(buf, size, "expression");
		return;
	}
}
