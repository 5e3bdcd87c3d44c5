/* SPDX-License-Identifier: MIT */
/*
 * Demands of the posted reader of .eh_frame for Linux ("unwind_user: eh_frame", 2026-08, x86-64 and s390x): rules with
 * names, and how much code it can walk. A draft, as the reader is: docs/STABILITY.md promises nothing of it.
 */
#ifndef GEN_VERIFY_LINT_EH_FRAME_H
#define GEN_VERIFY_LINT_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/sources/input.h"

/* X(ENUMERATOR, "name", DROPS or ENDS, "what is demanded"); those before FDE_LENGTH are about .eh_frame_hdr. */
#define LINT_EH_RULES(X)                                                                 \
	X(PHDR, "phdr", DROPS, "a PT_GNU_EH_FRAME, whose bytes are loaded")              \
	X(HDR, "hdr", DROPS, ".eh_frame_hdr of version 1, with a table of fixed width")  \
	X(TABLE_SIZE, "table-size", DROPS, "the table has entries, all of them inside")  \
	X(TABLE_ORDER, "table-order", DROPS, "function starts in the table ascend")      \
	X(TABLE_FDE, "table-fde", DROPS,                                                 \
	    "an entry leads to a readable FDE that begins there")                        \
	X(TABLE_ALL, "table-all", ENDS, "the table has every FDE")                       \
	X(FDE_LENGTH, "fde-length", DROPS, "an FDE has at most 32768 bytes")             \
	X(FDE_CODE, "fde-code", DROPS, "an FDE is for code inside one segment")          \
	X(CIE_PLACE, "cie-place", DROPS, "a CIE is in front of its FDEs")                \
	X(CIE_LENGTH, "cie-length", DROPS, "a CIE has at most 128 bytes")                \
	X(CIE_VERSION, "cie-version", ENDS, "a CIE has version 1")                       \
	X(CIE_STRING, "cie-string", DROPS, "15 letters or fewer, z first, data used up") \
	X(CIE_LETTER, "cie-letter", ENDS, "an augmentation has only letters of zPLRS")   \
	X(CIE_FACTORS, "cie-factors", DROPS, "factors are 1 (s390x: or 2) and -8 to -1") \
	X(CIE_RETURN, "cie-return", ENDS, "the return address column is the ABI's")      \
	X(ENCODING, "encoding", ENDS, "no address is aligned")                           \
	X(SIGNAL_FRAME, "signal-frame", ENDS, "no signal frame")                         \
	X(INSN_COUNT, "insn-count", DROPS, "at most 16384 instructions, with the CIE's") \
	X(INSN_READABLE, "insn-readable", DROPS, "an instruction is inside its record")  \
	X(INSN_KNOWN, "insn-known", ENDS, "the reader knows the instruction")            \
	X(REMEMBER, "remember", DROPS, "remember_state, not nested, then restore_state") \
	X(CIE_RESTORE, "cie-restore", DROPS, "no restore in a CIE")                      \
	X(CFA_FORM, "cfa-form", DROPS, "only a CFA of register + offset is changed")     \
	X(CFA_NONE, "cfa-none", DROPS, "there is a CFA at each address")                 \
	X(EXPR_LENGTH, "expr-length", DROPS, "an expression has at most 32 bytes")       \
	X(CFA_EXPR, "cfa-expr", ENDS, "a CFA expression is of a PLT or realigned stack") \
	X(RULE_EXPR, "rule-expr", ENDS, "SP, FP, RA: no expression but FP's *(FP + 0)")  \
	X(SP_RULE, "sp-rule", ENDS, "the caller's SP is as the ABI says")                \
	X(RESTORED, "restored", ENDS,                                                    \
	    "a restored rule has the CIE's offset still, "                               \
	    "which the reader leaves as it is")

enum lint_eh_rule {
#define LINT_EH_ENUMERATOR(id, name, severity, text) LINT_EH_##id,
	LINT_EH_RULES(LINT_EH_ENUMERATOR)
#undef LINT_EH_ENUMERATOR
	    LINT_EH_KEPT, /* none is broken */
};

/* A look-up that fails with EINVAL makes the kernel forget the whole file; with EOPNOTSUPP or ENOENT the stack ends. */
enum lint_eh_severity { LINT_EH_DROPS, LINT_EH_ENDS };

extern const struct lint_eh_words {
	const char *name, *text;
	enum lint_eh_severity severity;
} lint_eh_words[LINT_EH_KEPT];

struct lint_eh_sum {
	uint64_t functions, bytes; /* of code */
};

struct lint_eh_frame {
	unsigned int n_broken; /* rules */
	struct {
		uint64_t times, bytes; /* of code that cannot be walked for it */
		uint64_t off; /* of the first place, from the start of its section */
		uint64_t pc;  /* of the first address that it costs; 0: of none */
	} rules[LINT_EH_KEPT];
	struct lint_eh_sum all; /* that the FDEs of .eh_frame describe */
	/* Parts of all: functions from end to end and bytes anywhere; and the others, by the first rule that they break. */
	struct lint_eh_sum walked, severe[2];
	bool
	    dropped; /* a rule that drops the module is broken, so the whole file is lost */
	bool lacks_hdr; /* it lacks only a PT_GNU_EH_FRAME, and so the reader's table */
};

/* True for a linked file of a machine that has the reader. */
bool lint_eh_reads(const struct image *image);
/* Judges a file that lint_eh_reads accepts; one without a table as if it had one. Linear in its size, but for sorting.
 * ERR_NOTHING without CFI. */
ATTR_MUST_CHECK bool lint_eh_frame(
    const struct image *image, struct lint_eh_frame *result, struct err *err);

#endif
