/* SPDX-License-Identifier: MIT */
/* Checks the results of walk, interpreter and ranges against the promises of the headers of cfi/. */
#include "tests/fuzz/frames.h"

#include "cfi/compare_debug_frame.h"
#include "cfi/frames.h"
#include "cfi/interp.h"
#include "cfi/ranges.h"
#include "tests/fuzz/fuzz.h"

/* Where the section is said to be loaded: low enough that distances lead to all sides. */
enum { ADDRESS = 0x4000, MAX_EXPR_OPS = 1 << 20 };

struct guise {
	bool big_endian;
	uint8_t addr_size;
	struct cfi_machine machine;
};

static void check_frames(const struct cfi_frames *frames)
{
	uint64_t size = frames->section.size;

	for (size_t i = 0; i < frames->n_cies; i++) {
		const struct cfi_cie *cie = &frames->cies[i];

		FUZZ_ASSERT(!i || cie[-1].off < cie->off, "CIE %zu", i);
		FUZZ_ASSERT(cie->program_off <= size &&
				cie->program_len <= size - cie->program_off,
		    "CIE %zu", i);
	}
	for (size_t i = 0; i < frames->n_fdes; i++) {
		const struct cfi_fde *fde = &frames->fdes[i];

		FUZZ_ASSERT(fde->cie < frames->n_cies, "FDE %zu", i);
		FUZZ_ASSERT(fde->range && fde->pc + fde->range > fde->pc, "FDE %zu", i);
		FUZZ_ASSERT(fde->program_off <= size &&
				fde->program_len <= size - fde->program_off,
		    "FDE %zu", i);
	}
	FUZZ_ASSERT(frames->n_diags <= CFI_MAX_DIAGS, "%zu diagnostics", frames->n_diags);
}

static void check_table(const struct cfi_table *table, const struct cfi_fde *fde)
{
	FUZZ_ASSERT(
	    table->start == fde->pc && table->end == fde->pc + fde->range, "range");
	FUZZ_ASSERT(table->n_rows && table->rows[0].pc == table->start, "first row");
	FUZZ_ASSERT(table->n_rows <= CFI_MAX_ROWS, "%zu rows", table->n_rows);
	for (size_t i = 1; i < table->n_rows; i++) {
		FUZZ_ASSERT(table->rows[i - 1].pc < table->rows[i].pc, "row %zu", i);
		FUZZ_ASSERT(
		    !cfi_row_same(&table->rows[i - 1], &table->rows[i]), "row %zu", i);
	}
	FUZZ_ASSERT(table->rows[table->n_rows - 1].pc < table->end, "last row");
}

/* Code in the list of shared ranges must be described by both sections. */
static void check_shared(const struct cfi_frames *frames, const struct cfi_ranges *ranges,
    const struct cfi_machine *machine)
{
	struct cfi_debug_diff agree;
	uint64_t bytes = 0, sum = 0;

	for (size_t i = 0; i < ranges->n_shared; i++) {
		const struct cfi_range *range = &ranges->shared[i];

		FUZZ_ASSERT(range->start < range->end, "shared %zu", i);
		FUZZ_ASSERT(!i || range[-1].end <= range->start, "shared %zu", i);
		FUZZ_ASSERT(
		    cfi_fde_is_debug(frames, &frames->fdes[range->fde]), "shared %zu", i);
		bytes += range->end - range->start;
	}
	FUZZ_ASSERT(
	    cfi_debug_diff_read(frames, ranges, machine, 0, false, &agree), "no memory");
	FUZZ_ASSERT(
	    agree.bytes == bytes && agree.kinds[CFI_DEBUG_DIFF_DIFFER].bytes <= bytes,
	    "%llu bytes", (unsigned long long)agree.bytes);
	FUZZ_ASSERT(agree.n_told <= agree.kinds[CFI_DEBUG_DIFF_DIFFER].n &&
			!agree.n_told == !agree.kinds[CFI_DEBUG_DIFF_DIFFER].n,
	    "%zu told", agree.n_told);
	/* Again with the kinds that are known of Go's table. */
	FUZZ_ASSERT(
	    cfi_debug_diff_read(frames, ranges, machine, 0, true, &agree), "no memory");
	for (int i = 0; i < CFI_DEBUG_DIFF_KINDS; i++)
		sum += agree.kinds[i].bytes;
	FUZZ_ASSERT(agree.bytes == bytes && sum <= bytes, "%llu of %llu bytes",
	    (unsigned long long)sum, (unsigned long long)agree.bytes);
}

