/* SPDX-License-Identifier: MIT */
/*
 * The writer: what all versions have in common. What differs is in one file per version,
 * which the table of layouts names; that is the place to add one.
 */
#include "sframe/encode.h"

#include <inttypes.h>

#include "base/num.h"
#include "sframe/layout.h"

static const struct sf_layout *const layouts[] = {
	&sf_layout_v2,
};

static const struct sf_layout *layout_find(uint8_t version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i]->version == version)
			return layouts[i];
	}
	return NULL;
}

static bool broken(const struct sf_func *func, const char *what, struct err *err)
{
	return err_set(err, ERR_INTERNAL, "function at 0x%" PRIx64 " to encode: %s",
		func->start, what);
}

/* A function must say something at each of its PCs, and nothing twice. */
static bool verify_rows(
	const struct sf_func *func, const struct sf_row *rows, struct err *err)
{
	/* A row that no PC selects would do no harm, but makes libsframe abort. */
	uint32_t end =
		func->pcmask && func->rep_size < func->size ? func->rep_size : func->size;

	if (rows[0].start != 0)
		return broken(func, "its first row is not at its start", err);
	for (uint32_t i = 1; i < func->n_rows; i++) {
		if (rows[i].start <= rows[i - 1].start)
			return broken(func, "its rows do not ascend", err);
	}
	if (rows[func->n_rows - 1].start >= end)
		return broken(func, "its last row is past its end", err);
	return true;
}

/* What sf_encode demands of each function, as the caller's duty, not the input's. */
static bool verify_func(const struct sf_section *section, size_t i, struct err *err)
{
	const struct sf_func *func = &section->funcs[i];
	uint64_t last;

	if (func->size == 0 || __builtin_add_overflow(func->start, func->size - 1, &last))
		return broken(func, "it has no size or wraps around", err);
	if (i + 1 < section->n_funcs && section->funcs[i + 1].start <= last)
		return broken(func, "the next function does not follow it", err);
	if (func->pcmask != (func->rep_size != 0))
		return broken(
			func, "a block size belongs to PCMASK, and only there", err);
	if (func->n_rows == 0 ||
		!num_range_inside(func->first_row, func->n_rows, section->n_rows))
		return broken(func, "it has no rows, or rows that are not there", err);
	return verify_rows(func, section->rows + func->first_row, err);
}

static bool verify_section(struct sf_encoder *enc, struct err *err)
{
	const struct sf_section *section = enc->section;
	uint64_t index_len, n_rows = 0;

	if (__builtin_mul_overflow(
		    (uint64_t)section->n_funcs, enc->layout->func_size, &index_len) ||
		!num_u32(index_len, &enc->index_len) ||
		!num_u32(section->n_funcs, &enc->n_funcs))
		return err_set(err, ERR_LIMIT,
			".sframe: %zu functions are too many to index", section->n_funcs);
	if (section->big_endian != enc->abi->big_endian || enc->out->size != 0 ||
		enc->out->big_endian != section->big_endian)
		return err_set(err, ERR_INTERNAL,
			".sframe to encode: wrong byte order, or not an empty buffer");
	for (size_t i = 0; i < section->n_funcs; i++) {
		if (!verify_func(section, i, err))
			return false;
		if (section->funcs[i].pauth_b && !enc->abi->has_pauth)
			return broken(
				&section->funcs[i], "the ABI has no signing keys", err);
		n_rows += section->funcs[i].n_rows;
	}
	if (!num_u32(n_rows, &enc->n_rows))
		return err_set(err, ERR_LIMIT,
			".sframe: %" PRIu64 " rows are too many to count", n_rows);
	return true;
}

/*
 * The two sub-sections follow the header without a gap, fdeoff 0: glibc looks at neither
 * offset and takes that for granted.
 */
static void put_header(struct sf_encoder *enc, uint8_t flags)
{
	const struct sf_section *section = enc->section;

	wr_u16(enc->out, SFRAME_MAGIC);
	wr_u8(enc->out, enc->layout->version);
	wr_u8(enc->out, flags);
	wr_u8(enc->out, section->abi);
	wr_u8(enc->out, (uint8_t)section->fixed_fp_off);
	wr_u8(enc->out, (uint8_t)section->fixed_ra_off);
	wr_u8(enc->out, 0);
	wr_u32(enc->out, enc->n_funcs);
	wr_u32(enc->out, enc->n_rows);
	wr_u32(enc->out, 0); /* fre_len, not known yet */
	wr_u32(enc->out, 0);
	wr_u32(enc->out, enc->index_len);
}

/* Appends one function's rows, or finds them stored, and then its FDE. */
static bool encode_func(
	struct sf_encoder *enc, const struct sf_func *func, struct err *err)
{
	size_t off = enc->rows.size, end, kept = off;
	uint32_t rows_off;

