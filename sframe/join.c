/* SPDX-License-Identifier: MIT */
/* Joins sections by their bytes: nothing is decoded but the functions' places. */
#include "sframe/join.h"

#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "sframe/format.h"
#include "sframe/layout.h"

/* Offset of the field in a function descriptor that says where its rows are. */
static size_t rows_field(const struct sf_view *view)
{
	return view->version >= SFRAME_VERSION_3 ? SFRAME_V3_FDE_FUNC_START_FRE_OFF
						 : SFRAME_FDE_FUNC_START_FRE_OFF;
}

/* A stored offset of rows counts from an attribute, where there is one. */
static uint64_t rows_off(const struct sf_view *view, const struct sf_view_func *func)
{
	return view->version >= SFRAME_VERSION_3 ? func->rows_off - SFRAME_V3_ATTR_SIZE
						 : func->rows_off;
}

/* Drops SORTED, because that each input is sorted says nothing of the whole. */
static uint8_t kind_flags(const struct sf_view *view)
{
	return view->flags & (uint8_t)~SFRAME_F_FDE_SORTED;
}

/* Names what differs of two headers, of which one must stand for both. */
static bool join_kind(
    const struct sf_view *first, const struct sf_view *view, struct err *err)
{
	const struct {
		const char *what;
		int is, was, at;
	} members[] = {{"version", view->version, first->version, SFRAME_HDR_VERSION},
	    {"flags", kind_flags(view), kind_flags(first), SFRAME_HDR_FLAGS},
	    {"ABI", view->abi, first->abi, SFRAME_HDR_ABI_ARCH},
	    {"fixed place of FP", view->fixed_fp_off, first->fixed_fp_off,
		SFRAME_HDR_CFA_FIXED_FP_OFFSET},
	    {"fixed place of RA", view->fixed_ra_off, first->fixed_ra_off,
		SFRAME_HDR_CFA_FIXED_RA_OFFSET},
	    {"big-endian", view->big_endian, first->big_endian, SFRAME_HDR_MAGIC}};

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
		if (members[i].is != members[i].was)
			return err_set(err, ERR_UNSUPPORTED,
			    ".sframe+0x%x: %s %d, but %d in the first .sframe section; "
			    "run objcopy --remove-section .sframe FILE NEW, then "
			    "eh2sframe NEW OUT",
			    (unsigned int)members[i].at, members[i].what, members[i].is,
			    members[i].was);
	return true;
}

/* The start waits until the place of the whole is known; all else is copied as it is,
 * faults included, for whoever checks the whole to find. */
static bool join_add_func(
    struct sf_join *join, const struct sf_view *view, uint32_t i, struct err *err)
{
	struct sf_view_func func;
	uint32_t at;

	if (!sf_view_func(view, i, &func, err))
		return false;
	if (!num_u32(join->rows.size + rows_off(view, &func), &at))
		return err_set(err, ERR_LIMIT,
		    ".sframe: the rows reach past the 4 GiB that the format can address");
	if (!vec_reserve(&join->starts, &join->cap_starts, join->n_funcs + 1))
		return err_set_nomem(err);
	wr_bytes(&join->funcs, view->data + func.field_off, view->func_size);
	if (join->funcs.failed)
		return err_set_nomem(err);
	wr_patch_u32(
	    &join->funcs, join->funcs.size - view->func_size + rows_field(view), at);
	join->starts[join->n_funcs++] = func.func.start;
	join->n_rows += func.func.n_rows;
	return true;
}

/* Rows of functions that are gone stay: which bytes are theirs alone is not worth
 * finding out. */
bool sf_join_add(
    struct sf_join *join, const struct sf_view *view, const bool *gone, struct err *err)
{
	if (!join->begun) {
		join->begun = true;
		join->kind = *view;
		wr_init(&join->funcs, view->big_endian);
		wr_init(&join->rows, view->big_endian);
	}
	if (!join_kind(&join->kind, view, err))
		return false;
	for (uint32_t i = 0; i < view->n_funcs; i++)
		if (!(gone && gone[i]) && !join_add_func(join, view, i, err))
			return false;
	wr_bytes(&join->rows, view->data + view->row_off, view->row_len);
	return !join->rows.failed || err_set_nomem(err);
}

/* An auxiliary header is not carried over: nobody has defined one yet. */
static void join_put_header(const struct sf_join *join, uint32_t n_funcs,
    uint32_t index_len, uint32_t n_rows, uint32_t row_len, struct wr *out)
{
	const struct sf_view *kind = &join->kind;

	wr_u16(out, SFRAME_MAGIC);
	wr_u8(out, kind->version);
	wr_u8(out, kind_flags(kind));
	wr_u8(out, kind->abi);
	wr_u8(out, (uint8_t)kind->fixed_fp_off);
	wr_u8(out, (uint8_t)kind->fixed_ra_off);
	wr_u8(out, 0);
	wr_u32(out, n_funcs);
	wr_u32(out, n_rows);
	wr_u32(out, row_len);
	wr_u32(out, 0);
	wr_u32(out, index_len);
}

bool sf_join_finish(
    const struct sf_join *join, uint64_t addr, struct wr *out, struct err *err)
{
	const struct sf_layout *layout = sf_layout_find(join->kind.version);
	bool pcrel = join->kind.flags & SFRAME_F_FDE_FUNC_START_PCREL;
	uint32_t n_funcs, index_len, n_rows, row_len;

	if (!join->begun || !layout)
		return err_set(err, ERR_UNSUPPORTED,
		    ".sframe sections of this version cannot be joined");
	if (!num_u32(join->n_funcs, &n_funcs) || !num_u32(join->funcs.size, &index_len) ||
	    !num_u32(join->n_rows, &n_rows) || !num_u32(join->rows.size, &row_len))
		return err_set(err, ERR_LIMIT,
		    ".sframe: more functions or rows than the format can count");
	join_put_header(join, n_funcs, index_len, n_rows, row_len, out);
	wr_bytes(out, join->funcs.data, join->funcs.size);
	wr_bytes(out, join->rows.data, join->rows.size);
	if (out->failed)
		return err_set_nomem(err);
	for (size_t i = 0; i < join->n_funcs; i++) {
		size_t off = SFRAME_HDR_SIZE + i * layout->func_size;

		if (!layout->put_start(
			out, off, pcrel ? addr + off : addr, join->starts[i]))
			return err_set(err, ERR_LIMIT,
			    ".sframe: a function is beyond the reach of the section");
	}
	return true;
}

void sf_join_deinit(struct sf_join *join)
{
	wr_deinit(&join->funcs);
	wr_deinit(&join->rows);
	free(join->starts);
	*join = (struct sf_join){0};
}
