/* SPDX-License-Identifier: MIT */
/* Rows to bytes, function by function. */
#include "sframe/encode_funcs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"

/* For the room that rows are given at first: start, info byte, words. */
enum { TYPICAL_ROW_SIZE = 8 };

uint64_t sf_stored_funcs(const struct sf_layout *layout, const struct sf_func *func)
{
	if (layout->has_blocks || !func->pcmask || func->rep_size == 0)
		return 1;
	return ((uint64_t)func->size + func->rep_size - 1) / func->rep_size;
}

/* Number i of the functions that one of the model becomes. */
static struct sf_func stored_func(
    const struct sf_encoding *encoding, const struct sf_func *func, uint32_t i)
{
	const struct sf_row *rows = sf_section_rows(encoding->section, func);
	struct sf_func block = *func;
	uint32_t off = i * func->rep_size;

	if (encoding->layout->has_blocks || !func->pcmask)
		return block;
	/* The last one may be cut short. */
	block.start += off;
	block.size = func->size - off;
	if (block.size > func->rep_size)
		block.size = func->rep_size;
	block.pcmask = false;
	block.rep_size = 0;
	while (block.n_rows > 1 && rows[block.n_rows - 1].start >= block.size)
		block.n_rows--;
	return block;
}

/* Where the function's last row starts. */
static uint32_t last_start_of(
    const struct sf_section *section, const struct sf_func *func)
{
	return func->n_rows ? section->rows[func->first_row + func->n_rows - 1].start : 0;
}

/* The narrowest start field that holds a last row. */
static uint8_t row_type_of(uint32_t last_start)
{
	if (last_start <= UINT8_MAX)
		return SFRAME_FRE_TYPE_ADDR1;
	return last_start <= UINT16_MAX ? SFRAME_FRE_TYPE_ADDR2 : SFRAME_FRE_TYPE_ADDR4;
}

static bool broken(const struct sf_func *func, const char *what, struct err *err)
{
	return err_set(err, ERR_INTERNAL, "function at 0x%" PRIx64 " to encode: %s",
	    func->start, what);
}

/* A row that no PC selects would do no harm, but makes libsframe abort. */
static bool verify_last(const struct sf_func *func, uint32_t last_start, struct err *err)
{
	uint32_t end =
	    func->pcmask && func->rep_size < func->size ? func->rep_size : func->size;

	return last_start < end || broken(func, "its last row is past its end", err);
}

/* A function must say something at each of its PCs, and nothing twice. */
static bool verify_rows(
    const struct sf_func *func, const struct sf_row *rows, struct err *err)
{
	if (rows[0].start != 0)
		return broken(func, "its first row is not at its start", err);
	for (uint32_t i = 1; i < func->n_rows; i++) {
		if (rows[i].start <= rows[i - 1].start)
			return broken(func, "its rows do not ascend", err);
	}
	return verify_last(func, rows[func->n_rows - 1].start, err);
}

/* Checks what sf_encode demands of each function but its rows: the caller's duty, not the input's. */
static bool verify_func(const struct sf_encoding *encoding, size_t i, struct err *err)
{
	const struct sf_section *section = encoding->section;
	const struct sf_layout *layout = encoding->layout;
	const struct sf_func *func = &section->funcs[i];
	uint64_t end;

	if (func->size == 0 || __builtin_add_overflow(func->start, func->size, &end))
		return broken(func, "it has no size or wraps around", err);
	if (i + 1 < section->n_funcs && section->funcs[i + 1].start < end)
		return broken(func, "the next function does not follow it", err);
	if (func->pcmask != (func->rep_size != 0))
		return broken(func,
		    "PCMASK functions have a block size, and others have none", err);
	if (func->pauth_b && !encoding->abi->has_pauth)
		return broken(func, "the ABI has no signing keys", err);
	if (func->n_rows == 0 && layout->has_signals && func->signal_frame &&
	    !func->pcmask)
		return true;
	if (func->n_rows == 0 ||
	    !num_range_inside(func->first_row, func->n_rows, section->n_rows))
		return broken(func, "it has no rows, or its rows do not exist", err);
	if (func->n_rows > layout->max_rows)
		return err_set(err, ERR_LIMIT,
		    "function at 0x%" PRIx64 ": %" PRIu32
		    " rows, but version %u counts only to %" PRIu32,
		    func->start, func->n_rows, layout->version, layout->max_rows);
	return true;
}

