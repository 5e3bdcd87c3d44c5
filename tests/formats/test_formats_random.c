/* SPDX-License-Identifier: MIT */
/*
 * Random CFI of 3 machines through every encoder of tests/bench/compare. The decoders must give the
 * rows back at every PC, and the accounts must be those of the decoders. Then the same with
 * damaged bytes, where sanitizers watch.
 */
#include "tests/formats/test_formats_build.h"

#define N_SECTIONS 12
#define N_FUNCS 60
/* Enough for several pages of __unwind_info. */
#define N_LARGE 1500
#define N_MUTANTS 300

static const struct formats_machine *const machines[] = {
    &build_x86_64, &build_aarch64, &build_s390x};

/* xorshift64: the same sections on every machine. */
static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) % n);
}

static void advance(struct wr *wr, uint32_t bytes)
{
	wr_u8(wr, 0x02);
	wr_u8(wr, (uint8_t)bytes);
}

static void push_uleb(struct wr *wr, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		wr_u8(wr, (uint8_t)(value | 0x80));
	wr_u8(wr, (uint8_t)value);
}

static void offset_rule(struct wr *wr, uint32_t reg, uint32_t slot)
{
	wr_u8(wr, 0x05);
	push_uleb(wr, reg);
	push_uleb(wr, slot);
}

/* A prologue with pushes, a body, perhaps an epilogue in the middle. */
static void ordinary(const struct formats_machine *machine, struct wr *wr)
{
	static const uint8_t x86_64[] = {3, 12, 13, 14, 15, 6},
			     aarch64[] = {19, 20, 21, 22, 72, 73};
	const uint8_t *regs = machine->isa == FORMATS_X86_64 ? x86_64 : aarch64;
	bool framed = below(2);
	uint32_t slot = machine->isa == FORMATS_X86_64 ? 1 : 0;

	if (framed) {
		if (machine->isa == FORMATS_AARCH64)
			offset_rule(wr, machine->ra_reg, ++slot);
		offset_rule(wr, machine->cfi.fp_reg, ++slot);
		advance(wr, 1 + below(4));
		wr_u8(wr, 0x0c);
		push_uleb(wr, machine->cfi.fp_reg);
		push_uleb(wr, 16);
	}
	for (uint32_t n = below(6), i = 0; i < n; i++) {
		advance(wr, 1 + below(4));
		if (!framed) {
			wr_u8(wr, 0x0e);
			push_uleb(wr, 8 * (slot + 1));
		}
		offset_rule(wr, regs[i], ++slot);
	}
	if (!framed && below(2)) {
		wr_u8(wr, 0x0e);
		push_uleb(wr, 16 * below(300));
	}
	advance(wr, 20 + below(60));
	if (below(2)) {
		wr_u8(wr, 0x0a);
		wr_u8(wr, 0x0c);
		push_uleb(wr, machine->cfi.sp_reg);
		push_uleb(wr, 8);
		advance(wr, 1 + below(3));
		wr_u8(wr, 0x0b);
	}
}

