/* SPDX-License-Identifier: MIT */
/* Go's prologues and epilogues of each kind, as the rows that they must give. */
#include <stdio.h>
#include <stdlib.h>

#include "cfi/frames.h"
#include "cfi/interp.h"
#include "tests/unit/go/test_go_build.h"
#include "tests/unit/unit.h"

static const struct cfi_machine machines[] = {
    [CODE_X86_64] = {.sp_reg = 7, .fp_reg = 6, .pc_reg = 16},
    [CODE_AARCH64] = {.sp_reg = 31, .fp_reg = 29, .pc_reg = 32, .aarch64_ra_state = true},
};

/* A function's bytes, and what is expected: a row for each place where one changes. */
struct sample {
	const char *name;
	enum code_machine machine;
	uint8_t flags;
	size_t size;
	const char *code; /* digits */
	uint8_t levels[24];
	const char *rows; /* see print_row; or the reason that it has none */
};

/* "4:cfa+24 fp-16 ra-8", from the start of the function; = where a register has the value. */
static void print_rule(FILE *out, const char *name, const struct cfi_rule *rule)
{
	if (rule->kind == CFI_AT_CFA)
		fprintf(out, " %s%+lld", name, (long long)rule->off);
	else
		fprintf(out, " %s%s", name, rule->kind == CFI_UNDEFINED ? "?" : "=");
}

static void print_rows(FILE *out, const struct cfi_table *table)
{
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct cfi_row *row = &table->rows[i];

		fprintf(out, "%s%llu:", i ? "; " : "",
		    (unsigned long long)(row->pc - table->start));
		if (row->cfa.kind == CFI_UNSPECIFIED)
			fputs("none", out);
		else
			fprintf(out, "cfa%+lld", (long long)row->cfa.off);
		print_rule(out, "fp", &row->fp);
		print_rule(out, "ra", &row->ra);
	}
}

static const uint8_t *code_of(const void *context, uint64_t addr, uint64_t len)
{
	static uint8_t code[64];
	const struct sample *sample = context;

	memset(code, 0, sizeof(code));
	unit_bytes(sample->code, code, sizeof(code));
	return addr == BUILD_TEXT && len <= sizeof(code) ? code : NULL;
}

static struct err err;

static void make(const struct sample *sample, struct go_cfi *cfi, FILE *out)
{
	const struct build_func func = {sample->name, 0, sample->levels, sample->flags};
	const struct go_text text = {sample->machine, code_of, sample};
	struct cfi_frames frames;
	struct cfi_interp interp;
	struct cfi_section section = {.addr_size = 8};
	struct go_table table;
	struct wr wr;

	build_table(&wr, 0xfffffff1, sample->machine == CODE_X86_64 ? 1 : 4, &func, 1,
	    sample->size);
	ck_assert_msg(go_table_read("S", wr.data, wr.size, &table, &err), "%s", err.text);
	ck_assert_msg(go_cfi_make(&table, &text, cfi, &err), "%s", err.text);
	section.data = cfi->records.data;
	section.size = cfi->records.size;
	ck_assert(cfi_frames_read(&section, &frames, &err));
	ck_assert_uint_eq(frames.n_diags, 0);
	ck_assert_uint_ge(frames.n_fdes, 1);
	cfi_interp_init(&interp, &frames, &machines[sample->machine]);
	ck_assert_msg(cfi_interpret(&interp, &frames.fdes[0], &err), "%s", err.text);
	print_rows(out, &interp.table);
	if (frames.fdes[0].range != sample->size)
		fprintf(out, "; of %u bytes", (unsigned int)frames.fdes[0].range);
	if (cfi->n_left)
		fprintf(out, "; %s", go_reason_text(cfi->left[0].why));
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
	wr_deinit(&wr);
}

#include "tests/unit/go/test_go_samples.h"

UNIT_EACH(rows_of_sample, samples)
{
	const struct sample *sample = &samples[_i];
	struct go_cfi cfi = {0};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	make(sample, &cfi, out);
	fclose(out);
	ck_assert_msg(strcmp(text, sample->rows) == 0, "%s: \"%s\"", sample->name, text);
	free(text);
	go_cfi_deinit(&cfi);
}
