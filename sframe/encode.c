/* SPDX-License-Identifier: MIT */
/*
 * The writer: what all versions have in common. What differs between them is in the table
 * of layouts (layout.c).
 */
#include "sframe/encode.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "sframe/blocks.h"
#include "sframe/layout.h"

/* For the room that rows are given at first: start, info byte, a word or two. */
enum { TYPICAL_ROW_SIZE = 4 };

/* The bytes of rows that more than one function of the model has. */
struct stored {
	size_t func; /* the first of them */
	uint32_t off, len;
};

struct sf_encoder {
	const struct sf_section *section; /* borrowed, like all up to out */
	const struct sf_encode_options *options;
	const struct sf_abi *abi;
	const struct sf_layout *layout;
	struct wr *out; /* header and functions, finally the rows too */
	struct wr rows; /* owned; the FRE sub-section as far as stored */
	struct sf_blocks blocks;
	/* Owned, and there only to share: by sf_func.first_row, 0 or one more than an
	 * index into stored. */
	uint32_t *stored_at;
	struct stored *stored;
	size_t n_stored, cap_stored;
	bool share;
	uint32_t n_funcs;   /* as stored */
	uint32_t index_len; /* bytes of the FDE array */
	uint32_t n_rows;    /* of all functions, however they are stored */
	size_t shared_away; /* bytes */
};

static bool broken(const struct sf_func *func, const char *what, struct err *err)
{
	return err_set(err, ERR_INTERNAL, "function at 0x%" PRIx64 " to encode: %s",
		func->start, what);
}

/*
 * How many functions of the section one of the model becomes. A version that cannot say
 * how long a block is gets every block as a function.
 */
static uint64_t n_stored(const struct sf_layout *layout, const struct sf_func *func)
{
	if (layout->has_blocks || !func->pcmask || func->rep_size == 0)
		return 1;
	return ((uint64_t)func->size + func->rep_size - 1) / func->rep_size;
}

