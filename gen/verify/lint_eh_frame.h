/* SPDX-License-Identifier: MIT */
/*
 * What the posted reader of .eh_frame for Linux demands of a file ("unwind_user: eh_frame", 2026-08, x86-64 and s390x):
 * rules with names, and how much code it can walk. A draft, as the reader is: no promise of docs/STABILITY.md is about it.
 */
#ifndef GEN_VERIFY_LINT_EH_FRAME_H
#define GEN_VERIFY_LINT_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "gen/sources/input.h"

/* A look-up that fails with EINVAL or EFAULT makes the kernel forget the whole module; with EOPNOTSUPP or ENOENT the
 * stack ends in this frame. */
enum lint_eh_severity {
	LINT_EH_DROPS,
	LINT_EH_ENDS,
};

/* X(ENUMERATOR, "name", severity, "what is demanded"); those up to TABLE_ALL are about .eh_frame_hdr. */
#define LINT_EH_RULES(X)                                                                 \
	X(PHDR, "phdr", DROPS, "a PT_GNU_EH_FRAME, whose bytes are loaded")              \
	X(HDR, "hdr", DROPS,                                                             \
	    ".eh_frame_hdr has version 1, a pointer to .eh_frame, and a table of "       \
	    "fixed width")                                                               \
	X(TABLE_SIZE, "table-size", DROPS, "the table has entries, all of them inside")  \
	X(TABLE_ORDER, "table-order", DROPS, "function starts in the table ascend")      \
	X(TABLE_FDE, "table-fde", DROPS,                                                 \
	    "an entry leads to an FDE that begins where the entry says")                 \
	X(TABLE_ALL, "table-all", ENDS, "the table has every FDE")                       \
	X(FDE_LENGTH, "fde-length", DROPS,                                               \
	    "an FDE has 1 to 32768 bytes and no 64-bit length")                          \
	X(FDE_READABLE, "fde-readable", DROPS, "the fields of an FDE are inside of it")  \
	X(FDE_CODE, "fde-code", DROPS, "an FDE is for code inside one segment")          \
	X(CIE_PLACE, "cie-place", DROPS, "a CIE is in front of its FDEs")                \
	X(CIE_LENGTH, "cie-length", DROPS,                                               \
	    "a CIE has 1 to 128 bytes and no 64-bit length")                             \
	X(CIE_VERSION, "cie-version", ENDS, "a CIE has version 1")                       \
	X(CIE_STRING, "cie-string", DROPS,                                               \
	    "an augmentation has at most 15 letters, z first, and uses up its data")     \
	X(CIE_LETTER, "cie-letter", ENDS, "an augmentation has letters of zPLRS only")   \
	X(CIE_FACTORS, "cie-factors", DROPS,                                             \
	    "the code factor is 1 (s390x: or 2) and the data factor -8 to -1")           \
	X(CIE_RETURN, "cie-return", ENDS, "the return address column is the ABI's")      \
	X(ENCODING, "encoding", ENDS,                                                    \
	    "an address is not indirect, aligned, or relative to its function")          \
	X(SIGNAL_FRAME, "signal-frame", ENDS, "no signal frame")                         \
	X(INSN_COUNT, "insn-count", DROPS,                                               \
	    "at most 16384 instructions lead to a row, with the CIE's")                  \
	X(INSN_READABLE, "insn-readable", DROPS, "an instruction is inside its record")  \
	X(INSN_KNOWN, "insn-known", ENDS,                                                \
	    "no instruction that the reader does not know")                              \
	X(REMEMBER, "remember", DROPS,                                                   \
	    "remember_state is not nested, and restore_state comes after it")            \
	X(CIE_RESTORE, "cie-restore", DROPS, "no restore in a CIE")                      \
	X(CFA_FORM, "cfa-form", DROPS,                                                   \
	    "def_cfa_register and def_cfa_offset change a CFA that is a register's")     \
	X(CFA_NONE, "cfa-none", DROPS, "there is a CFA at each address")                 \
	X(EXPR_LENGTH, "expr-length", DROPS, "an expression has at most 32 bytes")       \
	X(CFA_EXPR, "cfa-expr", ENDS,                                                    \
	    "a CFA's expression is that of a PLT or of a realigned stack")               \
	X(RULE_EXPR, "rule-expr", ENDS,                                                  \
	    "SP, FP and RA have no expression but *(FP + 0) for FP")                     \
	X(SP_RULE, "sp-rule", ENDS, "the caller's SP is as the ABI says")                \
	X(FAR_OFFSET, "far-offset", ENDS, "offsets fit 32 bits")                         \
	X(RESTORED, "restored", ENDS,                                                    \
	    "a restored rule still has the CIE's offset, which the reader does not "     \
	    "restore: its row would be wrong")

enum lint_eh_rule {
#define LINT_EH_ENUMERATOR(id, name, severity, text) LINT_EH_##id,
	LINT_EH_RULES(LINT_EH_ENUMERATOR)
#undef LINT_EH_ENUMERATOR
	    LINT_EH_N_RULES,
	LINT_EH_KEPT = LINT_EH_N_RULES, /* none is broken */
};

/* Functions, and bytes of code. */
struct lint_eh_sum {
	uint64_t functions, bytes;
};

struct lint_eh_frame {
	unsigned int n_broken; /* rules */
	struct {
		uint64_t times;
		uint64_t off;	/* of the first place, from the start of its section */
		uint64_t pc;	/* of the first address that it costs; 0: not about one */
		uint64_t bytes; /* of code that cannot be walked for it */
	} rules[LINT_EH_N_RULES];
	struct lint_eh_sum all; /* that the FDEs of .eh_frame describe */
	/* Of these: walked from end to end and in all, and the others, by the first rule that they break. */
	struct lint_eh_sum walked, severe[2];
	bool
	    dropped; /* a rule that drops the module is broken, so the whole file is lost */
	bool lacks_hdr; /* which is .eh_frame_hdr, and nothing else */
};

const char *lint_eh_rule_name(enum lint_eh_rule rule);
const char *lint_eh_rule_text(enum lint_eh_rule rule);
const char *lint_eh_rule_section(enum lint_eh_rule rule);
enum lint_eh_severity lint_eh_rule_severity(enum lint_eh_rule rule);
const char *lint_eh_severity_text(enum lint_eh_severity severity);

/* Whether the reader exists for the machine of a linked file. */
bool lint_eh_reads(const struct image *image);

/*
 * Holds a file that lint_eh_reads says yes to against the rules. Where there is no table, what it would have is judged. Linear
 * in the size of the file, but for sorting. ERR_NOTHING without CFI.
 */
ATTR_MUST_CHECK bool lint_eh_frame(
    const struct image *image, struct lint_eh_frame *result, struct err *err);

#endif
