/* SPDX-License-Identifier: MIT */
/* The rows of a section as gen/check/ reads rows, over ranges that are its functions. */
#include "gen/verify/code_witness.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/search.h"
#include "base/vec.h"
#include "gen/elf/object/object.h"
#include "gen/rows/last_calls.h"
#include "gen/rows/padding.h"
#include "gen/verify/lint.h"
#include "gen/verify/meaning.h"
#include "gen/verify/verify.h"

/* Limit of blocks of PLTs, which are judged by themselves. */
enum { WITNESS_MAX_BLOCKS = 1048576 };
/* Functions with more rows are not divided where FDEs begin: each part reads them again. */
enum { WITNESS_MAX_DIVIDED = 4096 };
/* Index for a range of code without a row. */
#define WITNESS_NO_FUNC UINT32_MAX

/* A function of the section. */
struct witness_func {
	uint64_t start, end; /* addresses */
	uint32_t index;
	uint8_t block; /* bytes that are looked at by themselves; 0: all */
	bool whole;    /* it is not divided where FDEs begin */
	bool special;  /* it is not looked at */
};

struct code_witness {
	const struct sf_view *view;
	const struct arch *arch;
	const struct image *code;
	struct image_window bytes;    /* of code, for a look at each place */
	const struct cfi_ranges *cfi; /* of the file; n is 0 without CFI */
	struct witness_func *funcs;   /* ascending; owned */
	size_t n_funcs;
	size_t n_blocks;
	struct cfi_ranges ranges; /* the result */
	uint32_t *func_of;	  /* of each range; owned */
	size_t cap_func_of;
};

/* ---- rows ---- */

static struct cfi_row witness_row(
    const struct arch *arch, const struct sf_row *row, uint64_t pc)
{
	return (struct cfi_row){.pc = pc,
	    .cfa = meaning_rule_of(arch, row, MEANING_CFA),
	    .sp = meaning_rule_of(arch, row, MEANING_SP),
	    .fp = meaning_rule_of(arch, row, MEANING_FP),
	    .ra = meaning_rule_of(arch, row, MEANING_RA),
	    .ra_signed = row->ra_signed};
}

/* Adds a row that holds from pc on; replaces one that holds from there, too. */
static bool witness_add_row(struct cfi_table *table, const struct cfi_row *row)
{
	if (table->n_rows && table->rows[table->n_rows - 1].pc == row->pc)
		table->n_rows--;
	if (!vec_reserve(&table->rows, &table->cap_rows, table->n_rows + 1))
		return false;
	table->rows[table->n_rows++] = *row;
	return true;
}

static bool witness_read(const void *context, uint32_t index, struct cfi_table *table)
{
	const struct code_witness *witness = context;
	const struct cfi_range *range = &witness->ranges.list[index];
	const struct cfi_row none = {.pc = range->start, .doubtful = true};
	struct sf_view_func func;
	struct sf_row_iter rows;
	struct sf_row row;
	struct err err;
	uint64_t base;

	table->start = range->start;
	table->end = range->end;
	table->n_rows = 0;
	table->pc_dependent = false;
	if (!witness_add_row(table, &none))
		return false;
	if (witness->func_of[index] == WITNESS_NO_FUNC ||
	    !sf_view_func(witness->view, witness->func_of[index], &func, &err))
		return true;
	base = func.func.start;
	if (func.func.pcmask)
		base += (range->start - base) / func.func.rep_size * func.func.rep_size;
	sf_rows_begin(witness->view, &func, &rows);
	while (sf_rows_next(&rows, &row, &err) && base + row.start < range->end) {
		const uint64_t pc = base + row.start;
		const struct cfi_row made = witness_row(
		    witness->arch, &row, pc < range->start ? range->start : pc);

		if (!witness_add_row(table, &made))
			return false;
	}
	return true;
}

/* ---- ranges ---- */

/* Returns where the code of a function ends: what it describes behind a last call is none. */
static uint64_t witness_func_end(struct code_witness *witness, const struct sf_func *func)
{
	const uint64_t end = func->start + func->size, unit = witness->arch->insn_unit;

	return func->size > unit && last_call_reaches(&witness->bytes, witness->arch,
					end - unit, end, UINT64_MAX)
		   ? end - unit
		   : end;
}

static bool witness_read_funcs(struct code_witness *witness, struct err *err)
{
	const struct sf_view *view = witness->view;

	witness->funcs = calloc((size_t)view->n_funcs + 1, sizeof(*witness->funcs));
	if (!witness->funcs)
		return err_set_nomem(err);
	for (uint32_t i = 0; i < view->n_funcs; i++) {
		struct sf_view_func func;

		if (!sf_view_func(view, i, &func, err))
			return false;
		if (!func.func.size)
			continue;
		witness->funcs[witness->n_funcs++] =
		    (struct witness_func){.start = func.func.start,
			.end = witness_func_end(witness, &func.func),
			.index = i,
			.block = func.func.rep_size,
			.whole = func.func.n_rows > WITNESS_MAX_DIVIDED,
			.special = func.func.signal_frame};
	}
	if (witness->n_funcs)
		qsort(witness->funcs, witness->n_funcs, sizeof(*witness->funcs),
		    search_order);
	return true;
}

/* True if the function is in a PLT, whose blocks are entered like functions. */
static bool witness_in_plt(const struct image *code, const struct witness_func *func)
{
	size_t i = 0;

	while (i < code->n_sections &&
	       (!image_is_plt_name(code->sections[i].name) ||
		   func->start < code->sections[i].hdr.sh_addr ||
		   !num_range_inside(func->start - code->sections[i].hdr.sh_addr,
		       func->end - func->start, code->sections[i].hdr.sh_size)))
		i++;
	return i < code->n_sections;
}

