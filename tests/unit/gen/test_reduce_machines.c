/* SPDX-License-Identifier: MIT */
/*
 * Results of rules where RA can be in words: on AArch64 and s390x, in each version. A row
 * must mean the same as its rules. No other row may be written.
 */
#include "gen/verify/meaning.h"
#include "gen/rows/reduce.h"
#include "sframe/encode.h"
#include "tests/unit/unit.h"

enum { A_SP = 31, A_FP = 29, A_LR = 30, S_SP = 15, S_FP = 11, S_RA = 14, F0 = 16, F2 };

#define REG(number, offset)                                                              \
	{                                                                                \
		.kind = CFI_REG_PLUS, .reg = (number), .off = (offset)                   \
	}
#define AT(offset)                                                                       \
	{                                                                                \
		.kind = CFI_AT_CFA, .off = (offset)                                      \
	}
#define VALUE(offset)                                                                    \
	{                                                                                \
		.kind = CFI_CFA_PLUS, .off = (offset)                                    \
	}
#define MEMORY(number, offset)                                                           \
	{                                                                                \
		.kind = CFI_AT_REG, .reg = (number), .off = (offset)                     \
	}

/* Places of a row. */
#define CFA_IN(number, offset) .cfa = {SF_LOC_REG, (number)}, .cfa_off = (offset)
#define RA_IN(number, offset) .ra = {SF_LOC_REG, (number)}, .ra_off = (offset)
#define FP_IN(number, offset) .fp = {SF_LOC_REG, (number)}, .fp_off = (offset)
#define RA_SLOT(offset) .ra = {.kind = SF_LOC_AT_CFA}, .ra_off = (offset)
#define FP_SLOT(offset) .fp = {.kind = SF_LOC_AT_CFA}, .fp_off = (offset)

struct machine_case {
	const char *name;
	struct cfi_row cfi;
	enum refusal why[4]; /* by version; the first is for signal frames of version 3 */
	struct sf_row said;
};

#define ALWAYS                                                                           \
	{                                                                                \
		REFUSE_NOTHING, REFUSE_NOTHING, REFUSE_NOTHING, REFUSE_NOTHING           \
	}
#define NEVER(why)                                                                       \
	{                                                                                \
		REFUSE_##why, REFUSE_##why, REFUSE_##why, REFUSE_##why                   \
	}
#define FROM_3(why)                                                                      \
	{                                                                                \
		REFUSE_NOTHING, REFUSE_##why, REFUSE_##why, REFUSE_NOTHING               \
	}

static const struct machine_case aarch64[] = {
    {"leaf", {.cfa = REG(A_SP, 0)}, ALWAYS, {CFA_IN(A_SP, 0)}},
    {"ra same", {.cfa = REG(A_SP, 0), .ra = {.kind = CFI_SAME}}, ALWAYS,
	{CFA_IN(A_SP, 0)}},
    {"ra in itself", {.cfa = REG(A_SP, 0), .ra = REG(A_LR, 0)}, ALWAYS,
	{CFA_IN(A_SP, 0)}},
    {"ra alone", {.cfa = REG(A_SP, 16), .ra = AT(-16)}, ALWAYS,
	{CFA_IN(A_SP, 16), RA_SLOT(-16)}},
    {"ra where x86-64 has it", {.cfa = REG(A_SP, 16), .ra = AT(-8)}, ALWAYS,
	{CFA_IN(A_SP, 16), RA_SLOT(-8)}},
    {"ra and fp", {.cfa = REG(A_FP, 32), .ra = AT(-24), .fp = AT(-32)}, ALWAYS,
	{CFA_IN(A_FP, 32), RA_SLOT(-24), FP_SLOT(-32)}},
    {"odd slots", {.cfa = REG(A_FP, 33), .ra = AT(-23), .fp = AT(-31)}, ALWAYS,
	{CFA_IN(A_FP, 33), RA_SLOT(-23), FP_SLOT(-31)}},
    {"fp at the cfa", {.cfa = REG(A_FP, 0), .ra = AT(8), .fp = AT(0)}, ALWAYS,
	{CFA_IN(A_FP, 0), RA_SLOT(8), FP_SLOT(0)}},
    {"fp alone", {.cfa = REG(A_SP, 16), .fp = AT(-16)}, NEVER(FP_ALONE), {0}},
    {"ra at the cfa", {.cfa = REG(A_SP, 0), .ra = AT(0)}, NEVER(RA_AT_CFA), {0}},
    {"ra in x15", {.cfa = REG(A_SP, 0), .ra = REG(15, 0)}, NEVER(RA_REGISTER), {0}},
    {"ra plus 4", {.cfa = REG(A_SP, 0), .ra = REG(A_LR, 4)}, NEVER(RA_REGISTER), {0}},
    {"ra from sp", {.cfa = REG(A_SP, 0), .ra = MEMORY(A_SP, 8)}, NEVER(RA_ELSEWHERE),
	{0}},
    {"ra a value", {.cfa = REG(A_SP, 0), .ra = VALUE(8)}, NEVER(RA_EXPRESSION), {0}},
    {"ra too far", {.cfa = REG(A_SP, 0), .ra = AT(INT64_C(1) << 31)}, NEVER(RA_OFFSET),
	{0}},
    {"fp in x19", {.cfa = REG(A_SP, 0), .ra = AT(-8), .fp = REG(19, 0)},
	NEVER(FP_REGISTER), {0}},
    {"fp from sp", {.cfa = REG(A_SP, 0), .ra = AT(-8), .fp = MEMORY(A_SP, 0)},
	NEVER(FP_MEMORY), {0}},
    {"cfa x19", {.cfa = REG(19, 0)}, NEVER(CFA_REGISTER), {0}},
    {"cfa from memory", {.cfa = MEMORY(A_FP, 0)}, NEVER(CFA_MEMORY), {0}},
    {"sp saved", {.cfa = REG(A_FP, 16), .sp = AT(-8)}, NEVER(SP_RULE), {0}},
    {"sp is cfa", {.cfa = REG(A_FP, 16), .sp = VALUE(0)}, ALWAYS, {CFA_IN(A_FP, 16)}},
    {"signed", {.cfa = REG(A_SP, 0), .ra_signed = true}, ALWAYS, {CFA_IN(A_SP, 0)}},
    {"signed and saved", {.cfa = REG(A_SP, 16), .ra = AT(-16), .ra_signed = true}, ALWAYS,
	{CFA_IN(A_SP, 16), RA_SLOT(-16)}},
    {"signed with pc",
	{.cfa = REG(A_SP, 0), .ra_signed = true, .ra_signed_with_pc = true},
	NEVER(RA_SIGNED_PC), {0}},
};