/* Flexible exactly when one of its rows needs it. */
static uint8_t fde_type_of(const struct sf_encoding *encoding, const struct sf_func *func)
{
	const struct sf_row *rows = encoding->section->rows;

	if (!encoding->layout->has_flex || !encoding->abi->has_flex)
		return SFRAME_FDE_TYPE_DEFAULT;
	for (uint32_t i = 0; i < func->n_rows; i++) {
		if (sf_row_needs_flex(encoding->abi, &rows[func->first_row + i]))
			return SFRAME_FDE_TYPE_FLEX;
	}
	return SFRAME_FDE_TYPE_DEFAULT;
}

static bool refuse_row(const struct sf_encoding *encoding, const struct sf_func *func,
    const struct sf_row *row, enum sf_cannot cannot, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED,
	    "function at 0x%" PRIx64 ", row at +0x%" PRIx32
	    ": version %u cannot say %s (%s)",
	    func->start, row->start, encoding->layout->version, sf_cannot_text(cannot),
	    encoding->abi->name);
}

/* Appends to all->rows all that the FRE sub-section holds of one function. */
static bool encode_put_rows(struct sf_encode_funcs *all, const struct sf_func *func,
    uint32_t last_start, struct err *err)
{
	const struct sf_encoding *encoding = all->encoding;
	const struct sf_layout *layout = encoding->layout;
	uint8_t row_type = row_type_of(last_start);
	uint8_t fde_type = fde_type_of(encoding, func);

	if (layout->put_attr)
		layout->put_attr(&all->rows, func, row_type, fde_type);
	for (uint32_t i = 0; i < func->n_rows; i++) {
		const struct sf_row *row = &encoding->section->rows[func->first_row + i];
		enum sf_cannot cannot = sf_layout_can_express(layout, encoding->abi, row);

		if (cannot == SF_CANNOT_OUTERMOST && encoding->options->outermost &&
		    layout->outermost == SF_OUTERMOST_ON_REQUEST)
			cannot = SF_CAN;
		if (cannot != SF_CAN)
			return refuse_row(encoding, func, row, cannot, err);
		sf_put_row(&all->rows, encoding->abi, row, row_type, fde_type);
	}
	return !all->rows.failed || err_set_nomem(err);
}

static bool encode_add_func(struct sf_encode_funcs *all, const struct sf_func *func,
    const struct sf_encoded *encoded, struct err *err)
{
	if (!vec_reserve(&all->funcs, &all->cap_funcs, all->n_funcs + 1))
		return err_set_nomem(err);
	all->n_rows += func->n_rows;
	all->n_bytes += all->blocks.list[encoded->block].len;
	all->funcs[all->n_funcs++] = *encoded;
	return true;
}

/* Appends one function's rows, or finds them stored. */
static bool encode_func(
    struct sf_encode_funcs *all, const struct sf_func *func, struct err *err)
{
	const struct sf_section *section = all->encoding->section;
	struct sf_encoded encoded = {.last_start = last_start_of(section, func)};
	size_t off = all->rows.size;

	if (func->n_rows && !verify_rows(func, section->rows + func->first_row, err))
		return false;
	if (!encode_put_rows(all, func, encoded.last_start, err))
		return false;
	if (!sf_blocks_keep(&all->blocks, &all->rows, off, &encoded.block))
		return err_set_nomem(err);
	return encode_add_func(all, func, &encoded, err);
}

/* True if two functions with the same rows have the same bytes. */
static bool encoded_alike(const struct sf_func *a, const struct sf_func *b)
{
	return a->n_rows == b->n_rows && a->pcmask == b->pcmask &&
	       a->rep_size == b->rep_size && a->pauth_b == b->pauth_b &&
	       a->signal_frame == b->signal_frame;
}

