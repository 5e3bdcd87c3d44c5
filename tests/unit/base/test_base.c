/* SPDX-License-Identifier: MIT */
/*
 * base/: limits and sticky errors of the reader, the writer, narrowing, growth, texts of
 * errors.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/percent.h"
#include "base/plain.h"
#include "base/rd.h"
#include "base/vec.h"
#include "base/wr.h"
#include "tests/unit/unit.h"

UNIT(rd_byte_orders)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 0x88};
	struct rd rd;

	rd_init(&rd, bytes, sizeof(bytes), false);
	ck_assert_uint_eq(rd_u64(&rd), 0x8807060504030201);
	rd_init(&rd, bytes, sizeof(bytes), true);
	ck_assert_uint_eq(rd_u64(&rd), 0x0102030405060788);
	rd_init(&rd, bytes, sizeof(bytes), true);
	ck_assert_uint_eq(rd_u16(&rd), 0x0102);
	ck_assert_uint_eq(rd_u32(&rd), 0x03040506);
	ck_assert_int_eq(rd_s8(&rd), 7);
	ck_assert_int_eq(rd_s8(&rd), -0x78);
	ck_assert(rd_at_end(&rd) && !rd.failed);
}

UNIT(rd_failure_is_sticky)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5};
	struct rd rd;

	rd_init(&rd, bytes, sizeof(bytes), false);
	rd_u8(&rd);
	ck_assert_uint_eq(rd_u64(&rd), 0);
	ck_assert(rd.failed);
	/*
	 * There would be room for this one, but after an error the position cannot be
	 * trusted.
	 */
	ck_assert_uint_eq(rd_u8(&rd), 0);
	ck_assert_uint_eq(rd_uleb(&rd), 0);
	ck_assert_ptr_null(rd_skip(&rd, 0));
	ck_assert_ptr_null(rd_cstr(&rd));
}

UNIT(rd_skip_does_not_wrap)
{
	static const uint8_t bytes[4] = {0};
	struct rd rd;

	rd_init(&rd, bytes, sizeof(bytes), false);
	rd_u8(&rd);
	ck_assert_ptr_null(rd_skip(&rd, UINT64_MAX));
	ck_assert(rd.failed);
	rd_init(&rd, bytes, sizeof(bytes), false);
	ck_assert_ptr_eq(rd_skip(&rd, 4), bytes);
	ck_assert_ptr_eq(rd_skip(&rd, 0), bytes + 4);
	ck_assert(!rd.failed);
}

UNIT(rd_seek_stays_inside)
{
	static const uint8_t bytes[4] = {1, 2, 3, 4};
	struct rd rd;

	rd_init(&rd, bytes, sizeof(bytes), false);
	rd_seek(&rd, 3);
	ck_assert_uint_eq(rd_u8(&rd), 4);
	rd_seek(&rd, 0);
	ck_assert_uint_eq(rd_u8(&rd), 1);
	rd_seek(&rd, 4);
	ck_assert(rd_at_end(&rd) && !rd.failed);
	rd_seek(&rd, 5);
	ck_assert(rd.failed);
	ck_assert_ptr_null(rd_skip(&rd, 2));
	rd_seek(&rd, 0);
	ck_assert_uint_eq(rd_u8(&rd), 0);
	rd_init(&rd, bytes, sizeof(bytes), false);
	rd_seek(&rd, UINT64_MAX);
	ck_assert_ptr_null(rd_skip(&rd, 2));
}

UNIT(rd_strings_need_their_end)
{
	static const char bytes[] = {'z', 'R', 0, 'x'};
	struct rd rd;

	rd_init(&rd, bytes, sizeof(bytes), false);
	ck_assert_str_eq(rd_cstr(&rd), "zR");
	ck_assert_ptr_null(rd_cstr(&rd));
	ck_assert(rd.failed);
}

static struct rd reader(const void *bytes, size_t n)
{
	struct rd rd;

	rd_init(&rd, bytes, n, false);
	return rd;
}

