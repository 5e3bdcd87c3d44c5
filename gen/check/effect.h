/* SPDX-License-Identifier: MIT */
/*
 * The effect of a function on its callers, by how its ways end. The check learns it while it looks at a
 * function's rows, derivation while it follows a function without CFI; to a call both apply it in one way.
 */
#ifndef GEN_CHECK_EFFECT_H
#define GEN_CHECK_EFFECT_H

#include "code/paths.h"

/* How a function gives control back. */
enum callee_how {
	CALLEE_MAY,	/* not known: if at all, as the ABI says */
	CALLEE_NEVER,	/* no way leads out of it */
	CALLEE_RETURNS, /* some way returns, and all that do so return as the ABI says */
	/* As RETURNS, but SP is `pops` bytes above where the ABI has it. */
	CALLEE_POPS,
	CALLEE_ODD, /* a way returns with SP elsewhere, or where SP is not known */
};

struct callee_effect {
	uint8_t how;	  /* enum callee_how */
	bool surely;	  /* a way proves it without a row's help */
	int32_t pops;	  /* bytes; below 0, it leaves something on the stack */
	uint32_t kept;	  /* a bit for each register that has its value at entry again */
	uint32_t written; /* bytes from the CFA on that it may write to */
	/* A bit for each register that callees keep: it may write through the address that its caller has there. */
	uint32_t through;
};

/* The sum of no ends. */
#define CALLEE_NONE ((struct callee_effect){.how = CALLEE_NEVER, .kept = UINT32_MAX})

/* True if the return address is where a callee looks for it. */
bool callee_has_return_address(
    const struct code_abi *abi, const struct code_state *state);
/* As callee_has_return_address, and SP is as at entry. */
bool callee_is_bare(const struct code_abi *abi, const struct code_state *state);
/* Returns a bit for each register that holds what it held at entry. */
uint32_t callee_kept(const struct code_state *state);

/*
 * The effect of a return at the place, or of a jump to the return address; after is the state behind it.
 * described: a row says that the stack is as at entry, because the code alone may not tell.
 */
struct callee_effect callee_return(const struct code_abi *abi,
    const struct code_place *place, const struct code_state *after, bool described);
/* The effect of a jump to a function in the state after it. target is that function's; NULL: not known. */
struct callee_effect callee_jump(const struct code_abi *abi,
    const struct code_state *after, const struct callee_effect *target);
/* Adds one end to those before it. */
void callee_add(struct callee_effect *sum, const struct callee_effect *end);
/* Notes how far above the CFA the instruction writes: into the function's arguments, which are its caller's
 * memory. And which of its caller's registers it takes for an address. */
void callee_note_stores(const struct code_abi *abi, const struct code_place *place,
    struct callee_effect *effect);

/* Notes what a call in the state may write there: its callee by its effect (NULL: not known), and what is given an address
 * of that memory. */
void callee_note_call(const struct code_abi *abi, const struct code_state *before,
    const struct callee_effect *callee, struct callee_effect *effect);

bool callee_same(const struct callee_effect *a, const struct callee_effect *b);

/*
 * Forgets in the state after a call the slots whose own addresses the callee was given; strictly: also where
 * their addresses are in memory. Not strictly, a slot that has the only copy of what the function must give back
 * stays: the callee is assumed not to write there.
 */
void callee_forget_given(const struct code_abi *abi, const struct code_state *before,
    bool strict, struct code_state *after);
/* Applies a callee's effect to the state after a call. Registers that it does not keep are then not known, or
 * strictly known to be lost. */
void callee_apply(const struct code_abi *abi, const struct callee_effect *effect,
    const struct code_state *before, bool strict, struct code_state *after);

#endif