	if (!enc->layout->put_rows(enc, func, err))
		return false;
	end = enc->rows.size;
	if (enc->rows.failed ||
		(enc->share && !sf_blocks_keep(&enc->blocks, &enc->rows, off, &kept)))
		return err_set_nomem(err);
	enc->shared_away += end - enc->rows.size;
	if (!num_u32(kept, &rows_off))
		return err_set(err, ERR_LIMIT,
			"function at 0x%" PRIx64
			": rows past the 4 GiB that the format can address",
			func->start);
	enc->layout->put_func(enc, func, rows_off);
	return true;
}

static bool encode_all(struct sf_encoder *enc, uint8_t flags, struct err *err)
{
	uint32_t row_len;

	put_header(enc, flags);
	for (size_t i = 0; i < enc->section->n_funcs; i++) {
		if (!encode_func(enc, &enc->section->funcs[i], err))
			return false;
	}
	if (!num_u32(enc->rows.size, &row_len))
		return err_set(err, ERR_LIMIT,
			".sframe: 0x%zx bytes of rows are more than the format can count",
			enc->rows.size);
	wr_bytes(enc->out, enc->rows.data, enc->rows.size);
	if (enc->out->failed)
		return err_set_nomem(err);
	wr_patch_u32(enc->out, SFRAME_HDR_FRE_LEN, row_len);
	return true;
}

/* Back to before the first row. */
static void forget(struct sf_encoder *enc)
{
	wr_deinit(&enc->rows);
	sf_blocks_deinit(&enc->blocks);
	wr_init(&enc->rows, enc->section->big_endian);
	enc->shared_away = 0;
}

static bool encoder_init(struct sf_encoder *enc, const struct sf_section *section,
	const struct sf_encode_options *options, struct wr *out, struct err *err)
{
	*enc = (struct sf_encoder){
		.section = section, .share = options->share, .out = out};
	wr_init(&enc->rows, section->big_endian);
	enc->layout = layout_find(options->version);
	if (!enc->layout)
		return err_set(err, ERR_UNSUPPORTED,
			"SFrame version %u cannot be written", options->version);
	if (options->pcrel && !(enc->layout->flags & SFRAME_F_FDE_FUNC_START_PCREL))
		return err_set(err, ERR_UNSUPPORTED,
			"SFrame version %u has no starts relative to their field",
			options->version);
	enc->abi = sf_abi_find(section->abi);
	if (!enc->abi || enc->abi->id == SFRAME_ABI_S390X_ENDIAN_BIG)
		return err_set(err, ERR_UNSUPPORTED,
			"SFrame version %u for ABI %u (%s) "
			"cannot be written",
			options->version, section->abi,
			enc->abi ? enc->abi->name : "unknown");
	return true;
}

bool sf_encode(const struct sf_section *section, const struct sf_encode_options *options,
	struct wr *out, struct sf_encode_stats *stats, struct err *err)
{
	struct sf_encoder enc;
	uint8_t flags = SFRAME_F_FDE_SORTED;
	bool ok;

	if (options->pcrel)
		flags |= SFRAME_F_FDE_FUNC_START_PCREL;
	ok = encoder_init(&enc, section, options, out, err) &&
	     verify_section(&enc, err) && encode_all(&enc, flags, err);
	/*
	 * So much sharing that a careful reader would take it for an attack: do
	 * without.
	 */
	if (ok && enc.n_rows / SF_ROWS_PER_BYTE_MAX >= out->size) {
		out->size = 0;
		forget(&enc);
		enc.share = false;
		ok = encode_all(&enc, flags, err);
	}
	if (ok && stats)
		*stats = (struct sf_encode_stats){
			.index_bytes = out->size - enc.rows.size,
			.row_bytes = enc.rows.size,
			.shared_away = enc.shared_away,
		};
	wr_deinit(&enc.rows);
	sf_blocks_deinit(&enc.blocks);
	return ok;
}

bool sf_place(const struct sf_section *section, const struct sf_encode_options *options,
	uint64_t addr, struct wr *out, struct err *err)
{
	const struct sf_layout *layout = layout_find(options->version);

	if (!layout || out->failed || out->size < SFRAME_HDR_SIZE ||
		(out->size - SFRAME_HDR_SIZE) / layout->func_size < section->n_funcs)
		return err_set(
			err, ERR_INTERNAL, ".sframe to place: not what sf_encode made");
	for (size_t i = 0; i < section->n_funcs; i++) {
		size_t off = SFRAME_HDR_SIZE + i * layout->func_size;
		uint64_t start = section->funcs[i].start;

		if (!layout->put_start(
			    out, off, options->pcrel ? addr + off : addr, start))
			return err_set(err, ERR_LIMIT,
				"function at 0x%" PRIx64
				" is beyond the reach of .sframe at 0x%" PRIx64,
				start, addr);
	}
	return true;
}
