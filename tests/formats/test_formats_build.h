/* SPDX-License-Identifier: MIT */
/* Small .eh_frame sections of 3 machines, for the encoders of tests/bench/compare. */
#ifndef TESTS_FORMATS_TEST_FORMATS_BUILD_H
#define TESTS_FORMATS_TEST_FORMATS_BUILD_H

#include <string.h>

#include "tests/formats/round_trip.h"
#include "tests/unit/unit.h"

#define BUILD_ADDR UINT64_C(0x400000)
#define BUILD_CODE UINT64_C(0x500000)

static const struct formats_machine build_x86_64 = {
    .isa = FORMATS_X86_64, .cfi = {.sp_reg = 7, .fp_reg = 6, .pc_reg = 16}, .ra_reg = 16};
static const struct formats_machine build_aarch64 = {.isa = FORMATS_AARCH64,
    .cfi = {.sp_reg = 31, .fp_reg = 29, .pc_reg = 32, .aarch64_ra_state = true},
    .ra_reg = 30};
static const struct formats_machine build_s390x = {.isa = FORMATS_S390X,
    .cfi = {.sp_reg = 15, .fp_reg = 11, .pc_reg = UINT16_MAX},
    .ra_reg = 14,
    .sp_from_cfa = -160,
    .sp_saved = true};

/* A section while it is written, and the end of the code that it describes so far. */
struct build {
	const struct formats_machine *machine;
	struct wr wr;
	uint64_t pc;
	size_t cie;
	uint32_t n_funcs;
	bool exceptions;
};

static inline size_t build_record(struct wr *wr)
{
	size_t off = wr->size;

	wr_u32(wr, 0);
	return off;
}

static inline void build_record_end(struct wr *wr, size_t off)
{
	while (wr->size % 4)
		wr_u8(wr, 0);
	if (!wr->failed)
		wr_patch_u32(wr, off, (uint32_t)(wr->size - off - 4));
}

/* With a CIE: pcrel sdata4, code factor 1, data factor -8, the machine's rules at a call.
 * exceptions: it has a personality routine, and every third function has data for it. */
static inline void build_begin(
    struct build *build, const struct formats_machine *machine, bool exceptions)
{
	static const uint8_t x86_64[] = {0x0c, 7, 8, 0x90, 1}, aarch64[] = {0x0c, 31, 0},
			     s390x[] = {0x0c, 15, 0xa0, 1};
	const uint8_t head[] = {0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78,
	    (uint8_t)machine->ra_reg, 1, 0x1b},
		      more[] = {0, 0, 0, 0, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78,
			  (uint8_t)machine->ra_reg, 7, 0x1b, 0, 1, 0, 0, 0x1b, 0x1b};
	size_t off;

	*build = (struct build){
	    .machine = machine, .pc = BUILD_CODE, .exceptions = exceptions};
	wr_init(&build->wr, machine->big_endian);
	off = build->cie = build_record(&build->wr);
	wr_bytes(&build->wr, exceptions ? more : head,
	    exceptions ? sizeof(more) : sizeof(head));
	if (machine->isa == FORMATS_X86_64)
		wr_bytes(&build->wr, x86_64, sizeof(x86_64));
	else if (machine->isa == FORMATS_AARCH64)
		wr_bytes(&build->wr, aarch64, sizeof(aarch64));
	else
		wr_bytes(&build->wr, s390x, sizeof(s390x));
	build_record_end(&build->wr, off);
}

/* An FDE for the next range bytes of code, after gap bytes without one. */
static inline void build_func(
    struct build *build, uint32_t gap, uint32_t range, const void *program, size_t len)
{
	struct wr *wr = &build->wr;
	size_t off = build_record(wr);

	build->pc += gap;
	wr_u32(wr, (uint32_t)(wr->size - build->cie));
	wr_u32(wr, (uint32_t)(build->pc - (BUILD_ADDR + wr->size)));
	wr_u32(wr, range);
	wr_u8(wr, build->exceptions ? 4 : 0);
	if (build->exceptions)
		wr_u32(wr, build->n_funcs % 3 ? 0 : 0x1000 + build->n_funcs);
	wr_bytes(wr, program, len);
	build_record_end(wr, off);
	build->pc += range;
	build->n_funcs++;
}

/* All that reading a section gives. It does not move. */
struct build_input {
	struct cfi_frames frames;
	struct cfi_ranges ranges;
	struct formats_input input;
};

/* bytes are borrowed. */
static inline void build_read(struct build_input *out,
    const struct formats_machine *machine, const uint8_t *bytes, size_t size)
{
	struct cfi_section section = {.data = bytes,
	    .size = size,
	    .addr = BUILD_ADDR,
	    .addr_size = 8,
	    .big_endian = machine->big_endian};
	struct err err = {0};

	ck_assert(cfi_frames_read(&section, &out->frames, &err));
	ck_assert(cfi_ranges_read(&out->frames, &out->ranges, &err));
	out->input = (struct formats_input){.frames = &out->frames,
	    .ranges = &out->ranges,
	    .machine = *machine,
	    .base = BUILD_ADDR};
}

static inline void build_forget(struct build_input *input)
{
	cfi_ranges_deinit(&input->ranges);
	cfi_frames_deinit(&input->frames);
}

#endif
