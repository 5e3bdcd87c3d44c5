/* SPDX-License-Identifier: MIT */
/* Shared by the files of a state. */
#ifndef CODE_STATE_INTERNAL_H
#define CODE_STATE_INTERNAL_H

#include "code/state.h"

static inline struct code_value code_value_of(
    enum code_value_kind kind, uint32_t symbol, int64_t off)
{
	return (struct code_value){.off = off, .symbol = symbol, .kind = (uint8_t)kind};
}

/* Wraps, as registers do. */
static inline int64_t code_wrapping_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* True if the value is an address in the stack. */
static inline bool code_value_is_stack(struct code_value value)
{
	return value.kind == CODE_CFA || value.kind == CODE_MADE;
}

/* True if at most the offsets differ. */
static inline bool code_value_same_base(struct code_value a, struct code_value b)
{
	return a.kind == b.kind && a.symbol == b.symbol;
}

/* Returns a number below, equal to or above 0: the order of two places in memory. */
int code_value_order(struct code_value a, struct code_value b);

/* True if a row of CFI can ask for the value. */
bool code_state_is_worth_a_slot(const struct code_state *state, struct code_value value);

/* Makes room among full slots: forgets the least useful one, and that memory without a slot is known. */
void code_state_make_room(struct code_state *state);

/* Notes that something may have been written to width bytes at address, so that the values of their
 * slots are unknown. */
void code_state_lose(struct code_state *state, struct code_value address, uint8_t width);
/* Forgets the slots that width bytes at address overlap; with spare_saved, not those with saved values. */
void code_state_forget(
    struct code_state *state, struct code_value address, uint8_t width, bool spare_saved);
/* Doubts slots that width bytes at address may overlap although their addresses have another base, because SP was
 * aligned. by_sp: the address has SP's base. */
void code_state_doubt(
    struct code_state *state, struct code_value address, uint8_t width, bool by_sp);
/* Forgets the slots below SP: that memory belongs to the callee. */
void code_state_forget_below(struct code_state *state, struct code_value sp);

/* Returns the address that an instruction makes, which symbol identifies. A value that the same instruction
 * made before loses its name. */
struct code_value code_state_made(struct code_state *state, uint32_t symbol);
/* Returns the address as the instruction at pc aligns it: a few bytes lower. For the CFA plus off, off stays, as the most
 * that it can be above the CFA. */
struct code_value code_state_aligned(
    struct code_state *state, struct code_value value, uint64_t pc);

#endif
