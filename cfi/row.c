/* SPDX-License-Identifier: MIT */
/* When two rows mean the same. */
#include "cfi/row.h"

bool cfi_row_same(const struct cfi_row *a, const struct cfi_row *b)
{
	return cfi_rule_equal(&a->cfa, &b->cfa) && cfi_rule_equal(&a->ra, &b->ra) &&
	       cfi_rule_equal(&a->fp, &b->fp) && cfi_rule_equal(&a->sp, &b->sp) &&
	       a->ra_signed == b->ra_signed &&
	       a->ra_signed_with_pc == b->ra_signed_with_pc;
}

size_t cfi_table_row_at(const struct cfi_table *table, uint64_t pc)
{
	size_t low = 0, high = table->n_rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->rows[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}
