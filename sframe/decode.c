/* SPDX-License-Identifier: MIT */
/*
 * The reader: header and functions, of any version. It is apart from the writer so that a
 * proof by decoding shares no code with what it proves, the constants excepted.
 */
#include "sframe/decode.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/rd.h"
#include "sframe/format.h"

/* Bits of func_info that every version defines. */
#define FUNC_INFO_DEFINED                                                                \
	(SFRAME_FUNC_INFO_FRE_TYPE_MASK | SFRAME_FUNC_INFO_PCMASK |                      \
		SFRAME_FUNC_INFO_PAUTH_KEY_B)

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
	case SFRAME_VERSION_3:
		view->func_size = SFRAME_V3_FDE_SIZE;
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

/* The row count of function i; 0 when it is out of reach, which sf_view_func reports. */
static uint32_t count_rows(const struct sf_view *view, uint32_t i)
{
	uint64_t off = view->func_off + (uint64_t)i * view->func_size;
	uint32_t attr_off;
	struct rd rd;

	rd_init(&rd, view->data, view->size, view->big_endian);
	if (view->version < SFRAME_VERSION_3) {
		rd.pos = (size_t)off + SFRAME_FDE_FUNC_NUM_FRES;
		return rd_u32(&rd);
	}
	rd.pos = (size_t)off + SFRAME_V3_FDE_FUNC_START_FRE_OFF;
	attr_off = rd_u32(&rd);
	if (!num_range_inside(attr_off, SFRAME_V3_ATTR_SIZE, view->row_len))
		return 0;
	rd.pos = (size_t)(view->row_off + attr_off) + SFRAME_V3_ATTR_FUNC_NUM_FRES;
	return rd_u16(&rd);
}

/*
 * Shared rows count once for each function, so the counts of the functions, not only the
 * header's, bound a reader's work.
 */
