/* SPDX-License-Identifier: MIT */
/* Results for each rule of CFI; tables with holes and parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/rows/reduce.h"
#include "tests/unit/unit.h"

enum { SP = 7, FP = 6, RA = 16, R10 = 10 };

static const struct target v1 = {.arch = &arch_x86_64, .version = 1};
static const struct target v2 = {.arch = &arch_x86_64, .version = 2};
static const struct target v3 = {.arch = &arch_x86_64, .version = 3};

#define CFA_SP8                                                                          \
	{                                                                                \
		.kind = CFI_REG_PLUS, .reg = SP, .off = 8                                \
	}
#define RA_8                                                                             \
	{                                                                                \
		.kind = CFI_AT_CFA, .off = -8                                            \
	}

/* A row of rules, and the refusal or the row. */
static const struct reduce_case {
	const char *name;
	struct cfi_row cfi;
	enum refusal why;
	struct sf_row row;
} cases[] = {
    {"usual", {.cfa = CFA_SP8, .ra = RA_8}, REFUSE_NOTHING,
	{.cfa = {SF_LOC_REG, SP}, .cfa_off = 8}},
    {"fp frame",
	{.cfa = {.kind = CFI_REG_PLUS, .reg = FP, .off = 16},
	    .ra = RA_8,
	    .fp = {.kind = CFI_AT_CFA, .off = -16}},
	REFUSE_NOTHING,
	{.cfa = {SF_LOC_REG, FP},
	    .cfa_off = 16,
	    .fp = {.kind = SF_LOC_AT_CFA},
	    .fp_off = -16}},
    {"fp same", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_SAME}}, REFUSE_NOTHING,
	{.cfa = {SF_LOC_REG, SP}, .cfa_off = 8}},
    {"fp in fp", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_REG_PLUS, .reg = FP}},
	REFUSE_NOTHING, {.cfa = {SF_LOC_REG, SP}, .cfa_off = 8}},
    {"sp is cfa", {.cfa = CFA_SP8, .ra = RA_8, .sp = {.kind = CFI_CFA_PLUS}},
	REFUSE_NOTHING, {.cfa = {SF_LOC_REG, SP}, .cfa_off = 8}},
    {"largest cfa",
	{.cfa = {.kind = CFI_REG_PLUS, .reg = SP, .off = INT32_MAX}, .ra = RA_8},
	REFUSE_NOTHING, {.cfa = {SF_LOC_REG, SP}, .cfa_off = INT32_MAX}},
    {"lowest cfa",
	{.cfa = {.kind = CFI_REG_PLUS, .reg = SP, .off = INT32_MIN}, .ra = RA_8},
	REFUSE_NOTHING, {.cfa = {SF_LOC_REG, SP}, .cfa_off = INT32_MIN}},
    {"lowest fp",
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_CFA, .off = INT32_MIN}},
	REFUSE_NOTHING,
	{.cfa = {SF_LOC_REG, SP},
	    .cfa_off = 8,
	    .fp = {.kind = SF_LOC_AT_CFA},
	    .fp_off = INT32_MIN}},
    {"no cfa", {.ra = RA_8}, REFUSE_NO_CFA, {0}},
    {"cfa rax", {.cfa = {.kind = CFI_REG_PLUS}, .ra = RA_8}, REFUSE_CFA_REGISTER, {0}},
    {"cfa r39", {.cfa = {.kind = CFI_REG_PLUS, .reg = 39}, .ra = RA_8},
	REFUSE_REGISTER_NUMBER, {0}},
    {"cfa register 263, 7 in its low byte",
	{.cfa = {.kind = CFI_REG_PLUS, .reg = 256 + SP, .off = 8}, .ra = RA_8},
	REFUSE_REGISTER_NUMBER, {0}},
    {"cfa from memory", {.cfa = {.kind = CFI_AT_REG, .reg = FP, .off = -8}, .ra = RA_8},
	REFUSE_CFA_MEMORY, {0}},
    {"cfa from an array",
	{.cfa = {.kind = CFI_AT_SUM, .reg = SP, .array = 9 | 3 << 5}, .ra = RA_8},
	REFUSE_CFA_EXPRESSION, {0}},
    {"cfa a number", {.cfa = {.kind = CFI_CONST, .off = 8}, .ra = RA_8},
	REFUSE_CFA_EXPRESSION, {0}},
    {"cfa opaque", {.cfa = {.kind = CFI_OPAQUE}, .ra = RA_8}, REFUSE_CFA_EXPRESSION, {0}},
    {"cfa too large",
	{.cfa = {.kind = CFI_REG_PLUS, .reg = SP, .off = INT64_C(1) << 31}, .ra = RA_8},
	REFUSE_CFA_OFFSET, {0}},
    {"cfa too low",
	{.cfa = {.kind = CFI_REG_PLUS, .reg = SP, .off = INT32_MIN - INT64_C(1)},
	    .ra = RA_8},
	REFUSE_CFA_OFFSET, {0}},
    {"ra undefined", {.cfa = CFA_SP8, .ra = {.kind = CFI_UNDEFINED}}, REFUSE_RA_UNDEFINED,
	{0}},
    {"outermost before all else",
	{.ra = {.kind = CFI_UNDEFINED}, .fp = {.kind = CFI_UNDEFINED}},
	REFUSE_RA_UNDEFINED, {0}},
    {"ra unspecified", {.cfa = CFA_SP8}, REFUSE_RA_UNSAVED, {0}},
    {"ra same", {.cfa = CFA_SP8, .ra = {.kind = CFI_SAME}}, REFUSE_RA_UNSAVED, {0}},
    {"ra at -16", {.cfa = CFA_SP8, .ra = {.kind = CFI_AT_CFA, .off = -16}},
	REFUSE_RA_ELSEWHERE, {0}},
    {"ra at sp", {.cfa = CFA_SP8, .ra = {.kind = CFI_AT_REG, .reg = SP}},
	REFUSE_RA_ELSEWHERE, {0}},
    {"ra in rax", {.cfa = CFA_SP8, .ra = {.kind = CFI_REG_PLUS}}, REFUSE_RA_REGISTER,
	{0}},
    {"ra is cfa", {.cfa = CFA_SP8, .ra = {.kind = CFI_CFA_PLUS, .off = -8}},
	REFUSE_RA_EXPRESSION, {0}},
    {"ra a number", {.cfa = CFA_SP8, .ra = {.kind = CFI_CONST}}, REFUSE_RA_EXPRESSION,
	{0}},
    {"ra opaque", {.cfa = CFA_SP8, .ra = {.kind = CFI_OPAQUE}}, REFUSE_RA_EXPRESSION,
	{0}},
    {"fp undefined", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_UNDEFINED}},
	REFUSE_FP_UNDEFINED, {0}},
    {"fp in rbx", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_REG_PLUS, .reg = 3}},
	REFUSE_FP_REGISTER, {0}},
    {"fp plus 8",
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_REG_PLUS, .reg = FP, .off = 8}},
	REFUSE_FP_REGISTER, {0}},
    {"fp at sp", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_REG, .reg = SP}},
	REFUSE_FP_MEMORY, {0}},
    {"fp at sp, and more",
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_REG, .reg = SP, .add = 1}},
	REFUSE_FP_EXPRESSION, {0}},
    {"fp is cfa", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_CFA_PLUS}},
	REFUSE_FP_EXPRESSION, {0}},
    {"fp a number", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_CONST}},
	REFUSE_FP_EXPRESSION, {0}},
    {"fp opaque", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_OPAQUE}},
	REFUSE_FP_EXPRESSION, {0}},
    {"fp too far",
	{.cfa = CFA_SP8,
	    .ra = RA_8,
	    .fp = {.kind = CFI_AT_CFA, .off = INT32_MIN - INT64_C(1)}},
	REFUSE_FP_OFFSET, {0}},
    {"sp same", {.cfa = CFA_SP8, .ra = RA_8, .sp = {.kind = CFI_SAME}}, REFUSE_SP_RULE,
	{0}},
    {"sp undefined", {.cfa = CFA_SP8, .ra = RA_8, .sp = {.kind = CFI_UNDEFINED}},
	REFUSE_SP_RULE, {0}},
    {"sp cfa + 8", {.cfa = CFA_SP8, .ra = RA_8, .sp = {.kind = CFI_CFA_PLUS, .off = 8}},
	REFUSE_SP_RULE, {0}},
    {"sp saved", {.cfa = CFA_SP8, .ra = RA_8, .sp = {.kind = CFI_AT_CFA}}, REFUSE_SP_RULE,
	{0}},
};