static const struct machine_case s390x[] = {
    {"leaf", {.cfa = REG(S_SP, 160)}, ALWAYS, {CFA_IN(S_SP, 160)}},
    {"usual", {.cfa = REG(S_FP, 336), .ra = AT(-48), .fp = AT(-72), .sp = AT(-40)},
	{REFUSE_SP_RULE, REFUSE_NOTHING, REFUSE_NOTHING, REFUSE_NOTHING},
	{CFA_IN(S_FP, 336), RA_SLOT(-48), FP_SLOT(-72)}},
    {"in registers",
	{.cfa = REG(S_SP, 160), .ra = REG(F2, 0), .fp = REG(F0, 0), .sp = REG(18, 0)},
	{REFUSE_SP_RULE, REFUSE_NOTHING, REFUSE_NOTHING, REFUSE_NOTHING},
	{CFA_IN(S_SP, 160), RA_IN(F2, 0), FP_IN(F0, 0)}},
    {"fp alone", {.cfa = REG(S_SP, 160), .fp = AT(-72)}, ALWAYS,
	{CFA_IN(S_SP, 160), FP_SLOT(-72)}},
    {"fp alone in f0", {.cfa = REG(S_SP, 160), .fp = REG(F0, 0)}, ALWAYS,
	{CFA_IN(S_SP, 160), FP_IN(F0, 0)}},
    {"ra in f0 plus 8", {.cfa = REG(S_SP, 160), .ra = REG(F0, 8)}, FROM_3(RA_REGISTER),
	{CFA_IN(S_SP, 160), RA_IN(F0, 8)}},
    {"fp in f0 plus 8", {.cfa = REG(S_SP, 160), .fp = REG(F0, 8)}, FROM_3(FP_REGISTER),
	{CFA_IN(S_SP, 160), FP_IN(F0, 8)}},
    {"ra in v16", {.cfa = REG(S_SP, 160), .ra = REG(68, 0)}, NEVER(REGISTER_NUMBER), {0}},
    {"ra at the cfa", {.cfa = REG(S_SP, 160), .ra = AT(0)}, FROM_3(RA_AT_CFA),
	{CFA_IN(S_SP, 160), RA_SLOT(0)}},
    {"ra in an odd slot", {.cfa = REG(S_SP, 160), .ra = AT(-47)}, FROM_3(ODD_SLOT),
	{CFA_IN(S_SP, 160), RA_SLOT(-47)}},
    {"fp in an odd slot", {.cfa = REG(S_SP, 160), .fp = AT(-71)}, FROM_3(ODD_SLOT),
	{CFA_IN(S_SP, 160), FP_SLOT(-71)}},
    {"cfa r13", {.cfa = REG(13, 160)}, FROM_3(CFA_REGISTER), {CFA_IN(13, 160)}},
    {"cfa from memory", {.cfa = MEMORY(S_SP, 160)}, FROM_3(CFA_MEMORY),
	{.cfa = {SF_LOC_AT_REG, S_SP}, .cfa_off = 160}},
    {"cfa 164", {.cfa = REG(S_SP, 164)}, NEVER(CFA_ALIGNMENT), {0}},
    {"cfa fp - 8", {.cfa = REG(S_FP, -8)}, ALWAYS, {CFA_IN(S_FP, -8)}},
    {"cfa below 160", {.cfa = REG(S_SP, 152)}, NEVER(CFA_NEAR_SP), {0}},
    {"largest cfa", {.cfa = REG(S_SP, INT32_MAX - 7)}, ALWAYS,
	{CFA_IN(S_SP, INT32_MAX - 7)}},
    {"lowest cfa", {.cfa = REG(S_FP, INT32_MIN)}, ALWAYS, {CFA_IN(S_FP, INT32_MIN)}},
    {"sp is cfa - 160", {.cfa = REG(S_SP, 160), .sp = VALUE(-160)}, ALWAYS,
	{CFA_IN(S_SP, 160)}},
    {"sp is the cfa", {.cfa = REG(S_SP, 160), .sp = VALUE(0)}, NEVER(SP_RULE), {0}},
    {"sp in itself", {.cfa = REG(S_SP, 168), .sp = REG(S_SP, 0)}, NEVER(SP_RULE), {0}},
    {"sp in f0 plus 8", {.cfa = REG(S_SP, 160), .sp = REG(F0, 8)}, NEVER(SP_RULE), {0}},
    {"sp read with the cfa", {.cfa = MEMORY(S_FP, 160), .sp = MEMORY(S_FP, 160)},
	NEVER(SP_RULE), {0}},
    {"sp undefined", {.cfa = REG(S_SP, 160), .sp = {.kind = CFI_UNDEFINED}},
	NEVER(SP_RULE), {0}},
};

