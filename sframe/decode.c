/* SPDX-License-Identifier: MIT */
/*
 * The reader of versions 1 and 2. It is apart from the writer so that a proof by decoding
 * shares no code with what it proves, the constants excepted.
 */
#include "sframe/decode.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "base/rd.h"
#include "sframe/format.h"

/* Bits of func_info that versions 1 and 2 define. */
#define FUNC_INFO_DEFINED                                                                \
	(SFRAME_FUNC_INFO_FRE_TYPE_MASK | SFRAME_FUNC_INFO_PCMASK |                      \
		SFRAME_FUNC_INFO_PAUTH_KEY_B)

/* CFA, RA, FP. */
enum { MAX_WORDS = 3 };

static bool find_byte_order(
	const void *data, size_t size, bool *big_endian, struct err *err)
{
	struct rd rd;
	uint16_t magic;

	rd_init(&rd, data, size, false);
	magic = rd_u16(&rd);
	if (size < SFRAME_HDR_SIZE)
		return err_set(err, ERR_MALFORMED,
			".sframe: 0x%zx bytes are too few for a header", size);
	if (magic != SFRAME_MAGIC && magic != __builtin_bswap16(SFRAME_MAGIC))
		return err_set(err, ERR_MALFORMED,
			".sframe+0x0: 0x%04x is not the magic number", magic);
	*big_endian = magic != SFRAME_MAGIC;
	return true;
}

static bool read_version(struct sf_view *view, struct rd *rd, struct err *err)
{
	view->version = rd_u8(rd);
	switch (view->version) {
	case SFRAME_VERSION_1:
		view->func_size = SFRAME_V1_FDE_SIZE;
		return true;
	case SFRAME_VERSION_2:
		view->func_size = SFRAME_V2_FDE_SIZE;
		return true;
	default:
		return err_set(err, ERR_UNSUPPORTED,
			".sframe+0x%x: no reader for version %u", SFRAME_HDR_VERSION,
			view->version);
	}
}

/*
 * Both sub-sections inside the section, and the rows not before the end of the
 * functions.
 */
static bool check_layout(const struct sf_view *view, struct err *err)
{
	uint64_t funcs_len = (uint64_t)view->n_funcs * view->func_size;

	if (!num_range_inside(view->func_off, funcs_len, view->size))
		return err_set(err, ERR_MALFORMED,
			".sframe: %" PRIu32 " functions at 0x%" PRIx64
			" pass the section's end at 0x%zx",
			view->n_funcs, view->func_off, view->size);
	if (!num_range_inside(view->row_off, view->row_len, view->size))
		return err_set(err, ERR_MALFORMED,
			".sframe: 0x%" PRIx32 " bytes of rows at 0x%" PRIx64
			" pass the section's end at 0x%zx",
			view->row_len, view->row_off, view->size);
	if (view->row_off < view->func_off + funcs_len)
		return err_set(err, ERR_MALFORMED,
			".sframe: rows at 0x%" PRIx64
			" begin before the functions end at 0x%" PRIx64,
			view->row_off, view->func_off + funcs_len);
	return true;
}

/*
 * Shared rows count once for each function, so the counts of the functions, not only the
 * header's, bound a reader's work.
 */
static bool check_work(const struct sf_view *view, struct err *err)
{
	uint64_t limit = (uint64_t)view->size * SF_ROWS_PER_BYTE_MAX, total = 0;
	struct rd rd;

	rd_init(&rd, view->data, view->size, view->big_endian);
	for (uint32_t i = 0; i < view->n_funcs; i++) {
		rd.pos = (size_t)view->func_off + (size_t)i * view->func_size +
			 SFRAME_FDE_FUNC_NUM_FRES;
		total += rd_u32(&rd);
	}
	if (total < view->n_rows)
		total = view->n_rows;
	if (total > limit)
		return err_set(err, ERR_LIMIT,
			".sframe: %" PRIu64 " rows in 0x%zx bytes, more than %d per byte",
			total, view->size, SF_ROWS_PER_BYTE_MAX);
	return true;
}

bool sf_view_open(const void *data, size_t size, uint64_t addr, struct sf_view *view,
	struct err *err)
{
	struct rd rd;
	uint32_t fdeoff, freoff;
	uint64_t header_end;

	*view = (struct sf_view){.data = data, .size = size, .addr = addr};
	if (!find_byte_order(data, size, &view->big_endian, err))
		return false;
	rd_init(&rd, data, size, view->big_endian);
	rd.pos = SFRAME_HDR_VERSION;
	if (!read_version(view, &rd, err))
		return false;
	view->flags = rd_u8(&rd);
	view->abi = rd_u8(&rd);
	view->fixed_fp_off = rd_s8(&rd);
	view->fixed_ra_off = rd_s8(&rd);
	view->auxhdr_len = rd_u8(&rd);
	view->n_funcs = rd_u32(&rd);
	view->n_rows = rd_u32(&rd);
	view->row_len = rd_u32(&rd);
	fdeoff = rd_u32(&rd);
	freoff = rd_u32(&rd);
	header_end = SFRAME_HDR_SIZE + (uint64_t)view->auxhdr_len;
	view->func_off = header_end + fdeoff;
	view->row_off = header_end + freoff;
	return check_layout(view, err) && check_work(view, err);
}

