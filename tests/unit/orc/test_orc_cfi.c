/* SPDX-License-Identifier: MIT */
/* The rows that entries of each kind must give. */
#include <stdio.h>
#include <stdlib.h>

#include "cfi/frames.h"
#include "cfi/interp.h"
#include "orc/orc_cfi.h"
#include "tests/unit/orc/test_orc_build.h"
#include "tests/unit/unit.h"

static const struct cfi_machine machine = {.sp_reg = 7, .fp_reg = 6, .pc_reg = 16};
static struct err err;

/* Code is from here to 0x100 bytes behind it, and again 0x200 bytes behind it. */
static uint64_t code_end(const void *context, uint64_t pc)
{
	(void)context;
	if (pc >= BUILD_TEXT && pc < BUILD_TEXT + 0x100)
		return BUILD_TEXT + 0x100;
	return pc >= BUILD_TEXT + 0x200 && pc < BUILD_TEXT + 0x300 ? BUILD_TEXT + 0x300
								   : 0;
}

/* "reg+off", "*(reg+off)+add", "cfa+off", "same" or "none". */
static void print_rule(FILE *out, const char *name, const struct cfi_rule *rule)
{
	fprintf(out, " %s=", name);
	if (rule->kind == CFI_REG_PLUS)
		fprintf(out, "r%d%+lld", rule->reg, (long long)rule->off);
	else if (rule->kind == CFI_AT_REG)
		fprintf(out, "*(r%d%+lld)", rule->reg, (long long)rule->off);
	else if (rule->kind == CFI_AT_CFA)
		fprintf(out, "*(cfa%+lld)", (long long)rule->off);
	else
		fputs(rule->kind == CFI_SAME	    ? "same"
		      : rule->kind == CFI_UNDEFINED ? "undefined"
		      : rule->kind == CFI_OPAQUE    ? "opaque"
						    : "none",
		    out);
	if (rule->add)
		fprintf(out, "%+d", rule->add);
}

static void print_fde(FILE *out, struct cfi_interp *interp, const struct cfi_fde *fde)
{
	ck_assert_msg(cfi_interpret(interp, fde, &err), "%s", err.text);
	fprintf(out, "[%llx,%llx)%s", (unsigned long long)(fde->pc - BUILD_TEXT),
	    (unsigned long long)(fde->pc + fde->range - BUILD_TEXT),
	    interp->frames->cies[fde->cie].signal_frame ? "S" : "");
	for (size_t i = 0; i < interp->table.n_rows; i++) {
		const struct cfi_row *row = &interp->table.rows[i];

		fprintf(out, " %llx:", (unsigned long long)(row->pc - BUILD_TEXT));
		print_rule(out, "cfa", &row->cfa);
		print_rule(out, "ra", &row->ra);
		print_rule(out, "bp", &row->fp);
	}
	fputs("\n", out);
}

/* What the entries give, as text. */
static char *rows_of(enum orc_layout layout, bool known,
    const struct build_entry *entries, size_t n, const uint64_t *starts, size_t n_starts)
{
	const struct orc_code code = {
	    .end = code_end, .starts = starts, .n_starts = n_starts};
	struct cfi_section section = {.addr_size = 8};
	struct cfi_frames frames;
	struct cfi_interp interp;
	struct orc_cfi cfi = {0};
	struct orc_table table;
	struct build build;
	const struct orc_input input = build_table(&build, layout, entries, n);
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	ck_assert_msg(orc_table_read(&input, &table, &err), "%s", err.text);
	table.sp_indirect_known = known;
	ck_assert_msg(orc_cfi_make(&table, &code, &cfi, &err), "%s", err.text);
	section.data = cfi.records.data;
	section.size = cfi.records.size;
	ck_assert(cfi_frames_read(&section, &frames, &err));
	ck_assert_uint_eq(frames.n_diags, 0);
	ck_assert_uint_eq(frames.n_fdes, cfi.n_records);
	cfi_interp_init(&interp, &frames, &machine);
	for (size_t i = 0; i < frames.n_fdes; i++)
		print_fde(out, &interp, &frames.fdes[i]);
	for (size_t i = 0; i < cfi.n_left; i++)
		fprintf(out, "left [%llx,%llx): %s\n",
		    (unsigned long long)(cfi.left[i].start - BUILD_TEXT),
		    (unsigned long long)(cfi.left[i].start + cfi.left[i].size -
					 BUILD_TEXT),
		    orc_reason_text(cfi.left[i].why));
	fclose(out);
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	orc_cfi_deinit(&cfi);
	orc_table_deinit(&table);
	build_free(&build);
	return text;
}

