/* SPDX-License-Identifier: MIT */
/* Every PC of every function through every decoder. */
#include "tests/formats/round_trip.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TRIP_MAX_LINES = 20 };

/* What a decoder made of the PCs of one format. */
struct trip_count {
	const struct formats_result *result;
	uint64_t right;
};

struct trip {
	const struct formats_input *input;
	struct formats_compare compare;
	struct formats_rows rows;
	struct trip_count unwind;
	struct round_trip *out;
	FILE *file;
};

static void trip_wrong(
    struct trip *trip, const char *format, uint64_t pc, const char *what)
{
	if (trip->out->n_wrong++ < TRIP_MAX_LINES)
		fprintf(trip->file, "# %s: 0x%" PRIx64 ": %s\n", format, pc, what);
}

static bool trip_decode(struct trip *trip, const struct formats_unwind_entry *entry,
    struct formats_answer *answer, struct formats_saved *saved)
{
	if (trip->input->machine.isa == FORMATS_X86_64)
		return formats_x86_64_decode(
		    trip->input, entry->pc, entry->encoding, answer, saved);
	return formats_arm64_decode(entry->encoding, answer, saved);
}

/* An encoding is right where it says what the row does, and DWARF says nothing. */
static void trip_unwind(struct trip *trip, const struct formats_func *func, uint64_t pc,
    const struct formats_answer *answer, const struct formats_saved *saved)
{
	uint64_t base = trip->input->base;
	struct formats_unwind_entry entry;
	struct formats_answer found;
	struct formats_saved found_saved;

	trip->out->pcs++;
	if (!formats_unwind_find(&trip->compare.unwind, pc, &entry)) {
		/* What is too far away is counted, and has no entry. */
		if (func->end - base > UINT32_MAX || func->start < base)
			return;
		trip_wrong(trip, "compact-unwind", pc, "no entry");
		return;
	}
	if (entry.lsda != func->lsda && func->lsda - base <= UINT32_MAX)
		trip_wrong(trip, "compact-unwind", pc, "other language-specific data");
	if (trip_decode(trip, &entry, &found, &found_saved) && answer &&
	    formats_answer_same(&found, answer) &&
	    formats_saved_same(&found_saved, saved))
		trip->unwind.right++;
}

static void trip_row(
    struct trip *trip, const struct formats_func *func, const struct formats_walk *walk)
{
	const struct formats_compare *compare = &trip->compare;
	const struct cfi_row *row = &func->table->rows[walk->row];
	struct formats_answer read;
	const struct formats_answer *answer =
	    formats_answer_read(&trip->input->machine, func->signal_frame, row, &read) ==
		    FORMATS_SAID
		? &read
		: NULL;

	for (uint64_t pc = walk->from; compare->has_unwind && pc < walk->to; pc++)
		trip_unwind(trip, func, pc, answer, &func->saved[walk->row]);
}

static void trip_range(struct trip *trip, const struct cfi_range *range)
{
	const struct formats_input *input = trip->input;
	const struct cfi_fde *fde = &input->frames->fdes[range->fde];
	const struct cfi_augment *augment = &trip->compare.augments[fde->cie];
	struct err err = {0};
	struct formats_func func = {.input = input,
	    .fde = fde,
	    .start = range->start,
	    .end = range->end,
	    .table = &trip->rows.table,
	    .signal_frame = input->frames->cies[fde->cie].signal_frame,
	    .lsda = cfi_augment_lsda(input->frames, fde, augment)};
	struct formats_walk walk;

	if (range->overlapping ||
	    !formats_rows_read(&trip->rows, fde,
		cfi_ranges_expr_ops(input->ranges, (size_t)(range - input->ranges->list)),
		&err))
		return;
	func.saved = trip->rows.saved;
	walk = formats_walk_begin(&func);
	while (formats_walk_next(&walk))
		trip_row(trip, &func, &walk);
}

/* The account must be that of the decoders, and have every byte of code once. */
static void trip_account(struct trip *trip, const struct formats_result *result,
    const struct trip_count *count)
{
	uint64_t sum = result->code_bytes;

	for (int i = 0; i < FORMATS_N_REASONS; i++)
		sum += result->escapes[i].bytes;
	if (sum != trip->input->ranges->code_bytes)
		trip_wrong(trip, result->name, sum, "is not the sum of all code");
	if (count && count->right != result->code_bytes)
		trip_wrong(trip, result->name, count->right,
		    "PCs are right, and not as many are counted");
}

static void trip_add(struct trip *trip, const struct formats_result *result,
    const struct trip_count *count)
{
	struct formats_results *results = &trip->out->results;

	results->list[results->n++] = *result;
	trip_account(trip, result, count);
}

static void trip_all(struct trip *trip)
{
	const struct formats_compare *compare = &trip->compare;

	for (size_t i = 0; i < trip->input->ranges->n; i++)
		trip_range(trip, &trip->input->ranges->list[i]);
	if (compare->has_unwind)
		trip_add(trip, &compare->unwind.result, &trip->unwind);
	trip_add(trip, &compare->frame_pointers, NULL);
}

static bool trip_encode(struct trip *trip)
{
	const struct cfi_ranges *ranges = trip->input->ranges;
	bool ok = formats_compare_begin(&trip->compare, trip->input);

	for (size_t i = 0, end; ok && i < ranges->n; i = end) {
		end = i + 1;
		while (end < ranges->n && ranges->list[end].fde == ranges->list[i].fde)
			end++;
		ok = formats_compare_fde(&trip->compare, i, end);
	}
	return ok && formats_compare_end(&trip->compare);
}

bool round_trip(const struct formats_input *input, struct round_trip *out, FILE *file)
{
	struct trip trip = {.input = input, .out = out, .file = file};
	bool ok;

	*out = (struct round_trip){0};
	ok = trip_encode(&trip);
	if (ok) {
		formats_rows_init(&trip.rows, input);
		trip_all(&trip);
		formats_rows_deinit(&trip.rows);
	}
	formats_compare_deinit(&trip.compare);
	return ok;
}
