/* SPDX-License-Identifier: MIT */
/* Layouts of tests/bench/compare against bytes that were written by hand from their sources. */
#include "tests/formats/test_formats_build.h"

/*
 * push rbp at 1, mov rbp at 4, push rbx at 6, and leave at 0x40, as GCC describes it; then
 * 16 bytes with an undefined return address, after a gap of 32.
 */
static const uint8_t framed[] = {
    0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x42, 0x83, 3, 0x7a, 0x0c, 7, 8, 0xc6};
static const uint8_t outermost[] = {0x07, 16};

static struct build build;
static struct build_input input;
static struct formats_compare compare;

/* Code without a call, but for one of 5 bytes at call_at. */
static uint64_t call_at;

static bool code(const void *context, uint64_t addr, uint8_t *bytes, size_t size)
{
	(void)context;
	for (size_t i = 0; i < size; i++)
		bytes[i] = addr + i == call_at ? 0xe8 : 0x90;
	return true;
}

/* Encodes what was built; the caller frees with encoded_forget. */
static void encode(void)
{
	ck_assert(!build.wr.failed);
	build_read(&input, build.machine, build.wr.data, build.wr.size);
	input.input.code = call_at ? code : NULL;
	ck_assert(formats_compare_begin(&compare, &input.input));
	for (size_t i = 0; i < input.ranges.n; i++)
		ck_assert(formats_compare_fde(&compare, i, i + 1));
	ck_assert(formats_compare_end(&compare));
}

static void forget(void)
{
	formats_compare_deinit(&compare);
	build_forget(&input);
	wr_deinit(&build.wr);
}

static void encode_framed(void)
{
	build_begin(&build, &build_x86_64, false);
	build_func(&build, 0, 0x50, framed, sizeof(framed));
	build_func(&build, 32, 0x10, outermost, sizeof(outermost));
	encode();
}

/* One function of 0x100 bytes: its encoding. */
static uint32_t encoding_of(
    const struct formats_machine *machine, const void *program, size_t len)
{
	struct formats_unwind_entry entry;

	build_begin(&build, machine, false);
	build_func(&build, 0, 0x100, program, len);
	encode();
	ck_assert(formats_unwind_find(&compare.unwind, BUILD_CODE + 0x80, &entry));
	ck_assert_uint_eq(entry.pc, BUILD_CODE);
	forget();
	return entry.encoding;
}

#define ENCODING(machine, ...)                                                           \
	encoding_of(machine, (const uint8_t[]){__VA_ARGS__},                             \
	    sizeof((const uint8_t[]){__VA_ARGS__}))

/* The numbers are those of clang -target x86_64-apple-darwin for the same directives. */
UNIT(encodings_x86_64)
{
	const struct formats_machine *x86 = &build_x86_64;

	/* push rbp; mov rbp; push rbx */
	ck_assert_uint_eq(
	    ENCODING(x86, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x83, 3), 0x01010001);
	/* push rbp; mov rbp; push r15, r14, rbx */
	ck_assert_uint_eq(ENCODING(x86, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x83, 5,
			      0x8e, 4, 0x8f, 3),
	    0x01030161);
	/* sub 24: rsp + 32 */
	ck_assert_uint_eq(ENCODING(x86, 0x44, 0x0e, 32), 0x02040000);
	/* push rbx; sub 16: rbx is the first of 6 */
	ck_assert_uint_eq(ENCODING(x86, 0x44, 0x0e, 32, 0x83, 2), 0x02040400);
	/* push rbp, r15, r14, r13, r12, rbx; sub 8 */
	ck_assert_uint_eq(ENCODING(x86, 0x44, 0x0e, 64, 0x83, 7, 0x8c, 6, 0x8d, 5, 0x8e,
			      4, 0x8f, 3, 0x86, 2),
	    0x02081800);
	/* rsp + 4096 without an instruction that says so: DWARF, behind the CIE */
	ck_assert_uint_eq(
	    ENCODING(x86, 0x44, 0x0e, 0x80, 0x20) & ~UNWIND_DWARF_OFFSET_MASK,
	    0x04000000);
}

UNIT(encodings_arm64)
{
	const struct formats_machine *arm = &build_aarch64;

	/* stp x29, x30; add x29: x29 + 16 */
	ck_assert_uint_eq(
	    ENCODING(arm, 0x48, 0x0c, 29, 16, 0x9e, 1, 0x9d, 2), 0x04000000);
	/* also x19, x20 and x21, x22 */
	ck_assert_uint_eq(ENCODING(arm, 0x48, 0x0c, 29, 16, 0x9e, 1, 0x9d, 2, 0x93, 3,
			      0x94, 4, 0x95, 5, 0x96, 6),
	    0x04000003);
	/* sub sp, 32 in a leaf */
	ck_assert_uint_eq(ENCODING(arm, 0x48, 0x0e, 32), 0x02002000);
	/* GCC's frame: x29 and x30 at the lowest address, and the CFA from SP */
	ck_assert_uint_eq(
	    ENCODING(arm, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3) & ~UNWIND_DWARF_OFFSET_MASK,
	    0x03000000);
}

/* rsp + 8 for 0x10 bytes, rsp + 32 for 0xa0, rsp + 48 for 0x50: how long the body is, and
 * how much other code may call. */
static void two_frames(uint64_t call, uint64_t body, uint64_t other)
{
	const struct formats_result *result = &compare.unwind.result;

	call_at = call;
	build_begin(&build, &build_x86_64, false);
	build_func(
	    &build, 0, 0x100, (const uint8_t[]){0x50, 0x0e, 32, 0x02, 0xa0, 0x0e, 48}, 7);
	encode();
	ck_assert_uint_eq(result->code_bytes, body);
	ck_assert_uint_eq(result->escapes[FORMATS_OTHER_FRAME].bytes, other);
	ck_assert_uint_eq(
	    result->escapes[FORMATS_OUTSIDE_BODY].bytes, 0x100 - body - other);
	ck_assert_uint_eq(result->functions, other == 0);
	forget();
	call_at = 0;
}

/* The body is where calls can be, even if other rows hold for more code. */
UNIT(body_has_calls)
{
	/* rsp + 8 for 0x90 bytes, rsp + 32 for the rest */
	ck_assert_uint_eq(ENCODING(&build_x86_64, 0x02, 0x90, 0x0e, 32), 0x02040000);
	/* 2 frames in which calls can be: the longer one */
	two_frames(0, 0xa0, 0x60);
	/* The only call is in the shorter one, then too near to its end. */
	two_frames(BUILD_CODE + 0xfb, 0x50, 0);
	two_frames(BUILD_CODE + 0xfc, 0xa0, 0);
	/* A call where SP is not aligned is no body, and is counted. */
	two_frames(BUILD_CODE + 2, 0xa0, 0x10);
}

UNIT(frame_pointers)
{
	encode_framed();
	ck_assert_uint_eq(compare.frame_pointers.code_bytes, 0x3c);
	ck_assert_uint_eq(compare.frame_pointers.escapes[FORMATS_FRAME_UNSAID].bytes, 3);
	ck_assert_uint_eq(compare.frame_pointers.escapes[FORMATS_NO_FRAME].bytes, 0x11);
	ck_assert_uint_eq(compare.frame_pointers.escapes[FORMATS_OUTERMOST].bytes, 0x10);
	forget();
}