/* Only version 3 has words for these, or no version has. */
static const struct flex_case {
	const char *name;
	struct cfi_row cfi;
	enum refusal before; /* in versions 1 and 2 */
	enum refusal why;    /* in version 3 */
	struct sf_row row;
} flex_cases[] = {
    {"cfa r10", {.cfa = {.kind = CFI_REG_PLUS, .reg = R10}, .ra = RA_8},
	REFUSE_CFA_REGISTER, REFUSE_NOTHING, {.cfa = {SF_LOC_REG, R10}}},
    {"cfa r31", {.cfa = {.kind = CFI_REG_PLUS, .reg = 31, .off = -8}, .ra = RA_8},
	REFUSE_CFA_REGISTER, REFUSE_NOTHING, {.cfa = {SF_LOC_REG, 31}, .cfa_off = -8}},
    {"cfa r32", {.cfa = {.kind = CFI_REG_PLUS, .reg = 32}, .ra = RA_8},
	REFUSE_REGISTER_NUMBER, REFUSE_REGISTER_NUMBER, {0}},
    {"cfa *(fp-8), fp *(fp)",
	{.cfa = {.kind = CFI_AT_REG, .reg = FP, .off = -8},
	    .ra = RA_8,
	    .fp = {.kind = CFI_AT_REG, .reg = FP}},
	REFUSE_CFA_MEMORY, REFUSE_NOTHING,
	{.cfa = {SF_LOC_AT_REG, FP}, .cfa_off = -8, .fp = {SF_LOC_AT_REG, FP}}},
    {"cfa *(sp+16)+8",
	{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = 16, .add = 8}, .ra = RA_8},
	REFUSE_CFA_EXPRESSION, REFUSE_CFA_EXPRESSION, {0}},
    {"cfa *(far)",
	{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = INT64_C(1) << 31}, .ra = RA_8},
	REFUSE_CFA_OFFSET, REFUSE_CFA_OFFSET, {0}},
    {"outermost", {.cfa = CFA_SP8, .ra = {.kind = CFI_UNDEFINED}}, REFUSE_RA_UNDEFINED,
	REFUSE_NOTHING, {.outermost = true}},
    {"ra at -16", {.cfa = CFA_SP8, .ra = {.kind = CFI_AT_CFA, .off = -16}},
	REFUSE_RA_ELSEWHERE, REFUSE_NOTHING,
	{.cfa = {SF_LOC_REG, SP},
	    .cfa_off = 8,
	    .ra = {.kind = SF_LOC_AT_CFA},
	    .ra_off = -16}},
    {"ra at sp+8", {.cfa = CFA_SP8, .ra = {.kind = CFI_AT_REG, .reg = SP, .off = 8}},
	REFUSE_RA_ELSEWHERE, REFUSE_NOTHING,
	{.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .ra = {SF_LOC_AT_REG, SP}, .ra_off = 8}},
    {"ra in rbx", {.cfa = CFA_SP8, .ra = {.kind = CFI_REG_PLUS, .reg = 3}},
	REFUSE_RA_REGISTER, REFUSE_NOTHING,
	{.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .ra = {SF_LOC_REG, 3}}},
    {"ra in ra", {.cfa = CFA_SP8, .ra = {.kind = CFI_REG_PLUS, .reg = RA}},
	REFUSE_RA_UNSAVED, REFUSE_RA_UNSAVED, {0}},
    {"ra too far", {.cfa = CFA_SP8, .ra = {.kind = CFI_AT_CFA, .off = INT64_C(1) << 31}},
	REFUSE_RA_OFFSET, REFUSE_RA_OFFSET, {0}},
    {"ra is cfa", {.cfa = CFA_SP8, .ra = {.kind = CFI_CFA_PLUS, .off = -8}},
	REFUSE_RA_EXPRESSION, REFUSE_RA_EXPRESSION, {0}},
    {"fp in rbx + 8",
	{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_REG_PLUS, .reg = 3, .off = 8}},
	REFUSE_FP_REGISTER, REFUSE_NOTHING,
	{.cfa = {SF_LOC_REG, SP}, .cfa_off = 8, .fp = {SF_LOC_REG, 3}, .fp_off = 8}},
    {"fp undefined", {.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_UNDEFINED}},
	REFUSE_FP_UNDEFINED, REFUSE_FP_UNDEFINED, {0}},
    {"as sigreturn",
	{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = 160},
	    .sp = {.kind = CFI_AT_REG, .reg = SP, .off = 160},
	    .ra = {.kind = CFI_AT_REG, .reg = SP, .off = 168},
	    .fp = {.kind = CFI_AT_REG, .reg = SP, .off = 120}},
	REFUSE_RA_ELSEWHERE, REFUSE_NOTHING,
	{.cfa = {SF_LOC_AT_REG, SP},
	    .cfa_off = 160,
	    .ra = {SF_LOC_AT_REG, SP},
	    .ra_off = 168,
	    .fp = {SF_LOC_AT_REG, SP},
	    .fp_off = 120}},
    {"sp read elsewhere",
	{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = 160},
	    .sp = {.kind = CFI_AT_REG, .reg = SP, .off = 168},
	    .ra = RA_8},
	REFUSE_SP_RULE, REFUSE_SP_RULE, {0}},
};

