/* SPDX-License-Identifier: MIT */
/*
 * Version 2 as written: 20-byte FDEs, rows of a start, an info byte and one to three
 * words.
 */
#include "sframe/layout.h"

#include <inttypes.h>

#include "base/num.h"

/* CFA, RA, FP. */
enum { MAX_WORDS = 3, MAX_ROW_SIZE = 4 + 1 + 4 * MAX_WORDS };

static const struct sf_row *rows_of(
	const struct sf_encoder *enc, const struct sf_func *func)
{
	return enc->section->rows + func->first_row;
}

/* The narrowest start field that holds the function's last row. */
static uint8_t row_type_of(const struct sf_encoder *enc, const struct sf_func *func)
{
	uint32_t last = rows_of(enc, func)[func->n_rows - 1].start;

	if (last <= UINT8_MAX)
		return SFRAME_FRE_TYPE_ADDR1;
	return last <= UINT16_MAX ? SFRAME_FRE_TYPE_ADDR2 : SFRAME_FRE_TYPE_ADDR4;
}

static bool refuse_row(const struct sf_func *func, const struct sf_row *row,
	const char *what, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED,
		"function at 0x%" PRIx64 ", row at +0x%" PRIx32
		": version 2 cannot say %s",
		func->start, row->start, what);
}

/* Finds the words of a row and how many. NULL, or else what the version cannot say. */
static const char *words_v2(const struct sf_encoder *enc, const struct sf_row *row,
	int32_t words[MAX_WORDS], unsigned int *n_words)
{
	bool ra_has_words = enc->section->fixed_ra_off == 0;
	bool fp_has_words = enc->section->fixed_fp_off == 0;
	unsigned int n = 0;

	if (row->cfa.kind != SF_LOC_REG ||
		(row->cfa.reg != enc->abi->sp && row->cfa.reg != enc->abi->fp))
		return "a CFA that is neither SP nor FP plus an offset";
	words[n++] = row->cfa_off;
	if (row->ra.kind != SF_LOC_NONE) {
		if (!ra_has_words)
			return "an RA that is not where the header fixes it";
		if (row->ra.kind != SF_LOC_AT_CFA)
			return "an RA that is not in memory at an offset from the CFA";
		words[n++] = row->ra_off;
	}
	if (row->fp.kind != SF_LOC_NONE) {
		if (!fp_has_words)
			return "an FP that is not where the header fixes it";
		if (row->fp.kind != SF_LOC_AT_CFA)
			return "an FP that is not in memory at an offset from the CFA";
		if (ra_has_words && row->ra.kind == SF_LOC_NONE)
			return "that FP is saved and RA is not";
		words[n++] = row->fp_off;
	}
	if (row->ra_signed && !enc->abi->has_pauth)
		return "a signed RA on an ABI without pointer authentication";
	*n_words = n;
	return NULL;
}

/* The narrowest word that holds every one of them. */
static uint8_t word_size_code(const int32_t *words, unsigned int n)
{
	uint8_t code = SFRAME_FRE_OFFSET_1B;

	for (unsigned int i = 0; i < n; i++) {
		if (words[i] < INT16_MIN || words[i] > INT16_MAX)
			return SFRAME_FRE_OFFSET_4B;
		if (words[i] < INT8_MIN || words[i] > INT8_MAX)
			code = SFRAME_FRE_OFFSET_2B;
	}
	return code;
}

/* The low 1 << size_code bytes of v, which the caller has seen to hold it. */
static uint8_t *put_sized(uint8_t *p, uint32_t v, uint8_t size_code, bool big_endian)
{
	unsigned int width = 1u << size_code;

	for (unsigned int i = 0; i < width; i++)
		p[big_endian ? width - 1 - i : i] = v >> 8 * i & UINT8_MAX;
	return p + width;
}

/* Puts the row together apart and appends it in one step: there may be millions. */
static void put_row(struct wr *wr, const struct sf_row *row, uint8_t row_type,
	uint8_t info, const int32_t *words, unsigned int n_words)
{
	uint8_t size_code = word_size_code(words, n_words);
	uint8_t bytes[MAX_ROW_SIZE], *p = bytes;

	p = put_sized(p, row->start, row_type, wr->big_endian);
	*p++ = (uint8_t)(info | n_words << SFRAME_FRE_INFO_COUNT_SHIFT |
			 size_code << SFRAME_FRE_INFO_SIZE_SHIFT);
	for (unsigned int i = 0; i < n_words; i++)
		p = put_sized(p, (uint32_t)words[i], size_code, wr->big_endian);
	wr_bytes(wr, bytes, (size_t)(p - bytes));
}

/* An outermost row is an info byte of 0: no words, and so no base and no size. */
static bool put_rows_v2(
	struct sf_encoder *enc, const struct sf_func *func, struct err *err)
{
	const struct sf_row *rows = rows_of(enc, func);
	uint8_t row_type = row_type_of(enc, func);

	for (uint32_t i = 0; i < func->n_rows; i++) {
		const struct sf_row *row = &rows[i];
		int32_t words[MAX_WORDS] = {0};
		unsigned int n_words = 0;
		uint8_t info = 0;
		const char *unsaid;

		if (!row->outermost) {
			unsaid = words_v2(enc, row, words, &n_words);
			if (unsaid)
				return refuse_row(func, row, unsaid, err);
			if (row->cfa.reg == enc->abi->sp)
				info |= SFRAME_FRE_INFO_BASE_REG;
			if (row->ra_signed)
				info |= SFRAME_FRE_INFO_MANGLED_RA;
		}
		put_row(&enc->rows, row, row_type, info, words, n_words);
	}
	return true;
}

/* A signal frame is not marked: that bit is version 3's. */
static void put_func_v2(
	struct sf_encoder *enc, const struct sf_func *func, uint32_t rows_off)
{
	uint8_t info = row_type_of(enc, func);

	if (func->pcmask)
		info |= SFRAME_FUNC_INFO_PCMASK;
	if (func->pauth_b)
		info |= SFRAME_FUNC_INFO_PAUTH_KEY_B;
	wr_u32(enc->out, 0);
	wr_u32(enc->out, func->size);
	wr_u32(enc->out, rows_off);
	wr_u32(enc->out, func->n_rows);
	wr_u8(enc->out, info);
	wr_u8(enc->out, func->rep_size);
	wr_u16(enc->out, 0);
}

static bool put_start_s32(struct wr *out, size_t off, uint64_t base, uint64_t start)
{
	int32_t distance;

	if (!num_distance_s32(base, start, &distance))
		return false;
	wr_patch_u32(out, off, (uint32_t)distance);
	return true;
}

const struct sf_layout sf_layout_v2 = {
	.version = SFRAME_VERSION_2,
	.func_size = SFRAME_V2_FDE_SIZE,
	.flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
	.put_rows = put_rows_v2,
	.put_func = put_func_v2,
	.put_start = put_start_s32,
};
