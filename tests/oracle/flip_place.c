/* SPDX-License-Identifier: MIT */
#include "tests/oracle/flip_place.h"

#include <stdio.h>

#include "sframe/format.h"

/* A field ends where the next one begins. */
struct field {
	uint8_t at;
	bool bits;    /* each of its bits has a meaning of its own */
	bool by_rows; /* what it means depends on the function's rows */
	const char *name;
};

static const struct field header[] = {
    {SFRAME_HDR_MAGIC, false, false, "magic"},
    {SFRAME_HDR_VERSION, false, false, "version"},
    {SFRAME_HDR_FLAGS, true, false, "flags"},
    {SFRAME_HDR_ABI_ARCH, false, false, "abi"},
    {SFRAME_HDR_CFA_FIXED_FP_OFFSET, false, false, "fixed_fp_offset"},
    {SFRAME_HDR_CFA_FIXED_RA_OFFSET, false, false, "fixed_ra_offset"},
    {SFRAME_HDR_AUXHDR_LEN, false, false, "auxhdr_len"},
    {SFRAME_HDR_NUM_FDES, false, false, "num_fdes"},
    {SFRAME_HDR_NUM_FRES, false, false, "num_fres"},
    {SFRAME_HDR_FRE_LEN, false, false, "fre_len"},
    {SFRAME_HDR_FDEOFF, false, false, "fdeoff"},
    {SFRAME_HDR_FREOFF, false, false, "freoff"},
    {SFRAME_HDR_SIZE, false, false, NULL},
};

static const struct field func_old[] = {
    {SFRAME_FDE_FUNC_START_ADDRESS, false, false, "fde.start"},
    {SFRAME_FDE_FUNC_SIZE, false, false, "fde.size"},
    {SFRAME_FDE_FUNC_START_FRE_OFF, false, false, "fde.start_fre_off"},
    {SFRAME_FDE_FUNC_NUM_FRES, false, false, "fde.num_fres"},
    {SFRAME_FDE_FUNC_INFO, true, true, "fde.info"},
    {SFRAME_FDE_FUNC_REP_SIZE, false, true, "fde.rep_size"},
    {SFRAME_FDE_FUNC_PADDING2, false, false, "fde.padding2"},
    {SFRAME_V2_FDE_SIZE, false, false, NULL},
};

static const struct field func_v3[] = {
    {SFRAME_V3_FDE_FUNC_START_OFFSET, false, false, "fde.start"},
    {SFRAME_V3_FDE_FUNC_SIZE, false, false, "fde.size"},
    {SFRAME_V3_FDE_FUNC_START_FRE_OFF, false, false, "fde.start_fre_off"},
    {SFRAME_V3_FDE_SIZE, false, false, NULL},
};

static const struct field attribute[] = {
    {SFRAME_V3_ATTR_FUNC_NUM_FRES, false, false, "fde.num_fres"},
    {SFRAME_V3_ATTR_FUNC_INFO, true, true, "fde.info"},
    {SFRAME_V3_ATTR_FUNC_INFO2, true, true, "fde.info2"},
    {SFRAME_V3_ATTR_FUNC_REP_SIZE, false, true, "fde.rep_size"},
    {SFRAME_V3_ATTR_SIZE, false, false, NULL},
};

static void place_field(const struct field *fields, uint64_t at, unsigned int bit,
    const char *of, char place[FLIP_PLACE])
{
	while (fields[1].name && at >= fields[1].at)
		fields++;
	of = fields->by_rows ? of : "";
	if (fields->bits)
		snprintf(place, FLIP_PLACE, "%s bit %u%s", fields->name, bit, of);
	else
		snprintf(place, FLIP_PLACE, "%s%s", fields->name, of);
}

/* at is in the bytes of a row. */
static void place_row(const struct sf_view_func *func, const struct sf_row *row,
    uint64_t at, unsigned int bit, char place[FLIP_PLACE])
{
	const char *of = row->outermost ? " of an outermost row"
			 : func->flex	? " of a flexible row"
					: "";
	unsigned int width = 1u << func->row_type;

	if (at < width)
		snprintf(place, FLIP_PLACE, "row.start%s", of);
	else if (at == width)
		snprintf(place, FLIP_PLACE, "row.info bit %u%s", bit, of);
	else
		snprintf(place, FLIP_PLACE, "row.words%s", of);
}

/* The kind of function, and of its rows where all have no words, or there is one. */
static const char *func_words(const struct sf_view *view, const struct sf_view_func *func)
{
	struct err ignored = {0};
	struct sf_row_iter iter;
	bool outermost = true;
	struct sf_row row;

	sf_rows_begin(view, func, &iter);
	while (sf_rows_next(&iter, &row, &ignored))
		outermost = outermost && row.outermost;
	if (func->func.pcmask)
		return func->func.n_rows == 1 ? " of PCMASK with one row" : " of PCMASK";
	return outermost ? " of PCINC with outermost rows alone" : " of PCINC";
}

/* False when no row of the function has the byte. */
static bool place_func(const struct sf_view *view, const struct sf_view_func *func,
    uint64_t at, unsigned int bit, char place[FLIP_PLACE])
{
	const char *of = func_words(view, func);
	uint64_t attr = view->row_off + func->rows_off - SFRAME_V3_ATTR_SIZE, off;
	struct err ignored = {0};
	struct sf_row_iter iter;
	struct sf_row row;

	if (at >= func->field_off && at - func->field_off < view->func_size) {
		place_field(view->version < SFRAME_VERSION_3 ? func_old : func_v3,
		    at - func->field_off, bit, of, place);
		return true;
	}
	if (view->version >= SFRAME_VERSION_3 && at >= attr &&
	    at - attr < SFRAME_V3_ATTR_SIZE) {
		place_field(attribute, at - attr, bit, of, place);
		return true;
	}
	sf_rows_begin(view, func, &iter);
	for (off = iter.off; sf_rows_next(&iter, &row, &ignored); off = iter.off)
		if (at >= off && at < iter.off) {
			place_row(func, &row, at - off, bit, place);
			return true;
		}
	return false;
}

void flip_place(
    const struct sf_view *view, size_t at, unsigned int bit, char place[FLIP_PLACE])
{
	struct err ignored = {0};
	struct sf_view_func func;

	if (at < SFRAME_HDR_SIZE) {
		place_field(header, at, bit, "", place);
		return;
	}
	for (uint32_t i = 0; i < view->n_funcs; i++)
		if (sf_view_func(view, i, &func, &ignored) &&
		    place_func(view, &func, at, bit, place))
			return;
	snprintf(place, FLIP_PLACE, "between the fields");
}
