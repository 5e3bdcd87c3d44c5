/* SPDX-License-Identifier: MIT */
/* Refusals that concern an FDE as a whole. */
#include "gen/rows/policy.h"

#include <fnmatch.h>

#include "base/search.h"

static bool policy_matches(const struct glob_list *globs, const char *name)
{
	for (size_t i = 0; i < globs->n; i++)
		if (fnmatch(globs->list[i], name, 0) == 0)
			return true;
	return false;
}

bool policy_section_excluded(const struct policy *policy, uint64_t pc)
{
	const struct image *image = policy->image;

	if (policy->options->exclude_sections.n == 0)
		return false;
	for (size_t i = 0; i < image->n_sections; i++) {
		const GElf_Shdr *hdr = &image->sections[i].hdr;

		if ((hdr->sh_flags & SHF_ALLOC) && pc >= hdr->sh_addr &&
		    pc - hdr->sh_addr < hdr->sh_size &&
		    policy_matches(
			&policy->options->exclude_sections, image->sections[i].name))
			return true;
	}
	return false;
}

/* Any of the names at the FDE's start counts, so that an alias excludes the function too.
 */
static bool policy_symbol_excluded(const struct policy *policy, uint64_t pc)
{
	const struct symbols *symbols = policy->symbols;
	size_t i = search_list_from(symbols->list, symbols->n, addr, pc);

	for (; i < symbols->n && symbols->list[i].addr == pc; i++)
		if (policy_matches(
			&policy->options->exclude_symbols, symbols->list[i].name))
			return true;
	return false;
}

enum refusal policy_fde(
    const struct policy *policy, const struct cfi_cie *cie, const struct cfi_fde *fde)
{
	if (policy_section_excluded(policy, fde->pc))
		return REFUSE_EXCLUDED;
	if (policy->options->exclude_symbols.n && policy_symbol_excluded(policy, fde->pc))
		return REFUSE_EXCLUDED;
	if (!image_is_code(policy->image, fde->pc, fde->range))
		return REFUSE_NOT_CODE;
	if (fde->range > UINT32_MAX)
		return REFUSE_FUNCTION_SIZE;
	if (cie->ra_reg != policy->arch->ra_reg)
		return REFUSE_RETURN_COLUMN;
	return REFUSE_NOTHING;
}
