/* SPDX-License-Identifier: MIT */
/* Constant arithmetic, which needs no machine. */
#include "cfi/opcodes.h"
#include "cfi/value.h"

bool cfi_fold(uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case DW_OP_and:
		*out = a & b;
		return true;
	case DW_OP_or:
		*out = a | b;
		return true;
	case DW_OP_xor:
		*out = a ^ b;
		return true;
	case DW_OP_mul:
		*out = a * b;
		return true;
	case DW_OP_div:
		*out = sb == -1 ? -a : sb ? (uint64_t)(sa / sb) : 0;
		return sb != 0;
	case DW_OP_mod:
		*out = b ? a % b : 0;
		return sa >= 0 && sb > 0;
	case DW_OP_shl:
		*out = b < 64 ? a << b : 0;
		return b < 64;
	case DW_OP_shr:
		*out = b < 64 ? a >> b : 0;
		return b < 64;
	case DW_OP_shra: /* spelt out: >> of a negative number is up to the compiler */
		*out = b >= 64 ? 0 : sa < 0 ? ~(~a >> b) : a >> b;
		return b < 64;
	case DW_OP_eq:
		*out = a == b;
		return true;
	case DW_OP_ne:
		*out = a != b;
		return true;
	case DW_OP_ge:
		*out = sa >= sb;
		return true;
	case DW_OP_gt:
		*out = sa > sb;
		return true;
	case DW_OP_le:
		*out = sa <= sb;
		return true;
	case DW_OP_lt:
		*out = sa < sb;
		return true;
	default:
		return false;
	}
}