static void check_ranges(
    const struct cfi_frames *frames, const struct cfi_machine *machine)
{
	struct cfi_ranges ranges;
	uint64_t bytes = 0;
	struct err err;

	FUZZ_ASSERT(cfi_ranges_read(frames, &ranges, &err), "%s", err.text);
	for (size_t i = 0; i < ranges.n; i++) {
		const struct cfi_range *range = &ranges.list[i];
		const struct cfi_fde *fde = &frames->fdes[range->fde];

		FUZZ_ASSERT(range->start < range->end, "range %zu", i);
		FUZZ_ASSERT(!i || range[-1].end <= range->start, "range %zu", i);
		FUZZ_ASSERT(range->overlapping || (range->start >= fde->pc &&
						      range->end <= fde->pc + fde->range),
		    "range %zu", i);
		bytes += range->end - range->start;
	}
	FUZZ_ASSERT(bytes == ranges.code_bytes, "%llu bytes", (unsigned long long)bytes);
	check_shared(frames, &ranges, machine);
	cfi_ranges_deinit(&ranges);
}

static void read_as(
    const struct guise *guise, const uint8_t *data, size_t size, size_t debug_size)
{
	const size_t eh_size = size - debug_size;
	const struct cfi_section section = {.data = data,
	    .size = size,
	    .addr = ADDRESS,
	    .parts = {{.name = ".eh_frame", .size = eh_size}, {.name = ".debug_frame",
								  .off = eh_size,
								  .size = debug_size,
								  .source = 1,
								  .debug = true}},
	    .n_parts = 2,
	    .big_endian = guise->big_endian,
	    .addr_size = guise->addr_size};
	struct cfi_interp interp;
	struct cfi_frames frames;
	struct err err = {0};

	FUZZ_ASSERT(cfi_frames_read(&section, &frames, &err), "%s", err.text);
	check_frames(&frames);
	cfi_interp_init(&interp, &frames, &guise->machine);
	/* As many as a file may have take seconds under the sanitizers. */
	interp.max_expr_ops = MAX_EXPR_OPS;
	for (size_t i = 0; i < frames.n_fdes; i++) {
		if (cfi_interpret(&interp, &frames.fdes[i], &err))
			check_table(&interp.table, &frames.fdes[i]);
		else
			FUZZ_ASSERT(err.kind == ERR_MALFORMED || err.kind == ERR_LIMIT ||
					err.kind == ERR_UNSUPPORTED,
			    "kind %d: %s", (int)err.kind, err.text);
	}
	check_ranges(&frames, &guise->machine);
	cfi_interp_deinit(&interp);
	cfi_frames_deinit(&frames);
}

void frames_fuzz(const uint8_t *data, size_t size, size_t debug_size)
{
	static const struct guise guises[] = {
	    {false, 8, {.sp_reg = 7, .fp_reg = 6, .pc_reg = 16}},
	    {false, 8,
		{.sp_reg = 31, .fp_reg = 29, .pc_reg = 32, .aarch64_ra_state = true}},
	    {true, 8,
		{.sp_reg = 31, .fp_reg = 29, .pc_reg = 32, .aarch64_ra_state = true}},
	    {true, 8, {.sp_reg = 15, .fp_reg = 11, .pc_reg = 65}},
	};

	for (size_t i = 0; i < sizeof(guises) / sizeof(guises[0]); i++)
		read_as(&guises[i], data, size, debug_size);
}