/* The least bytes a row can have: its start field and its info byte. */
static uint64_t least_row_size(uint8_t row_type)
{
	return (UINT64_C(1) << row_type) + 1;
}

/*
 * What the info byte and the place of the rows must satisfy for the rows to be readable
 * at all.
 */
static bool check_func(const struct sf_view *view, const struct sf_view_func *ret,
	uint8_t info, struct err *err)
{
	if (info & ~FUNC_INFO_DEFINED)
		return err_set(err, ERR_MALFORMED,
			".sframe+0x%" PRIx64
			": info byte 0x%02x has bits that version %u does not define",
			ret->field_off + SFRAME_FDE_FUNC_INFO, info, view->version);
	if (ret->row_type > SFRAME_FRE_TYPE_ADDR4)
		return err_set(err, ERR_MALFORMED,
			".sframe+0x%" PRIx64 ": there is no row type %u",
			ret->field_off + SFRAME_FDE_FUNC_INFO, ret->row_type);
	if (!num_range_inside(ret->rows_off,
		    ret->func.n_rows * least_row_size(ret->row_type), view->row_len))
		return err_set(err, ERR_MALFORMED,
			".sframe+0x%" PRIx64 ": %" PRIu32 " rows at row offset 0x%" PRIx32
			" cannot fit in 0x%" PRIx32 " bytes of rows",
			ret->field_off, ret->func.n_rows, ret->rows_off, view->row_len);
	return true;
}

bool sf_view_func(const struct sf_view *view, uint32_t i, struct sf_view_func *func,
	struct err *err)
{
	struct sf_view_func ret = {0};
	struct rd rd;
	uint64_t base;
	uint8_t info;

	if (i >= view->n_funcs)
		return err_set(err, ERR_INTERNAL,
			".sframe: no function %" PRIu32 " of %" PRIu32, i, view->n_funcs);
	ret.field_off = view->func_off + (uint64_t)i * view->func_size;
	rd_init(&rd, view->data, view->size, view->big_endian);
	rd.pos = (size_t)ret.field_off;
	base = view->addr;
	if (view->version >= SFRAME_VERSION_2 &&
		(view->flags & SFRAME_F_FDE_FUNC_START_PCREL))
		base += ret.field_off;
	/* Unsigned, so that a start below the section is reached by wrapping around. */
	ret.func.start = base + (uint64_t)(int64_t)rd_s32(&rd);
	ret.func.size = rd_u32(&rd);
	ret.rows_off = rd_u32(&rd);
	ret.func.n_rows = rd_u32(&rd);
	info = rd_u8(&rd);
	if (view->version >= SFRAME_VERSION_2)
		ret.func.rep_size = rd_u8(&rd);
	if (rd.failed)
		return err_set(err, ERR_INTERNAL, ".sframe+0x%zx: unchecked layout",
			rd.fail_off);
	ret.row_type = info & SFRAME_FUNC_INFO_FRE_TYPE_MASK;
	ret.func.pcmask = info & SFRAME_FUNC_INFO_PCMASK;
	ret.func.pauth_b = info & SFRAME_FUNC_INFO_PAUTH_KEY_B;
	if (!check_func(view, &ret, info, err))
		return false;
	*func = ret;
	return true;
}

void sf_rows_begin(const struct sf_view *view, const struct sf_view_func *func,
	struct sf_row_iter *iter)
{
	*iter = (struct sf_row_iter){
		.view = view,
		.abi = sf_abi_find(view->abi),
		.off = view->row_off + func->rows_off,
		.left = func->func.n_rows,
		.row_type = func->row_type,
	};
}

/* An unsigned integer of 1, 2 or 4 bytes, all of which are there. */
static inline uint32_t load(const uint8_t *p, unsigned int width, bool big_endian)
{
	uint32_t v32;
	uint16_t v16;

	if (width == 1)
		return *p;
	if (width == 2) {
		memcpy(&v16, p, sizeof(v16));
		return big_endian ? be16toh(v16) : le16toh(v16);
	}
	memcpy(&v32, p, sizeof(v32));
	return big_endian ? be32toh(v32) : le32toh(v32);
}

static inline int32_t load_signed(const uint8_t *p, unsigned int width, bool big_endian)
{
	uint32_t v = load(p, width, big_endian);

	if (width == 1)
		return (int8_t)v;
	return width == 2 ? (int16_t)v : (int32_t)v;
}

/*
 * A save rule of s390x: the slot at cfa + word, or the register that word >> 1 numbers.
 */
static bool s390x_loc(int32_t word, struct sf_loc *loc, int32_t *off)
{
	uint32_t reg = (uint32_t)word >> 1;

	if (!(word & 1)) {
		*loc = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		*off = word;
		return true;
	}
	if (reg > SF_REG_MAX)
		return false;
	*loc = (struct sf_loc){.kind = SF_LOC_REG, .reg = (uint8_t)reg};
	return true;
}

