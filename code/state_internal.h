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

/* An address in the stack. */
static inline bool code_value_is_stack(struct code_value value)
{
	return value.kind == CODE_CFA || value.kind == CODE_MADE;
}

/* Only the offsets differ. */
static inline bool code_value_same_base(struct code_value a, struct code_value b)
{
	return a.kind == b.kind && a.symbol == b.symbol;
}

/* Below 0, 0, above 0: where one place in memory is to the other. */
int code_value_order(struct code_value a, struct code_value b);

/* A row of CFI can ask for it. */
bool code_state_is_worth_a_slot(const struct code_state *state, struct code_value value);

/* Forgets of full slots what is of least use, and that memory without a slot is known. */
void code_state_make_room(struct code_state *state);

/* Something may have been written to width bytes at address: what is in their slots is not known. */
void code_state_lose(struct code_state *state, struct code_value address, uint8_t width);
/* Forgets what width bytes at address overlap; with spare_saved, nothing that is saved. */
void code_state_forget(
    struct code_state *state, struct code_value address, uint8_t width, bool spare_saved);
/* Doubts what width bytes at address may overlap and what has another name, because SP was aligned. by_sp: SP has the
 * address's name. */
void code_state_doubt(
    struct code_state *state, struct code_value address, uint8_t width, bool by_sp);
/* Forgets what lies below SP: it belongs to the callee. */
void code_state_forget_below(struct code_state *state, struct code_value sp);

/* The address that an instruction makes, whose symbol this is. What it made before has no name any more. */
struct code_value code_state_made(struct code_state *state, uint32_t symbol);
/* The address, aligned by the instruction at pc: a few bytes lower. By off of the CFA, it keeps the number: that far above
 * the CFA it can be at most. */
struct code_value code_state_aligned(
    struct code_state *state, struct code_value value, uint64_t pc);

#endif
