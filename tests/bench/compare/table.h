/* SPDX-License-Identifier: MIT */
/*
 * What ORC and the profilers' tables have in common: entries that ascend by PC, where each
 * holds until the next, and a mark where nothing is known.
 */
#ifndef TESTS_BENCH_COMPARE_TABLE_H
#define TESTS_BENCH_COMPARE_TABLE_H

#include "base/wr.h"
#include "tests/bench/compare/func.h"

enum { FORMATS_WORDS = 12 };

/* An entry without its PC, as the format has it; what it does not use is 0. */
struct formats_words {
	uint8_t bytes[FORMATS_WORDS];
};

struct formats_entry {
	uint64_t pc; /* address */
	struct formats_words words;
	bool first; /* of a function */
};

struct formats_table;

/* A format. */
struct formats_table_kind {
	const char *name;
	uint64_t gap; /* from so many bytes between functions on, there is a mark */
	/* Entries are no further than this from the first, bytes. 0: anywhere. */
	uint64_t reach;
	/* Neighbours with equal words are one entry. Otherwise this holds inside of a function
	 * only, and write() sees where functions start. */
	bool joins;
	/* An answer in words, or why there are none. */
	enum formats_reason (*pack)(const struct formats_func *func,
	    const struct formats_answer *answer, struct formats_words *words);
	/* A PLT in words; false when it has none. NULL: the format never has. */
	bool (*pack_plt)(uint8_t plt_at, struct formats_words *words);
	/* The mark for "nothing is known". */
	struct formats_words unknown;
	/* Writes all entries; false when memory runs out. */
	bool (*write)(struct formats_table *table);
};

struct formats_table {
	const struct formats_table_kind *kind;
	const struct formats_machine *machine; /* borrowed */
	struct formats_entry *entries;	       /* owned */
	size_t n, cap;
	uint64_t base, end; /* from the first function to the last, addresses */
	struct formats_result result;
	/* After formats_table_end: */
	struct wr bytes;	 /* owned */
	size_t n_rows;		 /* that are stored */
	size_t n_infos, n_pages; /* OpenTelemetry only */
};

void formats_table_begin(struct formats_table *table,
    const struct formats_table_kind *kind, const struct formats_machine *machine);
/* Adds a range of code, after all before it. False when memory runs out. */
ATTR_MUST_CHECK bool formats_table_add(
    struct formats_table *table, const struct formats_func *func);
/* Encodes. False when memory runs out. */
ATTR_MUST_CHECK bool formats_table_end(struct formats_table *table);
void formats_table_deinit(struct formats_table *table);

/* The formats. sources: the headers of the files. */
extern const struct formats_table_kind formats_orc, formats_parca, formats_otel;

/*
 * The decoders: what the encoded bytes say of a PC. False when they say that nothing is
 * known, or when the bytes are damaged.
 */
bool formats_orc_find(
    const struct formats_table *table, uint64_t pc, struct formats_answer *answer);
bool formats_parca_find(
    const struct formats_table *table, uint64_t pc, struct formats_answer *answer);
bool formats_otel_find(
    const struct formats_table *table, uint64_t pc, struct formats_answer *answer);

#endif