/* Puts s390x's own meaning on words already in row as plain offsets. */
static bool s390x_adjust(struct sf_row *row)
{
	bool has_ra = row->ra.kind != SF_LOC_NONE, has_fp = row->fp.kind != SF_LOC_NONE;
	int32_t ra = row->ra_off, fp = row->fp_off;

	if (__builtin_mul_overflow(row->cfa_off, SFRAME_S390X_CFA_SCALE, &row->cfa_off) ||
		__builtin_add_overflow(
			row->cfa_off, SFRAME_S390X_SP_VAL_OFFSET, &row->cfa_off))
		return false;
	row->ra = row->fp = (struct sf_loc){0};
	row->ra_off = row->fp_off = 0;
	/* An RA word of 0 only keeps the place before the FP word. */
	if (has_ra && ra != 0 && !s390x_loc(ra, &row->ra, &row->ra_off))
		return false;
	return !has_fp || s390x_loc(fp, &row->fp, &row->fp_off);
}

/*
 * The words of a row in the order CFA, RA, FP, without those the header fixes. False when
 * there are more than that, or none in version 1, which has no outermost frames.
 */
static bool row_from_words(const struct sf_view *view, const struct sf_abi *abi,
	uint8_t info, const int32_t *words, unsigned int n_words, struct sf_row *row)
{
	unsigned int used = 1;
	uint8_t reg;

	/* Members one by one, and in place: a copy right after small writes makes the
	   processor wait for them, which was half of the time spent here. */
	row->cfa = row->ra = row->fp = (struct sf_loc){0};
	row->cfa_off = row->ra_off = row->fp_off = 0;
	row->ra_signed = row->outermost = false;
	if (n_words == 0) {
		row->outermost = true;
		return view->version >= SFRAME_VERSION_2;
	}
	row->ra_signed = (info & SFRAME_FRE_INFO_MANGLED_RA) != 0;
	reg = info & SFRAME_FRE_INFO_BASE_REG ? abi->sp : abi->fp;
	row->cfa = (struct sf_loc){.kind = SF_LOC_REG, .reg = reg};
	row->cfa_off = words[0];
	if (view->fixed_ra_off == 0 && used < n_words) {
		row->ra = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		row->ra_off = words[used++];
	}
	if (view->fixed_fp_off == 0 && used < n_words) {
		row->fp = (struct sf_loc){.kind = SF_LOC_AT_CFA};
		row->fp_off = words[used++];
	}
	if (used < n_words)
		return false;
	return abi->id != SFRAME_ABI_S390X_ENDIAN_BIG || s390x_adjust(row);
}

static bool iter_fail(struct sf_row_iter *iter, struct err *err, const char *what)
{
	iter->failed = true;
	iter->left = 0;
	return err_set(err, ERR_MALFORMED, ".sframe+0x%" PRIx64 ": %s", iter->off, what);
}

bool sf_rows_next(struct sf_row_iter *iter, struct sf_row *row, struct err *err)
{
	const struct sf_view *view = iter->view;
	unsigned int start_width = 1u << iter->row_type, width, n_words;
	int32_t words[MAX_WORDS];
	const uint8_t *p;
	uint64_t left;
	uint8_t info;

	if (iter->left == 0)
		return false;
	if (!iter->abi) {
		iter->failed = true;
		return err_set(err, ERR_UNSUPPORTED, ".sframe+0x%x: no rules for ABI %u",
			SFRAME_HDR_ABI_ARCH, view->abi);
	}
	/* Ends where the rows do, not where the section does. */
	left = view->row_off + view->row_len - iter->off;
	if (left < start_width + 1)
		return iter_fail(iter, err, "the row passes the end of the rows");
	p = view->data + iter->off;
	row->start = load(p, start_width, view->big_endian);
	info = p[start_width];
	p += start_width + 1;
	n_words = info >> SFRAME_FRE_INFO_COUNT_SHIFT & SFRAME_FRE_INFO_COUNT_MASK;
	width = info >> SFRAME_FRE_INFO_SIZE_SHIFT & SFRAME_FRE_INFO_SIZE_MASK;
	if (width > SFRAME_FRE_OFFSET_4B)
		return iter_fail(iter, err, "the row's words have no size");
	if (n_words > MAX_WORDS)
		return iter_fail(iter, err, "the row has too many words");
	width = 1u << width;
	if (left - start_width - 1 < (uint64_t)n_words * width)
		return iter_fail(iter, err, "the row passes the end of the rows");
	for (unsigned int i = 0; i < n_words; i++, p += width)
		words[i] = load_signed(p, width, view->big_endian);
	if (!row_from_words(view, iter->abi, info, words, n_words, row))
		return iter_fail(iter, err, "the row's words mean nothing for the ABI");
	iter->off = (uint64_t)(p - view->data);
	iter->left--;
	return true;
}
