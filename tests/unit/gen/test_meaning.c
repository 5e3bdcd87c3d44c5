/* SPDX-License-Identifier: MIT */
/* When two rows say the same, and in which column they differ. */
#include <string.h>

#include "gen/verify/meaning.h"
#include "tests/unit/unit.h"

enum { SP = 7, FP = 6, RA = 16 };

#define CFA_SP8                                                                          \
	{                                                                                \
		.kind = CFI_REG_PLUS, .reg = SP, .off = 8                                \
	}
#define RA_8                                                                             \
	{                                                                                \
		.kind = CFI_AT_CFA, .off = -8                                            \
	}
#define ROW_SP8                                                                          \
	{                                                                                \
		.cfa = {SF_LOC_REG, SP}, .cfa_off = 8                                    \
	}
#define ROW_FP_SAVED                                                                     \
	{                                                                                \
		.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .fp = {.kind = SF_LOC_AT_CFA},    \
		.fp_off = -16                                                            \
	}

static const struct meaning_case {
	const char *name;
	struct sf_row row;
	struct cfi_row cfi;
	enum meaning_column column;
} cases[] = {
    {"usual", ROW_SP8, {.cfa = CFA_SP8, .ra = RA_8}, MEANING_SAME},
    {"fp same", ROW_SP8, {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_SAME}},
	MEANING_SAME},
    {"fp in itself", ROW_SP8,
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_REG_PLUS, .reg = FP}},
	MEANING_SAME},
    {"sp said", ROW_SP8, {.cfa = CFA_SP8, .ra = RA_8, .sp = {.kind = CFI_CFA_PLUS}},
	MEANING_SAME},
    {"fp saved", ROW_FP_SAVED,
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_CFA, .off = -16}},
	MEANING_SAME},
    {"outermost", {.outermost = 1}, {.ra = {.kind = CFI_UNDEFINED}}, MEANING_SAME},
    {"cfa another register", {.cfa = {SF_LOC_REG, 10}},
	{.cfa = {.kind = CFI_REG_PLUS, .reg = 10}, .ra = RA_8}, MEANING_SAME},
    {"cfa read", {.cfa = {SF_LOC_AT_REG, FP}, .cfa_off = -8, .fp = {SF_LOC_AT_REG, FP}},
	{.cfa = {.kind = CFI_AT_REG, .reg = FP, .off = -8},
	    .ra = RA_8,
	    .fp = {.kind = CFI_AT_REG, .reg = FP}},
	MEANING_SAME},
    {"cfa read, and more", {.cfa = {SF_LOC_AT_REG, SP}},
	{.cfa = {.kind = CFI_AT_REG, .reg = SP, .add = 8}, .ra = RA_8}, MEANING_CFA},
    {"sp read as the cfa is", {.cfa = {SF_LOC_AT_REG, SP}},
	{.cfa = {.kind = CFI_AT_REG, .reg = SP},
	    .sp = {.kind = CFI_AT_REG, .reg = SP},
	    .ra = RA_8},
	MEANING_SAME},
    {"sp read beside the cfa", {.cfa = {SF_LOC_AT_REG, SP}},
	{.cfa = {.kind = CFI_AT_REG, .reg = SP},
	    .sp = {.kind = CFI_AT_REG, .reg = SP, .off = 8},
	    .ra = RA_8},
	MEANING_SP},
    {"ra in rbx", {.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .ra = {SF_LOC_REG, 3}},
	{.cfa = CFA_SP8, .ra = {.kind = CFI_REG_PLUS, .reg = 3}}, MEANING_SAME},
    {"ra in rcx", {.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .ra = {SF_LOC_REG, 3}},
	{.cfa = CFA_SP8, .ra = {.kind = CFI_REG_PLUS, .reg = 2}}, MEANING_RA},
    {"fp in itself, in a row",
	{.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .fp = {SF_LOC_REG, FP}},
	{.cfa = CFA_SP8, .ra = RA_8}, MEANING_SAME},
    {"fp in rbx, in a row",
	{.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .fp = {SF_LOC_REG, 3}},
	{.cfa = CFA_SP8, .ra = RA_8}, MEANING_FP},
    {"cfa offset", ROW_SP8,
	{.cfa = {.kind = CFI_REG_PLUS, .reg = SP, .off = 16}, .ra = RA_8}, MEANING_CFA},
    {"cfa register", ROW_SP8,
	{.cfa = {.kind = CFI_REG_PLUS, .reg = FP, .off = 8}, .ra = RA_8}, MEANING_CFA},
    {"cfa register, the same in its low byte", ROW_SP8,
	{.cfa = {.kind = CFI_REG_PLUS, .reg = 256 + SP, .off = 8}, .ra = RA_8},
	MEANING_CFA},
    {"cfa offset, the same in its low half", ROW_SP8,
	{.cfa = {.kind = CFI_REG_PLUS, .reg = SP, .off = 8 + (INT64_C(1) << 32)},
	    .ra = RA_8},
	MEANING_CFA},
    {"cfa from memory", ROW_SP8,
	{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = 8}, .ra = RA_8}, MEANING_CFA},
    {"cfa unknown", ROW_SP8, {.cfa = {.kind = CFI_OPAQUE, .off = 8}, .ra = RA_8},
	MEANING_CFA},
    {"no cfa", ROW_SP8, {.ra = RA_8}, MEANING_CFA},
    {"sp same", ROW_SP8, {.cfa = CFA_SP8, .ra = RA_8, .sp = {.kind = CFI_SAME}},
	MEANING_SP},
    {"sp beyond the cfa", ROW_SP8,
	{.cfa = CFA_SP8, .ra = RA_8, .sp = {.kind = CFI_CFA_PLUS, .off = 8}}, MEANING_SP},
    {"ra elsewhere", ROW_SP8, {.cfa = CFA_SP8, .ra = {.kind = CFI_AT_CFA, .off = -16}},
	MEANING_RA},
    {"ra not saved", ROW_SP8, {.cfa = CFA_SP8}, MEANING_RA},
    {"ra same", ROW_SP8, {.cfa = CFA_SP8, .ra = {.kind = CFI_SAME}}, MEANING_RA},
    {"ra a value", ROW_SP8, {.cfa = CFA_SP8, .ra = {.kind = CFI_CFA_PLUS, .off = -8}},
	MEANING_RA},
    {"ra undefined", ROW_SP8, {.cfa = CFA_SP8, .ra = {.kind = CFI_UNDEFINED}},
	MEANING_RA},
    {"not outermost", {.outermost = 1}, {.cfa = CFA_SP8, .ra = RA_8}, MEANING_RA},
    {"a register without a name", {.cfa = {SF_LOC_REG, SF_REG_NONE}, .cfa_off = 8},
	{.cfa = {.kind = CFI_REG_PLUS, .reg = UINT16_MAX, .off = 8}, .ra = RA_8},
	MEANING_CFA},
    {"fp lost", ROW_SP8, {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_UNDEFINED}},
	MEANING_FP},
    {"fp not said", ROW_SP8,
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_CFA, .off = -16}}, MEANING_FP},
    {"fp said", ROW_FP_SAVED, {.cfa = CFA_SP8, .ra = RA_8}, MEANING_FP},
    {"fp elsewhere", ROW_FP_SAVED,
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_CFA, .off = -24}}, MEANING_FP},
    {"fp a value", ROW_FP_SAVED,
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_CFA_PLUS, .off = -16}},
	MEANING_FP},
    {"fp beyond itself", ROW_SP8,
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_REG_PLUS, .reg = FP, .off = 8}},
	MEANING_FP},
    {"fp at sp", ROW_FP_SAVED,
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_REG, .reg = SP, .off = -8}},
	MEANING_FP},
    {"signed", ROW_SP8, {.cfa = CFA_SP8, .ra = RA_8, .ra_signed = true},
	MEANING_RA_SIGNED},
    {"not signed", {.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .ra_signed = 1},
	{.cfa = CFA_SP8, .ra = RA_8}, MEANING_RA_SIGNED},
    {"signed with pc", {.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .ra_signed = 1},
	{.cfa = CFA_SP8, .ra = RA_8, .ra_signed = true, .ra_signed_with_pc = true},
	MEANING_RA_SIGNED},
};