/* Block number i of a PCMASK function as a function. The last one may be cut short. */
static struct sf_func block_of(
	const struct sf_section *section, const struct sf_func *func, uint32_t i)
{
	const struct sf_row *rows = section->rows + func->first_row;
	struct sf_func block = *func;
	uint32_t off = i * func->rep_size;

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
static bool verify_func(const struct sf_encoder *enc, size_t i, struct err *err)
{
	const struct sf_section *section = enc->section;
	const struct sf_func *func = &section->funcs[i];
	uint64_t last;

	if (func->size == 0 || __builtin_add_overflow(func->start, func->size - 1, &last))
		return broken(func, "it has no size or wraps around", err);
	if (i + 1 < section->n_funcs && section->funcs[i + 1].start <= last)
		return broken(func, "the next function does not follow it", err);
	if (func->pcmask != (func->rep_size != 0))
		return broken(
			func, "a block size belongs to PCMASK, and only there", err);
	if (func->pauth_b && !enc->abi->has_pauth)
		return broken(func, "the ABI has no signing keys", err);
	if (func->n_rows == 0 && enc->layout->has_signals && func->signal_frame &&
		!func->pcmask)
		return true;
	if (func->n_rows == 0 ||
		!num_range_inside(func->first_row, func->n_rows, section->n_rows))
		return broken(func, "it has no rows, or rows that are not there", err);
	if (func->n_rows > enc->layout->max_rows)
		return err_set(err, ERR_LIMIT,
			"function at 0x%" PRIx64 ": %" PRIu32
			" rows, and version %u counts to %" PRIu32,
			func->start, func->n_rows, enc->layout->version,
			enc->layout->max_rows);
	return verify_rows(func, section->rows + func->first_row, err);
}

static bool too_many_funcs(uint64_t n_funcs, struct err *err)
{
	return err_set(err, ERR_LIMIT,
		".sframe: %" PRIu64 " functions are too many to index", n_funcs);
}

/* False when the FDE array of so many functions has a length past its field. */
static bool index_fits(struct sf_encoder *enc, uint64_t n_funcs)
{
	uint64_t len;

	return !__builtin_mul_overflow(n_funcs, enc->layout->func_size, &len) &&
	       num_u32(len, &enc->index_len) && num_u32(n_funcs, &enc->n_funcs);
}

static bool verify_section(struct sf_encoder *enc, struct err *err)
{
	const struct sf_section *section = enc->section;
	uint64_t n_funcs = 0;

	if (!index_fits(enc, section->n_funcs))
		return too_many_funcs(section->n_funcs, err);
	if (section->big_endian != enc->abi->big_endian || enc->out->size != 0 ||
		enc->out->big_endian != section->big_endian)
		return err_set(err, ERR_INTERNAL,
			".sframe to encode: wrong byte order, or not an empty buffer");
	if (section->fixed_fp_off != enc->abi->fixed_fp_off ||
		section->fixed_ra_off != enc->abi->fixed_ra_off)
		return err_set(err, ERR_INTERNAL,
			".sframe to encode: fixed offsets that are not the ABI's");
	for (size_t i = 0; i < section->n_funcs; i++) {
		if (!verify_func(enc, i, err))
			return false;
		n_funcs += n_stored(enc->layout, &section->funcs[i]);
	}
	return index_fits(enc, n_funcs) || too_many_funcs(n_funcs, err);
}

/*
 * The two sub-sections follow the header without a gap, fdeoff 0: glibc looks at neither
 * offset and takes that for granted.
 */
static void put_header(struct sf_encoder *enc)
{
	const struct sf_section *section = enc->section;
	uint8_t flags = SFRAME_F_FDE_SORTED;

	if (enc->options->pcrel)
		flags |= SFRAME_F_FDE_FUNC_START_PCREL;
	wr_u16(enc->out, SFRAME_MAGIC);
	wr_u8(enc->out, enc->layout->version);
	wr_u8(enc->out, flags);
	wr_u8(enc->out, section->abi);
	wr_u8(enc->out, (uint8_t)section->fixed_fp_off);
	wr_u8(enc->out, (uint8_t)section->fixed_ra_off);
	wr_u8(enc->out, 0);
	wr_u32(enc->out, enc->n_funcs);
	wr_u32(enc->out, 0); /* num_fres and fre_len are not known yet */
	wr_u32(enc->out, 0);
	wr_u32(enc->out, 0);
	wr_u32(enc->out, enc->index_len);
}

/* NULL when it has none, for then the section may have none either. */
static const struct sf_row *rows_of(
	const struct sf_encoder *enc, const struct sf_func *func)
{
	return func->n_rows ? enc->section->rows + func->first_row : NULL;
}

/* The narrowest start field that holds the function's last row. */
static uint8_t row_type_of(const struct sf_func *func, const struct sf_row *rows)
{
	uint32_t last = func->n_rows ? rows[func->n_rows - 1].start : 0;

	if (last <= UINT8_MAX)
		return SFRAME_FRE_TYPE_ADDR1;
	return last <= UINT16_MAX ? SFRAME_FRE_TYPE_ADDR2 : SFRAME_FRE_TYPE_ADDR4;
}

/* Flexible exactly when one of its rows needs it. */
static uint8_t fde_type_of(const struct sf_encoder *enc, const struct sf_func *func,
	const struct sf_row *rows)
{
	if (!enc->layout->has_flex || !enc->abi->has_flex)
		return SFRAME_FDE_TYPE_DEFAULT;
	for (uint32_t i = 0; i < func->n_rows; i++) {
		if (sf_row_needs_flex(enc->abi, &rows[i]))
			return SFRAME_FDE_TYPE_FLEX;
	}
	return SFRAME_FDE_TYPE_DEFAULT;
}

static bool refuse_row(const struct sf_encoder *enc, const struct sf_func *func,
	const struct sf_row *row, enum sf_cannot cannot, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED,
		"function at 0x%" PRIx64 ", row at +0x%" PRIx32
		": version %u cannot say %s (%s)",
		func->start, row->start, enc->layout->version, sf_cannot_text(cannot),
		enc->abi->name);
}

/* Appends to enc->rows all that the FRE sub-section holds of one function. */
static bool put_rows(struct sf_encoder *enc, const struct sf_func *func, uint8_t row_type,
	struct err *err)
{
	const struct sf_row *rows = rows_of(enc, func);
	uint8_t fde_type = fde_type_of(enc, func, rows);

	if (enc->layout->put_attr)
		enc->layout->put_attr(&enc->rows, func, row_type, fde_type);
	for (uint32_t i = 0; i < func->n_rows; i++) {
		enum sf_cannot cannot =
			sf_layout_can_say(enc->layout, enc->abi, &rows[i]);

		if (cannot == SF_CANNOT_OUTERMOST && enc->options->outermost &&
			enc->layout->outermost == SF_OUTERMOST_ON_REQUEST)
			cannot = SF_CAN;
		if (cannot != SF_CAN)
			return refuse_row(enc, func, &rows[i], cannot, err);
		sf_put_row(&enc->rows, enc->abi, &rows[i], row_type, fde_type);
	}
	return true;
}

