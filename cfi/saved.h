/* SPDX-License-Identifier: MIT */
/*
 * Where callee-saved registers are, for callers that ask for it. A conversion does not: its
 * rows have no room for these columns, and its interpreter passes over their rules.
 */
#ifndef CFI_SAVED_H
#define CFI_SAVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "cfi/row.h"

/* AArch64 has the most: x19 to x28 and d8 to d15. */
#define CFI_MAX_SAVED 18

/* What stands in the place of an offset. No call frame saves a register at the CFA itself. */
enum {
	CFI_SAVED_NOT = 0,	     /* the register has the caller's value */
	CFI_SAVED_OTHER = INT32_MIN, /* not in memory at an offset from the CFA */
};

/* One row more for each row of a table: register i is at *(cfa + at[i]), bytes. */
struct cfi_saved {
	int32_t at[CFI_MAX_SAVED];
};

bool cfi_saved_same(const struct cfi_saved *a, const struct cfi_saved *b);

/* Which registers are kept, and what is known of them while a program runs. */
struct cfi_saving {
	uint8_t slots[96]; /* by DWARF number: one more than the index; 0: not kept */
	struct cfi_saved now, initial; /* initial: after the CIE's instructions */
	struct cfi_saved *stack;       /* owned: DW_CFA_remember_state */
	struct cfi_saved *rows;	       /* owned: for row i of the table */
	size_t cap_stack, cap_rows;
};

/* regs are n DWARF numbers below 96, at most CFI_MAX_SAVED. None may be the machine's stack
 * pointer, frame pointer or return address. */
void cfi_saving_init(struct cfi_saving *saving, const uint16_t *regs, size_t n);
void cfi_saving_deinit(struct cfi_saving *saving);

/* The calls of the interpreter. Whether the register is kept. */
bool cfi_saving_has(const struct cfi_saving *saving, uint64_t reg);
/* A new rule for a register that is kept. */
void cfi_saving_set(struct cfi_saving *saving, uint64_t reg, const struct cfi_rule *rule);
/* Back to the rule of the CIE; a CIE itself has none to go back to. */
void cfi_saving_restore(struct cfi_saving *saving, uint64_t reg, bool is_initial);
/* Remembers what is known as number n, or takes it back. False when memory runs out. */
ATTR_MUST_CHECK bool cfi_saving_push(struct cfi_saving *saving, size_t n);
void cfi_saving_pop(struct cfi_saving *saving, size_t n);
/* What is known holds for row i. False when memory runs out. */
ATTR_MUST_CHECK bool cfi_saving_keep(struct cfi_saving *saving, size_t i);

#endif
