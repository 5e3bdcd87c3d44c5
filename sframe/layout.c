/* SPDX-License-Identifier: MIT */
/*
 * The versions as written: what each can say, and the bytes of its functions. This is the
 * place to add one; rows have the same bytes in all of them (encode_rows.c).
 */
#include "sframe/layout.h"

#include "base/num.h"

/* The bits that every version has; a reader of version 1 takes no key bit amiss. */
static uint8_t func_info(const struct sf_func *func, uint8_t row_type)
{
	uint8_t info = row_type;

	if (func->pcmask)
		info |= SFRAME_FUNC_INFO_PCMASK;
	if (func->pauth_b)
		info |= SFRAME_FUNC_INFO_PAUTH_KEY_B;
	return info;
}

static void put_func_v1(
    struct wr *out, const struct sf_func *func, uint8_t row_type, uint32_t rows_off)
{
	wr_u32(out, 0);
	wr_u32(out, func->size);
	wr_u32(out, rows_off);
	wr_u32(out, func->n_rows);
	wr_u8(out, func_info(func, row_type));
}

static void put_func_v2(
    struct wr *out, const struct sf_func *func, uint8_t row_type, uint32_t rows_off)
{
	put_func_v1(out, func, row_type, rows_off);
	wr_u8(out, func->rep_size);
	wr_u16(out, 0);
}

/* Fields that are not needed to find a function are in its attribute. */
static void put_func_v3(
    struct wr *out, const struct sf_func *func, uint8_t row_type, uint32_t rows_off)
{
	(void)row_type;
	wr_u64(out, 0);
	wr_u32(out, func->size);
	wr_u32(out, rows_off);
}

static void put_attr_v3(
    struct wr *rows, const struct sf_func *func, uint8_t row_type, uint8_t fde_type)
{
	uint8_t info = func_info(func, row_type);

	if (func->signal_frame)
		info |= SFRAME_FUNC_INFO_SIGNAL;
	wr_u16(rows, (uint16_t)func->n_rows); /* at most max_rows */
	wr_u8(rows, info);
	wr_u8(rows, fde_type);
	wr_u8(rows, func->rep_size);
}

static bool put_start_s32(struct wr *out, size_t off, uint64_t base, uint64_t start)
{
	int32_t distance;

	if (!num_distance_s32(base, start, &distance))
		return false;
	wr_patch_u32(out, off, (uint32_t)distance);
	return true;
}

/* Reaches everything: a distance that wraps around is right modulo 2^64. */
static bool put_start_s64(struct wr *out, size_t off, uint64_t base, uint64_t start)
{
	wr_patch_u64(out, off, start - base);
	return true;
}

/* By version. */
static const struct sf_layout layouts[] = {
    [SFRAME_VERSION_1] =
	{
	    .version = SFRAME_VERSION_1,
	    .func_size = SFRAME_V1_FDE_SIZE,
	    .flags = SFRAME_F_FDE_SORTED,
	    .outermost = SF_OUTERMOST_NEVER,
	    .max_rows = UINT32_MAX,
	    .put_func = put_func_v1,
	    .put_start = put_start_s32,
	},
    [SFRAME_VERSION_2] =
	{
	    .version = SFRAME_VERSION_2,
	    .func_size = SFRAME_V2_FDE_SIZE,
	    .flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
	    .outermost = SF_OUTERMOST_ON_REQUEST,
	    .max_rows = UINT32_MAX,
	    .has_blocks = true,
	    .has_regs = true,
	    .put_func = put_func_v2,
	    .put_start = put_start_s32,
	},
    [SFRAME_VERSION_3] =
	{
	    .version = SFRAME_VERSION_3,
	    .func_size = SFRAME_V3_FDE_SIZE,
	    .flags = SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL,
	    .outermost = SF_OUTERMOST_ALWAYS,
	    .max_rows = UINT16_MAX,
	    .has_blocks = true,
	    .has_signals = true,
	    .has_flex = true,
	    .put_attr = put_attr_v3,
	    .put_func = put_func_v3,
	    .put_start = put_start_s64,
	},
};

const struct sf_layout *sf_layout_find(uint8_t version)
{
	return version < sizeof(layouts) / sizeof(*layouts) && layouts[version].put_func
		   ? &layouts[version]
		   : NULL;
}
