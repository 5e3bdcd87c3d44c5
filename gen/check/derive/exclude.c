/* SPDX-License-Identifier: MIT */
/* Takes derived rows out of excluded sections and functions. */
#include "gen/check/derive/exclude.h"

#include <stdlib.h>

#include "base/search.h"

/* Starts of sections; ascending. */
struct starts {
	uint64_t *list; /* owned */
	size_t n;
};

static bool starts_read(const struct image *image, struct starts *starts)
{
	*starts =
	    (struct starts){calloc(image->n_sections + 1, sizeof(*starts->list)), 0};
	if (!starts->list)
		return false;
	for (; starts->n < image->n_sections; starts->n++)
		starts->list[starts->n] = image->sections[starts->n].hdr.sh_addr;
	qsort(starts->list, starts->n, sizeof(*starts->list), search_order);
	return true;
}

/* True if the code at addr is left out. *end, which is above addr, becomes the next
 * address at which that can change. */
static bool exclude_at(const struct policy *policy, const struct starts *starts,
    uint64_t addr, uint64_t *end)
{
	const struct symbols *symbols = policy->symbols;
	const struct symbol *symbol = symbols_find(symbols, addr);
	size_t next = search_list_above(symbols->list, symbols->n, addr, addr);
	bool excluded = policy_section_excluded(policy, addr);

	if (next < symbols->n && symbols->list[next].addr < *end)
		*end = symbols->list[next].addr;
	next = search_above(starts->list, sizeof(*starts->list), starts->n, addr);
	if (next < starts->n && starts->list[next] < *end)
		*end = starts->list[next];
	if (!symbol)
		return excluded;
	if (symbol->size && symbol->size - (addr - symbol->addr) < *end - addr)
		*end = symbol->addr + symbol->size;
	/* Asks for both, because each pattern that matches gets its mark. */
	return policy_symbol_excluded(policy, symbol->addr) || excluded;
}

bool derive_exclude(const struct policy *policy, struct derived *rows)
{
	const struct options *options = policy->options;
	struct derived kept = {0};
	struct starts starts;
	bool ok;

	if (!options->exclude_sections.n && !options->exclude_symbols.n)
		return true;
	ok = starts_read(policy->image, &starts);
	for (size_t i = 0; ok && i < rows->n; i++) {
		struct derived_row row = rows->list[i];

		for (uint64_t end; ok && row.start < rows->list[i].end; row.start = end) {
			end = rows->list[i].end;
			ok = exclude_at(policy, &starts, row.start, &end) ||
			     derived_add(&kept, row.start, end, &row.row);
		}
	}
	free(starts.list);
	if (!ok) {
		derived_deinit(&kept);
		return false;
	}
	derived_deinit(rows);
	*rows = kept;
	return true;
}
