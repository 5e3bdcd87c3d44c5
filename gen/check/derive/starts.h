/* SPDX-License-Identifier: MIT */
/*
 * Where functions begin in code without CFI, by what stands outside of it: symbols, dynamic
 * relocations, and described code that calls there, jumps there or takes the address.
 */
#ifndef GEN_CHECK_DERIVE_STARTS_H
#define GEN_CHECK_DERIVE_STARTS_H

#include "gen/check/derive/gaps.h"
#include "gen/check/refs.h"

/* How sure it is that a function begins there: the lower, the surer. */
enum derive_doubt {
	DERIVE_SURE, /* a symbol says so, or described code calls there */
	DERIVE_CALLED, /* code without CFI calls there, and the file names it nowhere else */
	/* An address in data, or one that described code takes: it can be a label inside of a
	 * function as well. */
	DERIVE_WEAK,
	/* The file does not name it; code stands there behind the end of other code. It counts only
	 * where a way from there returns, and every one that does has SP as it was: then the word
	 * there is the return address, whatever led there. */
	DERIVE_ORPHAN,
};

struct derive_start {
	uint64_t addr;
	uint8_t doubt; /* enum derive_doubt */
};

struct derive_starts {
	struct derive_start *list; /* owned; ascending by addr once sorted */
	size_t n, cap;
};

/* False: out of memory. Sorted. jobs: threads. refs gets the addresses that code refers to. */
ATTR_MUST_CHECK bool derive_starts_read(const struct image *image,
    const struct cfi_input *input, const struct derive_gaps *gaps, unsigned int jobs,
    struct derive_starts *starts, struct validate_refs *refs);
void derive_starts_deinit(struct derive_starts *starts); /* accepts a zeroed struct */

ATTR_MUST_CHECK bool derive_starts_add(
    struct derive_starts *starts, uint64_t addr, enum derive_doubt doubt);
/* Sorts; of several at one address, the surest stays. */
void derive_starts_sort(struct derive_starts *starts);

#endif