/* Rules as no compiler writes them. */
static void odd(const struct formats_machine *machine, struct wr *wr)
{
	const uint32_t regs[] = {machine->cfi.sp_reg, machine->cfi.fp_reg,
	    machine->ra_reg, 3, 10, 13, 19, 20, 72};

	for (uint32_t n = 1 + below(12), i = 0; i < n; i++) {
		uint32_t reg = regs[below(9)];

		advance(wr, 1 + below(20));
		switch (below(9)) {
		case 0:
			wr_u8(wr, 0x0c);
			push_uleb(wr, reg);
			push_uleb(wr, below(70000));
			break;
		case 1:
			offset_rule(wr, reg, below(6000));
			break;
		case 2:
			wr_u8(wr, (uint8_t)(0x07 + below(2))); /* undefined, same */
			push_uleb(wr, reg);
			break;
		case 3:
			wr_u8(wr, 0x09); /* register */
			push_uleb(wr, reg);
			push_uleb(wr, regs[below(9)]);
			break;
		case 4: /* the CFA is what memory at reg + 8 holds, at times plus 8 */
			wr_u8(wr, 0x0f);
			wr_u8(wr, below(2) ? 3 : 5);
			wr_u8(wr, (uint8_t)(0x70 + machine->cfi.fp_reg % 32));
			wr_u8(wr, (uint8_t)(8 * below(5)));
			wr_u8(wr, 0x06);
			wr_u8(wr, 0x23);
			wr_u8(wr, 8);
			break;
		case 5: /* reg is saved where FP - 8 leads */
			wr_u8(wr, 0x10);
			push_uleb(wr, reg);
			wr_u8(wr, 2);
			wr_u8(wr, (uint8_t)(0x70 + machine->cfi.fp_reg % 32));
			wr_u8(wr, 0x78);
			break;
		case 6:
			wr_u8(wr, 0x06); /* restore */
			push_uleb(wr, reg);
			break;
		case 7: /* the PLT's rule */
			wr_bytes(wr,
			    (const uint8_t[]){0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
				(uint8_t)(0x39 + below(3)), 0x2a, 0x33, 0x24, 0x22},
			    13);
			break;
		default:
			wr_u8(wr, 0x0e);
			push_uleb(wr, 8 * below(8000));
			break;
		}
	}
}

static void random_section(
    struct build *build, const struct formats_machine *machine, int n_funcs)
{
	build_begin(build, machine, below(2));
	for (int i = 0; i < n_funcs; i++) {
		struct wr program;

		wr_init(&program, false);
		if (below(3))
			ordinary(machine, &program);
		else
			odd(machine, &program);
		build_func(build, below(3) ? 0 : below(40), 1 + below(300),
		    program.data ? program.data : (const uint8_t *)"", program.size);
		wr_deinit(&program);
	}
	ck_assert(!build->wr.failed);
}

UNIT_LOOP(rows_come_back, 0, 6)
{
	const struct formats_machine *machine = machines[_i % 3];
	struct formats_machine big = *machine;
	struct round_trip trip;
	struct build build;
	struct build_input input;
	uint64_t right = 0;

	state += (uint64_t)_i;
	for (int i = 0; i < N_SECTIONS; i++) {
		big.big_endian = machine->isa != FORMATS_X86_64 && _i >= 3;
		random_section(&build, &big, i ? N_FUNCS : N_LARGE);
		build_read(&input, &big, build.wr.data, build.wr.size);
		ck_assert(round_trip(&input.input, &trip, stderr));
		ck_assert_uint_eq(trip.n_wrong, 0);
		for (size_t k = 0; k < trip.results.n; k++)
			right += trip.results.list[k].code_bytes;
		build_forget(&input);
		wr_deinit(&build.wr);
	}
	/* On s390x there are no rows that lead on by frame pointers. */
	ck_assert(machine->isa == FORMATS_S390X ? right == 0 : right > 0);
}

UNIT_LOOP(hostile_bytes, 0, 3)
{
	const struct formats_machine *machine = machines[_i];
	struct build build;

	random_section(&build, machine, N_FUNCS);
	for (int i = 0; i < N_MUTANTS; i++) {
		/* A copy of exact size, so that a sanitizer sees a read beyond it. */
		uint8_t *bytes = malloc(build.wr.size);
		struct build_input input;
		struct round_trip trip;

		memcpy(bytes, build.wr.data, build.wr.size);
		for (uint32_t n = 1 + below(20); n > 0; n--)
			bytes[below((uint32_t)build.wr.size)] = (uint8_t)below(256);
		build_read(&input, machine, bytes, build.wr.size);
		/* Ranges of gibibytes are not for a test of every PC. */
		if (input.ranges.code_bytes < 30000) {
			ck_assert(round_trip(&input.input, &trip, stderr));
			ck_assert_uint_eq(trip.n_wrong, 0);
		} else {
			struct formats_results results;
			struct err err = {0};

			ck_assert(formats_compare(&input.input, &results, &err));
		}
		build_forget(&input);
		free(bytes);
	}
	wr_deinit(&build.wr);
}
