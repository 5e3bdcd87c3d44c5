/* SPDX-License-Identifier: MIT */
/*
 * The model of a report: all that is known of one file and its section. Text and JSON are
 * views of it.
 */
#ifndef GEN_REPORT_MODEL_H
#define GEN_REPORT_MODEL_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "cfi/compare_debug_frame.h"
#include "gen/sources/symbols_read.h"
#include "gen/insert/insert.h"
#include "gen/rows/cfi_input.h"
#include "gen/rows/coverage.h"
#include "gen/verify/lint_eh_frame.h"
#include "gen/verify/verify.h"
#include "sframe/compact/compact.h"
#include "sframe/encode.h"

enum report_kind {
	REPORT_EXECUTABLE,
	REPORT_STATIC_EXECUTABLE,
	REPORT_PIE,
	REPORT_STATIC_PIE,
	REPORT_SHARED_LIBRARY,
	REPORT_OBJECT,
	REPORT_KERNEL_MODULE,
};

/* Kinds of executable bytes without CFI. */
enum report_stretch_kind {
	REPORT_CODE,
	REPORT_DATA,
	REPORT_PLT,	/* of a section whose name begins with .plt */
	REPORT_UNKNOWN, /* this build cannot decode it */
	REPORT_N_STRETCH_KINDS,
};

#define REPORT_MAX_PRODUCERS 16

struct report_section {
	const char *name;
	uint64_t start, size; /* address; bytes */
};

struct report_gap {
	char *rule;	     /* of its first row, owned; NULL without a row */
	const char *section; /* with the FDE; NULL without an FDE in a section */
	uint64_t cfi;	     /* of the FDE, bytes from the start of that section */
	uint64_t
	    later; /* bytes that have rows in the last version; 0 when that is asked for */
};

struct report_stretch {
	uint64_t start, size; /* address; bytes */
	enum report_stretch_kind kind;
};

/* Facts that only a report needs. Borrows the image. */
struct report_details {
	bool made;
	bool decoded; /* the machine's code was decoded, to tell data from code */
	enum report_kind kind;
	/* The strings of .comment without those that repeat. */
	const char *producers[REPORT_MAX_PRODUCERS];
	size_t n_producers;
	struct symbols symbols;
	/* Executable sections, or segments without such; ascending by start. */
	struct report_section *sections;
	size_t n_sections, cap_sections;
	/* One for each of coverage.gaps. */
	struct report_gap *gaps;
	uint64_t later;			  /* their sum */
	struct report_stretch *stretches; /* ascending by start */
	size_t n_stretches, cap_stretches;
	/* Sums of the stretches; and padding between them. */
	uint64_t bytes[REPORT_N_STRETCH_KINDS], padding;
	size_t n_functions;	       /* symbols of functions that begin in them */
	struct lint_eh_frame eh_frame; /* 0 functions: not a file for that reader */
};

/* Borrows input. */
struct report {
	const char *path;  /* as given */
	const char *shown; /* for messages */
	const struct cfi_input *input;
	struct cfi_debug_diff agree[N_SOURCES]; /* of each source and .debug_frame */
	struct coverage coverage;
	struct report_details details;	/* empty unless asked for */
	const struct insert_plan *plan; /* borrowed; NULL when nothing was inserted */
	struct sf_encode_stats stats;
	struct sf_compact_stats compact; /* all 0 with --optimize=none, and for objects */
	uint64_t sframe_size;		 /* bytes */
	size_t n_funcs, n_rows;		 /* in the section */
	uint8_t version;
	uint64_t lost_bytes;  /* of code that the section that was replaced described */
	uint64_t object_size; /* of the object that was written, in bytes; 0: none */
	bool code_apart;      /* functions in several segments, for a kernel */
	bool signature_void;  /* the file is a module that has lost it */
	struct verify_held held;
};

/* Returns a row of CFI as formulas; the caller frees it. NULL: out of memory. */
char *report_rule_text(const struct arch *arch, const struct cfi_row *row);

const char *report_kind_name(enum report_kind kind);
const char *report_beyond_name(enum coverage_beyond_kind kind);
const char *report_stretch_name(enum report_stretch_kind kind);

/* Returns the names of symbols, those of the details where they were made. */
const struct symbols *report_symbols(const struct report *report);

/* Fills report->details for the file that the report is about; once. Reads its CFI again
 * where there are gaps. ERR_NOMEM. */
ATTR_MUST_CHECK bool report_details_make(
    const struct options *options, struct report *report, struct err *err);

/* Fills the members of the details about stretches, from the coverage, the sections and
 * the symbols (undescribed.c). False when memory runs out. */
ATTR_MUST_CHECK bool report_undescribed_make(struct report *report);

void report_deinit(struct report *report);

#endif
