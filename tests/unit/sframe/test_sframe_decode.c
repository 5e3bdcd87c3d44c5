/* SPDX-License-Identifier: MIT */
/* The reader gives back random models, and no bytes make it misbehave. */
#include <string.h>

#include "sframe/check.h"
#include "sframe/dump.h"
#include "tests/unit/sframe/test_sframe_random.h"

enum { N_SEEDS = 200, SECTION_ADDR = 0x40002188 };

/* The versions of an ABI. The fourth number is not a version. */
static bool goes_together(uint8_t version, uint8_t abi)
{
	return version <= SFRAME_VERSION_3 && version >= sf_abi_find(abi)->since;
}

static void expect_round_trip(const struct sf_section *model, uint8_t version, bool pcrel,
    bool share, unsigned int seed)
{
	struct sf_section flat = random_without_blocks(model);
	struct wr wr = fixture_encode_as(version, model, pcrel, share, SECTION_ADDR);
	struct sf_view view = fixture_open(&wr, SECTION_ADDR);
	struct err err = {0};

	fixture_expect(&view, version == SFRAME_VERSION_1 ? &flat : model, seed);
	ck_assert_msg(sf_check_all(&view, &err), "seed %u: %s", seed, err.text);
	wr_deinit(&wr);
	sf_section_deinit(&flat);
}

/* The loop's number stands for a version and an ABI. */
UNIT_LOOP(round_trip, 0, 12)
{
	uint8_t version = (uint8_t)(1 + _i / 4), abi = (uint8_t)(1 + _i % 4);

	if (!goes_together(version, abi))
		return;
	for (unsigned int seed = 1; seed <= N_SEEDS; seed++) {
		struct prng prng = {.state = seed + 1000 * (unsigned int)_i};
		struct sf_section model =
		    random_section(&prng, version, abi, SECTION_ADDR - 0x1000);

		for (unsigned int i = 0; i < 4; i++) {
			if (version == SFRAME_VERSION_1 && (i & 1))
				continue;
			expect_round_trip(&model, version, i & 1, i & 2, seed);
		}
		sf_section_deinit(&model);
	}
}

/* Reads all of a section. It does not matter whether that succeeds. */
static bool read_all(const uint8_t *data, size_t size, struct err *err)
{
	/* A copy of exact size, so that a sanitizer sees every read beyond it. */
	uint8_t *copy = malloc(size ? size : 1);
	struct sf_view view;
	bool ok;

	ck_assert_ptr_nonnull(copy);
	if (size)
		memcpy(copy, data, size);
	ok = sf_view_open(copy, size, SECTION_ADDR, &view, err) &&
	     sf_check_all(&view, err);
	free(copy);
	return ok;
}

static struct wr small_section(uint8_t version, uint8_t abi)
{
	struct prng prng = {.state = 7};
	struct sf_section model = fixture_section(abi);
	const struct sf_abi *facts = sf_abi_find(abi);
	struct wr wr;

	for (uint32_t i = 0; i < 3; i++) {
		fixture_func(&model, 0x40001000 + 0x40000 * i, 0x40000);
		for (uint32_t j = 0; j < 3; j++)
			fixture_row(&model,
			    random_row(&prng, version, facts, i == 0, j << 8 * i));
	}
	wr = fixture_encode_as(
	    version, &model, version >= SFRAME_VERSION_2, true, SECTION_ADDR);
	sf_section_deinit(&model);
	return wr;
}

/* A section without its last byte is refused, with a message and a kind. */
UNIT_LOOP(truncation, 0, 12)
{
	uint8_t version = (uint8_t)(1 + _i / 4), abi = (uint8_t)(1 + _i % 4);
	struct err err = {0};
	struct wr wr;

	if (!goes_together(version, abi))
		return;
	wr = small_section(version, abi);
	ck_assert_msg(read_all(wr.data, wr.size, &err), "%s", err.text);
	for (size_t size = 0; size < wr.size; size++) {
		err = (struct err){0};
		if (read_all(wr.data, size, &err))
			ck_abort_msg("0x%zx of 0x%zx bytes accepted", size, wr.size);
		if (err.kind != ERR_MALFORMED || !err.text[0])
			ck_abort_msg("0x%zx bytes: kind %d", size, err.kind);
	}
	wr_deinit(&wr);
}

