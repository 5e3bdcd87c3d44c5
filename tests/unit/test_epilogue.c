/* SPDX-License-Identifier: MIT */
/* Which rows --drop-epilogues takes out of a table, by the bytes of the code. */
#include <string.h>

#include "gen/epilogue.h"
#include "tests/unit/unit.h"

enum { SP = 7, BASE = 0x1000, MAX_ROWS = 5 };

#define POP_RBX 0x5b
#define POP_R12 0x41, 0x5c
#define RET 0xc3
#define NOP3 0x0f, 0x1f, 0x00
#define CALL 0xe8, 0, 0, 0, 0
#define ADD_RSP_8 0x48, 0x83, 0xc4, 8
#define SUB_RSP_8 0x48, 0x83, 0xc4, 0xf8 /* add $-8 */
#define UNSAYABLE (-1)

/* Rows at offsets into the code, CFA = SP + cfa, and how many of them are left, with the
 * bytes that lost theirs. */
static const struct epilogue_case {
	const char *name;
	size_t size;
	uint8_t code[16];
	size_t n_rows;
	struct {
		uint64_t start;
		int cfa;
	} rows[MAX_ROWS];
	size_t n_left;
	uint64_t starts_left[MAX_ROWS];
	uint64_t dropped;
} cases[] = {
	{"pop, ret", 7, {CALL, POP_RBX, RET}, 2, {{0, 16}, {6, 8}}, 1, {0}, 1},
	{"two pops", 9, {CALL, POP_R12, POP_RBX, RET}, 3, {{0, 24}, {7, 16}, {8, 8}}, 1,
		{0}, 2},
	{"add, ret", 10, {CALL, ADD_RSP_8, RET}, 2, {{0, 16}, {9, 8}}, 1, {0}, 1},
	{"and on as before", 15, {CALL, POP_RBX, RET, NOP3, CALL}, 3,
		{{0, 16}, {6, 8}, {10, 16}}, 1, {0}, 4},
	{"and on otherwise", 15, {CALL, POP_RBX, RET, NOP3, CALL}, 3,
		{{0, 16}, {6, 8}, {10, 24}}, 2, {0, 10}, 4},
	{"filled up only", 10, {CALL, NOP3, 0x66, 0x90}, 2, {{0, 16}, {5, 8}}, 2, {0, 5},
		0},
	{"not left", 13, {CALL, POP_RBX, POP_R12, CALL}, 3, {{0, 24}, {6, 16}, {8, 8}}, 3,
		{0, 6, 8}, 0},
	{"a call among it", 12, {CALL, POP_RBX, CALL, RET}, 2, {{0, 16}, {6, 8}}, 2,
		{0, 6}, 0},
	{"down, not up", 11, {CALL, POP_RBX, SUB_RSP_8, RET}, 2, {{0, 16}, {6, 8}}, 2,
		{0, 6}, 0},
	{"cut in an instruction", 8, {CALL, RET, 0x48, 0x83}, 2, {{0, 16}, {5, 8}}, 2,
		{0, 5}, 0},
	{"nothing before", 2, {POP_RBX, RET}, 2, {{0, 16}, {1, 8}}, 1, {0}, 1},
	{"from the start", 1, {RET}, 1, {{0, 8}}, 1, {0}, 0},
	{"unsayable before", 7, {CALL, POP_RBX, RET}, 2, {{0, UNSAYABLE}, {6, 8}}, 2,
		{0, 6}, 0},
	{"two epilogues", 14, {CALL, POP_RBX, RET, CALL, POP_RBX, RET}, 4,
		{{0, 16}, {6, 8}, {7, 16}, {13, 8}}, 1, {0}, 2},
};

static struct cfi_row row_of(uint64_t start, int cfa)
{
	return (struct cfi_row){.pc = BASE + start,
		.cfa = {.kind = cfa == UNSAYABLE ? CFI_OPAQUE : CFI_REG_PLUS,
			.reg = cfa == UNSAYABLE ? 0 : SP,
			.off = cfa},
		.ra = {.kind = CFI_AT_CFA, .off = -8}};
}

static uint64_t drop(const struct epilogue_case *one, size_t n_mapped, bool pc_dependent,
	struct cfi_row *rows, size_t *n_left)
{
	GElf_Phdr load = {.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = BASE,
		.p_filesz = n_mapped,
		.p_memsz = n_mapped};
	const struct image image = {
		.bytes = one->code, .size = n_mapped, .phdrs = &load, .n_phdrs = 1};
	const struct target target = {.arch = &arch_x86_64, .version = 2};
	struct cfi_table table = {.start = BASE,
		.end = BASE + one->size,
		.rows = rows,
		.n_rows = one->n_rows,
		.pc_dependent = pc_dependent,
		.movable = true};
	uint64_t dropped;

	for (size_t i = 0; i < one->n_rows; i++)
		rows[i] = row_of(one->rows[i].start, one->rows[i].cfa);
	dropped = epilogue_drop(&image, &target, &table);
	/* The same instructions of CFI may stand for other code. */
	ck_assert(!table.movable);
	*n_left = table.n_rows;
	return dropped;
}

START_TEST(rows)
{
	const struct epilogue_case *one = &cases[_i];
	struct cfi_row left[MAX_ROWS];
	size_t n;
	uint64_t dropped = drop(one, one->size, false, left, &n);

	ck_assert_msg(n == one->n_left && dropped == one->dropped,
		"%s: %zu rows left, %ju bytes", one->name, n, (uintmax_t)dropped);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(left[i].pc == BASE + one->starts_left[i], "%s: row %zu",
			one->name, i);
}
END_TEST

/* Bytes that the file does not have, and rules over the PC, leave everything as it is. */
START_TEST(unknown)
{
	const struct epilogue_case *one = &cases[1];
	struct cfi_row left[MAX_ROWS];
	size_t n;

	ck_assert_uint_eq(drop(one, one->size - 1, false, left, &n), 0);
	ck_assert_uint_eq(n, one->n_rows);
	ck_assert_uint_eq(drop(one, one->size, true, left, &n), 0);
	ck_assert_uint_eq(n, one->n_rows);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("epilogue");
	TCase *tcase = tcase_create("epilogue");

	tcase_add_loop_test(tcase, rows, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, unknown);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