/* NULL when the rows of function number i of the model have to be encoded. */
static const struct stored *find_stored(const struct sf_encoder *enc, size_t i)
{
	const struct sf_func *func = &enc->section->funcs[i], *first;
	const struct stored *stored;

	if (!enc->stored_at || func->n_rows == 0 || !enc->stored_at[func->first_row])
		return NULL;
	stored = &enc->stored[enc->stored_at[func->first_row] - 1];
	first = &enc->section->funcs[stored->func];
	return first->n_rows == func->n_rows && first->pcmask == func->pcmask &&
			       first->rep_size == func->rep_size &&
			       first->pauth_b == func->pauth_b &&
			       first->signal_frame == func->signal_frame
		       ? stored
		       : NULL;
}

/* The rows of function number i are the len bytes at off. */
static bool keep_stored(struct sf_encoder *enc, size_t i, size_t off, size_t len)
{
	struct stored stored = {.func = i};

	if (!enc->stored_at || enc->section->funcs[i].n_rows == 0 ||
		!num_u32(off, &stored.off) || !num_u32(len, &stored.len) ||
		enc->n_stored == UINT32_MAX)
		return true;
	if (!vec_reserve(&enc->stored, &enc->cap_stored, enc->n_stored + 1))
		return false;
	enc->stored[enc->n_stored++] = stored;
	enc->stored_at[enc->section->funcs[i].first_row] = (uint32_t)enc->n_stored;
	return true;
}

/* The FDE of a function whose rows begin at off. */
static bool put_func(struct sf_encoder *enc, const struct sf_func *func, uint8_t row_type,
	size_t off, struct err *err)
{
	uint32_t rows_off;

	if (!num_u32(off, &rows_off))
		return err_set(err, ERR_LIMIT,
			"function at 0x%" PRIx64
			": rows past the 4 GiB that the format can address",
			func->start);
	if (__builtin_add_overflow(enc->n_rows, func->n_rows, &enc->n_rows))
		return err_set(
			err, ERR_LIMIT, ".sframe: more rows than the format can count");
	enc->layout->put_func(enc->out, func, row_type, rows_off);
	return true;
}

/* Appends one function's rows, or finds them stored; its FDE is still to come. */
static bool encode_rows(struct sf_encoder *enc, const struct sf_func *func,
	uint8_t row_type, size_t *kept, struct err *err)
{
	size_t off = enc->rows.size, end;

	*kept = off;
	if (!put_rows(enc, func, row_type, err))
		return false;
	end = enc->rows.size;
	if (enc->rows.failed ||
		(enc->share && !sf_blocks_keep(&enc->blocks, &enc->rows, off, kept)))
		return err_set_nomem(err);
	enc->shared_away += end - enc->rows.size;
	return true;
}

/* Appends function number i of the model as it is. */
static bool encode_func(struct sf_encoder *enc, size_t i, struct err *err)
{
	const struct sf_func *func = &enc->section->funcs[i];
	uint8_t row_type = row_type_of(func, rows_of(enc, func));
	const struct stored *stored = find_stored(enc, i);
	size_t begin = enc->rows.size, away = enc->shared_away, kept;

	if (stored) {
		enc->shared_away += stored->len;
		return put_func(enc, func, row_type, stored->off, err);
	}
	if (!encode_rows(enc, func, row_type, &kept, err))
		return false;
	if (!keep_stored(enc, i, kept, enc->rows.size - begin + enc->shared_away - away))
		return err_set_nomem(err);
	return put_func(enc, func, row_type, kept, err);
}

static bool encode_funcs(struct sf_encoder *enc, struct err *err)
{
	for (size_t i = 0; i < enc->section->n_funcs; i++) {
		const struct sf_func *func = &enc->section->funcs[i];

		if (enc->layout->has_blocks || !func->pcmask) {
			if (!encode_func(enc, i, err))
				return false;
			continue;
		}
		for (uint32_t j = 0; j < n_stored(enc->layout, func); j++) {
			struct sf_func block = block_of(enc->section, func, j);
			uint8_t row_type = row_type_of(&block, rows_of(enc, &block));
			size_t kept;

			if (!encode_rows(enc, &block, row_type, &kept, err) ||
				!put_func(enc, &block, row_type, kept, err))
				return false;
		}
	}
	return true;
}