UNIT_EACH(flexible, flex_cases)
{
	const struct flex_case *c = &flex_cases[_i];
	struct sf_row row;

	ck_assert_msg(reduce_row(&v1, &c->cfi, &row) == c->before, "%s, v1", c->name);
	ck_assert_msg(reduce_row(&v2, &c->cfi, &row) == c->before, "%s, v2", c->name);
	ck_assert_msg(reduce_row(&v3, &c->cfi, &row) == c->why, "%s, v3", c->name);
	if (c->why == REFUSE_NOTHING)
		ck_assert_msg(sf_row_same(&row, &c->row), "%s", c->name);
	/* The table of refusals keeps its promises. */
	ck_assert_uint_eq(
	    refusal_needs(c->before, &arch_x86_64), c->why == REFUSE_NOTHING ? 3 : 0);
}

UNIT(signal_frames)
{
	const struct cfi_row plain = {.cfa = CFA_SP8, .ra = RA_8};
	struct target target = {.arch = &arch_x86_64, .version = 3, .signal_frame = true};
	struct sf_row row;

	ck_assert(reduce_row(&target, &plain, &row) == REFUSE_NOTHING);
	target.version = 2;
	ck_assert(reduce_row(&target, &plain, &row) == REFUSE_SIGNAL_FRAME);
	target.version = 1;
	ck_assert(reduce_row(&target, &plain, &row) == REFUSE_SIGNAL_FRAME);
	ck_assert_uint_eq(refusal_needs(REFUSE_SIGNAL_FRAME, &arch_x86_64), 3);
}