UNIT_EACH(compare, cases)
{
	const struct target x86_64 = {.arch = &arch_x86_64};
	const struct meaning_case *c = &cases[_i];
	enum meaning_column column = meaning_compare(&x86_64, &c->row, &c->cfi);

	ck_assert_msg(
	    column == c->column, "%s: %s", c->name, meaning_column_name(column));
}

/* Where RA can be in words, a row without them leaves it in its register. */
UNIT(ra_tracked)
{
	struct arch arch = arch_x86_64;
	const struct target target = {.arch = &arch};
	struct sf_row row = ROW_SP8;
	struct cfi_row cfi = {.cfa = CFA_SP8};

	arch.ra_tracked = true;
	arch.fixed_ra_off = 0;
	ck_assert_int_eq(meaning_compare(&target, &row, &cfi), MEANING_SAME);
	cfi.ra = (struct cfi_rule)RA_8;
	ck_assert_int_eq(meaning_compare(&target, &row, &cfi), MEANING_RA);
	row.ra.kind = SF_LOC_AT_CFA;
	row.ra_off = -8;
	ck_assert_int_eq(meaning_compare(&target, &row, &cfi), MEANING_SAME);
	row.ra_off = -16;
	ck_assert_int_eq(meaning_compare(&target, &row, &cfi), MEANING_RA);
}

static const struct {
	struct cfi_rule rule;
	const char *text;
} texts[] = {
    {{.kind = CFI_UNSPECIFIED}, "unspecified"},
    {{.kind = CFI_UNDEFINED}, "undefined"},
    {{.kind = CFI_SAME}, "unchanged"},
    {{.kind = CFI_AT_CFA, .off = -8}, "*(CFA - 8)"},
    {{.kind = CFI_CFA_PLUS, .off = 0}, "CFA"},
    {{.kind = CFI_REG_PLUS, .reg = SP, .off = 16}, "rsp + 16"},
    {{.kind = CFI_REG_PLUS, .reg = FP, .off = -16}, "rbp - 16"},
    {{.kind = CFI_AT_REG, .reg = 10, .off = 4, .add = -1}, "*(r10 + 4) - 1"},
    {{.kind = CFI_CONST, .off = 255}, "0xff"},
    {{.kind = CFI_OPAQUE, .off = 3}, "expression"},
};

UNIT_EACH(words, texts)
{
	char text[64], little[4];

	meaning_rule_text(&arch_x86_64, &texts[_i].rule, text, sizeof(text));
	ck_assert_str_eq(text, texts[_i].text);
	meaning_rule_text(&arch_x86_64, &texts[_i].rule, little, sizeof(little));
	ck_assert_uint_eq(strlen(little), 3);
	ck_assert_int_eq(strncmp(little, text, 3), 0);
}
