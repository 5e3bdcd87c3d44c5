/* SPDX-License-Identifier: MIT */
/* Reasons to leave a whole FDE out, before its rows are read. */
#ifndef GEN_ROWS_POLICY_H
#define GEN_ROWS_POLICY_H

#include "base/attr.h"
#include "cfi/frames.h"
#include "gen/arch/arch.h"
#include "gen/sources/input.h"
#include "gen/options/options.h"
#include "gen/rows/corrections.h"
#include "gen/rows/derived.h"
#include "gen/rows/refusal.h"
#include "gen/sources/symbols_read.h"

/* Addresses of sections. */
struct policy_area {
	uint64_t start, end;
};

/* Sections that one pattern of --exclude-section names: ascending, disjoint. */
struct policy_areas {
	struct policy_area *list;
	size_t n;
};

/* Borrows all but the last members. */
struct policy {
	const struct arch *arch;
	const struct image *image; /* the file the code is in */
	const struct symbols *symbols;
	const struct options *options;
	const struct corrections *corrections; /* of rows, by the code */
	const struct derived *derived;	       /* rows of code without CFI */
	/* A mark for each pattern of options that matched: sections, then symbols. NULL:
	 * there are none. */
	unsigned char *matched;
	struct policy_areas *excluded; /* of each pattern for sections */
	/* The answer for each place that has symbols, by the index of the first of them. */
	unsigned char *asked;
};

/* Finds the sections that options exclude, and allocates the marks. False when memory runs out;
 * policy_deinit frees them then, too. */
ATTR_MUST_CHECK bool policy_find_excluded(struct policy *policy);
void policy_deinit(struct policy *policy);

/* The reason to leave out all of [fde->pc, fde->pc + fde->range), or REFUSE_NOTHING. */
enum refusal policy_fde(
    const struct policy *policy, const struct cfi_cie *cie, const struct cfi_fde *fde);

/* True if --exclude-section names the section that pc is in. */
bool policy_section_excluded(const struct policy *policy, uint64_t pc);

/* True if --exclude-symbol names a function that begins at pc. Any of its names counts, so that an
 * alias excludes the function too. */
bool policy_symbol_excluded(const struct policy *policy, uint64_t pc);

/*
 * Returns number i of the patterns that left nothing out, once every FDE was asked for:
 * option gets the name of the option, pattern its value. False behind the last one.
 */
ATTR_MUST_CHECK bool policy_unmatched(
    const struct policy *policy, size_t i, const char **option, const char **pattern);

/* Returns why --exclude-symbol cannot know all functions: "none" has a name in the file,
 * or only "dynamic" symbols are left. NULL when it can, or was not given. */
const char *policy_few_symbols(const struct policy *policy);

#endif
