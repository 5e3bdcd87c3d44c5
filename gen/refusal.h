/* SPDX-License-Identifier: MIT */
/*
 * Why a range of code described by CFI is not described by SFrame. A refusal is a
 * condition, not an error: it has a name, a counter in the report, a paragraph in the man
 * page and a test vector.
 */
#ifndef GEN_REFUSAL_H
#define GEN_REFUSAL_H

/* X(ENUMERATOR, "name", "one line") */
#define REFUSALS(X)                                                                      \
	X(NO_CFA, "no-cfa", "no rule for the CFA is in effect")                          \
	X(CFA_REGISTER, "cfa-register",                                                  \
		"the CFA is based on a register other than SP and FP")                   \
	X(CFA_MEMORY, "cfa-memory", "the CFA is read from memory")                       \
	X(CFA_EXPRESSION, "cfa-expression", "the CFA is an expression no row can say")   \
	X(CFA_OFFSET, "cfa-offset", "the CFA offset does not fit 32 bits")               \
	X(RA_UNDEFINED, "ra-undefined",                                                  \
		"outermost frame: the return address is undefined")                      \
	X(RA_UNSAVED, "ra-unsaved",                                                      \
		"the return address is said to be where no call puts it")                \
	X(RA_ELSEWHERE, "ra-elsewhere",                                                  \
		"the return address is saved elsewhere than the ABI's place")            \
	X(RA_REGISTER, "ra-register", "the return address is in a register")             \
	X(RA_EXPRESSION, "ra-expression", "the return address is a computed value")      \
	X(FP_UNDEFINED, "fp-undefined", "the frame pointer is not recoverable")          \
	X(FP_REGISTER, "fp-register", "the frame pointer is in another register")        \
	X(FP_MEMORY, "fp-memory",                                                        \
		"the frame pointer is saved at an address not relative to the CFA")      \
	X(FP_EXPRESSION, "fp-expression", "the frame pointer is a computed value")       \
	X(FP_OFFSET, "fp-offset",                                                        \
		"the frame pointer's place does not fit 32 bits from the CFA")           \
	X(SP_RULE, "sp-rule", "the caller's stack pointer is not the CFA")               \
	X(SIGNAL_FRAME, "signal-frame",                                                  \
		"a signal frame, which this version cannot mark")                        \
	X(RETURN_COLUMN, "return-column",                                                \
		"the CIE's return address column is not the ABI's")                      \
	X(BROKEN_PROGRAM, "broken-program", "the call frame instructions are damaged")   \
	X(OVERLAP, "overlap", "two FDEs describe the same code differently")             \
	X(NOT_CODE, "not-code", "the range is not inside an executable segment")         \
	X(FUNCTION_SIZE, "function-size", "the range is larger than 32 bits can count")  \
	X(EXCLUDED, "excluded", "left out by --exclude-section or --exclude-symbol")

enum refusal {
#define REFUSAL_ENUMERATOR(id, name, text) REFUSE_##id,
	REFUSALS(REFUSAL_ENUMERATOR)
#undef REFUSAL_ENUMERATOR
		N_REFUSALS,
	REFUSE_NOTHING = N_REFUSALS, /* representable */
};

const char *refusal_name(enum refusal refusal);
const char *refusal_text(enum refusal refusal);

#endif