UNIT_EACH(rules, cases)
{
	const struct reduce_case *c = &cases[_i];
	struct sf_row row;
	enum refusal why = reduce_row(&v2, &c->cfi, &row);

	ck_assert_msg(why == c->why, "%s: %s", c->name,
	    why == REFUSE_NOTHING ? "not refused" : refusal_name(why));
	if (why == REFUSE_NOTHING)
		ck_assert_msg(
		    row.start == 0 && sf_row_same(&row, &c->row), "%s", c->name);
}

/* ---- tables ---- */

/* The arguments of the sink as text: "name 4..8, ". */
static bool note(void *context, enum refusal why, uint64_t start, uint64_t end,
    const struct cfi_row *row)
{
	char *text = context;

	(void)row;
	sprintf(
	    text + strlen(text), "%s %d..%d, ", refusal_name(why), (int)start, (int)end);
	return true;
}

/* The functions as text: "4+6: 0 8, 2 16; " is one of 6 bytes with the CFA from two
 * places. */
static void describe(const struct sf_section *section, char *text)
{
	for (size_t i = 0; i < section->n_funcs; i++) {
		const struct sf_func *func = &section->funcs[i];

		text += sprintf(text, "%d+%u:", (int)func->start, func->size);
		for (uint32_t j = 0; j < func->n_rows; j++) {
			const struct sf_row *row = &section->rows[func->first_row + j];

			text += sprintf(
			    text, "%s %u %d", j ? "," : "", row->start, row->cfa_off);
		}
		text += sprintf(text, "; ");
	}
}