static const struct orc_entry nothing = {
    0, 0, ORC_UNDEFINED, ORC_UNDEFINED, ORC_NOTHING, false};

/* One entry, and its row without the places. */
static const struct {
	struct orc_entry entry;
	const char *row;
} kinds[] = {
    {{16, 0, ORC_SP, ORC_UNDEFINED, ORC_CALL, false}, " cfa=r7+16 ra=*(cfa-8) bp=same"},
    {{16, -16, ORC_BP, ORC_PREV_SP, ORC_CALL, false},
	" cfa=r6+16 ra=*(cfa-8) bp=*(cfa-16)"},
    {{-8, 0, ORC_SP, ORC_UNDEFINED, ORC_CALL, false}, " cfa=r7-8 ra=*(cfa-8) bp=same"},
    {{0, 0, ORC_R10, ORC_BP, ORC_CALL, false}, " cfa=r10+0 ra=*(cfa-8) bp=*(r6+0)"},
    {{0, 0, ORC_R13, ORC_UNDEFINED, ORC_CALL, false}, " cfa=r13+0 ra=*(cfa-8) bp=same"},
    {{0, 0, ORC_DI, ORC_UNDEFINED, ORC_CALL, false}, " cfa=r5+0 ra=*(cfa-8) bp=same"},
    {{-40, 0, ORC_BP_INDIRECT, ORC_BP, ORC_CALL, false},
	" cfa=*(r6-40) ra=*(cfa-8) bp=*(r6+0)"},
    {{24, -16, ORC_SP_INDIRECT, ORC_PREV_SP, ORC_CALL, false},
	" cfa=*(r7+0)+24 ra=*(cfa-8) bp=*(cfa-16)"},
    {{0, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS, true},
	"S cfa=*(r7+152) ra=*(r7+128) bp=*(r7+32)"},
    {{-80, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS, true},
	"S cfa=*(r7+72) ra=*(r7+48) bp=*(r7-48)"},
    {{8, 0, ORC_SP, ORC_UNDEFINED, ORC_REGS_PARTIAL, true},
	"S cfa=*(r7+32) ra=*(r7+8) bp=same"},
    {{8, 0, ORC_DX, ORC_UNDEFINED, ORC_REGS_PARTIAL, true},
	"S cfa=*(r1+32) ra=*(r1+8) bp=same"},
    {{16, 8, ORC_SP, ORC_PREV_SP, ORC_REGS_PARTIAL, true},
	"S cfa=*(r7+40) ra=*(r7+16) bp=*(r7+24)"},
    {{0, 0, ORC_BP_INDIRECT, ORC_UNDEFINED, ORC_REGS, true},
	"S cfa=opaque ra=opaque bp=opaque"},
    {{0, 0, ORC_UNDEFINED, ORC_UNDEFINED, ORC_END_OF_STACK, false},
	" cfa=r7+8 ra=undefined bp=none"},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

START_TEST(each_kind)
{
	for (int layout = 0; layout < ORC_N_LAYOUTS; layout++) {
		/* Tables of old kernels are read only where most entries are of called code. */
		const struct build_entry entries[] = {{0x10, kinds[_i].entry},
		    {0x20, nothing}, {0x200, kinds[0].entry}, {0x201, nothing}};
		char *text = rows_of((enum orc_layout)layout, true, entries, 4, NULL, 0);
		const bool signal = kinds[_i].row[0] == 'S';
		char expected[200];

		snprintf(expected, sizeof(expected), "[10,20)%s 10:%s\n[200,",
		    signal ? "S" : "", kinds[_i].row + signal);
		ck_assert_msg(!strncmp(text, expected, strlen(expected)), "%s", text);
		free(text);
	}
}
END_TEST

START_TEST(functions_and_ends)
{
	const struct build_entry entries[] = {{0x10, kinds[0].entry},
	    {0x14, kinds[1].entry}, {0x30, kinds[8].entry}, {0x38, kinds[0].entry},
	    {0x50, nothing}, {0xf0, kinds[0].entry}, {0x200, kinds[0].entry}};
	const uint64_t starts[] = {BUILD_TEXT + 0x10, BUILD_TEXT + 0x20,
	    BUILD_TEXT + 0x20, BUILD_TEXT + 0x28, BUILD_TEXT + 0x40, BUILD_TEXT + 0x60};
	char *text = rows_of(ORC_6_4, true, entries, 7, starts, 6);

	ck_assert_str_eq(text, "[10,20) 10: cfa=r7+16 ra=*(cfa-8) bp=same 14: cfa=r6+16 "
			       "ra=*(cfa-8) bp=*(cfa-16)\n"
			       "[20,28) 20: cfa=r6+16 ra=*(cfa-8) bp=*(cfa-16)\n"
			       "[28,30) 28: cfa=r6+16 ra=*(cfa-8) bp=*(cfa-16)\n"
			       "[30,38)S 30: cfa=*(r7+152) ra=*(r7+128) bp=*(r7+32)\n"
			       "[38,40) 38: cfa=r7+16 ra=*(cfa-8) bp=same\n"
			       "[40,50) 40: cfa=r7+16 ra=*(cfa-8) bp=same\n"
			       "[f0,100) f0: cfa=r7+16 ra=*(cfa-8) bp=same\n"
			       "[200,300) 200: cfa=r7+16 ra=*(cfa-8) bp=same\n");
	free(text);
}
END_TEST

/* Entries that mean nothing cost their own code. */
START_TEST(entries_without_a_meaning)
{
	struct build_entry entries[] = {{0x10, kinds[0].entry}, {0x14, kinds[0].entry},
	    {0x18, kinds[0].entry}, {0x20, kinds[0].entry}, {0x28, kinds[7].entry},
	    {0x30, kinds[0].entry}, {0x40, nothing}};
	char *text;

	entries[1].entry.sp_reg = ORC_PREV_SP;
	entries[2].entry.sp_reg = ORC_PREV_SP;
	entries[3].entry.bp_reg = ORC_SP;
	text = rows_of(ORC_6_4, false, entries, 7, NULL, 0);
	ck_assert_str_eq(text,
	    "[10,14) 10: cfa=r7+16 ra=*(cfa-8) bp=same\n"
	    "[14,18) 14: cfa=none ra=*(cfa-8) bp=none\n"
	    "[18,20) 18: cfa=none ra=*(cfa-8) bp=none\n"
	    "[20,28) 20: cfa=none ra=*(cfa-8) bp=none\n"
	    "[28,30) 28: cfa=none ra=*(cfa-8) bp=none\n"
	    "[30,40) 30: cfa=r7+16 ra=*(cfa-8) bp=same\n"
	    "left [14,20): its entry counts SP from an unknown register\n"
	    "left [20,28): its entry counts BP from an unknown register\n"
	    "left [28,30): its entry reads SP from memory as Linux before 5.13 does\n");
	free(text);
}
END_TEST

START_TEST(an_entry_of_no_code)
{
	const struct build_entry entries[] = {
	    {0x10, kinds[0].entry}, {0x180, kinds[0].entry}};
	const struct orc_code code = {.end = code_end};
	struct orc_cfi cfi = {0};
	struct orc_table table;
	struct build build;
	const struct orc_input input = build_table(&build, ORC_6_4, entries, 2);

	ck_assert(orc_table_read(&input, &table, &err));
	ck_assert(!orc_cfi_make(&table, &code, &cfi, &err));
	ck_assert_int_eq((int)err.kind, (int)ERR_MALFORMED);
	ck_assert_str_eq(err.text, "an entry of ORC is for 0x1180, which is no code, "
				   ".orc_unwind_ip+0x4; rebuild the file");
	ck_assert_ptr_null(cfi.records.data);
	orc_table_deinit(&table);
	build_free(&build);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("orc_cfi");
	TCase *tcase = tcase_create("orc_cfi");

	tcase_add_loop_test(tcase, each_kind, 0, N_KINDS);
	tcase_add_test(tcase, functions_and_ends);
	tcase_add_test(tcase, entries_without_a_meaning);
	tcase_add_test(tcase, an_entry_of_no_code);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
