/* SPDX-License-Identifier: MIT */
/* Comparison of rows, and the search in a table. */
#include "cfi/row.h"

#include "base/search.h"

bool cfi_row_same(const struct cfi_row *a, const struct cfi_row *b)
{
	return cfi_rule_equal(&a->cfa, &b->cfa) && cfi_rule_equal(&a->ra, &b->ra) &&
	       cfi_rule_equal(&a->fp, &b->fp) && cfi_rule_equal(&a->sp, &b->sp) &&
	       a->ra_signed == b->ra_signed &&
	       a->ra_signed_with_pc == b->ra_signed_with_pc && a->doubtful == b->doubtful;
}

size_t cfi_table_row_at(const struct cfi_table *table, uint64_t pc)
{
	size_t after = search_list_above(table->rows, table->n_rows, pc, pc);

	return after ? after - 1 : 0;
}