/* CFA = SP + off from pc on; 0 gives a row that is refused. */
static struct cfi_row table_row(uint64_t pc, int64_t off)
{
	struct cfi_row row = {.pc = pc, .cfa = CFA_SP8, .ra = RA_8};

	row.cfa.off = off;
	if (off == 0)
		row.cfa = (struct cfi_rule){.kind = CFI_OPAQUE};
	return row;
}

static const struct {
	uint64_t start, end; /* the part */
	const char *funcs, *refused;
} parts[] = {
    {100, 200, "100+30: 0 8, 10 16, 20 24; 150+50: 0 8, 25 16; ",
	"cfa-expression 130..150, "},
    {100, 130, "100+30: 0 8, 10 16, 20 24; ", ""},
    {105, 115, "105+10: 0 8, 5 16; ", ""},
    {110, 120, "110+10: 0 16; ", ""},
    {129, 151, "129+1: 0 24; 150+1: 0 8; ", "cfa-expression 130..150, "},
    {135, 140, "", "cfa-expression 135..140, "},
    {150, 160, "150+10: 0 8; ", ""},
    {199, 200, "199+1: 0 16; ", ""},
    {140, 140, "", ""},
};

UNIT_EACH(parts_of_a_table, parts)
{
	struct cfi_row rows[] = {table_row(100, 8), table_row(110, 16),
	    table_row(120, 24), table_row(130, 0), table_row(150, 8), table_row(175, 16)};
	const struct cfi_table table = {
	    .start = 100, .end = 200, .rows = rows, .n_rows = 6};
	char refused[200] = "", funcs[200] = "";
	const struct reduce_sink sink = {note, refused};
	struct sf_section section = {0};

	ck_assert(
	    reduce_table(&v2, &table, parts[_i].start, parts[_i].end, &sink, &section));
	describe(&section, funcs);
	ck_assert_str_eq(funcs, parts[_i].funcs);
	ck_assert_str_eq(refused, parts[_i].refused);
	sf_section_deinit(&section);
}

/* Rows that differ only in what SFrame does not say become one. */
UNIT(neighbours_merge)
{
	struct cfi_row rows[] = {
	    table_row(0, 8), table_row(4, 8), table_row(8, 8), table_row(12, 16)};
	const struct cfi_table table = {.end = 20, .rows = rows, .n_rows = 4};
	char refused[200] = "", funcs[200] = "";
	const struct reduce_sink sink = {note, refused};
	struct sf_section section = {0};

	rows[1].fp.kind = CFI_SAME;
	rows[2].sp = (struct cfi_rule){.kind = CFI_CFA_PLUS};
	ck_assert(reduce_table(&v2, &table, 0, 20, &sink, &section));
	describe(&section, funcs);
	ck_assert_str_eq(funcs, "0+20: 0 8, 12 16; ");
	sf_section_deinit(&section);
}

/* The function has more rows than version 3 can count. */
UNIT(many_rows)
{
	enum { N = 65535 * 2 + 1 };
	struct cfi_row *rows = calloc(N, sizeof(*rows));
	struct cfi_table table = {.end = N, .rows = rows, .n_rows = N};
	char refused[200] = "";
	const struct reduce_sink sink = {note, refused};
	struct sf_section section = {0};

	ck_assert_ptr_nonnull(rows);
	for (uint64_t i = 0; i < N; i++)
		rows[i] = table_row(i, i % 2 ? 8 : 16);
	ck_assert(reduce_table(&v2, &table, 0, N, &sink, &section));
	ck_assert_uint_eq(section.n_funcs, 1);
	sf_section_deinit(&section);
	ck_assert(reduce_table(&v3, &table, 0, N, &sink, &section));
	ck_assert_uint_eq(section.n_funcs, 3);
	ck_assert_uint_eq(section.n_rows, N);
	for (size_t i = 0; i < 3; i++) {
		const struct sf_func *func = &section.funcs[i];

		ck_assert_uint_eq(func->start, i * 65535);
		ck_assert_uint_eq(func->size, i < 2 ? 65535 : 1);
		ck_assert_uint_eq(func->n_rows, func->size);
		ck_assert_uint_eq(section.rows[func->first_row].start, 0);
	}
	ck_assert_str_eq(refused, "");
	sf_section_deinit(&section);
	free(rows);
}

