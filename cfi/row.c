/* SPDX-License-Identifier: MIT */
/* When two rows give the same answer. */
#include "cfi/row.h"

bool cfi_row_same(const struct cfi_row *a, const struct cfi_row *b)
{
	return cfi_rule_equal(&a->cfa, &b->cfa) && cfi_rule_equal(&a->ra, &b->ra) &&
	       cfi_rule_equal(&a->fp, &b->fp) && cfi_rule_equal(&a->sp, &b->sp) &&
	       a->ra_signed == b->ra_signed &&
	       a->ra_signed_with_pc == b->ra_signed_with_pc;
}