static bool encode_all(struct sf_encoder *enc, struct err *err)
{
	uint32_t row_len;

	if (enc->share && !sf_blocks_expect(&enc->blocks, enc->n_funcs))
		return err_set_nomem(err);
	wr_expect(enc->out, SFRAME_HDR_SIZE + (size_t)enc->index_len);
	wr_expect(&enc->rows, enc->section->n_rows * TYPICAL_ROW_SIZE);
	put_header(enc);
	if (!encode_funcs(enc, err))
		return false;
	if (!num_u32(enc->rows.size, &row_len))
		return err_set(err, ERR_LIMIT,
			".sframe: 0x%zx bytes of rows are more than the format can count",
			enc->rows.size);
	wr_bytes(enc->out, enc->rows.data, enc->rows.size);
	if (enc->out->failed)
		return err_set_nomem(err);
	wr_patch_u32(enc->out, SFRAME_HDR_NUM_FRES, enc->n_rows);
	wr_patch_u32(enc->out, SFRAME_HDR_FRE_LEN, row_len);
	return true;
}

static void encoder_deinit(struct sf_encoder *enc)
{
	wr_deinit(&enc->rows);
	sf_blocks_deinit(&enc->blocks);
	free(enc->stored_at);
	free(enc->stored);
	enc->stored_at = NULL;
	enc->stored = NULL;
}

/* Back to before the first row. */
static void forget(struct sf_encoder *enc)
{
	encoder_deinit(enc);
	wr_init(&enc->rows, enc->section->big_endian);
	enc->n_rows = 0;
	enc->shared_away = 0;
	enc->out->size = 0;
}

static bool encoder_init(struct sf_encoder *enc, const struct sf_section *section,
	const struct sf_encode_options *options, struct wr *out, struct err *err)
{
	*enc = (struct sf_encoder){.section = section,
		.options = options,
		.share = options->share,
		.out = out};
	wr_init(&enc->rows, section->big_endian);
	enc->layout = sf_layout_find(options->version);
	if (!enc->layout)
		return err_set(err, ERR_UNSUPPORTED,
			"SFrame version %u cannot be written", options->version);
	if (options->pcrel && !(enc->layout->flags & SFRAME_F_FDE_FUNC_START_PCREL))
		return err_set(err, ERR_UNSUPPORTED,
			"SFrame version %u has no starts relative to their field",
			options->version);
	enc->abi = sf_abi_find(section->abi);
	if (!enc->abi || options->version < enc->abi->since)
		return err_set(err, ERR_UNSUPPORTED,
			"SFrame version %u for ABI %u (%s) "
			"cannot be written",
			options->version, section->abi,
			enc->abi ? enc->abi->name : "unknown");
	if (options->share && section->n_rows)
		enc->stored_at = calloc(section->n_rows, sizeof(*enc->stored_at));
	if (options->share && section->n_rows && !enc->stored_at)
		return err_set_nomem(err);
	return true;
}

bool sf_encode(const struct sf_section *section, const struct sf_encode_options *options,
	struct wr *out, struct sf_encode_stats *stats, struct err *err)
{
	struct sf_encoder enc;
	bool ok;

	ok = encoder_init(&enc, section, options, out, err) &&
	     verify_section(&enc, err) && encode_all(&enc, err);
	/*
	 * So much sharing that a careful reader would take it for an attack: do
	 * without.
	 */
	if (ok && enc.n_rows / SF_ROWS_PER_BYTE_MAX >= out->size) {
		forget(&enc);
		enc.share = false;
		ok = encode_all(&enc, err);
	}
	if (ok && stats)
		*stats = (struct sf_encode_stats){
			.index_bytes = out->size - enc.rows.size,
			.row_bytes = enc.rows.size,
			.shared_away = enc.shared_away,
			.n_funcs = enc.n_funcs,
			.n_rows = enc.n_rows,
		};
	encoder_deinit(&enc);
	return ok;
}

bool sf_place(const struct sf_section *section, const struct sf_encode_options *options,
	uint64_t addr, struct wr *out, struct err *err)
{
	const struct sf_layout *layout = sf_layout_find(options->version);
	size_t off = SFRAME_HDR_SIZE;

	if (!layout || out->failed)
		return err_set(
			err, ERR_INTERNAL, ".sframe to place: not what sf_encode made");
	for (size_t i = 0; i < section->n_funcs; i++) {
		const struct sf_func *func = &section->funcs[i];
		uint64_t start = func->start, n = n_stored(layout, func);

		for (; n > 0; n--, off += layout->func_size, start += func->rep_size) {
			if (!num_range_inside(off, layout->func_size, out->size))
				return err_set(err, ERR_INTERNAL,
					".sframe to place: not what sf_encode made");
			if (!layout->put_start(
				    out, off, options->pcrel ? addr + off : addr, start))
				return err_set(err, ERR_LIMIT,
					"function at 0x%" PRIx64
					" is beyond the reach of .sframe at "
					"0x%" PRIx64,
					start, addr);
		}
	}
	return true;
}
