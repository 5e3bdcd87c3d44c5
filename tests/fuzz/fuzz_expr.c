/* SPDX-License-Identifier: MIT */
/*
 * The bytes of DWARF expressions, each evaluated at several addresses. Where a rule is said to
 * depend on the low bits of the PC alone, PCs with the same low bits must have the same rule.
 */
#include "tests/fuzz/fuzz.h"

#include "cfi/expr.h"
#include "cfi/row.h"

const char *const fuzz_section = ".expr";

/* x86-64's number of the PC, and one that no expression is likely to name. */
enum { PC_REG = 16, ADDRESS = 0x4000, MAX_OPS = 1 << 13 };

static const uint64_t places[] = {0, 1, 0x1000, 0x1007, 0x100f,
    UINT64_C(0x7fffffffffffffff), UINT64_C(0xfffffffffffffff0)};

static void check_at(const struct cfi_section *section, struct cfi_expr expr, uint64_t pc)
{
	uint8_t bits = 0, other_bits = 0;
	uint64_t ops = 0, other_ops = 0, other;
	struct cfi_row row = {0}, again = {0};

	row.cfa = cfi_expr_eval(section, &expr, pc, PC_REG, &bits, &ops);
	FUZZ_ASSERT(bits <= 64, "%u bits", bits);
	FUZZ_ASSERT(ops < MAX_OPS, "%llu operations", (unsigned long long)ops);
	if (bits >= 64)
		return;
	other = pc ^ (UINT64_C(0xa5) << bits);
	again.cfa = cfi_expr_eval(section, &expr, other, PC_REG, &other_bits, &other_ops);
	FUZZ_ASSERT(cfi_row_same(&row, &again),
	    "the rule at 0x%llx and at 0x%llx, which have %u low bits in common",
	    (unsigned long long)pc, (unsigned long long)other, bits);
}

/* Guise: byte order, size of an address, and what the expression is for. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_section section = {.addr = ADDRESS};
	struct cfi_expr expr = {0};

	if (size == 0)
		return 0;
	section.big_endian = data[0] & 1;
	section.addr_size = data[0] & 2 ? 4 : 8;
	section.data = data + 1;
	section.size = size - 1;
	expr.len = section.size;
	for (unsigned int use = CFI_EXPR_CFA; use <= CFI_EXPR_VALUE; use++) {
		expr.use = (uint8_t)use;
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
			check_at(&section, expr, places[i]);
	}
	return 0;
}