/* Each version that the machine has. Version 0 stands for a signal frame of version 3. */
static void check_case(const struct arch *arch, int first, const struct machine_case *c)
{
	for (int i = 0; i < 4; i++) {
		struct target target = {
		    .arch = arch, .version = i ? (uint8_t)i : 3, .signal_frame = i == 0};
		struct sf_row row, other;
		enum refusal why;

		if (i && i < first)
			continue;
		why = reduce_row(&target, &c->cfi, &row);
		ck_assert_msg(why == c->why[i], "%s, %d: %s", c->name, i,
		    why == REFUSE_NOTHING ? "said" : refusal_name(why));
		if (why != REFUSE_NOTHING)
			continue;
		other = c->said;
		other.ra_signed = c->cfi.ra_signed;
		ck_assert_msg(
		    sf_row_same(&row, &other), "%s, %d: another row", c->name, i);
		ck_assert(
		    sf_can_express(target.version, arch->sframe_abi, &row) == SF_CAN);
		ck_assert_msg(meaning_compare(&target, &row, &c->cfi) == MEANING_SAME,
		    "%s, %d: not the same answer", c->name, i);
		other = row;
		other.ra_signed = !row.ra_signed;
		ck_assert(meaning_compare(&target, &other, &c->cfi) == MEANING_RA_SIGNED);
		other = row;
		other.ra = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		other.ra_off = -88;
		ck_assert(meaning_compare(&target, &other, &c->cfi) == MEANING_RA);
		other = row;
		other.cfa_off ^= 8; /* the lowest has nothing below it */
		ck_assert(meaning_compare(&target, &other, &c->cfi) == MEANING_CFA);
	}
}

UNIT_EACH(aarch64_rules, aarch64)
{
	check_case(&arch_aarch64, 1, &aarch64[_i]);
	check_case(&arch_aarch64_be, 1, &aarch64[_i]);
}

UNIT_EACH(s390x_rules, s390x)
{
	check_case(&arch_s390x, 2, &s390x[_i]);
}

