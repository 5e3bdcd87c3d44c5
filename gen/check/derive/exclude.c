/* SPDX-License-Identifier: MIT */
#include "gen/check/derive/exclude.h"

#include "base/search.h"
#include "base/vec.h"

/* Whether what is at addr is left out. *end, which is above addr, becomes the next address at which that
 * can change. */
static bool exclude_at(const struct policy *policy, uint64_t addr, uint64_t *end)
{
	const struct symbols *symbols = policy->symbols;
	const struct symbol *symbol = symbols_find(symbols, addr);
	size_t next = search_list_above(symbols->list, symbols->n, addr, addr);
	bool excluded = policy_section_excluded(policy, addr);

	if (next < symbols->n && symbols->list[next].addr < *end)
		*end = symbols->list[next].addr;
	for (size_t i = 0; i < policy->image->n_sections; i++) {
		const uint64_t start = policy->image->sections[i].hdr.sh_addr;

		if (start > addr && start < *end)
			*end = start;
	}
	if (!symbol)
		return excluded;
	if (symbol->size && symbol->size - (addr - symbol->addr) < *end - addr)
		*end = symbol->addr + symbol->size;
	/* Both are asked: each pattern that matches gets its mark. */
	return policy_symbol_excluded(policy, symbol->addr) || excluded;
}

bool derive_exclude(const struct policy *policy, struct derived *rows)
{
	const struct options *options = policy->options;
	struct derived kept = {0};

	if (!options->exclude_sections.n && !options->exclude_symbols.n)
		return true;
	for (size_t i = 0; i < rows->n; i++) {
		struct derived_row row = rows->list[i];

		for (uint64_t end; row.start < rows->list[i].end; row.start = end) {
			end = rows->list[i].end;
			if (!exclude_at(policy, row.start, &end) &&
			    !derived_add(&kept, row.start, end, &row.row)) {
				derived_deinit(&kept);
				return false;
			}
		}
	}
	derived_deinit(rows);
	*rows = kept;
	return true;
}