/* Encodes function number i of the model, which is stored as one. Facts about rows are kept from their first
 * use instead of read again, because the rows are far away in memory. */
static bool encode_whole(struct sf_encode_funcs *all, size_t i, struct err *err)
{
	const struct sf_func *funcs = all->encoding->section->funcs, *func = &funcs[i];
	uint32_t *first = NULL;

	if (all->func_of_rows && func->n_rows)
		first = &all->func_of_rows[func->first_row];
	if (first && *first && encoded_alike(func, &funcs[*first - 1])) {
		struct sf_encoded encoded = all->funcs[*first - 1];

		return verify_last(func, encoded.last_start, err) &&
		       encode_add_func(all, func, &encoded, err);
	}
	if (!encode_func(all, func, err))
		return false;
	if (first && !*first)
		*first = (uint32_t)i + 1;
	return true;
}

static bool funcs_init(struct sf_encode_funcs *all)
{
	const struct sf_section *section = all->encoding->section;
	const size_t n = section->n_funcs;

	wr_init(&all->rows, section->big_endian);
	wr_expect(&all->rows, section->n_rows * TYPICAL_ROW_SIZE);
	if (!vec_reserve(&all->funcs, &all->cap_funcs, n) ||
	    !sf_blocks_expect(&all->blocks, n, all->encoding->share))
		return false;
	/* Where every function is stored as one, they have the same index. */
	if (!all->encoding->share || !all->encoding->layout->has_blocks ||
	    section->n_rows == 0 || n >= UINT32_MAX)
		return true;
	all->func_of_rows = calloc(section->n_rows, sizeof(*all->func_of_rows));
	return all->func_of_rows;
}

bool sf_encode_funcs_run(struct sf_encode_funcs *all, struct err *err)
{
	const struct sf_encoding *encoding = all->encoding;
	bool ok = funcs_init(all) || err_set_nomem(err);

	for (size_t i = 0; ok && i < encoding->section->n_funcs; i++) {
		const struct sf_func *func = &encoding->section->funcs[i];
		uint64_t n = sf_stored_funcs(encoding->layout, func);

		ok = verify_func(encoding, i, err);
		if (ok && (encoding->layout->has_blocks || !func->pcmask)) {
			ok = encode_whole(all, i, err);
			continue;
		}
		for (uint32_t j = 0; ok && j < n; j++) {
			struct sf_func stored = stored_func(encoding, func, j);

			ok = encode_func(all, &stored, err);
		}
	}
	free(all->func_of_rows);
	all->func_of_rows = NULL;
	return ok;
}

/* Appends one function as stored: number j of the model's. */
static bool encode_put_func(const struct sf_encode_funcs *all, const struct sf_func *func,
    uint32_t j, const struct sf_encoded *encoded, struct wr *out, struct err *err)
{
	const struct sf_encoding *encoding = all->encoding;
	struct sf_func stored = stored_func(encoding, func, j);
	uint32_t rows_off;

	if (!num_u32(all->blocks.list[encoded->block].off, &rows_off))
		return err_set(err, ERR_LIMIT,
		    "function at 0x%" PRIx64
		    ": the rows reach past the 4 GiB that the format can address",
		    stored.start);
	encoding->layout->put_func(
	    out, &stored, row_type_of(encoded->last_start), rows_off);
	return true;
}

bool sf_encode_funcs_index(
    const struct sf_encode_funcs *all, struct wr *out, struct err *err)
{
	const struct sf_encoding *encoding = all->encoding;
	size_t at = 0;

	for (size_t i = 0; i < encoding->section->n_funcs; i++) {
		const struct sf_func *func = &encoding->section->funcs[i];
		uint64_t n = sf_stored_funcs(encoding->layout, func);

		for (uint32_t j = 0; j < n; j++)
			if (!encode_put_func(all, func, j, &all->funcs[at++], out, err))
				return false;
	}
	return true;
}

void sf_encode_funcs_deinit(struct sf_encode_funcs *all)
{
	wr_deinit(&all->rows);
	sf_blocks_deinit(&all->blocks);
	free(all->funcs);
	*all = (struct sf_encode_funcs){0};
}
