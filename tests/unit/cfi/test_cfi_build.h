/* SPDX-License-Identifier: MIT */
/* Writes .eh_frame records into a buffer. */
#ifndef TESTS_UNIT_CFI_TEST_CFI_BUILD_H
#define TESTS_UNIT_CFI_TEST_CFI_BUILD_H

#include <string.h>

#include "base/wr.h"
#include "cfi/interp.h"
#include "cfi/section.h"

/* The addresses of the section and of the code that it describes. */
#define BUILD_ADDR UINT64_C(0x400000)
#define BUILD_CODE UINT64_C(0x500000)

static const struct cfi_machine build_machine = {.sp_reg = 7, .fp_reg = 6, .pc_reg = 16};

static inline size_t build_begin(struct wr *wr)
{
	size_t off = wr->size;

	wr_u32(wr, 0);
	return off;
}

static inline void build_end(struct wr *wr, size_t off)
{
	while (wr->size % 4)
		wr_u8(wr, 0);
	wr_patch_u32(wr, off, (uint32_t)(wr->size - off - 4));
}

/* A CIE with the augmentation zR, pcrel sdata4, and the usual rules of x86-64. */
static inline size_t build_cie(struct wr *wr)
{
	static const uint8_t body[] = {
	    0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1};
	size_t off = build_begin(wr);

	wr_bytes(wr, body, sizeof(body));
	build_end(wr, off);
	return off;
}

static inline void build_fde_at(struct wr *wr, size_t cie, uint64_t pc, uint32_t range,
    const void *program, size_t len)
{
	size_t off = build_begin(wr);

	wr_u32(wr, (uint32_t)(wr->size - cie));
	wr_u32(wr, (uint32_t)(pc - (BUILD_ADDR + wr->size)));
	wr_u32(wr, range);
	wr_u8(wr, 0);
	wr_bytes(wr, program, len);
	build_end(wr, off);
}

static inline void build_fde(
    struct wr *wr, size_t cie, uint32_t range, const void *program, size_t len)
{
	build_fde_at(wr, cie, BUILD_CODE, range, program, len);
}

static inline struct cfi_section build_section(const struct wr *wr)
{
	return (struct cfi_section){
	    .data = wr->data, .size = wr->size, .addr = BUILD_ADDR, .addr_size = 8};
}

#endif