UNIT(rd_leb_values)
{
	static const uint8_t u128[] = {0x80, 1}, minus_128[] = {0x80, 0x7f};
	static const uint8_t max[] = {
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	static const uint8_t min[] = {
	    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f};
	struct rd rd = reader(u128, sizeof(u128));

	ck_assert_uint_eq(rd_uleb(&rd), 128);
	rd = reader(minus_128, sizeof(minus_128));
	ck_assert_int_eq(rd_sleb(&rd), -128);
	rd = reader("\x3f\x40", 2);
	ck_assert_int_eq(rd_sleb(&rd), 63);
	ck_assert_int_eq(rd_sleb(&rd), -64);
	rd = reader(max, sizeof(max));
	ck_assert_uint_eq(rd_uleb(&rd), UINT64_MAX);
	rd = reader(min, sizeof(min));
	ck_assert(rd_sleb(&rd) == INT64_MIN);
	ck_assert(!rd.failed);
}

UNIT(rd_leb_limits)
{
	static const uint8_t bit_64[] = {
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	static const uint8_t padded[] = {0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
	static const uint8_t not_sign[] = {
	    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x3f};
	uint8_t endless[64];
	struct rd rd;

	memset(endless, 0x80, sizeof(endless));
	rd = reader(bit_64, sizeof(bit_64));
	rd_uleb(&rd);
	ck_assert_msg(rd.failed, "a 65th bit");
	rd = reader(padded, sizeof(padded));
	ck_assert_uint_eq(rd_uleb(&rd), 5);
	ck_assert_msg(!rd.failed, "16 bytes, the most there may be");
	rd = reader(endless, sizeof(endless));
	rd_uleb(&rd);
	ck_assert_msg(rd.failed && rd.pos <= 16, "17 bytes");
	rd = reader(endless, sizeof(endless));
	rd_sleb(&rd);
	ck_assert(rd.failed);
	rd = reader(not_sign, sizeof(not_sign));
	rd_sleb(&rd);
	ck_assert_msg(rd.failed, "bits above the 64th that do not repeat the sign");
	rd = reader(endless, 3);
	rd_uleb(&rd);
	ck_assert_msg(rd.failed, "the data ends first");
}

UNIT(wr_writes_both_orders)
{
	static const uint8_t little[] = {1, 3, 2, 7, 6, 5, 4, 0, 0};
	static const uint8_t big[] = {0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 5};
	struct wr wr;

	wr_init(&wr, false);
	wr_u8(&wr, 1);
	wr_u16(&wr, 0x0203);
	wr_u32(&wr, 0x04050607);
	wr_zeros(&wr, 2);
	ck_assert_uint_eq(wr.size, sizeof(little));
	ck_assert_mem_eq(wr.data, little, sizeof(little));
	wr_deinit(&wr);
	wr_init(&wr, true);
	wr_u64(&wr, 9);
	wr_u32(&wr, 0);
	wr_patch_u32(&wr, 8, 5);
	ck_assert_mem_eq(wr.data, big, sizeof(big));
	wr_deinit(&wr);
}

UNIT(num_refuses_what_does_not_fit)
{
	uint8_t u8 = 1;
	uint16_t u16;
	uint32_t u32;
	int32_t s32;
	uint64_t u64;

	ck_assert(num_u8(255, &u8) && u8 == 255);
	ck_assert(!num_u8(256, &u8) && u8 == 255);
	ck_assert(num_u16(65535, &u16) && !num_u16(65536, &u16));
	ck_assert(num_u32(UINT32_MAX, &u32) && !num_u32(UINT64_C(1) << 32, &u32));
	ck_assert(num_s32(INT32_MIN, &s32) && !num_s32((int64_t)INT32_MIN - 1, &s32));
	ck_assert(num_distance_s32(0x1000, 0xff0, &s32) && s32 == -16);
	ck_assert(!num_distance_s32(0, UINT64_C(1) << 31, &s32));
	ck_assert(num_align_up(13, 8, &u64) && u64 == 16);
	ck_assert(!num_align_up(UINT64_MAX, 8, &u64));
	ck_assert(num_range_inside(4, 0, 4) && !num_range_inside(4, 1, 4));
	ck_assert(!num_range_inside(1, UINT64_MAX, 4));
}

UNIT(percent_of_nothing_and_of_all)
{
	static const struct {
		uint64_t part, whole;
		const char *text;
	} shares[] = {{0, 0, "-"}, {3, 0, "-"}, {0, 7, "0.00 %"}, {1, 100000, "<0.01 %"},
	    {1, 3, "33.33 %"}, {999999, 1000000, "99.99 %"},
	    {UINT64_MAX - 1, UINT64_MAX, "99.99 %"}, {7, 7, "100.00 %"},
	    {UINT64_MAX, 7, "100.00 %"}};
	char text[PERCENT_SIZE];

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		ck_assert_str_eq(
		    percent_text(shares[i].part, shares[i].whole, " %", text),
		    shares[i].text);
}

UNIT(vec_grows_and_refuses)
{
	uint64_t *array = NULL;
	size_t cap = 0;

	for (size_t n = 0; n < 1000; n++) {
		ck_assert(vec_reserve(&array, &cap, n + 1));
		array[n] = n;
	}
	ck_assert_uint_eq(array[999], 999);
	ck_assert(cap < 2000);
	ck_assert(!vec_reserve(&array, &cap, SIZE_MAX / 4));
	ck_assert_uint_eq(array[999], 999);
	free(array);
}

UNIT(err_text_and_prefix)
{
	struct err err = {0};
	char longest[600];

	ck_assert(!err_set(&err, ERR_MALFORMED, "at 0x%x", 16));
	ck_assert(!err_prefix(&err, "%s", "file"));
	ck_assert_str_eq(err.text, "file: at 0x10");
	ck_assert_int_eq(err.kind, ERR_MALFORMED);
	errno = ENOENT;
	ck_assert(!err_set_errno(&err, "open"));
	ck_assert_str_eq(err.text, "open: No such file or directory");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	err_prefix(&err, "%s", longest);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}

/* Control characters, and bytes that are no UTF-8: terminals that take bytes for themselves obey some. */
UNIT_LOOP(plain_escapes, 0, 13)
{
	static const struct {
		const char *text, *plain;
	} table[] = {
	    {"", ""},
	    {"a b~", "a b~"},
	    {"a\nb\t\033[31m\177", "a\\012b\\011\\033[31m\\177"},
	    {"\x9b", "\\233"},
	    {"a\x80\x9f", "a\\200\\237"},
	    {"\xc2\x9b", "\\302\\233"},
	    {"\xe9\x9b\x31m", "\\351\\2331m"},
	    {"\xe9", "\\351"},
	    {"\xc1\xbf\xe0\x9f\xbf", "\\301\\277\\340\\237\\277"},
	    {"\xed\xa0\x80", "\\355\\240\\200"},
	    {"\xf0\x9f\x98\x80\xf4\x90\x80\x80\xf5",
		"\xf0\x9f\x98\x80\\364\\220\\200\\200\\365"},
	    {"\xc2\xa0", "\xc2\xa0"},
	    {"\xc3\x9b \xe2\x82\x9a", "\xc3\x9b \xe2\x82\x9a"},
	};
	const char *text = table[_i].text, *plain = table[_i].plain;
	char small[4], *copy = plain_dup(text), *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	plain_print(text, out);
	fclose(out);
	ck_assert_str_eq(copy, plain);
	ck_assert_str_eq(printed, plain);
	ck_assert_int_eq(plain_is(text), strcmp(text, plain) == 0);
	/* No half of an escape. */
	plain_copy(small, sizeof(small), text);
	ck_assert(strncmp(small, plain, strlen(small)) == 0);
	ck_assert(!strchr(small, '\\'));
	free(copy);
	free(printed);
}
