/* SPDX-License-Identifier: MIT */
/* One way through the FDEs of a file, with all formats that its machine has. */
#include "tests/bench/compare/formats.h"

#include <stdlib.h>

#include "tests/bench/compare/all.h"

bool formats_compare_begin(
    struct formats_compare *compare, const struct formats_input *input)
{
	const struct cfi_frames *frames = input->frames;
	enum formats_isa isa = input->machine.isa;

	*compare = (struct formats_compare){.input = input};
	formats_rows_init(&compare->rows, input);
	/* Big-endian machines have no such system. */
	compare->has_unwind = isa != FORMATS_S390X && !input->machine.big_endian;
	formats_frame_pointer_begin(&compare->frame_pointers);
	compare->augments = calloc(frames->n_cies + 1, sizeof(*compare->augments));
	for (size_t i = 0; compare->augments && i < frames->n_cies; i++)
		compare->augments[i] = cfi_augment_read(frames, &frames->cies[i]);
	return formats_unwind_begin(&compare->unwind, input) && compare->augments;
}

/* Calls each for the account of every format. */
static void compare_each(struct formats_compare *compare,
    void (*each)(struct formats_compare *, struct formats_result *))
{
	if (compare->has_unwind)
		each(compare, &compare->unwind.result);
	each(compare, &compare->frame_pointers);
}

static void compare_lose(struct formats_compare *compare, struct formats_result *result)
{
	formats_result_code(result, compare->lost, compare->lost_bytes);
}

static void compare_end_function(
    struct formats_compare *compare, struct formats_result *result)
{
	(void)compare;
	formats_result_end(result);
}

static void compare_add_result(
    struct formats_compare *compare, struct formats_result *result)
{
	struct formats_results *results = compare->results;

	results->list[results->n++] = *result;
}

static bool compare_func(struct formats_compare *compare, const struct formats_func *func)
{
	formats_frame_pointer_add(&compare->frame_pointers, func);
	return !compare->has_unwind || formats_unwind_add(&compare->unwind, func);
}

/* The ranges [first, last) of one FDE; *ok: it was interpreted. */
static bool compare_interpret(
    struct formats_compare *compare, size_t first, const struct cfi_fde *fde, bool *ok)
{
	struct err err;

	err.kind = ERR_NONE;
	*ok = formats_rows_read(&compare->rows, fde,
	    cfi_ranges_expr_ops(compare->input->ranges, first), &err);
	return *ok || err.kind != ERR_NOMEM;
}

bool formats_compare_fde(struct formats_compare *compare, size_t first, size_t last)
{
	const struct formats_input *input = compare->input;
	const struct cfi_range *ranges = input->ranges->list;
	const struct cfi_fde *fde = &input->frames->fdes[ranges[first].fde];
	const struct cfi_augment *augment = &compare->augments[fde->cie];
	struct formats_func func = {.input = input,
	    .fde = fde,
	    .table = &compare->rows.table,
	    .signal_frame = input->frames->cies[fde->cie].signal_frame,
	    .lsda = cfi_augment_lsda(input->frames, fde, augment),
	    .augment = augment};
	bool interpreted = false;

	if (!compare_interpret(compare, first, fde, &interpreted))
		return false;
	func.saved = compare->rows.saved;
	for (size_t i = first; i < last; i++) {
		if (ranges[i].overlapping || !interpreted) {
			compare->lost = ranges[i].overlapping ? FORMATS_OVERLAP
							      : FORMATS_BROKEN_PROGRAM;
			compare->lost_bytes = ranges[i].end - ranges[i].start;
			compare_each(compare, compare_lose);
			continue;
		}
		func.start = ranges[i].start;
		func.end = ranges[i].end;
		formats_find_plt(&func);
		if (!compare_func(compare, &func))
			return false;
	}
	compare_each(compare, compare_end_function);
	return true;
}

bool formats_compare_end(struct formats_compare *compare)
{
	return !compare->has_unwind || formats_unwind_end(&compare->unwind);
}

void formats_compare_deinit(struct formats_compare *compare)
{
	formats_rows_deinit(&compare->rows);
	formats_unwind_deinit(&compare->unwind);
	free(compare->augments);
	*compare = (struct formats_compare){0};
}

bool formats_compare(
    const struct formats_input *input, struct formats_results *results, struct err *err)
{
	const struct cfi_ranges *ranges = input->ranges;
	struct formats_compare compare;
	bool ok = formats_compare_begin(&compare, input);

	*results = (struct formats_results){0};
	compare.results = results;
	for (size_t i = 0, end; ok && i < ranges->n; i = end) {
		end = i + 1;
		while (end < ranges->n && ranges->list[end].fde == ranges->list[i].fde)
			end++;
		ok = formats_compare_fde(&compare, i, end);
	}
	ok = ok && formats_compare_end(&compare);
	if (ok)
		compare_each(&compare, compare_add_result);
	formats_compare_deinit(&compare);
	return ok || err_set_nomem(err);
}
