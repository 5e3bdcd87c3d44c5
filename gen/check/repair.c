/* SPDX-License-Identifier: MIT */
#include "gen/check/repair.h"

/* How a row finds a value: a bit for each column and way. */
enum {
	REPAIR_CFA_SP = 1,
	REPAIR_CFA_FP = 2,
	REPAIR_CFA_OTHER = 4,  /* by another register */
	REPAIR_CFA_MEMORY = 8, /* as a word above SP */
	REPAIR_RA_KEPT = 16,   /* as at entry */
	REPAIR_RA_FRAME = 32,  /* relative to the CFA */
	REPAIR_RA_SIGNED = 64,
	REPAIR_FP_KEPT = 128,
	REPAIR_FP_FRAME = 256,
	REPAIR_FP_SP = 512, /* above SP, which was aligned */
	REPAIR_FP_OTHER = 1024,
	REPAIR_OTHER = 2048, /* none of these */
};

/* Tests step a row of each of these kinds (tests/oracle/step_repair.py reads the list); others are not written. */
static const uint16_t stepped[] = {
    [CODE_X86_64] = REPAIR_CFA_SP | REPAIR_CFA_FP | REPAIR_CFA_OTHER | REPAIR_CFA_MEMORY |
		    REPAIR_RA_KEPT | REPAIR_RA_FRAME | REPAIR_FP_KEPT | REPAIR_FP_FRAME |
		    REPAIR_FP_SP | REPAIR_FP_OTHER,
    [CODE_AARCH64] = REPAIR_CFA_SP | REPAIR_CFA_FP | REPAIR_RA_KEPT | REPAIR_RA_FRAME |
		     REPAIR_RA_SIGNED | REPAIR_FP_KEPT | REPAIR_FP_FRAME,
    [CODE_S390X] = REPAIR_CFA_SP | REPAIR_CFA_FP | REPAIR_CFA_OTHER | REPAIR_RA_KEPT |
		   REPAIR_RA_FRAME | REPAIR_FP_KEPT | REPAIR_FP_FRAME | REPAIR_FP_OTHER,
};

static uint16_t cfa_kind(const struct code_abi *abi, const struct cfi_rule *rule)
{
	if (rule->kind == CFI_AT_REG)
		return rule->reg == abi->sp ? REPAIR_CFA_MEMORY : REPAIR_OTHER;
	if (rule->kind != CFI_REG_PLUS)
		return REPAIR_OTHER;
	return rule->reg == abi->sp   ? REPAIR_CFA_SP
	       : rule->reg == abi->fp ? REPAIR_CFA_FP
				      : REPAIR_CFA_OTHER;
}

static uint16_t ra_kind(const struct code_abi *abi, const struct cfi_row *row)
{
	const uint16_t more = row->ra_signed ? REPAIR_RA_SIGNED : 0;

	if (row->ra.kind == CFI_UNSPECIFIED ||
	    (row->ra.kind == CFI_AT_CFA && abi->ra == CODE_NO_REG &&
		row->ra.off == abi->ra_off))
		return REPAIR_RA_KEPT | more;
	return (row->ra.kind == CFI_AT_CFA ? REPAIR_RA_FRAME : REPAIR_OTHER) | more;
}

static uint16_t fp_kind(const struct code_abi *abi, const struct cfi_rule *rule)
{
	if (rule->kind == CFI_UNSPECIFIED)
		return REPAIR_FP_KEPT;
	if (rule->kind == CFI_AT_CFA)
		return REPAIR_FP_FRAME;
	if (rule->kind == CFI_AT_REG && rule->reg == abi->sp)
		return REPAIR_FP_SP;
	return rule->kind == CFI_REG_PLUS ? REPAIR_FP_OTHER : REPAIR_OTHER;
}

bool validate_can_repair(const struct arch *arch, const struct cfi_row *row)
{
	const struct code_abi *abi = code_abi(arch->code);
	const uint16_t kinds = (uint16_t)(cfa_kind(abi, &row->cfa) | ra_kind(abi, row) |
					  fp_kind(abi, &row->fp));

	return (kinds & ~stepped[arch->code]) == 0;
}