/* A value of SP differs from one of the CFA where the machine keeps SP apart. */
UNIT(sp_rules)
{
	struct cfi_row saved = {.cfa = REG(S_SP, 160), .sp = AT(-40)};
	const struct cfi_row plus_8 = {.cfa = REG(S_SP, 160), .sp = REG(F0, 8)};
	const struct sf_row row = {.cfa = {SF_LOC_REG, S_SP}, .cfa_off = 160};
	struct sf_row high = row, made;
	struct target target = {.arch = &arch_s390x, .version = 3};

	ck_assert_int_eq(meaning_compare(&target, &row, &saved), MEANING_SAME);
	ck_assert_int_eq(meaning_compare(&target, &row, &plus_8), MEANING_SP);
	/* The epilogue says that SP is what it was, and that it is still saved. */
	ck_assert_int_eq(reduce_row(&target, &saved, &made), REFUSE_NOTHING);
	saved.cfa_moved = true;
	ck_assert_int_eq(meaning_compare(&target, &row, &saved), MEANING_SP);
	ck_assert_int_eq(reduce_row(&target, &saved, &made), REFUSE_SP_RULE);
	saved.cfa.off = high.cfa_off = 168;
	ck_assert_int_eq(meaning_compare(&target, &high, &saved), MEANING_SAME);
	ck_assert_int_eq(reduce_row(&target, &saved, &made), REFUSE_NOTHING);
	target.signal_frame = true;
	ck_assert_int_eq(meaning_compare(&target, &high, &saved), MEANING_SP);
}

/* A second prologue is as right as the first. */
UNIT(cfa_moves)
{
	const struct cfi_rule low = REG(S_SP, 160), high = REG(S_SP, 336),
			      saved = AT(-40), none = {0};
	struct cfi_row rows[] = {{.cfa = low, .sp = none}, {.cfa = low, .sp = saved},
	    {.cfa = high, .sp = saved}, {.cfa = low, .sp = saved},
	    {.cfa = low, .sp = none}, {.cfa = low, .sp = saved},
	    {.cfa = high, .sp = saved}};
	static const bool moved[] = {false, false, true, true, true, false, true};

	for (size_t i = 1; i < sizeof(rows) / sizeof(*rows); i++) {
		cfi_row_follow(&rows[i], &rows[i - 1]);
		ck_assert_msg(rows[i].cfa_moved == moved[i], "row %zu", i);
	}
}

/* Version 3 helps only machines with flexible FDEs. */
UNIT(needs)
{
	static const enum refusal flexible[] = {REFUSE_CFA_REGISTER, REFUSE_CFA_MEMORY,
	    REFUSE_RA_ELSEWHERE, REFUSE_RA_REGISTER, REFUSE_RA_AT_CFA, REFUSE_FP_REGISTER,
	    REFUSE_FP_MEMORY, REFUSE_ODD_SLOT};

	for (size_t i = 0; i < sizeof(flexible) / sizeof(flexible[0]); i++) {
		ck_assert_uint_eq(refusal_needs(flexible[i], &arch_s390x), 3);
		ck_assert_uint_eq(refusal_needs(flexible[i], &arch_aarch64), 0);
	}
	ck_assert_uint_eq(refusal_needs(REFUSE_RA_UNDEFINED, &arch_aarch64), 3);
	ck_assert_uint_eq(refusal_needs(REFUSE_SIGNAL_FRAME, &arch_aarch64_be), 3);
	ck_assert_uint_eq(refusal_needs(REFUSE_FP_ALONE, &arch_s390x), 0);
}

static bool none(void *context, enum refusal why, uint64_t start, uint64_t end,
    const struct cfi_row *row)
{
	(void)context, (void)why, (void)start, (void)end, (void)row;
	return false;
}

/* A function has one key. Rows that differ only in the signature are two rows. */
UNIT(signed_function)
{
	struct cfi_row rows[] = {
	    {.pc = 0, .cfa = REG(A_SP, 0)},
	    {.pc = 4, .cfa = REG(A_SP, 0), .ra_signed = true},
	    {.pc = 8, .cfa = REG(A_SP, 0), .ra_signed = true},
	};
	const struct cfi_table table = {.end = 12, .rows = rows, .n_rows = 3};
	const struct cfi_cie b = {.b_key = true}, a = {.b_key = false};
	const struct reduce_sink sink = {none, NULL};
	struct sf_section section = {0};
	struct target target = target_for(&arch_aarch64, 2, &b);

	ck_assert(reduce_table(&target, &table, 0, 12, &sink, &section));
	target = target_for(&arch_aarch64, 2, &a);
	ck_assert(reduce_table(&target, &table, 0, 12, &sink, &section));
	/* The letter means nothing on other machines. */
	ck_assert(!target_for(&arch_x86_64, 2, &b).pauth_b);
	ck_assert(!target_for(&arch_s390x, 2, &b).pauth_b);
	ck_assert_uint_eq(section.n_funcs, 2);
	ck_assert(section.funcs[0].pauth_b && !section.funcs[1].pauth_b);
	ck_assert_uint_eq(section.funcs[0].n_rows, 2);
	ck_assert(!section.rows[0].ra_signed && section.rows[1].ra_signed);
	sf_section_deinit(&section);
}
