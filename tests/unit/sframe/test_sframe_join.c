/* SPDX-License-Identifier: MIT */
/* Several sections are joined to one. Each function stays what it was, in each version
 * and byte order. */
#include "sframe/check.h"
#include "sframe/join.h"
#include "tests/unit/sframe/test_sframe_fixture.h"

enum { FIRST = 0x1000, SECOND = 0x9000, WHOLE = 0x20000, FUNCS = 3 };

static const struct {
	uint8_t version, abi;
	bool pcrel;
} kinds[] = {
    {1, SFRAME_ABI_AMD64_ENDIAN_LITTLE, false},
    {1, SFRAME_ABI_AARCH64_ENDIAN_BIG, false},
    {2, SFRAME_ABI_AMD64_ENDIAN_LITTLE, true},
    {2, SFRAME_ABI_AMD64_ENDIAN_LITTLE, false},
    {2, SFRAME_ABI_S390X_ENDIAN_BIG, true},
    {3, SFRAME_ABI_AMD64_ENDIAN_LITTLE, true},
    {3, SFRAME_ABI_AARCH64_ENDIAN_BIG, true},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), N_PAIRS = N_KINDS * N_KINDS };

/* Functions have different lengths and numbers of rows, so none can stand for another. */
static struct wr part(int kind, uint64_t addr, uint32_t first)
{
	struct sf_section section = fixture_section(kinds[kind].abi);
	const struct sf_abi *abi = sf_abi_find(kinds[kind].abi);
	struct wr wr;

	for (uint32_t i = first; i < first + FUNCS; i++) {
		fixture_func(&section, addr + 0x100 + i * 0x40, 0x20 + i);
		for (uint32_t j = 0; j <= i; j++)
			fixture_row(&section,
			    fixture_cfa(j * 2, abi->sp, 160 + 8 * (int32_t)(i + j)));
	}
	wr = fixture_encode_as(
	    kinds[kind].version, &section, kinds[kind].pcrel, false, addr);
	sf_section_deinit(&section);
	return wr;
}

static void same_func(const struct sf_view *a, uint32_t i, const struct sf_view *b,
    uint32_t j, struct err *err)
{
	struct sf_view_func x, y;
	struct sf_row_iter p, q;
	struct sf_row row, other;

	ck_assert_msg(sf_view_func(a, i, &x, err), "%s", err->text);
	ck_assert_msg(sf_view_func(b, j, &y, err), "%s", err->text);
	ck_assert_uint_eq(x.func.start, y.func.start);
	ck_assert_uint_eq(x.func.size, y.func.size);
	ck_assert_uint_eq(x.func.n_rows, y.func.n_rows);
	sf_rows_begin(a, &x, &p);
	sf_rows_begin(b, &y, &q);
	while (sf_rows_next(&p, &row, err)) {
		ck_assert(sf_rows_next(&q, &other, err));
		ck_assert_uint_eq(row.start, other.start);
		ck_assert(sf_row_same(&row, &other));
	}
	ck_assert(!p.failed && !sf_rows_next(&q, &other, err) && !q.failed);
}

UNIT_EACH(joined, kinds)
{
	static const bool gone[FUNCS] = {[1] = true};
	struct wr one = part(_i, FIRST, 0), two = part(_i, SECOND, FUNCS), out;
	struct sf_view first, second, whole;
	struct sf_join join = {0};
	struct err err = {0};

	ck_assert(sf_view_open(one.data, one.size, FIRST, &first, &err));
	ck_assert(sf_view_open(two.data, two.size, SECOND, &second, &err));
	ck_assert_msg(sf_join_add(&join, &first, NULL, &err), "%s", err.text);
	ck_assert_msg(sf_join_add(&join, &second, gone, &err), "%s", err.text);
	wr_init(&out, first.big_endian);
	ck_assert_msg(sf_join_finish(&join, WHOLE, &out, &err), "%s", err.text);
	ck_assert_msg(
	    sf_view_open(out.data, out.size, WHOLE, &whole, &err), "%s", err.text);
	ck_assert_uint_eq(whole.version, kinds[_i].version);
	ck_assert_uint_eq(
	    whole.flags, kinds[_i].pcrel ? SFRAME_F_FDE_FUNC_START_PCREL : 0);
	ck_assert_uint_eq(whole.n_funcs, 2 * FUNCS - 1);
	ck_assert_msg(sf_check_all(&whole, &err), "%s", err.text);
	for (uint32_t i = 0; i < FUNCS; i++)
		same_func(&first, i, &whole, i, &err);
	same_func(&second, 0, &whole, FUNCS, &err);
	same_func(&second, 2, &whole, FUNCS + 1, &err);
	wr_deinit(&out);
	sf_join_deinit(&join);
	wr_deinit(&two);
	wr_deinit(&one);
}

/* Each kind differs from each other one in its header. */
UNIT_LOOP(apart, 0, N_PAIRS)
{
	int other = _i / N_KINDS;
	int kind = _i % N_KINDS;
	struct wr one = part(kind, FIRST, 0), two = part(other, SECOND, 0);
	struct sf_view first, second;
	struct sf_join join = {0};
	struct err err = {0};
	bool same = kind == other;

	ck_assert(sf_view_open(one.data, one.size, FIRST, &first, &err));
	ck_assert(sf_view_open(two.data, two.size, SECOND, &second, &err));
	ck_assert(sf_join_add(&join, &first, NULL, &err));
	ck_assert_int_eq(sf_join_add(&join, &second, NULL, &err), same);
	ck_assert_int_eq(err.kind, same ? ERR_NONE : ERR_UNSUPPORTED);
	sf_join_deinit(&join);
	wr_deinit(&two);
	wr_deinit(&one);
}

/* 32 bits do not reach this start from the place of the whole section. */
UNIT(out_of_reach)
{
	struct wr one = part(2, FIRST, 0), out;
	struct sf_join join = {0};
	struct sf_view view;
	struct err err = {0};

	ck_assert(sf_view_open(one.data, one.size, FIRST, &view, &err));
	ck_assert(sf_join_add(&join, &view, NULL, &err));
	wr_init(&out, false);
	ck_assert(!sf_join_finish(&join, UINT64_C(1) << 40, &out, &err));
	ck_assert_int_eq(err.kind, ERR_LIMIT);
	wr_deinit(&out);
	sf_join_deinit(&join);
	wr_deinit(&one);
}
