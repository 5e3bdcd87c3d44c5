/* SPDX-License-Identifier: MIT */
/* Inputs that try to cost time or memory in cfi/. Everything is bounded and linear. */
#include <stdlib.h>
#include <time.h>

#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/pointer.h"
#include "tests/unit/cfi/test_cfi_build.h"
#include "tests/unit/unit.h"

/* rsp + 8 + ((rip & 15) >= 11) * 8, as in GNU ld's PLT */
static const uint8_t plt_rule[] = {
    0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};

static struct err err;

static void read_section(const struct wr *wr, struct cfi_frames *frames)
{
	struct cfi_section section = build_section(wr);

	ck_assert_msg(cfi_frames_read(&section, frames, &err), "%s", err.text);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

UNIT(diags_are_bounded)
{
	struct cfi_frames frames;
	struct wr wr;

	wr_init(&wr, false);
	build_cie(&wr);
	for (unsigned int i = 0; i < 100; i++)
		build_fde(&wr, 0, 0, "", 0);
	for (unsigned int i = 0; i < 1000; i++)
		build_fde(&wr, wr.size, 16, "", 0);
	read_section(&wr, &frames);
	ck_assert_uint_eq(frames.n_fdes, 0);
	ck_assert_uint_eq(frames.n_diags, CFI_MAX_DIAGS);
	ck_assert_int_eq(frames.diags[CFI_MAX_DIAGS - 1].kind, CFI_DIAG_BAD_CIE_PTR);
	ck_assert_uint_eq(frames.diag_counts[CFI_DIAG_BAD_CIE_PTR], 1000);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

/* Lookups alternate between many CIEs, so that a cache of the last one does not help. */
UNIT(many_cies_are_linear)
{
	const size_t n = 20000;
	struct cfi_interp interp;
	struct cfi_frames frames;
	size_t first, length;
	struct wr wr;
	double start = seconds();

	wr_init(&wr, false);
	first = build_cie(&wr);
	length = wr.size;
	for (size_t i = 1; i < n; i++)
		build_cie(&wr);
	for (size_t i = 0; i < n; i++)
		build_fde(&wr, first + i * 7919 % n * length, 16, "", 0);
	read_section(&wr, &frames);
	ck_assert_uint_eq(frames.n_cies, n);
	ck_assert_uint_eq(frames.n_fdes, n);
	cfi_interp_init(&interp, &frames, &build_machine);
	for (size_t i = 0; i < n; i++)
		ck_assert(cfi_interpret(&interp, &frames.fdes[i], &err));
	ck_assert(seconds() - start < 2);
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

/* Interprets all FDEs of wr and frees it. Returns the number of rows of the last one. */
static size_t rows_of(struct wr *wr, struct cfi_rule *cfa, enum err_kind *kind)
{
	struct cfi_interp interp;
	struct cfi_frames frames;
	size_t n_rows = 0;

	*kind = ERR_NONE;
	read_section(wr, &frames);
	cfi_interp_init(&interp, &frames, &build_machine);
	for (size_t i = 0; i < frames.n_fdes; i++) {
		if (!cfi_interpret(&interp, &frames.fdes[i], &err))
			*kind = err.kind;
		n_rows = interp.table.n_rows;
		if (n_rows)
			*cfa = interp.table.rows[n_rows - 1].cfa;
	}
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	wr_deinit(wr);
	return n_rows;
}

UNIT(pc_rule_over_two_gib)
{
	struct cfi_rule cfa = {0};
	double start = seconds();
	enum err_kind kind;
	struct wr wr;

	wr_init(&wr, false);
	build_fde(&wr, build_cie(&wr), INT32_MAX, plt_rule, sizeof(plt_rule));
	ck_assert_uint_eq(rows_of(&wr, &cfa, &kind), 1);
	ck_assert_int_eq(cfa.kind, CFI_OPAQUE);
	ck_assert_int_eq(kind, ERR_NONE);
	ck_assert(seconds() - start < 1);
}

/* The table has rows up to the bound on operations, then one opaque row. */
UNIT(pc_rule_over_many_entries)
{
	struct cfi_interp interp;
	struct cfi_frames frames;
	const struct cfi_table *table = &interp.table;
	struct wr wr;

	wr_init(&wr, false);
	build_fde(&wr, build_cie(&wr), 0x10000, plt_rule, sizeof(plt_rule));
	read_section(&wr, &frames);
	cfi_interp_init(&interp, &frames, &build_machine);
	for (uint64_t bound = 0; bound < 1000; bound += 50) {
		interp.max_expr_ops = bound;
		ck_assert(cfi_interpret(&interp, &frames.fdes[0], &err));
		ck_assert_uint_ge(table->n_rows, 1);
		ck_assert_uint_le(table->n_rows, bound + 2);
		ck_assert_int_eq(table->rows[table->n_rows - 1].cfa.kind, CFI_OPAQUE);
		for (size_t i = 0; i + 1 < table->n_rows; i++)
			ck_assert_int_eq(table->rows[i].cfa.kind, CFI_REG_PLUS);
	}
	ck_assert_uint_gt(table->n_rows, 500);
	/* Too many entries: the bound may come while a rule is asked again whether it is one of the PC. */
	frames.fdes[0].range = INT32_MAX;
	for (interp.max_expr_ops = 0; interp.max_expr_ops < 50; interp.max_expr_ops++) {
		ck_assert(cfi_interpret(&interp, &frames.fdes[0], &err));
		ck_assert_uint_eq(table->n_rows, 1);
		ck_assert_int_eq(table->rows[0].cfa.kind, CFI_OPAQUE);
	}
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

UNIT(pc_rule_on_every_entry)
{
	struct cfi_rule cfa = {0};
	enum err_kind kind;
	struct wr wr;

	wr_init(&wr, false);
	build_fde(&wr, build_cie(&wr), 0x10000, plt_rule, sizeof(plt_rule));
	ck_assert_uint_eq(rows_of(&wr, &cfa, &kind), 2 * 0x1000);
	ck_assert_int_eq(cfa.kind, CFI_REG_PLUS);
	ck_assert_int_eq(cfa.off, 16);
}

UNIT(rows_are_limited)
{
	const size_t n = CFI_MAX_ROWS + 10;
	struct cfi_rule cfa = {0};
	uint8_t *program = malloc(3 * n);
	enum err_kind kind;
	struct wr wr;

	for (size_t i = 0; i < n; i++) {
		program[3 * i] = 0x41;		     /* advance_loc 1 */
		program[3 * i + 1] = 0x0e;	     /* def_cfa_offset */
		program[3 * i + 2] = i & 1 ? 16 : 8; /* never twice the same */
	}
	wr_init(&wr, false);
	build_fde(&wr, build_cie(&wr), INT32_MAX, program, 3 * n);
	free(program);
	rows_of(&wr, &cfa, &kind);
	ck_assert_int_eq(kind, ERR_LIMIT);
}

UNIT(leb_without_end)
{
	struct cfi_rule cfa = {0};
	uint8_t program[100] = {0x0e};
	enum err_kind kind;
	struct wr wr;

	memset(program + 1, 0xff, sizeof(program) - 1);
	wr_init(&wr, false);
	build_fde(&wr, build_cie(&wr), 16, program, sizeof(program));
	rows_of(&wr, &cfa, &kind);
	ck_assert_int_eq(kind, ERR_MALFORMED);
}

UNIT(pointers_wrap_with_the_address_size)
{
	static const uint8_t bytes[] = {0xf0, 0xff, 0xff, 0xff};
	struct cfi_section section = {
	    .data = bytes, .size = 4, .addr = 0x1000, .addr_size = 8};
	struct cfi_pointer ptr;
	struct rd rd;

	rd_init(&rd, bytes, 4, false);
	ptr = cfi_pointer_read(&rd, &section, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 0);
	ck_assert_int_eq(ptr.status, CFI_POINTER_OK);
	ck_assert_uint_eq(ptr.value, 0xff0);
	section.addr_size = 4;
	rd_init(&rd, bytes, 4, false);
	ptr = cfi_pointer_read(&rd, &section, DW_EH_PE_pcrel, 0);
	ck_assert_uint_eq(ptr.value, 0xff0);
	rd_init(&rd, bytes, 4, false);
	ptr = cfi_pointer_read(&rd, &section, DW_EH_PE_funcrel | DW_EH_PE_sdata4, 0x100);
	ck_assert_uint_eq(ptr.value, 0xf0);
	rd_init(&rd, bytes, 4, false);
	ptr = cfi_pointer_read(&rd, &section, DW_EH_PE_indirect | DW_EH_PE_udata4, 0);
	ck_assert_int_eq(ptr.status, CFI_POINTER_UNRESOLVED);
	ck_assert_uint_eq(ptr.value, 0xfffffff0);
	rd_init(&rd, bytes, 3, false);
	ptr = cfi_pointer_read(&rd, &section, DW_EH_PE_udata4, 0);
	ck_assert_int_eq(ptr.status, CFI_POINTER_BAD);
}