/* The code is a PLT and has blocks in bounded number, else it is not looked at. A look at a section counts as a block. */
static void witness_bound(struct code_witness *witness, struct witness_func *func)
{
	size_t n;

	if (!func->block)
		return;
	n = (size_t)((func->end - func->start) / func->block) + witness->code->n_sections;
	if (n > WITNESS_MAX_BLOCKS - witness->n_blocks ||
	    !witness_in_plt(witness->code, func)) {
		func->special = true;
		func->block = 0;
	} else {
		witness->n_blocks += n;
	}
}

/* func or cfi may be NULL, not both. */
static bool witness_add_range(struct code_witness *witness, uint64_t start, uint64_t end,
    const struct witness_func *func, const struct cfi_range *cfi)
{
	struct cfi_ranges *ranges = &witness->ranges;

	/* Two functions as one have what stands between them, too. */
	if (!cfi && witness->cfi->n &&
	    padding_only(&witness->bytes, witness->arch, start, end))
		return true;
	if (!vec_reserve(&ranges->list, &ranges->cap, ranges->n + 1) ||
	    !vec_reserve(&witness->func_of, &witness->cap_func_of, ranges->n + 1))
		return false;
	witness->func_of[ranges->n] = func ? func->index : WITNESS_NO_FUNC;
	ranges->list[ranges->n++] = (struct cfi_range){.start = start,
	    .end = end,
	    .fde = cfi ? cfi->fde : VALIDATE_NO_FDE,
	    .overlapping = (cfi && cfi->overlapping) || (func && func->special)};
	return true;
}

static uint64_t witness_lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns where the next range ends that begins at pc: func and cfi (NULL: none is left) are
 * those that hold pc or come next. */
static uint64_t witness_end(
    const struct witness_func *func, const struct cfi_range *cfi, uint64_t pc)
{
	const bool inside = func && func->start <= pc;
	uint64_t end = UINT64_MAX;

	if (func)
		end = inside ? func->end : func->start;
	if (cfi && !(inside && func->whole))
		end = witness_lower(end, cfi->start <= pc ? cfi->end : cfi->start);
	if (inside && func->block)
		end = witness_lower(
		    end, pc + func->block - (pc - func->start) % func->block);
	return end;
}

/* Functions, divided where FDEs begin and end, and the code with CFI between them, which has no
 * row. */
static bool witness_make_ranges(struct code_witness *witness)
{
	size_t f = 0, c = 0;
	uint64_t pc = 0;

	for (;;) {
		struct witness_func *func;
		const struct cfi_range *cfi;
		bool in_func, in_cfi;

		while (f < witness->n_funcs && witness->funcs[f].end <= pc)
			if (++f < witness->n_funcs)
				witness_bound(witness, &witness->funcs[f]);
		while (c < witness->cfi->n && witness->cfi->list[c].end <= pc)
			c++;
		func = f < witness->n_funcs ? &witness->funcs[f] : NULL;
		cfi = c < witness->cfi->n ? &witness->cfi->list[c] : NULL;
		if (!func && !cfi)
			return true;
		in_func = func && func->start <= pc;
		in_cfi = cfi && cfi->start <= pc;
		if (in_func || in_cfi) {
			const uint64_t end = witness_end(func, cfi, pc);

			if (!witness_add_range(witness, pc, end, in_func ? func : NULL,
				in_cfi ? cfi : NULL))
				return false;
			pc = end;
		} else {
			pc = witness_lower(func ? func->start : UINT64_MAX,
			    cfi ? cfi->start : UINT64_MAX);
		}
	}
}

/* ---- the file ---- */

/* The CFI, if there is any. */
static bool witness_read_input(const struct image *image, const struct image *cfi_image,
    const struct options *options, struct cfi_input *input, struct err *err)
{
	if (cfi_input_read(image, cfi_image, options, input, err))
		return true;
	if (err->kind != ERR_NOTHING)
		return false;
	*err = (struct err){0};
	cfi_input_deinit(input);
	input->arch = arch_find(image->ehdr.e_machine, image->big_endian);
	input->policy = (struct policy){.arch = input->arch,
	    .image = image,
	    .symbols = &input->symbols,
	    .options = options,
	    .corrections = &input->corrections};
	return true;
}

static bool witness_run(struct code_witness *witness, struct cfi_input *input,
    const struct options *options, struct validate_result *result, struct err *err)
{
	const struct validate_rows rows = {witness, witness_read};

	if (!witness_read_funcs(witness, err))
		return false;
	if (witness->n_funcs)
		witness_bound(witness, &witness->funcs[0]);
	if (!witness_make_ranges(witness))
		return err_set_nomem(err);
	cfi_ranges_deinit(&input->ranges);
	input->ranges = witness->ranges;
	return validate_all(witness->code, input, &rows, options->jobs, result, err);
}

bool verify_by_code(const struct image *image, const struct image *cfi_image,
    const struct sf_view *view, const struct options *options, struct cfi_input *input,
    struct validate_result *result, struct err *err)
{
	struct code_witness witness = {.view = view, .cfi = &input->ranges};
	struct image linked = {0};
	bool ok;

	*result = (struct validate_result){0};
	if (!witness_read_input(image, cfi_image, options, input, err))
		return false;
	witness.arch = input->arch;
	witness.code = witness.bytes.image = image->object ? &linked : image;
	ok = lint_format(image, view, err) && validate_can(input->arch, err) &&
	     (!image->object || object_link(image, &linked, err)) &&
	     witness_run(&witness, input, options, result, err);
	if (input->ranges.list != witness.ranges.list)
		cfi_ranges_deinit(&witness.ranges);
	free(witness.funcs);
	free(witness.func_of);
	image_window_free(&witness.bytes);
	object_link_free(&linked);
	return ok;
}
