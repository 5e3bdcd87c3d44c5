/* SPDX-License-Identifier: MIT */
/* Covered code and gaps, in numbers: filled by collect, read by report. */
#ifndef GEN_ROWS_COVERAGE_H
#define GEN_ROWS_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/ranges.h"
#include "gen/sources/input.h"
#include "gen/options/options.h"
#include "gen/rows/cfi_input.h"
#include "gen/rows/reduce.h"
#include "gen/rows/refusal.h"
#include "sframe/model.h"

struct coverage_gap {
	uint64_t start, end; /* addresses; end is exclusive */
	uint64_t fde_pc;     /* start of the FDE it belongs to */
	enum refusal why;
};

/* Executable bytes that no CFI describes and no template, without the padding at their
 * ends. */
struct coverage_stretch {
	uint64_t start, end;  /* addresses; end is exclusive */
	const uint8_t *bytes; /* borrowed from the image */
};

/*
 * The rule that CFI has for a gap, or for a part of one, as far as a walker can follow
 * it: a row of any version, and more for a CFA that is read from memory.
 */
struct coverage_rule {
	uint64_t start, end; /* addresses; end is exclusive */
	struct sf_row row;   /* start is 0 */
	struct reduce_more more;
	bool signal_frame, pauth_b; /* as of struct sf_func */
};

/* A function whose rows do not come from .eh_frame; from its first row to its last. */
struct coverage_piece {
	uint64_t start, end; /* addresses; end is exclusive */
	enum source source;
};

/* A function whose last instruction is a call (gen/rows/last_calls.h). */
struct coverage_call {
	uint64_t end;	/* of the function, which is the call's return address */
	uint64_t start; /* of the FDE */
	uint64_t limit; /* where the next code begins, by functions, CFI and sections */
	bool
	    reaches; /* only filler is between the two, so that a row can reach over the first unit of it */
};

/* Functions one after the other that have their rows from one source. */
struct coverage_source_range {
	uint64_t start, end; /* addresses; end is exclusive */
	size_t functions;
	enum source source;
};

/* Code whose rows no CFI gives. */
struct coverage_beyond {
	uint64_t start, end; /* addresses; end is exclusive */
	uint64_t function;   /* where the function starts that it is in */
	enum coverage_beyond_kind {
		COVERAGE_REPAIRED, /* the instructions contradict the CFI */
		COVERAGE_DERIVED,  /* rows from the instructions; there is no CFI */
		COVERAGE_TEMPLATE, /* the bytes are those of a PLT that is known */
	} kind;
};

#define COVERAGE_MAX_NOTES 16

/* A PLT section without CFI, or with CFI for a part of it, whose stubs match no template.
 */
struct coverage_plt {
	char section[24];
	uint64_t addr, size; /* size in bytes */
	uint8_t bytes[32];   /* the first of the section */
	uint8_t n_bytes;
};

#define COVERAGE_MAX_PLTS 8

struct coverage {
	size_t n_fdes;	     /* with code of their own or overlapping; duplicates not */
	size_t n_functions;  /* of those, with at least one row emitted */
	size_t n_refused;    /* of those, with at least one gap */
	size_t n_rows;	     /* CFI rows interpreted */
	size_t n_duplicates; /* FDEs passed over: they repeat another */
	uint64_t code_bytes; /* described by CFI */
	uint64_t covered_bytes;	 /* of those, described by SFrame */
	uint64_t template_bytes; /* PLT code without CFI, described from a template */
	uint64_t
	    repaired_bytes; /* of covered_bytes, with rows of the code instead of the CFI's */
	uint64_t
	    derived_bytes; /* code without CFI whose rows are derived from the code */
	/* Not covered, but the frame has no caller (REFUSE_RA_UNDEFINED). */
	uint64_t outermost_bytes;
	uint64_t text_bytes;	/* executable, with CFI or without; less padding */
	uint64_t padding_bytes; /* executable, at the ends of what has no CFI */
	struct coverage_stretch *stretches; /* ascending by start */
	size_t n_stretches, cap_stretches;
	struct coverage_plt plts[COVERAGE_MAX_PLTS]; /* the first ones */
	size_t n_plts;
	struct {
		size_t functions;
		uint64_t bytes;
	} refused[N_REFUSALS];
	struct {
		size_t functions;
		uint64_t bytes;
	} sources[N_SOURCES];	       /* functions and code with rows of each */
	struct coverage_piece *pieces; /* ascending by start */
	size_t n_pieces, cap_pieces;
	/* Ranges of all sources; ascending by start. */
	struct coverage_source_range *source_ranges;
	size_t n_source_ranges, cap_source_ranges;
	struct coverage_beyond *beyond; /* ascending by start */
	size_t n_beyond, cap_beyond;
	/* Damaged programs in words, the first ones. */
	char notes[COVERAGE_MAX_NOTES][160];
	size_t n_notes;
	struct coverage_call *calls; /* ascending by end */
	size_t n_calls, cap_calls;
	/* Calls whose row holds at the return address, too; and calls with a row for which another one or none
	 * holds there. Once they are counted, the misread ones come first in the list. */
	size_t calls_with_row, calls_misread;
	struct coverage_gap *gaps; /* ascending by start */
	size_t n_gaps, cap_gaps;
	struct coverage_rule *rules; /* ascending by start */
	size_t n_rules, cap_rules;
};

/* Code of either kind in bytes, less outermost frames, and how many of them have rows. */
struct coverage_share {
	uint64_t code, covered;
};

struct coverage_share coverage_share(
    const struct coverage *coverage, enum coverage_of of);
/* As coverage_share, in per cent; NAN when there is no code. */
double coverage_percent(const struct coverage *coverage, enum coverage_of of);
/*
 * Counts the executable code of a file: its executable sections, or segments where it has
 * no such sections. Fillers (struct arch) that begin or end a stretch of code without CFI
 * are padding; ranges and the model's functions (sorted) are all code. ERR_NOMEM.
 */
ATTR_MUST_CHECK bool coverage_text(const struct image *image, const struct arch *arch,
    const struct cfi_ranges *ranges, const struct sf_section *model,
    struct coverage *coverage, struct err *err);
/* Counts which source the functions of a sorted model have their rows from, and lists the rows that
 * no CFI gives. False when memory runs out. */
ATTR_MUST_CHECK bool coverage_sources(const struct image *image,
    const struct cfi_input *input, const struct sf_section *model,
    struct coverage *coverage);
/* Adds code that is left out, in ascending order; extends the gap before it where one
 * reason goes on. False when memory runs out. */
ATTR_MUST_CHECK bool coverage_add_gap(
    struct coverage *coverage, const struct coverage_gap *gap);
/* As coverage_add_gap, for a rule. */
ATTR_MUST_CHECK bool coverage_add_rule(
    struct coverage *coverage, const struct coverage_rule *rule);
/* Adds up two accounts of different FDEs; part is of the higher addresses. */
ATTR_MUST_CHECK bool coverage_add(struct coverage *coverage, const struct coverage *part);
void coverage_deinit(struct coverage *coverage);

#endif
