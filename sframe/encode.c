/* SPDX-License-Identifier: MIT */
/*
 * The writer: what all versions have in common. Differences between them are in the table
 * of layouts (layout.c).
 */
#include "sframe/encode.h"

#include <inttypes.h>

#include "base/num.h"
#include "sframe/encode_funcs.h"

struct sf_encoder {
	struct sf_encoding encoding;
	struct wr *out; /* borrowed; header and functions, finally the rows too */
	struct sf_encode_funcs funcs; /* owned */
	uint32_t n_funcs;	      /* as stored */
	uint32_t index_len;	      /* bytes of the FDE array */
	uint32_t n_rows;	      /* of all functions, however they are stored */
	size_t rows_size;	      /* bytes of the FRE sub-section */
	size_t shared_away;	      /* bytes */
};

/* Entries of PLTs that a version without blocks has as functions. Few bytes of a hostile file can say any number; real ones have 20,000. */
enum { MAX_BLOCKS = 1 << 20 };

static bool too_many_funcs(uint64_t n_funcs, struct err *err)
{
	return err_set(err, ERR_LIMIT,
	    ".sframe: %" PRIu64 " functions are too many to index", n_funcs);
}

/* False when the FDE array of so many functions has a length past its field. */
static bool index_fits(struct sf_encoder *enc, uint64_t n_funcs)
{
	uint64_t len;

	return !__builtin_mul_overflow(n_funcs, enc->encoding.layout->func_size, &len) &&
	       num_u32(len, &enc->index_len) && num_u32(n_funcs, &enc->n_funcs);
}

static bool verify_section(struct sf_encoder *enc, struct err *err)
{
	const struct sf_section *section = enc->encoding.section;
	uint64_t n_funcs = 0;

	if (!index_fits(enc, section->n_funcs))
		return too_many_funcs(section->n_funcs, err);
	if (section->big_endian != enc->encoding.abi->big_endian || enc->out->size != 0 ||
	    enc->out->big_endian != section->big_endian)
		return err_set(err, ERR_INTERNAL,
		    ".sframe to encode: wrong byte order, or not an empty buffer");
	if (section->fixed_fp_off != enc->encoding.abi->fixed_fp_off ||
	    section->fixed_ra_off != enc->encoding.abi->fixed_ra_off)
		return err_set(err, ERR_INTERNAL,
		    ".sframe to encode: the fixed offsets are not the ABI's");
	for (size_t i = 0; i < section->n_funcs; i++)
		n_funcs += sf_stored_funcs(enc->encoding.layout, &section->funcs[i]);
	return (n_funcs - section->n_funcs <= MAX_BLOCKS && index_fits(enc, n_funcs)) ||
	       too_many_funcs(n_funcs, err);
}

/*
 * The two sub-sections follow the header without a gap, fdeoff 0: glibc looks at neither
 * offset and takes that for granted.
 */
static void encode_put_header(struct sf_encoder *enc)
{
	const struct sf_section *section = enc->encoding.section;
	uint8_t flags = enc->encoding.options->unsorted ? 0 : SFRAME_F_FDE_SORTED;

	if (enc->encoding.options->pcrel)
		flags |= SFRAME_F_FDE_FUNC_START_PCREL;
	wr_u16(enc->out, SFRAME_MAGIC);
	wr_u8(enc->out, enc->encoding.layout->version);
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

/*
 * Encodes the rows of all functions. Blocks that others begin with go. Where an attribute stands before
 * the rows, it counts them, so that no block begins with another one.
 */
static bool encode_rows(struct sf_encoder *enc, struct err *err)
{
	struct sf_encode_funcs *funcs = &enc->funcs;

	funcs->encoding = &enc->encoding;
	if (!sf_encode_funcs_run(funcs, err))
		return false;
	if (enc->encoding.share && !enc->encoding.layout->put_attr &&
	    !sf_blocks_fold(&funcs->blocks, &funcs->rows))
		return err_set_nomem(err);
	enc->rows_size = funcs->rows.size;
	enc->shared_away = (size_t)(funcs->n_bytes - funcs->rows.size);
	return num_u32(funcs->n_rows, &enc->n_rows) ||
	       err_set(err, ERR_LIMIT, ".sframe: more rows than the format can count");
}

static bool encode_all(struct sf_encoder *enc, struct err *err)
{
	const struct wr *rows = &enc->funcs.rows;
	uint32_t row_len;

	if (!encode_rows(enc, err))
		return false;
	wr_expect(enc->out, SFRAME_HDR_SIZE + (size_t)enc->index_len + rows->size);
	encode_put_header(enc);
	if (!sf_encode_funcs_index(&enc->funcs, enc->out, err))
		return false;
	if (!num_u32(rows->size, &row_len))
		return err_set(err, ERR_LIMIT,
		    ".sframe: 0x%zx bytes of rows are more than the format can count",
		    rows->size);
	wr_bytes(enc->out, rows->data, rows->size);
	if (enc->out->failed)
		return err_set_nomem(err);
	wr_patch_u32(enc->out, SFRAME_HDR_NUM_FRES, enc->n_rows);
	wr_patch_u32(enc->out, SFRAME_HDR_FRE_LEN, row_len);
	return true;
}

static bool encoder_init(struct sf_encoder *enc, const struct sf_section *section,
    const struct sf_encode_options *options, struct wr *out, struct err *err)
{
	const struct sf_layout *layout = sf_layout_find(options->version);
	const struct sf_abi *abi = sf_abi_find(section->abi);

	*enc = (struct sf_encoder){
	    .encoding = {section, options, abi, layout, options->share}, .out = out};
	if (!layout)
		return err_set(err, ERR_UNSUPPORTED,
		    "SFrame version %u cannot be written", options->version);
	if (options->pcrel && !(layout->flags & SFRAME_F_FDE_FUNC_START_PCREL))
		return err_set(err, ERR_UNSUPPORTED,
		    "SFrame version %u has no starts relative to their field",
		    options->version);
	if (!abi || options->version < abi->since)
		return err_set(err, ERR_UNSUPPORTED,
		    "SFrame version %u for ABI %u (%s) "
		    "cannot be written",
		    options->version, section->abi, abi ? abi->name : "unknown");
	return true;
}

bool sf_encode(const struct sf_section *section, const struct sf_encode_options *options,
    struct wr *out, struct sf_encode_stats *stats, struct err *err)
{
	struct sf_encoder enc;
	bool ok;

	ok = encoder_init(&enc, section, options, out, err) &&
	     verify_section(&enc, err) && encode_all(&enc, err);
	/* Does without sharing where a careful reader would take so much of it for an attack. */
	if (ok && enc.n_rows / SF_ROWS_PER_BYTE_MAX >= out->size) {
		sf_encode_funcs_deinit(&enc.funcs);
		out->size = 0;
		enc.encoding.share = false;
		ok = encode_all(&enc, err);
	}
	if (ok && stats)
		*stats = (struct sf_encode_stats){
		    .index_bytes = out->size - enc.rows_size,
		    .row_bytes = enc.rows_size,
		    .shared_away = enc.shared_away,
		    .n_funcs = enc.n_funcs,
		    .n_rows = enc.n_rows,
		};
	sf_encode_funcs_deinit(&enc.funcs);
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
		uint64_t start = func->start, n = sf_stored_funcs(layout, func);

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
