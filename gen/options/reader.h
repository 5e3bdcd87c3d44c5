/* SPDX-License-Identifier: MIT */
/*
 * The readers of SFrame, by name: what each of them reads, and what is written for it. The section that a
 * name writes never changes. A reader that wants something else gets a name of its own.
 */
#ifndef GEN_OPTIONS_READER_H
#define GEN_OPTIONS_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "sframe/format.h"

/* Readers as bits. Releases that read alike are one reader. */
enum {
	READER_LINUX_USER = 1,
	READER_LINUX_ARM64 = 2,
	READER_LINUX = 3, /* both */
	READER_GLIBC = 4,
	READER_BINUTILS_2_40 = 8,
	READER_BINUTILS_2_41 = 16, /* to 2.44 */
	READER_BINUTILS_2_45 = 32,
	READER_BINUTILS_2_46 = 64, /* and 2.47 */
	READER_ALL = 127,
};

struct reader {
	const char *name;
	unsigned int bit;
	uint8_t format; /* the version written for it */
	bool pcrel;	/* with FDE_FUNC_START_PCREL, where the version has the flag */
	bool at_return; /* it looks up a return address itself, not the byte before it */
	bool share_big; /* it reads shared rows of big-endian machines */
	const char *release; /* which release of which source, and its date */
};

enum { READER_N_NAMES = 11 };
extern const struct reader reader_names[READER_N_NAMES];

/* Not in the table: it reads .eh_frame, and is a draft (gen/verify/lint_eh_frame.h). */
#define READER_EH_FRAME "linux-eh-frame"

/* Returns NULL for a name that is not in the table. */
const struct reader *reader_find(const char *name);

/* True if the reader of that bit reads a version for an ABI (enum sframe_abi). */
bool reader_reads(unsigned int bit, uint8_t version, uint8_t abi);

/* True if the reader, or with NULL any that reads the version for that ABI, looks up return addresses. */
bool reader_looks_up_returns(const struct reader *reader, uint8_t version, uint8_t abi);

/* Writes the names of the readers in a set, with ", " between; buf is of READER_WORDS_SIZE. */
enum { READER_WORDS_SIZE = 128 };
const char *reader_words(unsigned int readers, char *buf);

#endif
