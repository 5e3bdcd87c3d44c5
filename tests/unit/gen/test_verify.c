/* SPDX-License-Identifier: MIT */
/*
 * The proof does not check the same instructions with the same rows twice. It must not
 * confuse them with other rows, or with a row that held for nothing in a shorter
 * function. libdwarf contradicts a reader that gets an FDE's code wrong.
 */
#include <elf.h>

#include "gen/arch/arch.h"
#include "gen/verify/prove.h"
#include "gen/verify/verify.h"
#include "tests/unit/cfi/test_cfi_build.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum { N = 3, ADDR = 0x2000, SPACING = 32 };

static struct wr cfi, sframe;
static const uint32_t fde_sizes[N] = {16, 32, 32};
static const struct derived *derived; /* rows of code without CFI; NULL: none */
static enum source source;	      /* of the CFI */
static char told[VERIFY_TEXT];	      /* the first difference */

/* N functions with the same instructions: CFA is SP + 8, from +4 on SP + 16. */
static void make_cfi(void)
{
	static const uint8_t program[] = {0x44, 0x0e, 16, 0};
	size_t cie;

	wr_init(&cfi, false);
	cie = build_cie(&cfi);
	for (uint32_t i = 0; i < N; i++) {
		size_t pc = cfi.size + 8;

		build_fde(&cfi, cie, fde_sizes[i], program, sizeof(program));
		wr_patch_u32(
		    &cfi, pc, (uint32_t)(BUILD_CODE + i * SPACING - (BUILD_ADDR + pc)));
	}
}

/* Rows as the CFI has them. Where last_at is not 0, another row is there. */
static void make_sframe(uint32_t last_at)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);

	for (uint32_t i = 0; i < N; i++) {
		fixture_func(&model, BUILD_CODE + i * SPACING, SPACING);
		fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
		fixture_row(&model, fixture_cfa(4, AMD64_SP, 16));
		if (last_at)
			fixture_row(&model, fixture_cfa(last_at, AMD64_SP, 24));
	}
	sframe = fixture_encode(&model, false, true, ADDR);
	sf_section_deinit(&model);
	for (uint32_t i = 0; i < N; i++)
		wr_patch_u32(&sframe,
		    SFRAME_HDR_SIZE + i * SFRAME_V2_FDE_SIZE + SFRAME_FDE_FUNC_SIZE,
		    fde_sizes[i]);
}

/* Adds to the size of the first FDE, after the file was read and compared: what a reader
 * would do that gets it wrong. Then libdwarf is asked, if the size is another. */
static struct verify_result verify_misread(int32_t more)
{
	const struct options options = {.format = 2, .jobs = 1};
	const struct image image = {0};
	const struct symbols symbols = {0};
	const struct policy policy = {.arch = arch_find(EM_X86_64, false),
	    .image = &image,
	    .symbols = &symbols,
	    .options = &options,
	    .derived = derived};
	struct cfi_section section = build_section(&cfi);
	struct verify_result result = {0};
	struct sf_view view = fixture_open(&sframe, ADDR);
	struct cfi_frames frames;
	struct cfi_ranges ranges;
	struct err err = {0};
	struct verify_input input = {&view, &frames, &ranges, &policy};

	section.parts[section.n_parts++] =
	    (struct cfi_part){"", 0, cfi.size, source, false};
	ck_assert_msg(cfi_frames_read(&section, &frames, &err), "%s", err.text);
	ck_assert_msg(cfi_ranges_read(&frames, &ranges, &err), "%s", err.text);
	ck_assert_msg(verify_own(&input, &result, &err), "%s", err.text);
	frames.fdes[0].range += (uint64_t)more;
	if (more)
		ck_assert_msg(verify_libdwarf(&input, 64, &result, &err), "%s", err.text);
	cfi_ranges_deinit(&ranges);
	cfi_frames_deinit(&frames);
	wr_deinit(&sframe);
	wr_deinit(&cfi);
	if (result.n_texts)
		memcpy(told, result.texts[0], VERIFY_TEXT);
	free(result.texts);
	result.texts = NULL;
	return result;
}

static struct verify_result verify(void)
{
	return verify_misread(0);
}

UNIT(all_right)
{
	struct verify_result result;

	make_cfi();
	make_sframe(0);
	result = verify();
	ck_assert_uint_eq(result.n_differences, 0);
	ck_assert_uint_eq(result.held.cfi_bytes, 16 + 32 + 32);
}