static bool check_work(const struct sf_view *view, struct err *err)
{
	uint64_t limit = (uint64_t)view->size * SF_ROWS_PER_BYTE_MAX, total = 0;

	for (uint32_t i = 0; i < view->n_funcs; i++)
		total += count_rows(view, i);
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
 * What the info byte, at info_off, and the place of the rows must satisfy for the rows to
 * be readable at all.
 */
static bool check_func(const struct sf_view *view, const struct sf_view_func *func,
	uint64_t info_off, uint8_t info, struct err *err)
{
	unsigned int defined = FUNC_INFO_DEFINED;

	if (view->version >= SFRAME_VERSION_3)
		defined |= SFRAME_FUNC_INFO_SIGNAL;
	if (info & ~defined)
		return err_set(err, ERR_MALFORMED,
			".sframe+0x%" PRIx64
			": info byte 0x%02x has bits that version %u does not define",
			info_off, info, view->version);
	if (func->row_type > SFRAME_FRE_TYPE_ADDR4)
		return err_set(err, ERR_MALFORMED,
			".sframe+0x%" PRIx64 ": there is no row type %u", info_off,
			func->row_type);
	if (!num_range_inside(func->rows_off,
		    func->func.n_rows * least_row_size(func->row_type), view->row_len))
		return err_set(err, ERR_MALFORMED,
			".sframe+0x%" PRIx64 ": %" PRIu32 " rows at row offset 0x%" PRIx32
			" cannot fit in 0x%" PRIx32 " bytes of rows",
			func->field_off, func->func.n_rows, func->rows_off,
			view->row_len);
	return true;
}

static void set_info(struct sf_view_func *func, uint8_t info)
{
	func->row_type = info & SFRAME_FUNC_INFO_FRE_TYPE_MASK;
	func->func.pcmask = info & SFRAME_FUNC_INFO_PCMASK;
	func->func.pauth_b = info & SFRAME_FUNC_INFO_PAUTH_KEY_B;
	func->func.signal_frame = info & SFRAME_FUNC_INFO_SIGNAL;
}

/* Unsigned, so that a start below the section is reached by wrapping around. */
static uint64_t start_base(const struct sf_view *view, uint64_t field_off)
{
	/* In version 1 the bit means nothing. */
	if (view->version >= SFRAME_VERSION_2 &&
		(view->flags & SFRAME_F_FDE_FUNC_START_PCREL))
		return view->addr + field_off;
	return view->addr;
}

/* A 17 or 20-byte FDE of version 1 or 2. */
static bool read_func(const struct sf_view *view, struct rd *rd, struct sf_view_func *ret,
	struct err *err)
{
	uint64_t base = start_base(view, ret->field_off);
	uint8_t info;

	ret->func.start = base + (uint64_t)(int64_t)rd_s32(rd);
	ret->func.size = rd_u32(rd);
	ret->rows_off = rd_u32(rd);
	ret->func.n_rows = rd_u32(rd);
	info = rd_u8(rd);
	set_info(ret, info);
	if (view->version >= SFRAME_VERSION_2)
		ret->func.rep_size = rd_u8(rd);
	else if (ret->func.pcmask)
		ret->func.rep_size = SF_V1_REP_SIZE;
	return check_func(view, ret, ret->field_off + SFRAME_FDE_FUNC_INFO, info, err);
}

/* An index entry of version 3 and the attribute it points at, which the rows follow. */
static bool read_func_v3(const struct sf_view *view, struct rd *rd,
	struct sf_view_func *ret, struct err *err)
{
	uint64_t base = start_base(view, ret->field_off), attr_pos;
	uint32_t attr_off;
	uint8_t info, info2;

	ret->func.start = base + rd_u64(rd);
	ret->func.size = rd_u32(rd);
	attr_off = rd_u32(rd);
	if (!num_range_inside(attr_off, SFRAME_V3_ATTR_SIZE, view->row_len))
		return err_set(err, ERR_MALFORMED,
			".sframe+0x%" PRIx64 ": the attribute at row offset 0x%" PRIx32
			" is not inside 0x%" PRIx32 " bytes of rows",
			ret->field_off, attr_off, view->row_len);
	attr_pos = view->row_off + attr_off;
	rd->pos = (size_t)attr_pos;
	ret->func.n_rows = rd_u16(rd);
	info = rd_u8(rd);
	info2 = rd_u8(rd);
	ret->func.rep_size = rd_u8(rd);
	ret->rows_off = attr_off + SFRAME_V3_ATTR_SIZE;
	set_info(ret, info);
	if (info2 != SFRAME_FDE_TYPE_DEFAULT && info2 != SFRAME_FDE_TYPE_FLEX)
		return err_set(err, ERR_MALFORMED,
			".sframe+0x%" PRIx64
			": info byte 0x%02x is of no function type that version %u "
			"defines",
			attr_pos + SFRAME_V3_ATTR_FUNC_INFO2, info2, view->version);
	ret->flex = info2 == SFRAME_FDE_TYPE_FLEX;
	return check_func(view, ret, attr_pos + SFRAME_V3_ATTR_FUNC_INFO, info, err);
}

bool sf_view_func(const struct sf_view *view, uint32_t i, struct sf_view_func *func,
	struct err *err)
{
	struct sf_view_func ret = {0};
	struct rd rd;
	bool ok;

	if (i >= view->n_funcs)
		return err_set(err, ERR_INTERNAL,
			".sframe: no function %" PRIu32 " of %" PRIu32, i, view->n_funcs);
	ret.field_off = view->func_off + (uint64_t)i * view->func_size;
	rd_init(&rd, view->data, view->size, view->big_endian);
	rd.pos = (size_t)ret.field_off;
	if (view->version >= SFRAME_VERSION_3)
		ok = read_func_v3(view, &rd, &ret, err);
	else
		ok = read_func(view, &rd, &ret, err);
	if (rd.failed)
		return err_set(err, ERR_INTERNAL, ".sframe+0x%zx: unchecked layout",
			rd.fail_off);
	/* GNU ld 2.41 to 2.44 has one for PLT0, which is no PCMASK function. */
	if (!ret.func.pcmask)
		ret.func.rep_size = 0;
	if (ok)
		*func = ret;
	return ok;
}
