/* SPDX-License-Identifier: MIT */
/*
 * The writer: what all versions have in common. Differences between them are in the table
 * of layouts (layout.c).
 */
#include "sframe/encode.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/task.h"
#include "sframe/encode_part.h"

/* Functions that are worth a thread. */
enum { PART_FUNCS = 4096 };

struct sf_encoder {
	struct sf_encoding encoding;
	struct wr *out; /* borrowed; header and functions, finally the rows too */
	struct sf_encode_part *parts; /* owned */
	size_t n_parts;
	uint32_t n_funcs;   /* as stored */
	uint32_t index_len; /* bytes of the FDE array */
	uint32_t n_rows;    /* of all functions, however they are stored */
	size_t rows_size;   /* bytes of the FRE sub-section */
	size_t shared_away; /* bytes */
};

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
	return index_fits(enc, n_funcs) || too_many_funcs(n_funcs, err);
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
 * Parts of about the same work: that of a function that repeats the rows of one before it
 * is as small as that of one row.
 */
static void encode_divide(struct sf_encoder *enc)
{
	const struct sf_section *section = enc->encoding.section;
	uint64_t all = (uint64_t)section->n_funcs + section->n_rows;
	size_t rows_met = 0, at = 0;

	for (size_t i = 0; i < section->n_funcs && at + 1 < enc->n_parts; i++) {
		const struct sf_func *func = &section->funcs[i];
		size_t end = func->first_row + func->n_rows;

		rows_met = end > rows_met ? end : rows_met;
		if (i + rows_met < all / enc->n_parts * (at + 1))
			continue;
		enc->parts[at].last = i;
		enc->parts[++at].first = i;
	}
	for (; at + 1 < enc->n_parts; at++)
		enc->parts[at].last = enc->parts[at + 1].first = section->n_funcs;
	enc->parts[at].last = section->n_funcs;
}

/* All functions in parts, at the same time. */
static bool encode_parts(struct sf_encoder *enc, struct err *err)
{
	size_t n_funcs = enc->encoding.section->n_funcs, n = n_funcs / PART_FUNCS;

	if (n > enc->encoding.options->jobs)
		n = enc->encoding.options->jobs;
	if (n == 0)
		n = 1;
	enc->parts = calloc(n, sizeof(*enc->parts));
	if (!enc->parts)
		return err_set_nomem(err);
	enc->n_parts = n;
	for (size_t i = 0; i < n; i++)
		enc->parts[i].encoding = &enc->encoding;
	encode_divide(enc);
	task_run_all(sf_encode_part_run, enc->parts, sizeof(*enc->parts), n);
	for (size_t i = 0; i < n; i++) {
		free(enc->parts[i].func_of_rows);
		enc->parts[i].func_of_rows = NULL;
	}
	for (size_t i = 0; i < n; i++) {
		if (enc->parts[i].ok)
			continue;
		*err = enc->parts[i].err;
		return false;
	}
	return true;
}

/*
 * Blocks that others begin with go. Where an attribute stands before the rows, it counts
 * them, so that no block begins with another one.
 */
static bool fold_blocks(struct sf_encoder *enc)
{
	struct sf_encode_part *all = &enc->parts[0];

	if (enc->encoding.share && !enc->encoding.layout->put_attr &&
	    !sf_blocks_fold(&all->blocks, &all->rows))
		return false;
	for (size_t i = 1; i < enc->n_parts; i++) {
		struct sf_blocks *blocks = &enc->parts[i].blocks;

		for (size_t j = 0; j < blocks->n; j++)
			blocks->list[j].off = all->blocks.list[blocks->list[j].off].off;
	}
	return true;
}

/*
 * The blocks of all parts as those of the first, whose lists then say where in its bytes
 * they are. In the order of the functions, a block comes up for the first time where it
 * would without parts.
 */
static bool encode_join_parts(struct sf_encoder *enc, struct err *err)
{
	struct sf_encode_part *all = &enc->parts[0];
	uint64_t n_bytes = all->n_bytes, n_rows = all->n_rows;

	for (size_t i = 1; i < enc->n_parts; i++) {
		struct sf_encode_part *part = &enc->parts[i];

		/* By index, for blocks may move yet. */
		if (!sf_blocks_join(&all->blocks, &all->rows, &part->blocks, &part->rows))
			return err_set_nomem(err);
		n_bytes += part->n_bytes;
		n_rows += part->n_rows;
		wr_deinit(&part->rows);
	}
	if (!fold_blocks(enc))
		return err_set_nomem(err);
	enc->rows_size = all->rows.size;
	enc->shared_away = (size_t)(n_bytes - all->rows.size);
	return num_u32(n_rows, &enc->n_rows) ||
	       err_set(err, ERR_LIMIT, ".sframe: more rows than the format can count");
}

static bool encode_all(struct sf_encoder *enc, struct err *err)
{
	const struct wr *rows;
	uint32_t row_len;

	if (!encode_parts(enc, err) || !encode_join_parts(enc, err))
		return false;
	rows = &enc->parts[0].rows;
	wr_expect(enc->out, SFRAME_HDR_SIZE + (size_t)enc->index_len + rows->size);
	encode_put_header(enc);
	for (size_t i = 0; i < enc->n_parts; i++)
		if (!sf_encode_part_index(&enc->parts[i], enc->out, err))
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

static void encoder_deinit(struct sf_encoder *enc)
{
	for (size_t i = 0; i < enc->n_parts; i++)
		sf_encode_part_deinit(&enc->parts[i]);
	free(enc->parts);
	enc->parts = NULL;
	enc->n_parts = 0;
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
		encoder_deinit(&enc);
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