/* The third function's second row is not shared and says SP + 32. */
UNIT(other_rows)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct verify_result result;

	make_cfi();
	for (uint32_t i = 0; i < N; i++) {
		fixture_func(&model, BUILD_CODE + i * SPACING, fde_sizes[i]);
		fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
		fixture_row(&model, fixture_cfa(4, AMD64_SP, i == 2 ? 32 : 16));
	}
	sframe = fixture_encode(&model, false, true, ADDR);
	sf_section_deinit(&model);
	result = verify();
	ck_assert_uint_eq(result.n_differences, 1);
	ck_assert_uint_eq(result.held.cfi_bytes, 16 + 32 + 4);
}

/* At +16, where the first function ends and the others do not. */
UNIT(row_at_the_end)
{
	struct verify_result result;

	make_cfi();
	make_sframe(16);
	result = verify();
	ck_assert_uint_eq(result.n_differences, 2);
	ck_assert_uint_eq(result.held.cfi_bytes, 16 + 16 + 16);
}

/* Functions behind each other, all with CFA = SP + 8. The first two have one FDE with one
 * row. */
static void make_merged(int32_t cfa_off)
{
	static const uint8_t program[] = {0, 0, 0, 0};
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	size_t cie;

	wr_init(&cfi, false);
	cie = build_cie(&cfi);
	for (uint32_t i = 0; i < N; i++) {
		size_t pc = cfi.size + 8;

		build_fde(&cfi, cie, SPACING, program, sizeof(program));
		wr_patch_u32(
		    &cfi, pc, (uint32_t)(BUILD_CODE + i * SPACING - (BUILD_ADDR + pc)));
	}
	fixture_func(&model, BUILD_CODE, 2 * SPACING);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, cfa_off));
	fixture_func(&model, BUILD_CODE + 2 * SPACING, SPACING);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, cfa_off));
	sframe = fixture_encode(&model, false, true, ADDR);
	sf_section_deinit(&model);
}

UNIT(merged)
{
	struct verify_result result;

	make_merged(8);
	result = verify();
	ck_assert_uint_eq(result.n_differences, 0);
	ck_assert_uint_eq(result.held.cfi_bytes, N * SPACING);
	make_merged(16);
	result = verify();
	ck_assert_uint_eq(result.n_differences, N);
	ck_assert_uint_eq(result.held.cfi_bytes, 0);
}

/* The one row begins at +4. This is right for the second range, which comes after it. It
 * is wrong for the third range, which has an FDE of its own with the same row. */
UNIT(merged_late)
{
	struct verify_result result;

	make_merged(8);
	sframe.data[SFRAME_HDR_SIZE + 2 * SFRAME_V2_FDE_SIZE] = 4;
	ck_assert_uint_eq(sframe.size, SFRAME_HDR_SIZE + 2 * SFRAME_V2_FDE_SIZE + 3);
	result = verify();
	ck_assert_uint_eq(result.n_differences, 0);
	ck_assert_uint_eq(result.held.cfi_bytes, N * SPACING - 8);
}

/* A piece of two functions, whose second row begins in the second one, is right. The
 * third function has the instructions of the second and the rows of the piece. It is
 * wrong. */
UNIT(piece)
{
	static const uint8_t plain[] = {0, 0, 0, 0}, pushes[] = {0x48, 0x0e, 16, 0};
	const uint8_t *const programs[N] = {plain, pushes, pushes};
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct verify_result result;
	size_t cie;

	wr_init(&cfi, false);
	cie = build_cie(&cfi);
	for (uint32_t i = 0; i < N; i++) {
		size_t pc = cfi.size + 8;

		build_fde(&cfi, cie, i < 2 ? SPACING : 2 * SPACING, programs[i], 4);
		wr_patch_u32(
		    &cfi, pc, (uint32_t)(BUILD_CODE + i * SPACING - (BUILD_ADDR + pc)));
	}
	fixture_func(&model, BUILD_CODE, 2 * SPACING);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	fixture_row(&model, fixture_cfa(SPACING + 8, AMD64_SP, 16));
	ck_assert(sf_section_add_same(&model, 0, BUILD_CODE + 2 * SPACING, 2 * SPACING));
	sframe = fixture_encode(&model, false, true, ADDR);
	sf_section_deinit(&model);
	result = verify();
	ck_assert_uint_eq(result.n_differences, 1);
	ck_assert_uint_eq(result.held.cfi_bytes, 4 * SPACING - SPACING);
}

