/* SPDX-License-Identifier: MIT */
/*
 * What CFI says of code that the section of a result has no row for. A stack walker that
 * follows these rules beside the section loses fewer frames: include/eh2sframe-walk.h.
 * libeh2sframe(3) explains them.
 */
#ifndef EH2SFRAME_RULES_H
#define EH2SFRAME_RULES_H

#include "eh2sframe.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of a rule, to be combined. Never renumbered. */
enum eh2sframe_rule_flags {
	EH2SFRAME_RULE_SIGNED = 1, /* AArch64: the return address is signed */
	/* The frame has no caller; locations mean nothing. */
	EH2SFRAME_RULE_OUTERMOST = 2,
	EH2SFRAME_RULE_SIGNAL_FRAME = 4, /* the caller was interrupted: it did not call */
	EH2SFRAME_RULE_KEY_B = 8, /* AArch64: signed with key B, where it is signed */
	/* The CFA is in memory at register + (index << shift) + offset. */
	EH2SFRAME_RULE_INDEXED = 16,
};

/*
 * A rule for a gap, or for a part of one. The values are those of struct eh2sframe_row with
 * three exceptions. A CFA that is read from memory has cfa_add added to it afterwards, and can
 * be in an array; no version of SFrame can say either. And the return address has a place unless it is in its register,
 * so that no header of a section is needed.
 */
struct eh2sframe_rule {
	size_t struct_size;  /* set by the caller, as for the other structs */
	uint64_t start, end; /* addresses; end is exclusive */
	uint32_t flags;	     /* enum eh2sframe_rule_flags */
	int32_t cfa_add;     /* with EH2SFRAME_PLACE_AT_REGISTER, else 0 */
	struct eh2sframe_location cfa, ra, fp;
	uint32_t index; /* EH2SFRAME_RULE_INDEXED: a register, by its DWARF number */
	uint32_t shift; /* and by how many bits its value is shifted; below 8 */
};

/*
 * Rule i; false behind the last one. Rules ascend by address and do not overlap. A gap has
 * none where the reason is not what CFI says (two FDEs overlap, a pattern leaves it out,
 * its instructions contradict it) or CFI says more than this. A relocatable object has
 * none. Offsets fit 32 bits, and registers are below 32.
 */
EH2SFRAME_CHECKED bool eh2sframe_result_rule(
    const struct eh2sframe_result *result, size_t i, struct eh2sframe_rule *rule);

#ifdef __cplusplus
}
#endif

#endif