/* Each byte takes all other values. */
UNIT_LOOP(mutation, 0, 12)
{
	uint8_t version = (uint8_t)(1 + _i / 4), abi = (uint8_t)(1 + _i % 4);
	struct err err = {0};
	struct wr wr;

	if (!goes_together(version, abi))
		return;
	wr = small_section(version, abi);
	for (size_t off = 0; off < wr.size; off++) {
		uint8_t saved = wr.data[off];

		for (unsigned int v = 0; v <= UINT8_MAX; v++) {
			wr.data[off] = (uint8_t)v;
			err = (struct err){0};
			if (!read_all(wr.data, wr.size, &err) && !err.text[0])
				ck_abort_msg("+0x%zx = 0x%02x: no words", off, v);
		}
		wr.data[off] = saved;
	}
	wr_deinit(&wr);
}

/* Changes two bytes at once, and whole fields, chosen at random. */
UNIT(noise)
{
	for (unsigned int seed = 1; seed <= 20000; seed++) {
		struct prng prng = {.state = seed};
		uint8_t version = (uint8_t)(1 + seed % 3);
		struct wr wr = small_section(version, (uint8_t)(1 + seed / 3 % 3));
		struct err err = {0};

		for (uint32_t n = 1 + prng_below(&prng, 5); n > 0; n--)
			wr.data[prng_below(&prng, (uint32_t)wr.size)] =
			    (uint8_t)(prng_below(&prng, 3) ? prng_below(&prng, 256)
							   : 0xff);
		(void)read_all(wr.data, wr.size, &err);
		wr_deinit(&wr);
	}
}

static void expect_refused(const struct wr *wr, enum err_kind kind, const char *says)
{
	struct err err = {0};

	ck_assert_msg(!read_all(wr->data, wr->size, &err), "accepted, want: %s", says);
	ck_assert_msg(
	    strstr(err.text, says) != NULL, "\"%s\" not in: %s", says, err.text);
	ck_assert_int_eq(err.kind, kind);
}

UNIT(headers_refused)
{
	struct wr wr = small_section(2, SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	uint32_t index_len = 3 * SFRAME_V2_FDE_SIZE;

	wr.data[0] ^= 1;
	expect_refused(&wr, ERR_MALFORMED, "magic");
	wr.data[0] ^= 1;
	wr.data[SFRAME_HDR_VERSION] = 4;
	expect_refused(&wr, ERR_UNSUPPORTED, "version 4");
	wr.data[SFRAME_HDR_VERSION] = 0;
	expect_refused(&wr, ERR_UNSUPPORTED, "version 0");
	wr.data[SFRAME_HDR_VERSION] = 2;
	wr.data[SFRAME_HDR_AUXHDR_LEN] = 255;
	expect_refused(&wr, ERR_MALFORMED, "functions at");
	wr.data[SFRAME_HDR_AUXHDR_LEN] = 0;
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FDES, UINT32_MAX);
	expect_refused(&wr, ERR_MALFORMED, "functions at");
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FDES, 3);
	wr_patch_u32(&wr, SFRAME_HDR_FREOFF, index_len - 1);
	expect_refused(&wr, ERR_MALFORMED, "before the functions end");
	wr_patch_u32(&wr, SFRAME_HDR_FREOFF, index_len + 1);
	expect_refused(&wr, ERR_MALFORMED, "bytes of rows at");
	wr_patch_u32(&wr, SFRAME_HDR_FREOFF, index_len);
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FRES, 64 * (uint32_t)wr.size + 1);
	expect_refused(&wr, ERR_LIMIT, "more than 64 per byte");
	wr_patch_u32(&wr, SFRAME_HDR_NUM_FRES, 64 * (uint32_t)wr.size);
	expect_refused(&wr, ERR_MALFORMED, "rows-total");
	wr_deinit(&wr);
}

