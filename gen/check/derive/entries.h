/* SPDX-License-Identifier: MIT */
/* Entries: addresses at which control is known to begin, or may begin, and the result of following each. */
#ifndef GEN_CHECK_DERIVE_ENTRIES_H
#define GEN_CHECK_DERIVE_ENTRIES_H

#include "gen/check/callees.h"
#include "gen/check/derive/gaps.h"
#include "gen/check/effect.h"

enum derive_origin {
	/* Code that is followed calls it, so control comes there in the state of the ABI. */
	DERIVE_CALLED = 1,
	/* Callers that need no proof: described code, another file by the exported name, the loader by
	 * its tables, or libc, which is given main. */
	DERIVE_SURE = 2,
	/* A symbol or a pointer names it. That can be a label, so its own ways have to prove it. */
	DERIVE_NAMED = 4,
	/* The program's entry: the kernel comes there, and there is no return address. */
	DERIVE_START = 8,
	/* Described code jumps there in the state of its row. */
	DERIVE_FRAGMENT = 16,
	DERIVE_MIXED = 32,     /* so it does in several states */
	DERIVE_DESCRIBED = 64, /* it has CFI, and only its effect on callers matters */
	DERIVE_UNSURE =
	    128, /* code that is followed jumps there in a state that is not known */
};

/* Result of following a function. */
struct derive_summary {
	struct callee_effect effect;
	bool proven; /* from its first place, all ways end as they must */
};

struct derive_entry {
	uint64_t addr;
	uint8_t origin; /* enum derive_origin, or-ed */
	uint8_t changes, waits;
	bool open;    /* to be looked at */
	bool reached; /* its rows may be written */
	struct derive_summary summary, next;
	struct cfi_row row; /* FRAGMENT */
};

struct derive_entries {
	struct derive_entry *list; /* owned; ascending by addr once sorted */
	size_t n, cap;
};

/* Adds an entry, which derive_entries_sort joins with others of its address. row is for FRAGMENT
 * alone, else NULL. False: out of memory. */
ATTR_MUST_CHECK bool derive_entries_add(struct derive_entries *entries, uint64_t addr,
    uint8_t origin, const struct cfi_row *row);
/* Sorts the entries, and joins those of one address. */
void derive_entries_sort(struct derive_entries *entries);
void derive_entries_deinit(struct derive_entries *entries); /* accepts a zeroed struct */

/* The entry at addr; NULL: none. */
struct derive_entry *derive_entry_at(const struct derive_entries *entries, uint64_t addr);

/* True if a call or an exported name says that a function begins there, so that a jump
 * there leaves the function that jumps. */
static inline bool derive_entry_is_function(const struct derive_entry *entry)
{
	return entry->origin & (DERIVE_CALLED | DERIVE_SURE);
}

/* True if control comes to the entry in the state of the ABI. */
static inline bool derive_entry_has_state(const struct derive_entry *entry)
{
	return !(entry->origin & (DERIVE_FRAGMENT | DERIVE_START | DERIVE_MIXED));
}

/*
 * True if the instruction at pc makes an address from its own, or from one that such an instruction made:
 * the code of another function, or a label. Any other constant can be a number. regs: constants in
 * registers before it. *addr becomes the address.
 */
ATTR_MUST_CHECK bool derive_makes_address(const struct image *image,
    enum code_machine machine, uint64_t pc, const struct code_insn *insn,
    const struct code_value *regs, uint64_t *addr);

/*
 * Adds what the file itself names, and what described code calls and jumps to. Sorted. jobs: threads.
 * False: out of memory.
 */
ATTR_MUST_CHECK bool derive_entries_read(const struct image *image,
    const struct cfi_input *input, const struct derive_gaps *gaps, unsigned int jobs,
    struct derive_entries *entries);

#endif