/* The rule that is left of a row that is refused: add is added to the CFA after it was read. */
static const struct rule_case {
	struct cfi_row cfi;
	bool ok;
	int32_t add;
	struct sf_row row;
} rule_cases[] = {
    {{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = 40, .add = 8}, .ra = RA_8}, true, 8,
	{.cfa = {SF_LOC_AT_REG, SP}, .cfa_off = 40}},
    {{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = -8, .add = INT32_MIN}, .ra = RA_8},
	true, INT32_MIN, {.cfa = {SF_LOC_AT_REG, SP}, .cfa_off = -8}},
    {{.cfa = {.kind = CFI_REG_PLUS, .reg = R10}, .ra = RA_8}, true, 0,
	{.cfa = {SF_LOC_REG, R10}}},
    {{.ra = {.kind = CFI_UNDEFINED}}, true, 0, {.outermost = true}},
    /* The caller's SP is the word in memory, and the CFA is 8 above. */
    {{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = 40, .add = 8},
	 .sp = {.kind = CFI_AT_REG, .reg = SP, .off = 40},
	 .ra = RA_8},
	false, 0, {0}},
    {{.cfa = {.kind = CFI_AT_REG, .reg = SP, .off = 40, .add = 8},
	 .sp = {.kind = CFI_AT_REG, .reg = SP, .off = 40, .add = 8},
	 .ra = RA_8},
	true, 8, {.cfa = {SF_LOC_AT_REG, SP}, .cfa_off = 40}},
    {{.cfa = {.kind = CFI_AT_REG, .reg = 32}, .ra = RA_8}, false, 0, {0}},
    {{.cfa = CFA_SP8, .ra = {.kind = CFI_AT_SUM, .reg = SP, .array = 9 | 3 << 5}}, false,
	0, {0}},
    {{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_SUM, .reg = SP, .array = 9}},
	false, 0, {0}},
    {{.cfa = {.kind = CFI_OPAQUE}, .ra = RA_8}, false, 0, {0}},
    {{.cfa = CFA_SP8, .ra = {.kind = CFI_AT_REG, .reg = SP, .add = 8}}, false, 0, {0}},
    {{.cfa = CFA_SP8, .ra = RA_8, .fp = {.kind = CFI_AT_REG, .reg = SP, .add = 8}}, false,
	0, {0}},
    {{.cfa = {.kind = CFI_REG_PLUS, .reg = R10}, .ra = RA_8, .doubtful = true}, false, 0,
	{0}},
};

UNIT_EACH(rules_of_gaps, rule_cases)
{
	const struct rule_case *c = &rule_cases[_i];
	struct sf_row row;
	struct reduce_more more = {.cfa_add = 1};

	ck_assert_int_eq(reduce_rule(&v2, &c->cfi, &row, &more), c->ok);
	if (!c->ok)
		return;
	ck_assert(sf_row_same(&row, &c->row));
	ck_assert_int_eq(more.cfa_add, c->add);
	ck_assert(!more.indexed);
}

UNIT(rule_in_an_array)
{
	const struct cfi_row row = {.cfa = {.kind = CFI_AT_SUM,
					.reg = SP,
					.off = 16,
					.add = 8,
					.array = 9 | 3 << 5},
	    .ra = RA_8};
	struct reduce_more more;
	struct sf_row out;

	ck_assert(reduce_rule(&v3, &row, &out, &more));
	ck_assert(sf_row_same(
	    &out, &(struct sf_row){.cfa = {SF_LOC_AT_REG, SP}, .cfa_off = 16}));
	ck_assert(more.indexed);
	ck_assert_int_eq(more.cfa_add, 8);
	ck_assert_int_eq(more.index, 9);
	ck_assert_int_eq(more.shift, 3);
}

static bool stop(void *context, enum refusal why, uint64_t start, uint64_t end,
    const struct cfi_row *row)
{
	(void)context, (void)why, (void)start, (void)end, (void)row;
	return false;
}

UNIT(sink_stops)
{
	struct cfi_row rows[] = {table_row(0, 0)};
	const struct cfi_table table = {.end = 20, .rows = rows, .n_rows = 1};
	const struct reduce_sink sink = {stop, NULL};
	struct sf_section section = {0};

	ck_assert(!reduce_table(&v2, &table, 0, 20, &sink, &section));
	sf_section_deinit(&section);
}