/* A modest count in the header does not hide how large the functions are together. */
UNIT(work_is_bounded)
{
	enum { N_FUNCS = 3000, ROWS = 20000, ROW_BYTES = 2 * ROWS };
	struct sf_section model = fixture_section(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	struct wr wr;

	for (uint32_t i = 0; i < N_FUNCS; i++) {
		fixture_func(&model, 0x40000000 + 0x10000 * i, 0x10000);
		fixture_row(&model, (struct sf_row){.outermost = 1});
	}
	wr = fixture_encode(&model, true, true, SECTION_ADDR);
	sf_section_deinit(&model);
	wr_zeros(&wr, ROW_BYTES);
	wr_patch_u32(&wr, SFRAME_HDR_FRE_LEN, ROW_BYTES);
	for (uint32_t i = 0; i < N_FUNCS; i++)
		wr_patch_u32(
		    &wr, SFRAME_HDR_SIZE + 20 * i + SFRAME_FDE_FUNC_NUM_FRES, ROWS);
	expect_refused(&wr, ERR_LIMIT, "60000000 rows");
	wr_deinit(&wr);
}

/* One function with one row, whose bytes a test then changes: 0x00 0x03 0x08. */
static struct wr one_row(uint8_t abi)
{
	struct sf_section model = fixture_section(abi);
	struct wr wr;

	fixture_func(&model, 0x40001000, 0x40);
	fixture_row(&model, fixture_cfa(0, sf_abi_find(abi)->sp, 8));
	wr = fixture_encode(&model, true, true, SECTION_ADDR);
	sf_section_deinit(&model);
	/* Room for the larger rows the tests ask for. */
	wr_zeros(&wr, 16);
	wr_patch_u32(&wr, SFRAME_HDR_FRE_LEN, 3 + 16);
	return wr;
}

UNIT(rows_refused)
{
	struct wr wr = one_row(SFRAME_ABI_AMD64_ENDIAN_LITTLE);
	size_t info = SFRAME_HDR_SIZE + SFRAME_V2_FDE_SIZE + 1;
	uint8_t *func_info = &wr.data[SFRAME_HDR_SIZE + SFRAME_FDE_FUNC_INFO];

	wr.data[info] = 0x63;
	expect_refused(&wr, ERR_MALFORMED, "no size");
	wr.data[info] = 0x07;
	expect_refused(&wr, ERR_MALFORMED, "mean nothing");
	wr.data[info] = 0x09;
	expect_refused(&wr, ERR_MALFORMED, "too many words");
	wr.data[info] = 0x45;
	wr_patch_u32(&wr, SFRAME_HDR_FRE_LEN, 9);
	expect_refused(&wr, ERR_MALFORMED, "passes the end");
	wr.data[info] = 0x03;
	*func_info = 3;
	expect_refused(&wr, ERR_MALFORMED, "row type 3 does not exist");
	*func_info = 0x40;
	expect_refused(&wr, ERR_MALFORMED, "info byte 0x40");
	*func_info = 0;
	wr_patch_u32(&wr, SFRAME_HDR_SIZE + SFRAME_FDE_FUNC_START_FRE_OFF, 8);
	expect_refused(&wr, ERR_MALFORMED, "cannot fit");
	wr_deinit(&wr);
}

/* The layout of readelf --sframe. The same sections were compared with its dump. */
/*
 * No writer makes this for AArch64. It is read as elsewhere: an RA word of 0 means none.
 */
UNIT(padding)
{
	struct sf_section model = fixture_section(SFRAME_ABI_AARCH64_ENDIAN_BIG);
	struct sf_row row = fixture_cfa(0, AARCH64_SP, 16);
	struct sf_view_func func;
	struct sf_row_iter iter;
	struct err err = {0};
	struct sf_view view;
	struct wr wr;

	row.ra = row.fp = (struct sf_loc){.kind = SF_LOC_AT_CFA};
	row.ra_off = -8;
	row.fp_off = -16;
	fixture_func(&model, 0x2000, 64);
	fixture_row(&model, row);
	for (uint8_t version = 1; version <= 3; version++) {
		wr = fixture_encode_as(version, &model, false, false, 0);
		ck_assert_mem_eq(wr.data + wr.size - 5, "\0\7\x10\xf8\xf0", 5);
		wr.data[wr.size - 2] = 0;
		view = fixture_open(&wr, 0);
		ck_assert(sf_view_func(&view, 0, &func, &err));
		sf_rows_begin(&view, &func, &iter);
		ck_assert(sf_rows_next(&iter, &row, &err));
		ck_assert_int_eq(row.ra.kind, SF_LOC_NONE);
		ck_assert_int_eq(row.ra_off, 0);
		ck_assert_int_eq(row.fp.kind, SF_LOC_AT_CFA);
		ck_assert_int_eq(row.fp_off, -16);
		wr_deinit(&wr);
	}
	sf_section_deinit(&model);
}

UNIT(printed)
{
	static const char want[] =
	    "Contents of the SFrame section .sframe:\n"
	    "  Header :\n\n"
	    "    Version: SFRAME_VERSION_2\n"
	    "    Flags: SFRAME_F_FDE_SORTED,\n"
	    "           SFRAME_F_FDE_FUNC_START_PCREL\n"
	    "    Num FDEs: 2\n"
	    "    Num FREs: 3\n\n"
	    "  Function Index :\n\n"
	    "    func idx [0]: pc = 0x1000, size = 32 bytes, pauth = B key\n"
	    "    STARTPC            CFA       FP        RA\n"
	    "    0000000000001000  sp+0      u         u\n"
	    "    0000000000001004  fp+16     c-16      c-8[s]\n\n"
	    "    func idx [1]: pc = 0x1040, size = 64 bytes, PCMASK, "
	    "rep_size = 16\n"
	    "    STARTPC[m]         CFA       FP        RA\n"
	    "    0000000000000000  RA undefined\n";
	struct sf_section model = fixture_section(SFRAME_ABI_AARCH64_ENDIAN_LITTLE);
	struct sf_row row = fixture_cfa(4, AARCH64_FP, 16);
	struct err err = {0};
	struct sf_view view;
	struct wr wr;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	fixture_func(&model, 0x1000, 32);
	model.funcs[0].pauth_b = true;
	fixture_row(&model, fixture_cfa(0, AARCH64_SP, 0));
	row.ra.kind = row.fp.kind = SF_LOC_AT_CFA;
	row.ra_off = -8;
	row.fp_off = -16;
	row.ra_signed = 1;
	fixture_row(&model, row);
	fixture_func(&model, 0x1040, 64);
	model.funcs[1].pcmask = true;
	model.funcs[1].rep_size = 16;
	fixture_row(&model, (struct sf_row){.outermost = 1});
	wr = fixture_encode(&model, true, true, 0x2000);
	view = fixture_open(&wr, 0x2000);
	ck_assert(sf_dump(&view, ".sframe", out, &err));
	fclose(out);
	ck_assert_str_eq(text, want);
	free(text);
	wr_deinit(&wr);
	sf_section_deinit(&model);
}

/* Bytes after the rows are not read as a row, however many there are. */
static void rows_of(uint8_t abi, const uint8_t *row, size_t size, bool readable)
{
	struct sf_section model = fixture_section(abi);
	struct sf_view_func func;
	struct sf_row_iter iter;
	struct err err = {0};
	struct sf_view view;
	struct sf_row got;
	struct wr wr;

	fixture_func(&model, 0x1000, 16);
	fixture_row(&model, fixture_cfa(0, sf_abi_find(abi)->sp, 8));
	wr = fixture_encode(&model, false, false, SECTION_ADDR);
	sf_section_deinit(&model);
	wr.size = SFRAME_HDR_SIZE + SFRAME_V2_FDE_SIZE;
	wr_bytes(&wr, row, size);
	wr_zeros(&wr, 64);
	wr_patch_u32(&wr, SFRAME_HDR_FRE_LEN, (uint32_t)size);
	view = fixture_open(&wr, SECTION_ADDR);
	ck_assert_msg(sf_view_func(&view, 0, &func, &err), "%s", err.text);
	sf_rows_begin(&view, &func, &iter);
	ck_assert_int_eq(sf_rows_next(&iter, &got, &err), readable);
	ck_assert_int_eq(iter.failed, !readable);
	if (readable) {
		ck_assert_int_eq(got.ra.kind, SF_LOC_NONE);
		ck_assert_int_eq(got.fp.kind, SF_LOC_AT_CFA);
		ck_assert_int_eq(got.fp_off, -16);
	}
	wr_deinit(&wr);
}

UNIT(row_alone)
{
	/* Start, info byte, CFA, FP; then one word more than there can be. */
	static const uint8_t amd64[] = {0, 0x05, 16, 0xf0, 0};
	/* Start, info byte, CFA, no RA, FP. */
	static const uint8_t aarch64[] = {0, 0x07, 16, 0, 0xf0, 0};
	uint8_t long_row[32] = {0, 0x07, 16, 0, 0xf0};

	rows_of(SFRAME_ABI_AMD64_ENDIAN_LITTLE, amd64, 4, true);
	rows_of(SFRAME_ABI_AMD64_ENDIAN_LITTLE, amd64, 3, false);
	rows_of(SFRAME_ABI_AARCH64_ENDIAN_LITTLE, aarch64, 5, true);
	rows_of(SFRAME_ABI_AARCH64_ENDIAN_LITTLE, aarch64, 4, false);
	/* So many bytes follow the rows that reading them would not fail. */
	rows_of(SFRAME_ABI_AARCH64_ENDIAN_LITTLE, long_row, sizeof(long_row), true);
	rows_of(SFRAME_ABI_AMD64_ENDIAN_LITTLE, long_row, sizeof(long_row), false);
	long_row[1] = 0x09;
	rows_of(SFRAME_ABI_AARCH64_ENDIAN_LITTLE, long_row, sizeof(long_row), false);
	long_row[1] = 0x65;
	rows_of(SFRAME_ABI_AMD64_ENDIAN_LITTLE, long_row, sizeof(long_row), false);
}
