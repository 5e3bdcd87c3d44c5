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
#include "sframe/load.h"

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
	static const uint8_t func_sizes[] = {[SFRAME_VERSION_1] = SFRAME_V1_FDE_SIZE,
	    [SFRAME_VERSION_2] = SFRAME_V2_FDE_SIZE,
	    [SFRAME_VERSION_3] = SFRAME_V3_FDE_SIZE};

	view->version = rd_u8(rd);
	if (view->version < sizeof(func_sizes))
		view->func_size = func_sizes[view->version];
	return view->func_size ||
	       err_set(err, ERR_UNSUPPORTED, ".sframe+0x%x: version %u cannot be read",
		   SFRAME_HDR_VERSION, view->version);
}

/* Checks that both sub-sections are inside the section, and the rows not before the end of the functions. */
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

/* Returns FDE number i, which check_layout has found to be inside. */
static const uint8_t *stored_func(const struct sf_view *view, uint32_t i)
{
	return view->data + view->func_off + (uint64_t)i * view->func_size;
}

/* Returns the attribute that an FDE of version 3 points at; NULL when it is outside the section. */
static const uint8_t *stored_attr(const struct sf_view *view, const uint8_t *fde)
{
	uint32_t off =
	    sf_load(fde + SFRAME_V3_FDE_FUNC_START_FRE_OFF, 4, view->big_endian);

	return num_range_inside(off, SFRAME_V3_ATTR_SIZE, view->row_len)
		   ? view->data + view->row_off + off
		   : NULL;
}

/* The row count of function i; 0 when it is out of reach, which sf_view_func reports. */
static uint32_t count_rows(const struct sf_view *view, uint32_t i)
{
	const uint8_t *p = stored_func(view, i);

	if (view->version < SFRAME_VERSION_3)
		return sf_load(p + SFRAME_FDE_FUNC_NUM_FRES, 4, view->big_endian);
	p = stored_attr(view, p);
	return p ? sf_load(p + SFRAME_V3_ATTR_FUNC_NUM_FRES, 2, view->big_endian) : 0;
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

bool sf_view_open(
    const void *data, size_t size, uint64_t addr, struct sf_view *view, struct err *err)
{
	struct rd rd;
	uint32_t fdeoff, freoff;
	uint64_t header_end;

	*view = (struct sf_view){.data = data, .size = size, .addr = addr};
	if (!find_byte_order(data, size, &view->big_endian, err))
		return false;
	rd_init(&rd, data, size, view->big_endian);
	rd_seek(&rd, SFRAME_HDR_VERSION);
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
 * Checks what rows need in order to be readable at all: the info byte, at info_off, and
 * the place of the rows.
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
		    ".sframe+0x%" PRIx64 ": row type %u does not exist", info_off,
		    func->row_type);
	if (!num_range_inside(func->rows_off,
		func->func.n_rows * least_row_size(func->row_type), view->row_len))
		return err_set(err, ERR_MALFORMED,
		    ".sframe+0x%" PRIx64 ": %" PRIu32 " rows at row offset 0x%" PRIx32
		    " cannot fit in 0x%" PRIx32 " bytes of rows",
		    func->field_off, func->func.n_rows, func->rows_off, view->row_len);
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
static bool read_func(const struct sf_view *view, const uint8_t *p,
    struct sf_view_func *ret, struct err *err)
{
	bool big_endian = view->big_endian;
	uint8_t info = p[SFRAME_FDE_FUNC_INFO];

	ret->func.start = start_base(view, ret->field_off) +
			  (uint64_t)(int64_t)sf_load_signed(
			      p + SFRAME_FDE_FUNC_START_ADDRESS, 4, big_endian);
	ret->func.size = sf_load(p + SFRAME_FDE_FUNC_SIZE, 4, big_endian);
	ret->rows_off = sf_load(p + SFRAME_FDE_FUNC_START_FRE_OFF, 4, big_endian);
	ret->func.n_rows = sf_load(p + SFRAME_FDE_FUNC_NUM_FRES, 4, big_endian);
	set_info(ret, info);
	if (view->version >= SFRAME_VERSION_2)
		ret->func.rep_size = p[SFRAME_FDE_FUNC_REP_SIZE];
	else if (ret->func.pcmask)
		ret->func.rep_size = SF_V1_REP_SIZE;
	return check_func(view, ret, ret->field_off + SFRAME_FDE_FUNC_INFO, info, err);
}

/* An index entry of version 3 and the attribute it points at, which the rows follow. */
static bool read_func_v3(const struct sf_view *view, const uint8_t *p,
    struct sf_view_func *ret, struct err *err)
{
	const uint8_t *attr = stored_attr(view, p);
	bool big_endian = view->big_endian;
	uint64_t attr_pos, start;
	uint32_t attr_off;
	uint8_t info, info2;

	memcpy(&start, p + SFRAME_V3_FDE_FUNC_START_OFFSET, sizeof(start));
	start = big_endian ? be64toh(start) : le64toh(start);
	ret->func.start = start_base(view, ret->field_off) + start;
	ret->func.size = sf_load(p + SFRAME_V3_FDE_FUNC_SIZE, 4, big_endian);
	attr_off = sf_load(p + SFRAME_V3_FDE_FUNC_START_FRE_OFF, 4, big_endian);
	if (!attr)
		return err_set(err, ERR_MALFORMED,
		    ".sframe+0x%" PRIx64 ": the attribute at row offset 0x%" PRIx32
		    " is not inside 0x%" PRIx32 " bytes of rows",
		    ret->field_off, attr_off, view->row_len);
	attr_pos = view->row_off + attr_off;
	ret->func.n_rows = sf_load(attr + SFRAME_V3_ATTR_FUNC_NUM_FRES, 2, big_endian);
	info = attr[SFRAME_V3_ATTR_FUNC_INFO];
	info2 = attr[SFRAME_V3_ATTR_FUNC_INFO2];
	ret->func.rep_size = attr[SFRAME_V3_ATTR_FUNC_REP_SIZE];
	ret->rows_off = attr_off + SFRAME_V3_ATTR_SIZE;
	set_info(ret, info);
	if (info2 != SFRAME_FDE_TYPE_DEFAULT && info2 != SFRAME_FDE_TYPE_FLEX)
		return err_set(err, ERR_MALFORMED,
		    ".sframe+0x%" PRIx64 ": info byte 0x%02x has a function type that "
		    "version %u does not define",
		    attr_pos + SFRAME_V3_ATTR_FUNC_INFO2, info2, view->version);
	ret->flex = info2 == SFRAME_FDE_TYPE_FLEX;
	return check_func(view, ret, attr_pos + SFRAME_V3_ATTR_FUNC_INFO, info, err);
}

bool sf_view_func(
    const struct sf_view *view, uint32_t i, struct sf_view_func *func, struct err *err)
{
	struct sf_view_func ret = {0};
	bool ok;

	if (i >= view->n_funcs)
		return err_set(err, ERR_INTERNAL,
		    ".sframe: no function %" PRIu32 " of %" PRIu32, i, view->n_funcs);
	ret.field_off = view->func_off + (uint64_t)i * view->func_size;
	ok = view->version >= SFRAME_VERSION_3
		 ? read_func_v3(view, stored_func(view, i), &ret, err)
		 : read_func(view, stored_func(view, i), &ret, err);
	/* GNU ld 2.41 to 2.44 gives PLT0 a block size, although it is no PCMASK function. */
	if (!ret.func.pcmask)
		ret.func.rep_size = 0;
	if (ok)
		*func = ret;
	return ok;
}