/* The other FDEs still agree. */
UNIT(misread)
{
	struct verify_result result;

	make_cfi();
	make_sframe(0);
	result = verify_misread(-8);
	ck_assert_uint_eq(result.n_differences, 1);
	ck_assert_uint_eq(result.held.cfi_bytes, 32 + 32);
	ck_assert_uint_eq(result.held.unlisted_bytes, 0);
}

/* Records that were made of Go's table are no CFI of the file, for either reader. */
UNIT(go_table)
{
	struct verify_result result;
	struct coverage written = {.covered_bytes = 16 + 32 + 32};
	struct err err = {0};

	source = SOURCE_GO;
	make_cfi();
	make_sframe(0);
	result = verify();
	ck_assert_uint_eq(result.n_differences, 0);
	ck_assert_uint_eq(result.held.go_bytes, 16 + 32 + 32);
	ck_assert_uint_eq(result.held.cfi_bytes + verify_code_alone(&result.held), 0);
	ck_assert(prove_judge(&result, &written, &err));
	make_cfi();
	make_sframe(16);
	result = verify();
	ck_assert_uint_eq(result.n_differences, 2);
	ck_assert_uint_eq(result.held.go_bytes, 16 + 16 + 16);
	ck_assert_msg(strstr(told, "CFA is rsp + 24 in .sframe, rsp + 16 in Go's table"),
	    "%s", told);
	make_cfi();
	make_sframe(0);
	result = verify_misread(-8);
	ck_assert_uint_eq(result.held.go_bytes, 32 + 32);
	ck_assert_uint_eq(result.held.cfi_bytes, 0);
	source = SOURCE_EH_FRAME;
}

/* The section lacks the last bytes of code without CFI that the code itself says a row for. */
static void verify_derived(uint32_t missing)
{
	enum { START = BUILD_CODE + N * SPACING, SIZE = 24 };
	struct derived_row row = {START, START + SIZE,
	    {.cfa = {.kind = CFI_REG_PLUS, .reg = AMD64_SP, .off = 8},
		.ra = {.kind = CFI_AT_CFA, .off = -8}}};
	const struct derived list = {.list = &row, .n = 1};
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct coverage written = {
	    .covered_bytes = SPACING, .derived_bytes = SIZE - missing};
	static const uint8_t program[] = {0, 0, 0, 0};
	struct verify_result result;
	struct err err = {0};

	wr_init(&cfi, false);
	build_fde(&cfi, build_cie(&cfi), SPACING, program, sizeof(program));
	fixture_func(&model, BUILD_CODE, SPACING);
	fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	if (missing < SIZE) {
		fixture_func(&model, START, SIZE - missing);
		fixture_row(&model, fixture_cfa(0, AMD64_SP, 8));
	}
	sframe = fixture_encode(&model, false, true, ADDR);
	sf_section_deinit(&model);
	derived = &list;
	result = verify();
	derived = NULL;
	ck_assert_uint_eq(result.n_differences, 0);
	ck_assert_uint_eq(result.held.cfi_bytes, SPACING);
	ck_assert_uint_eq(result.held.derived_bytes, SIZE - missing);
	ck_assert_uint_eq(result.missing_bytes, missing);
	ck_assert_uint_eq(result.n_missing, missing > 0);
	ck_assert(prove_judge(&result, NULL, &err));
	ck_assert(prove_judge(&result, &written, &err) == (missing == 0));
	written.derived_bytes++;
	result.missing_bytes = 0;
	ck_assert(!prove_judge(&result, &written, &err));
	ck_assert(strstr(err.text, "bytes of code without CFI instead of"));
	written.derived_bytes--;
	written.template_bytes++;
	ck_assert(!prove_judge(&result, &written, &err));
	ck_assert(strstr(err.text, "0 bytes of PLT stubs instead of 1"));
	free(result.missing);
}

/* Rows without CFI that got lost differ from nothing, so they are counted. */
UNIT(derived_lost)
{
	verify_derived(0);
	verify_derived(8);
	verify_derived(24);
}
