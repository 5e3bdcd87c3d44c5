/* SPDX-License-Identifier: MIT */
/* Refusals that concern an FDE as a whole. */
#include "gen/rows/policy.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/names/demangle.h"

/* Answers about the symbols at one place, kept for the next question. */
enum { POLICY_KEPT = 1, POLICY_EXCLUDED };

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
	bool any = false;

	for (size_t k = 0; k < policy->options->exclude_sections.n; k++) {
		const struct policy_areas *areas = &policy->excluded[k];
		size_t i = search_list_above(areas->list, areas->n, start, pc);

		if (!i || areas->list[i - 1].end <= pc)
			continue;
		__atomic_store_n(&policy->matched[k], 1, __ATOMIC_RELAXED);
		any = true;
	}
	return any;
}

static bool policy_find_areas(
    const struct image *image, const char *glob, struct policy_areas *areas)
{
	areas->list = calloc(image->n_sections + 1, sizeof(*areas->list));
	if (!areas->list)
		return false;
	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;
		struct policy_area area = {.start = hdr->sh_addr};

		if (hdr->sh_flags & SHF_ALLOC && hdr->sh_size &&
		    !__builtin_add_overflow(hdr->sh_addr, hdr->sh_size, &area.end) &&
		    fnmatch(glob, image->sections[i].name, 0) == 0)
			areas->list[areas->n++] = area;
	}
	/* Sections of a damaged file overlap. Areas that do are joined, so that one search tells. */
	areas->n = search_join(areas->list, sizeof(*areas->list), areas->n);
	return true;
}

bool policy_find_excluded(struct policy *policy)
{
	const struct glob_list *sections = &policy->options->exclude_sections;
	const struct glob_list *symbols = &policy->options->exclude_symbols;
	bool ok = true;

	if (!sections->n && !symbols->n)
		return true;
	policy->matched = calloc(sections->n + symbols->n, 1);
	policy->excluded = calloc(sections->n + 1, sizeof(*policy->excluded));
	policy->asked = calloc(policy->symbols->n + 1, 1);
	if (!policy->matched || !policy->excluded || !policy->asked)
		return false;
	for (size_t i = 0; ok && i < sections->n; i++)
		ok = policy_find_areas(
		    policy->image, sections->list[i], &policy->excluded[i]);
	return ok;
}

void policy_deinit(struct policy *policy)
{
	for (size_t i = 0; policy->excluded && i < policy->options->exclude_sections.n;
	     i++)
		free(policy->excluded[i].list);
	free(policy->excluded);
	free(policy->matched);
	free(policy->asked);
}

/* Compares patterns with the name as the file spells it, or as people do: "ns::f(int)". */
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
	const size_t first = search_list_from(symbols->list, symbols->n, addr, pc);
	unsigned char answer;
	bool any = false;

	if (first == symbols->n || symbols->list[first].addr != pc)
		return false;
	/* Asked once for each place, because many FDEs may begin where many symbols are. */
	answer = __atomic_load_n(&policy->asked[first], __ATOMIC_RELAXED);
	if (answer)
		return answer == POLICY_EXCLUDED;
	for (size_t i = first; i < symbols->n && symbols->list[i].addr == pc; i++)
		any |= policy_name_excluded(policy, symbols->list[i].name);
	__atomic_store_n(
	    &policy->asked[first], any ? POLICY_EXCLUDED : POLICY_KEPT, __ATOMIC_RELAXED);
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
	/* Asks for both, because each pattern that matches gets its mark. */
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
