/* SPDX-License-Identifier: MIT */
/*
 * Refusals: reasons why a range of code described by CFI is not described by SFrame. A
 * refusal is a condition, not an error: it has a name, a counter in the report, a
 * paragraph in the man page and a test vector.
 */
#ifndef GEN_ROWS_REFUSAL_H
#define GEN_ROWS_REFUSAL_H

#include <stdint.h>

#include "gen/arch/arch.h"

/* Needs version 3 and flexible FDEs, which some machines do not have. */
#define REFUSAL_FLEX 0x83

/*
 * X(ENUMERATOR, "name", the lowest version of SFrame that can say it (0: none), "one
 * line")
 */
#define REFUSALS(X)                                                                      \
	X(NO_CFA, "no-cfa", 0, "no rule for the CFA is in effect")                       \
	X(CFA_REGISTER, "cfa-register", REFUSAL_FLEX,                                    \
	    "the CFA is based on a register other than SP and FP")                       \
	X(CFA_MEMORY, "cfa-memory", REFUSAL_FLEX, "the CFA is read from memory")         \
	X(CFA_EXPRESSION, "cfa-expression", 0,                                           \
	    "the CFA is an expression that no row can say")                              \
	X(CFA_OFFSET, "cfa-offset", 0, "the CFA offset does not fit 32 bits")            \
	X(CFA_ALIGNMENT, "cfa-alignment", 0,                                             \
	    "the CFA offset is not a multiple of 8, the unit of s390x's rows")           \
	X(CFA_NEAR_SP, "cfa-near-sp", 0,                                                 \
	    "the CFA is inside the ABI's register save area above SP")                   \
	X(RA_UNDEFINED, "ra-undefined", 3,                                               \
	    "outermost frame: the return address is undefined")                          \
	X(RA_UNSAVED, "ra-unsaved", 0,                                                   \
	    "CFI puts the return address where no call puts it")                         \
	X(RA_ELSEWHERE, "ra-elsewhere", REFUSAL_FLEX,                                    \
	    "the return address is saved, but not at the ABI's place")                   \
	X(RA_REGISTER, "ra-register", REFUSAL_FLEX,                                      \
	    "the return address is in a register")                                       \
	X(RA_EXPRESSION, "ra-expression", 0, "the return address is a computed value")   \
	X(RA_OFFSET, "ra-offset", 0,                                                     \
	    "the offset of the return address does not fit 32 bits")                     \
	X(RA_AT_CFA, "ra-at-cfa", REFUSAL_FLEX,                                          \
	    "the return address is saved at the CFA itself")                             \
	X(RA_SIGNED_PC, "ra-signed-pc", 0,                                               \
	    "the return address is signed with an instruction's address")                \
	X(FP_UNDEFINED, "fp-undefined", 0, "the frame pointer is not recoverable")       \
	X(FP_REGISTER, "fp-register", REFUSAL_FLEX,                                      \
	    "the frame pointer is in another register")                                  \
	X(FP_MEMORY, "fp-memory", REFUSAL_FLEX,                                          \
	    "the frame pointer is saved at an address that is not relative to the CFA")  \
	X(FP_EXPRESSION, "fp-expression", 0, "the frame pointer is a computed value")    \
	X(FP_OFFSET, "fp-offset", 0,                                                     \
	    "the offset of the frame pointer does not fit 32 bits")                      \
	X(FP_ALONE, "fp-alone", 0,                                                       \
	    "the frame pointer is saved, but the return address is not")                 \
	X(ODD_SLOT, "odd-slot", REFUSAL_FLEX,                                            \
	    "a register is saved at an odd offset from the CFA")                         \
	X(REGISTER_NUMBER, "register-number", 0, "a rule names a register above 31")     \
	X(SP_RULE, "sp-rule", 0, "the caller's stack pointer is not the CFA")            \
	X(SIGNAL_FRAME, "signal-frame", 3,                                               \
	    "a signal frame, which this version cannot mark")                            \
	X(RETURN_COLUMN, "return-column", 0,                                             \
	    "the CIE's return address column is not the ABI's")                          \
	X(BROKEN_PROGRAM, "broken-program", 0,                                           \
	    "the call frame instructions are damaged")                                   \
	X(OVERLAP, "overlap", 0, "two FDEs describe the same code differently")          \
	X(NOT_CODE, "not-code", 0, "the range is not inside an executable segment")      \
	X(FUNCTION_SIZE, "function-size", 0,                                             \
	    "the size of the range does not fit 32 bits")                                \
	X(CODE_DISAGREES, "code-disagrees", 0,                                           \
	    "the instructions contradict the CFI (--code)")                              \
	X(EXCLUDED, "excluded", 0, "left out by --exclude-section or --exclude-symbol")

enum refusal {
#define REFUSAL_ENUMERATOR(id, name, needs, text) REFUSE_##id,
	REFUSALS(REFUSAL_ENUMERATOR)
#undef REFUSAL_ENUMERATOR
	    N_REFUSALS,
	REFUSE_NOTHING = N_REFUSALS, /* representable */
};

const char *refusal_name(enum refusal refusal);
const char *refusal_text(enum refusal refusal);
/* The lowest version of SFrame that can say on this machine what was refused; 0 when none
 * can. */
uint8_t refusal_needs(enum refusal refusal, const struct arch *arch);

#endif
