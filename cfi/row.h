/* SPDX-License-Identifier: MIT */
/*
 * A row: the rules of CFI for one range of code, one for each tracked column. Each rule
 * is documented by the formula that computes the caller's value; "reg" stands for the
 * value of a DWARF register at the PC in question, "cfa" for the canonical frame address.
 */
#ifndef CFI_ROW_H
#define CFI_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cfi_rule_kind {
	CFI_UNSPECIFIED = 0, /* no rule was given: the ABI's default applies */
	CFI_UNDEFINED,	     /* not recoverable */
	CFI_SAME,	     /* unchanged */
	CFI_AT_CFA,	     /* *(cfa + off) */
	CFI_CFA_PLUS,	     /* cfa + off */
	CFI_REG_PLUS,	     /* reg + off (DW_CFA_register has off 0) */
	CFI_AT_REG,	     /* *(reg + off) + add */
	CFI_AT_SUM,	     /* *(reg + (index << shift) + off) + add */
	CFI_CONST,	     /* off */
	CFI_OPAQUE,	     /* none of these: an expression, at section offset off */
};

struct cfi_rule {
	int64_t off;
	int32_t add; /* only CFI_AT_REG and CFI_AT_SUM; 0 elsewhere */
	uint16_t reg;
	uint8_t kind;  /* enum cfi_rule_kind */
	uint8_t array; /* only CFI_AT_SUM: index in 5 bits, shift in 3 (cfi_rule_array) */
};

static inline uint8_t cfi_rule_array(uint8_t index, uint8_t shift)
{
	return (uint8_t)(index | shift << 5);
}

static inline uint8_t cfi_rule_index(const struct cfi_rule *rule)
{
	return rule->array & 31;
}

static inline uint8_t cfi_rule_shift(const struct cfi_rule *rule)
{
	return rule->array >> 5;
}

/* Unused members are 0, so equal rules have equal members. */
static inline bool cfi_rule_equal(const struct cfi_rule *a, const struct cfi_rule *b)
{
	return a->kind == b->kind && a->off == b->off && a->reg == b->reg &&
	       a->add == b->add && a->array == b->array;
}

/*
 * Holds from pc to the pc of the next row, or to the end of the table. For the CFA only
 * REG_PLUS, AT_REG, AT_SUM, CONST, OPAQUE and (no rule yet) UNSPECIFIED occur.
 */
struct cfi_row {
	uint64_t pc; /* address of the first byte */
	struct cfi_rule cfa;
	struct cfi_rule sp, fp,
	    ra;		/* the machine's stack pointer, frame pointer, return address */
	bool ra_signed; /* AArch64 DW_CFA_AARCH64_negate_ra_state */
	bool ra_signed_with_pc; /* AArch64 DW_CFA_AARCH64_negate_ra_state_with_pc */
	bool doubtful;	/* something else contradicts it, so it is not to be used */
	bool cfa_moved; /* the CFA had another rule in the FDE since SP has one */
};

/*
 * Sets what a row has of the one before it in its FDE. Where a row without a rule for SP lies between, SP was saved anew, as in a
 * second prologue; a state that is restored to the same is not told from that.
 */
static inline void cfi_row_follow(struct cfi_row *row, const struct cfi_row *before)
{
	row->cfa_moved = before->sp.kind != CFI_UNSPECIFIED &&
			 (before->cfa_moved || !cfi_rule_equal(&before->cfa, &row->cfa));
}

/* Equal rules in every tracked column; pc is not compared. */
bool cfi_row_same(const struct cfi_row *a, const struct cfi_row *b);

/*
 * The rows of one FDE: ascending by pc, rows[0].pc == start, and no two neighbours the
 * same.
 */
struct cfi_table {
	uint64_t start, end; /* addresses; end is exclusive */
	struct cfi_row *rows;
	size_t n_rows, cap_rows;
	/* Set when rules came from an expression that depends on the PC, so that they
	 * can be periodic. The rows from the first such one on begin at
	 * pc_dependent_from. */
	bool pc_dependent;
	uint64_t pc_dependent_from;
	/* Any FDE with the same CIE and instructions that is longer than reach has
	 * these rows, each as far from its start as here. No address and no expression
	 * took part, and no instruction led past the end. */
	bool movable;
	/* Somewhere bytes are pushed for a call (DW_CFA_GNU_args_size), which an exception takes
	 * off the stack again. */
	bool args_size;
	uint64_t reach; /* bytes from start to the last location in the program */
};

/* Index of the last row that begins at or below pc; 0 when there is none. */
size_t cfi_table_row_at(const struct cfi_table *table, uint64_t pc);

#endif
