/* SPDX-License-Identifier: MIT */
/* Refusals that concern an FDE as a whole. */
#include "gen/rows/policy.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/names/demangle.h"

static bool policy_names(const struct glob_list *globs, const char *name)
{
	for (size_t i = 0; i < globs->n; i++)
		if (fnmatch(globs->list[i], name, 0) == 0)
			return true;
	return false;
}

/* Marks every pattern that matches; several threads may mark the same one. */
static bool policy_matches(
    const struct glob_list *globs, const char *name, unsigned char *matched)
{
	bool any = false;

	for (size_t i = 0; i < globs->n; i++) {
		if (fnmatch(globs->list[i], name, 0) != 0)
			continue;
		__atomic_store_n(&matched[i], 1, __ATOMIC_RELAXED);
		any = true;
	}
	return any;
}

bool policy_section_excluded(const struct policy *policy, uint64_t pc)
{
	const struct policy_area *areas = policy->excluded;
	size_t i = search_list_above(areas, policy->n_excluded, start, pc);
	bool any = false;

	for (; i > 0 && areas[i - 1].reach > pc; i--)
		if (areas[i - 1].end > pc)
			any |= policy_matches(&policy->options->exclude_sections,
			    areas[i - 1].name, policy->matched);
	return any;
}

bool policy_find_excluded(struct policy *policy)
{
	const struct image *image = policy->image;
	const struct glob_list *globs = &policy->options->exclude_sections;
	uint64_t reach = 0;

	if (globs->n == 0)
		return true;
	policy->excluded = calloc(image->n_sections + 1, sizeof(*policy->excluded));
	if (!policy->excluded)
		return false;
	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		struct policy_area area = {
		    .start = hdr->sh_addr, .name = image->sections[i].name};

		if (hdr->sh_flags & SHF_ALLOC && hdr->sh_size &&
		    !__builtin_add_overflow(hdr->sh_addr, hdr->sh_size, &area.end) &&
		    policy_names(globs, area.name))
			policy->excluded[policy->n_excluded++] = area;
	}
	qsort(policy->excluded, policy->n_excluded, sizeof(*policy->excluded),
	    search_order);
	for (size_t i = 0; i < policy->n_excluded; i++) {
		struct policy_area *area = &policy->excluded[i];

		reach = area->end > reach ? area->end : reach;
		area->reach = reach;
	}
	return true;
}

/* As the file spells it, or as people do: "ns::f(int)". */
static bool policy_name_excluded(const struct policy *policy, const char *name)
{
	const struct options *options = policy->options;
	unsigned char *matched = policy->matched + options->exclude_sections.n;
	bool any = policy_matches(&options->exclude_symbols, name, matched);
	char readable[SYMBOL_READABLE];

	/* C++ and Rust; most names are of neither. */
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') &&
	    symbol_readable(name, readable))
		any |= policy_matches(&options->exclude_symbols, readable, matched);
	return any;
}

bool policy_symbol_excluded(const struct policy *policy, uint64_t pc)
{
	const struct symbols *symbols = policy->symbols;
	size_t i = search_list_from(symbols->list, symbols->n, addr, pc);
	bool any = false;

	for (; i < symbols->n && symbols->list[i].addr == pc; i++)
		any |= policy_name_excluded(policy, symbols->list[i].name);
	return any;
}

bool policy_unmatched(
    const struct policy *policy, size_t i, const char **option, const char **pattern)
{
	const struct glob_list *sections = &policy->options->exclude_sections;
	const struct glob_list *symbols = &policy->options->exclude_symbols;

	for (size_t k = 0; policy->matched && k < sections->n + symbols->n; k++) {
		if (__atomic_load_n(&policy->matched[k], __ATOMIC_RELAXED) || i-- > 0)
			continue;
		*option = k < sections->n ? "exclude-section" : "exclude-symbol";
		*pattern =
		    k < sections->n ? sections->list[k] : symbols->list[k - sections->n];
		return true;
	}
	return false;
}

const char *policy_few_symbols(const struct policy *policy)
{
	if (policy->options->exclude_symbols.n == 0)
		return NULL;
	if (policy->symbols->n == 0)
		return "none";
	return policy->symbols->dynamic ? "dynamic" : NULL;
}

enum refusal policy_fde(
    const struct policy *policy, const struct cfi_cie *cie, const struct cfi_fde *fde)
{
	/* Both are asked: each pattern that matches gets its mark. */
	bool excluded = policy_section_excluded(policy, fde->pc);

	if (policy->options->exclude_symbols.n)
		excluded |= policy_symbol_excluded(policy, fde->pc);
	if (excluded)
		return REFUSE_EXCLUDED;
	if (!image_is_code(policy->image, fde->pc, fde->range))
		return REFUSE_NOT_CODE;
	/* Readers add the size to a signed distance of 32 bits. */
	if (fde->range > INT32_MAX)
		return REFUSE_FUNCTION_SIZE;
	if (cie->ra_reg != policy->arch->ra_reg)
		return REFUSE_RETURN_COLUMN;
	return REFUSE_NOTHING;
}
